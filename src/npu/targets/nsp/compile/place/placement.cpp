#include "npu/targets/nsp/compile/place/placement.hpp"

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
    metrics_.cores[core].hoisted_bytes += core_bytes[core];
    auto& peak = metrics_.cores[core].vtcm_bytes;
    peak = std::max(peak, next_address_ + core_bytes[core]);
  }
  next_address_ += bytes;
  left_ -= bytes;
  kept_.emplace(std::tuple(id, part, parts), Kept{core_bytes, buffer});
  return buffer;
}

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

namespace {

// Rather than cut into smaller tiles, read again from DDR what could have stayed.
constexpr std::uint64_t min_tile_bytes = 64 * 1024;

// More tiles than this at once (a Concat of many parts) are given a VTCM without anything else that
// may go. Then tiles follow one another, and the free space is in few pieces: before the first,
// after the last, at the end where one did not fit, and around the weights.
constexpr std::size_t few_tiles = 8;
constexpr std::size_t max_free_pieces = 4;

// Whether each finds a place wherever those before it lie in the gap: the n-th stands at most among
// n pieces of free space, each too small for it only if smaller than it.
bool fit_together(const std::vector<std::uint64_t>& sizes, std::uint64_t gap) {
  std::uint64_t before = 0;
  const std::size_t limit = sizes.size() > few_tiles ? max_free_pieces : few_tiles;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint64_t size =
        round_up(std::max<std::uint64_t>(sizes[i], 1), VtcmAllocator::alignment);
    if (size > gap || before + std::min(i + 1, limit) * size > gap) return false;
    before += size;
  }
  return true;
}

}  // namespace

std::uint64_t TilePlanner::find_cuts(const TileSizes& sizes, std::span<Operand> operands,
                                     std::span<NodeResult> results) {
  if (sizes(1).empty()) return 1;
  for (bool last = false;;) {
    const std::uint64_t gap = residency_.largest_free_bytes();
    const std::uint64_t min_bytes = last ? VtcmAllocator::alignment : min_tile_bytes;
    std::uint64_t finer = 1;
    for (;; finer *= 2) {
      const auto now = sizes(finer);
      if (fit_together(now, gap)) {
        while (now.size() > few_tiles && residency_.evict_one()) continue;
        return finer;
      }
      if (largest(now) <= min_bytes || finer > max_tasks) break;
    }
    if (last) return finer;  // then allocation says what is missing
    last = !stream_largest(operands, results);
  }
}

bool TilePlanner::stream_largest(std::span<Operand> operands, std::span<NodeResult> results) {
  const TaskGraph& tasks = writer_.tasks();
  Operand* operand = nullptr;
  std::uint64_t max_bytes = 0;
  for (Operand& each : operands) {
    const bool taken_over = each.storage != no_storage && !each.temporary &&
                            storages_[each.storage].buffer != each.buffer;
    if (each.buffer == BufferId::none || taken_over || each.hoisted) continue;
    if (operand != nullptr && tasks.buffer_bytes(each.buffer) <= max_bytes) continue;
    operand = &each;
    max_bytes = tasks.buffer_bytes(each.buffer);
  }
  NodeResult* result = nullptr;
  for (NodeResult& each : results) {
    if (each.buffer == BufferId::none || each.in_place) continue;
    if ((operand != nullptr || result != nullptr) && tasks.buffer_bytes(each.buffer) <= max_bytes) {
      continue;
    }
    result = &each;
    max_bytes = tasks.buffer_bytes(each.buffer);
  }
  if (result != nullptr) {
    residency_.release(result->buffer);
    result->buffer = BufferId::none;
    result->streamed = true;
    ddr_.begin_spill(result->storage, Spill::Cause::no_room);
    return true;
  }
  if (operand == nullptr) return false;
  const BufferId buffer = operand->buffer;
  for (Operand& each : operands) {
    if (each.buffer == buffer) stream(each);
  }
  return true;
}

void TilePlanner::stream(Operand& operand) {
  if (operand.storage != no_storage && storages_[operand.storage].buffer != BufferId::none) {
    operand.temporary ? ddr_.write_back(operand.storage, Spill::Cause::no_room)
                      : residency_.spill(operand.storage, Spill::Cause::no_room);
  }
  if (operand.temporary) residency_.release(operand.buffer);
  operand.buffer = BufferId::none;
  operand.temporary = false;
  operand.streamed = true;
}

std::vector<std::uint64_t> TilePlanner::streamed_sizes(std::span<const Operand> operands,
                                                       std::uint64_t tiles) const {
  std::vector<std::uint64_t> sizes;
  for (const Operand& operand : operands) {
    if (!operand.streamed) continue;
    const std::uint64_t bytes = divide_up(largest(operand.core_bytes), tiles);
    sizes.insert(sizes.end(), transfers_.converts_tiles(operand) ? 2 : 1, bytes);
  }
  return sizes;
}

std::uint64_t TilePlanner::usual_tiles(std::span<const Operand> operands,
                                       std::span<const NodeResult> results) const {
  std::uint64_t tiles = 1;
  for (const Operand& operand : operands) {
    if (operand.streamed) tiles = std::max(tiles, writer_.tiles_for(largest(operand.core_bytes)));
  }
  for (const NodeResult& result : results) {
    if (result.streamed) tiles = std::max(tiles, writer_.tiles_for(largest(result.core_bytes)));
  }
  return tiles;
}

std::uint64_t TilePlanner::bytes_of_resident(std::span<const Operand> operands,
                                             std::uint64_t tiles) const {
  std::uint64_t bytes = 0;
  for (const Operand& operand : operands) {
    if (!operand.streamed) bytes += writer_.bytes_in(std::span(&operand.buffer, 1)) / tiles;
  }
  return bytes;
}

}  // namespace npuscope::npu::nsp
