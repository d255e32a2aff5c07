#include "npu/targets/nsp/compile/place/transfers.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {
namespace {

// Below this, every core fetches its own copy: a multicast would cost more than it saves.
constexpr std::uint64_t own_copy_bytes = 64 * 1024;

}  // namespace

bool Transfers::load(StorageId id, const Partition& needed) {
  const CoreBytes core_bytes = context_.slices_of(needed, storages_[id].bytes);
  const BufferId buffer = residency_.try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return false;
  Storage& storage = storages_[id];
  storage.partition = needed;
  storage.layout = storage.ddr_layout;
  storage.pieces.reset();
  if (needed.axis < 0 && context_.cores > 1 && storage.bytes > own_copy_bytes) {
    load_once_and_multicast(id, buffer);
  } else {
    Operand whole;
    whole.tensor = storage.views[0];
    whole.storage = id;
    whole.partition = needed;
    load_parts(whole, core_bytes, buffer, writer_.node_name());
  }
  residency_.keep(id, buffer);
  return true;
}

void Transfers::load_constant(const Operand& operand, Movement movement) {
  load_parts(operand, operand.core_bytes, operand.buffer,
             writer_.intern(context_.tensor(operand.tensor).name), movement);
}

void Transfers::load_parts(const Operand& operand, const CoreBytes& core_bytes, BufferId buffer,
                           StringId name, Movement movement) {
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec = writer_.dma_task(core, copy_to_vtcm, name, operand.tensor,
                                     context_.slice_of(operand.partition, core), core_bytes[core]);
    spec.ddr_read = core_bytes[core];
    spec.movement = movement;
    if (operand.storage == no_storage) {
      writer_.add(spec, {writes(buffer, core)});
      continue;
    }
    const Storage& storage = storages_[operand.storage];
    spec.movement = storage.movement();
    spec.read_purpose = storages_.purpose_of_reading(operand.storage);
    ddr_.is_read(operand.storage, writer_.add(spec, {writes(buffer, core)}, storage.ddr_writers));
  }
}

void Transfers::load_once_and_multicast(StorageId id, BufferId buffer) {
  const Storage& storage = storages_[id];
  const std::uint64_t element = std::max(bits_of(storage.type) / 8, 1u);
  const std::uint64_t part = round_up(divide_up(storage.bytes, context_.cores), element);
  std::uint64_t left = storage.bytes;
  for (std::uint32_t core = 0; core < context_.cores && left > 0; ++core) {
    const std::uint64_t bytes = std::min(part, left);
    left -= bytes;
    const Shape& whole = storage.partition.shape;
    TaskSpec copy =
        writer_.dma_task(core, copy_to_vtcm, writer_.node_name(), storage.views[0], whole, bytes);
    copy.ddr_read = bytes;
    copy.read_purpose = storages_.purpose_of_reading(id);
    copy.movement = storage.movement();
    ddr_.is_read(id, load_for_all(copy, whole, buffer, storage.ddr_writers));
  }
}

TaskIndex Transfers::load_for_all(const TaskSpec& copy, const Shape& shape, BufferId buffer,
                                  TaskNeeds needs) {
  writer_.tasks().need(writes(buffer, copy.core), needs);
  const TaskIndex loaded = writer_.add(copy, {}, needs);
  TaskSpec send =
      writer_.dma_task(copy.core, multicast_vtcm, copy.name, copy.tensor, shape, copy.output_bytes);
  send.multicast = copy.output_bytes;
  writer_.add(send, writer_.written_everywhere(buffer), {{loaded, true}});
  return loaded;
}

bool Transfers::converts_tiles(const Operand& operand) const {
  const bool constant = operand.storage == no_storage;
  return operand.layout != (constant ? Layout::flat : storages_[operand.storage].ddr_layout);
}

BufferId Transfers::load_tile(const Operand& operand, std::uint64_t tile, std::uint64_t tiles) {
  const CoreBytes core_bytes =
      even_bytes(operand.core_bytes, tile, tiles, context_.type_of(operand.tensor));
  const BufferId buffer = residency_.allocate(core_bytes, Lifetime::tile);
  load_parts(operand, core_bytes, buffer, writer_.name_of_tile(tile, tiles));
  if (!converts_tiles(operand)) return buffer;
  const BufferId converted = residency_.allocate(core_bytes, Lifetime::tile);
  const std::string kernel =
      operand.layout == Layout::flat ? "aicconvertfromd32" : "aicconverttod32";
  convert({kernel, operand.tensor, operand.partition, core_bytes, buffer, converted, tile, tiles});
  residency_.release(buffer);
  return converted;
}

