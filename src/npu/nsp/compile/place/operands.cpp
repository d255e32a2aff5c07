#include "npu/nsp/compile/place/operands.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {

Operand Operands::prepare(TensorId id, const Partition& needed, Layout layout, Movement movement) {
  if (context_.tensor(id).constant) return prepare_constant(id, needed, layout, movement);
  Operand operand;
  operand.tensor = id;
  operand.storage = storages_.of(id);
  if (operand.storage == no_storage) {
    throw LoweringFailure{fmt::format("tensor '{}', an input of node '{}', is never computed",
                                      context_.tensor(id).name, writer_.node_text())};
  }
  const bool shared = !residency_.pin(operand.storage);  // another operand of this node has it
  operand.layout = layout;
  operand.partition = needed;
  const Storage& storage = storages_[operand.storage];
  operand.core_bytes = context_.slices_of(needed, storage.bytes);
  const bool fits = context_.fits(operand.core_bytes);
  if (storage.buffer == BufferId::none && fits) transfers_.load(operand.storage, needed);
  if (shared && storage.buffer != BufferId::none) {
    prepare_beside(operand);
    return operand;
  }
  if (storage.buffer != BufferId::none &&
      !satisfies(storages_.held_as(operand.storage, id), needed, context_.cores)) {
    if (!fits || !transfers_.repartition(operand.storage, needed)) {
      residency_.spill(operand.storage, Spill::Cause::rearranged);
    }
  }
  if (storage.layout != layout) transfers_.convert_layout(operand.storage, layout);
  operand.buffer = storage.buffer;
  operand.streamed = operand.buffer == BufferId::none;
  return operand;
}

// One tensor as two operands (x times its own transpose): the first one's buffer must stay as it
// is, so the second gets what it needs in a buffer of its own, or through DDR.
void Operands::prepare_beside(Operand& operand) {
  const Storage& storage = storages_[operand.storage];
  operand.buffer = storage.buffer;
  const Partition& needed = operand.partition;
  if (!satisfies(storages_.held_as(operand.storage, operand.tensor), needed, context_.cores)) {
    operand.buffer = context_.fits(operand.core_bytes)
                         ? transfers_.exchange(operand.storage, storage.buffer, needed)
                         : BufferId::none;
    operand.temporary = operand.buffer != BufferId::none;
  }
  if (operand.buffer != BufferId::none && storage.layout != operand.layout) {
    const BufferId whole = operand.buffer;
    operand.buffer =
        transfers_.convert(operand.storage, whole, operand.core_bytes, needed, operand.layout);
    if (operand.temporary) residency_.release(whole);
    operand.temporary = operand.buffer != BufferId::none;
  }
  operand.streamed = operand.buffer == BufferId::none;
  if (operand.streamed) ddr_.write_back(operand.storage, Spill::Cause::rearranged);
}

Operand Operands::prepare_constant(TensorId id, const Partition& needed, Layout layout,
                                   Movement movement) {
  Operand operand;
  operand.tensor = id;
  operand.layout = layout;
  const std::uint64_t bytes = context_.bytes_of(id);
  constants_.count(id, bytes, bytes);
  operand.partition = needed;
  operand.core_bytes = context_.slices_of(needed, bytes);
  if (context_.tensor(id).elements() <= 1) return operand;
  operand.streamed = !context_.fits(operand.core_bytes);
  if (operand.streamed) return operand;
  operand.buffer = constants_.keep(id, 0, 1, operand.core_bytes);
  operand.hoisted = operand.buffer != BufferId::none;
  if (operand.hoisted) return operand;
  operand.buffer = residency_.try_allocate(operand.core_bytes, Lifetime::tile);
  operand.streamed = operand.buffer == BufferId::none;
  operand.temporary = !operand.streamed;
  if (operand.temporary) transfers_.load_constant(operand, movement);
  return operand;
}

NodeResult Operands::make_result(TensorId tensor, const Partition& partition, Layout layout) {
  NodeResult result;
  result.storage = storages_.make(tensor, partition, layout);
  result.core_bytes = context_.slices_of(partition, storages_[result.storage].bytes);
  residency_.pin(result.storage);
  return result;
}

void Operands::place_result(NodeResult& result) {
  const bool fits = context_.fits(result.core_bytes);
  if (fits) result.buffer = residency_.try_allocate(result.core_bytes, Lifetime::tensor);
  result.streamed = result.buffer == BufferId::none;
  if (!result.streamed) return;
  ddr_.begin_spill(result.storage, fits ? Spill::Cause::no_room : Spill::Cause::too_large);
}

// An output of the graph goes to DDR as soon as it is there: waiting would only hold its place.
void Operands::keep_result(const NodeResult& result) {
  Storage& storage = storages_[result.storage];
  storage.in_ddr = result.streamed;
  storage.ddr_layout = storage.leaves_flat() ? Layout::flat : storage.layout;
  if (result.buffer != BufferId::none) {
    residency_.keep(result.storage, result.buffer);
    // Among several devices it would stand in the queue before what another device waits for.
    const bool alone = context_.options.slices < 2;
    if (alone && storage.output_uses > 0 && storage.layout == Layout::flat) {
      ddr_.write_back(result.storage, Spill::Cause::pushed_out);
    }
  }
  residency_.drop_if_unused(result.storage);
}

void Operands::finish(Operand& operand) {
  if (operand.temporary) residency_.release(operand.buffer);
  if (operand.storage == no_storage) return;
  // A node that takes a tensor twice is one of its consumers.
  if (finished_at_ != writer_.position()) finished_.clear();
  finished_at_ = writer_.position();
  if (finished_.insert(operand.tensor).second) residency_.use_done(operand.tensor);
}

CoreShapes Operands::shapes_of(const Operand& operand, const CoreBytes& core_bytes) const {
  CoreShapes shapes;
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    shapes.push_back(read_of(operand, core, core_bytes[core]).shape);
  }
  return shapes;
}

}  // namespace npuscope::npu::nsp
