#include "npu/targets/nsp/compile/place/placement.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {

void Constants::count(TensorId id, std::uint64_t bytes, std::uint64_t d32_bytes) {
  if (!counted_.insert(id).second) return;
  metrics_.constant_bytes += bytes;
  metrics_.d32_constant_bytes += d32_bytes;
}

BufferId Constants::keep(TensorId id, std::uint64_t part, std::uint64_t parts,
                         const CoreBytes& core_bytes) {
  const auto known = kept_.find({id, part, parts});
  if (known != kept_.end()) {
    return known->second.core_bytes == core_bytes ? known->second.buffer : BufferId::none;
  }
  const std::uint64_t bytes =
      round_up(std::max<std::uint64_t>(largest(core_bytes), 1), VtcmAllocator::alignment);
  if (bytes > left_) return BufferId::none;
  const BufferId buffer = tasks_.add_buffer(bytes, {next_address_, {}});
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (core_bytes[core] == 0) continue;
    metrics_.cores[core].hoisted_bytes += context_.ddr_bytes(id, core_bytes[core]);
    auto& peak = metrics_.cores[core].vtcm_bytes;
    peak = std::max(peak, next_address_ + core_bytes[core]);
  }
  next_address_ += bytes;
  left_ -= bytes;
  kept_.emplace(std::tuple(id, part, parts), Kept{core_bytes, buffer});
  return buffer;
}

BufferId HeldConstants::find(TensorId id, std::uint64_t part, std::uint64_t parts,
                             const CoreBytes& core_bytes) {
  const auto found = held_.find({id, part, parts});
  if (found == held_.end() || found->second.core_bytes != core_bytes) return BufferId::none;
  place_.residency.pin(found->second.storage);
  return place_.storages[found->second.storage].buffer;
}

void HeldConstants::hold(TensorId id, std::uint64_t part, std::uint64_t parts,
                         const CoreBytes& core_bytes, BufferId buffer) {
  const auto [found, fresh] = held_.try_emplace({id, part, parts});
  if (!fresh && place_.storages[found->second.storage].buffer != BufferId::none) return;
  if (fresh) found->second.storage = place_.storages.make_copy(id, largest(core_bytes));
  found->second.core_bytes = core_bytes;
  place_.residency.keep(found->second.storage, buffer);
  place_.residency.pin(found->second.storage);
}

StorageId HeldConstants::find(TensorId id, BufferId buffer) const {
  for (auto at = held_.lower_bound({id, 0, 0}); at != held_.end(); ++at) {
    if (std::get<0>(at->first) != id) break;
    if (place_.storages[at->second.storage].buffer == buffer) return at->second.storage;
  }
  return no_storage;
}

void HeldConstants::drop(TensorId id, BufferId buffer) {
  const StorageId storage = find(id, buffer);
  if (storage != no_storage) place_.residency.take_buffer(storage);
  place_.residency.release(buffer);
}

Operand Operands::prepare(TensorId id, const Partition& needed, Layout layout, Movement movement) {
  if (context_.tensor(id).constant) return prepare_constant(id, needed, layout, movement);
  Operand operand;
  operand.tensor = id;
  operand.storage = place_.storages.of(id);
  if (operand.storage == no_storage) {
    throw LoweringFailure{fmt::format("tensor '{}', an input of node '{}', is never computed",
                                      context_.tensor(id).name, writer_.node_text())};
  }
  const bool shared =
      !place_.residency.pin(operand.storage);  // another operand of this node has it
  operand.layout = layout;
  operand.partition = needed;
  const Storage& storage = place_.storages[operand.storage];
  operand.core_bytes = context_.slices_of(needed, storage.bytes);
  const bool fits = context_.fits(operand.core_bytes);
  if (storage.buffer == BufferId::none && fits) place_.transfers.load(operand.storage, needed);
  if (shared && storage.buffer != BufferId::none) {
    prepare_beside(operand);
    return operand;
  }
  if (storage.buffer != BufferId::none &&
      !satisfies(place_.storages.held_as(operand.storage, id), needed, context_.cores)) {
    if (!fits || !place_.transfers.repartition(operand.storage, needed)) {
      place_.residency.spill(operand.storage, Spill::Cause::rearranged);
    }
  }
  if (storage.layout != layout) place_.transfers.convert_layout(operand.storage, layout);
  operand.buffer = storage.buffer;
  operand.streamed = operand.buffer == BufferId::none;
  return operand;
}