std::vector<BufferId> Transfers::load_tiles(std::span<const Operand> operands, std::uint64_t tile,
                                            std::uint64_t tiles, std::vector<BufferId>& reads) {
  std::vector<BufferId> own;
  for (const Operand& operand : operands) {
    reads.push_back(operand.streamed ? own.emplace_back(load_tile(operand, tile, tiles))
                                     : operand.buffer);
  }
  return own;
}

void Transfers::store_result_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                                  const CoreShapes& shapes) {
  const Storage& storage = storages_[id];
  if (!storage.leaves_flat()) return ddr_.store_tile(id, buffer, core_bytes, shapes);
  const BufferId flat = residency_.allocate(core_bytes, Lifetime::tile);
  convert(
      {"aicconvertfromd32", storage.views[0], storage.partition, core_bytes, buffer, flat, 0, 1},
      shapes);
  ddr_.store_tile(id, flat, core_bytes, shapes);
  residency_.release(flat);
}

// All-gather when every core needs all of it, else all-to-all: each core sends what others lack.
BufferId Transfers::exchange(StorageId id, BufferId from, const Partition& needed) {
  const Storage& storage = storages_[id];
  const CoreBytes held = context_.slices_of(storage.partition, storage.bytes);
  const CoreBytes core_bytes = context_.slices_of(needed, storage.bytes);
  const BufferId buffer = residency_.try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return buffer;
  const bool gather = needed.axis < 0;
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (held[core] == 0) continue;
    TaskSpec spec = writer_.dma_task(core, multicast_vtcm, writer_.node_name(), storage.views[0],
                                     context_.slice_of(storage.partition, core), held[core]);
    spec.multicast = gather ? held[core] : held[core] * (context_.cores - 1) / context_.cores;
    std::vector<BufferUse> uses{reads(from, core)};
    for (std::uint32_t to = 0; to < context_.cores; ++to) {
      if (core_bytes[to] > 0) uses.push_back(writes(buffer, to));
    }
    writer_.add(spec, uses);
  }
  return buffer;
}

bool Transfers::repartition(StorageId id, const Partition& needed) {
  const BufferId buffer = exchange(id, storages_[id].buffer, needed);
  if (buffer == BufferId::none) return false;
  Storage& storage = storages_[id];
  residency_.release(storage.buffer);
  storage.buffer = buffer;
  storage.partition = needed;
  storage.pieces.reset();
  return true;
}

void Transfers::convert(const Conversion& conversion, const CoreShapes& shapes) {
  const auto& [kernel, tensor, partition, core_bytes, from, to, tile, tiles] = conversion;
  constexpr auto vtcm = TaskOperand::Memory::vtcm;
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    const std::uint64_t bytes = core_bytes[core];
    if (bytes == 0) continue;
    TaskSpec spec = writer_.vector_task(core, kernel, writer_.name_of_tile(tile, tiles),
                                        context_.type_of(tensor));
    spec.output_bytes = bytes;
    spec.cycles = vector_cycles(context_.target, kernel, bytes);
    spec.tensor = tensor;
    const Shape& whole = shapes.empty() ? context_.slice_of(partition, core) : shapes[core];
    writer_.works_on(spec, {writer_.operand(TaskOperand::Use::out, vtcm, tensor, whole, bytes),
                            writer_.operand(TaskOperand::Use::in, vtcm, tensor, whole, bytes)});
    writer_.add_compute(spec, std::span(&from, 1), to);
  }
}

BufferId Transfers::convert(StorageId id, BufferId from, const CoreBytes& core_bytes,
                            const Partition& partition, Layout layout) {
  const BufferId buffer = residency_.try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return buffer;
  const std::string kernel = layout == Layout::flat          ? "aicconvertfromd32"
                             : layout == Layout::weights_d32 ? "aicconvertweightstod32"
                                                             : "aicconverttod32";
  convert({kernel, storages_[id].views[0], partition, core_bytes, from, buffer, 0, 1});
  return buffer;
}

void Transfers::convert_layout(StorageId id, Layout layout) {
  Storage& storage = storages_[id];
  const BufferId from = storage.buffer;
  if (from == BufferId::none) return;  // each tile is converted after loading
  const CoreBytes core_bytes = context_.slices_of(storage.partition, storage.bytes);
  const BufferId buffer = convert(id, from, core_bytes, storage.partition, layout);
  if (buffer == BufferId::none) {
    return residency_.spill(id,
                            Spill::Cause::rearranged);  // converted tile by tile on the way back
  }
  residency_.release(from);
  storage.buffer = buffer;
  storage.layout = layout;
  storage.pieces.reset();
}

}  // namespace npuscope::npu::nsp