// One tensor as two operands (x times its own transpose): the first one's buffer must stay as it
// is, so the second gets what it needs in a buffer of its own, or through DDR.
void Operands::prepare_beside(Operand& operand) {
  const Storage& storage = place_.storages[operand.storage];
  operand.buffer = storage.buffer;
  const Partition& needed = operand.partition;
  if (!satisfies(place_.storages.held_as(operand.storage, operand.tensor), needed,
                 context_.cores)) {
    operand.buffer = context_.fits(operand.core_bytes)
                         ? place_.transfers.exchange(operand.storage, storage.buffer, needed)
                         : BufferId::none;
    operand.temporary = operand.buffer != BufferId::none;
  }
  if (operand.buffer != BufferId::none && storage.layout != operand.layout) {
    const BufferId whole = operand.buffer;
    operand.buffer = place_.transfers.convert(operand.storage, whole, operand.core_bytes, needed,
                                              operand.layout);
    if (operand.temporary) place_.residency.release(whole);
    operand.temporary = operand.buffer != BufferId::none;
  }
  operand.streamed = operand.buffer == BufferId::none;
  if (operand.streamed) place_.ddr.write_back(operand.storage, Spill::Cause::rearranged);
}

Operand Operands::prepare_constant(TensorId id, const Partition& needed, Layout layout,
                                   Movement movement) {
  Operand operand;
  operand.tensor = id;
  operand.layout = layout;
  const std::uint64_t bytes = context_.bytes_of(id);
  place_.constants.count(id, context_.ddr_bytes(id, bytes), context_.ddr_bytes(id, bytes));
  operand.partition = needed;
  operand.core_bytes = context_.slices_of(needed, bytes);
  if (context_.tensor(id).elements() <= 1) return operand;
  operand.streamed = !context_.fits(operand.core_bytes);
  if (operand.streamed) return operand;
  operand.buffer = place_.constants.keep(id, 0, 1, operand.core_bytes);
  operand.hoisted = operand.buffer != BufferId::none;
  if (operand.hoisted) return operand;
  operand.buffer = place_.residency.try_allocate(operand.core_bytes, Lifetime::tile);
  operand.streamed = operand.buffer == BufferId::none;
  operand.temporary = !operand.streamed;
  if (operand.temporary) place_.transfers.load_constant(operand, movement);
  return operand;
}

NodeResult Operands::make_result(TensorId tensor, const Partition& partition, Layout layout) {
  NodeResult result;
  result.storage = place_.storages.make(tensor, partition, layout);
  result.core_bytes = context_.slices_of(partition, place_.storages[result.storage].bytes);
  place_.residency.pin(result.storage);
  return result;
}

void Operands::place_result(NodeResult& result) {
  const bool fits = context_.fits(result.core_bytes);
  if (fits) result.buffer = place_.residency.try_allocate(result.core_bytes, Lifetime::tensor);
  result.streamed = result.buffer == BufferId::none;
  if (!result.streamed) return;
  place_.ddr.begin_spill(result.storage, fits ? Spill::Cause::no_room : Spill::Cause::too_large);
}

// An output of the graph goes to DDR as soon as it is there: waiting would only hold its place.
void Operands::keep_result(const NodeResult& result) {
  Storage& storage = place_.storages[result.storage];
  storage.in_ddr = result.streamed;
  storage.ddr_layout = storage.leaves_flat() ? Layout::flat : storage.layout;
  if (result.buffer != BufferId::none) {
    place_.residency.keep(result.storage, result.buffer);
    // Among several devices it would stand in the queue before what another device waits for.
    const bool alone = context_.options.slices < 2;
    if (alone && storage.output_uses > 0 && storage.layout == Layout::flat) {
      place_.ddr.write_back(result.storage, Spill::Cause::pushed_out);
    }
  }
  place_.residency.drop_if_unused(result.storage);
}

void Operands::finish(Operand& operand) {
  if (operand.temporary) place_.residency.release(operand.buffer);
  if (operand.storage == no_storage) return;
  // A node that takes a tensor twice is one of its consumers.
  if (finished_at_ != writer_.position()) finished_.clear();
  finished_at_ = writer_.position();
  if (finished_.insert(operand.tensor).second) place_.residency.use_done(operand.tensor);
}

CoreShapes Operands::shapes_of(const Operand& operand, const CoreBytes& core_bytes) const {
  CoreShapes shapes;
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    shapes.push_back(read_of(operand, core, core_bytes[core]).shape);
  }
  return shapes;
}

}  // namespace npuscope::npu::nsp
