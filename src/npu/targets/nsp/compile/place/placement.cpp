#include "npu/targets/nsp/compile/place/placement.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {
namespace {

// Below this, every core fetches its own copy: a multicast would cost more than it saves.
constexpr std::uint64_t own_copy_bytes = 64 * 1024;

}  // namespace

bool Transfers::load(StorageId id, const Partition& needed) {
  const CoreBytes core_bytes = context_.slices_of(needed, place_.storages[id].bytes);
  const BufferId buffer = place_.residency.try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return false;
  Storage& storage = place_.storages[id];
  storage.partition = needed;
  storage.layout = storage.ddr_layout;
  storage.pieces.reset();
  Operand whole;
  whole.tensor = storage.views[0];
  whole.storage = id;
  whole.partition = needed;
  if (needed.axis < 0 && context_.cores > 1 && storage.bytes > own_copy_bytes) {
    load_once_and_multicast(whole, storage.bytes, buffer, writer_.node_name(), {0, context_.cores});
  } else {
    load_parts(whole, core_bytes, buffer, writer_.node_name());
  }
  place_.residency.keep(id, buffer);
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
    const Storage& storage = place_.storages[operand.storage];
    spec.movement = storage.movement();
    spec.read_purpose = place_.storages.purpose_of_reading(operand.storage);
    place_.ddr.is_read(operand.storage,
                       writer_.add(spec, {writes(buffer, core)}, storage.ddr_writers));
  }
}

void Transfers::load_once_and_multicast(const Operand& operand, std::uint64_t bytes,
                                        BufferId buffer, StringId name, Senders senders) {
  const bool constant = operand.storage == no_storage;
  const std::uint64_t element = std::max(bits_of(context_.type_of(operand.tensor)) / 8, 1u);
  const std::uint64_t part = round_up(divide_up(bytes, senders.count), element);
  std::uint64_t left = bytes;
  for (std::uint32_t i = 0; i < senders.count && left > 0; ++i) {
    const std::uint32_t core = (senders.first + i) % context_.cores;
    const std::uint64_t own = std::min(part, left);
    left -= own;
    const Shape& whole = operand.partition.shape;
    TaskSpec copy = writer_.dma_task(core, copy_to_vtcm, name, operand.tensor, whole, own);
    copy.ddr_read = own;
    copy.movement = Movement::constant;
    if (constant) {
      load_for_all(copy, whole, buffer);
      continue;
    }
    const Storage& storage = place_.storages[operand.storage];
    copy.read_purpose = place_.storages.purpose_of_reading(operand.storage);
    copy.movement = storage.movement();
    place_.ddr.is_read(operand.storage, load_for_all(copy, whole, buffer, storage.ddr_writers));
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
  return operand.layout != (constant ? Layout::flat : place_.storages[operand.storage].ddr_layout);
}

BufferId Transfers::load_tile(const Operand& operand, std::uint64_t tile, std::uint64_t tiles) {
  const CoreBytes core_bytes =
      even_bytes(operand.core_bytes, tile, tiles, context_.type_of(operand.tensor));
  const BufferId buffer = place_.residency.allocate(core_bytes, Lifetime::tile);
  const StringId name = writer_.name_of_tile(tile, tiles);
  if (operand.partition.axis < 0 && context_.cores > 1 && core_bytes[0] > own_copy_bytes) {
    // Few for each tile, others for the next: every reader waits for all of them.
    const auto count = std::uint32_t(
        std::clamp<std::uint64_t>(core_bytes[0] / (2 * own_copy_bytes), 1, context_.cores));
    const auto first = std::uint32_t(tile * count % context_.cores);
    load_once_and_multicast(operand, core_bytes[0], buffer, name, {first, count});
  } else {
    load_parts(operand, core_bytes, buffer, name);
  }
  if (!converts_tiles(operand)) return buffer;
  const BufferId converted = place_.residency.allocate(core_bytes, Lifetime::tile);
  const std::string kernel =
      operand.layout == Layout::flat ? "aicconvertfromd32" : "aicconverttod32";
  convert({kernel, operand.tensor, operand.partition, core_bytes, buffer, converted, tile, tiles});
  place_.residency.release(buffer);
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
  const Storage& storage = place_.storages[id];
  if (!storage.leaves_flat()) return place_.ddr.store_tile(id, buffer, core_bytes, shapes);
  const BufferId flat = place_.residency.allocate(core_bytes, Lifetime::tile);
  convert(
      {"aicconvertfromd32", storage.views[0], storage.partition, core_bytes, buffer, flat, 0, 1},
      shapes);
  place_.ddr.store_tile(id, flat, core_bytes, shapes);
  place_.residency.release(flat);
}

// All-gather when every core needs all of it, else all-to-all: each core sends what others lack.
BufferId Transfers::exchange(StorageId id, BufferId from, const Partition& needed) {
  const Storage& storage = place_.storages[id];
  const CoreBytes held = context_.slices_of(storage.partition, storage.bytes);
  const CoreBytes core_bytes = context_.slices_of(needed, storage.bytes);
  const BufferId buffer = place_.residency.try_allocate(core_bytes, Lifetime::tensor);
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
  const BufferId buffer = exchange(id, place_.storages[id].buffer, needed);
  if (buffer == BufferId::none) return false;
  Storage& storage = place_.storages[id];
  place_.residency.release(storage.buffer);
  storage.buffer = buffer;
  storage.partition = needed;
  storage.pieces.reset();
  return true;
}

void Transfers::convert(const Conversion& conversion, const CoreShapes& shapes) {
  const auto& [kernel, tensor, partition, core_bytes, from, to, tile, tiles] = conversion;
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    const std::uint64_t bytes = core_bytes[core];
    if (bytes == 0) continue;
    TaskSpec spec = writer_.vector_task(core, kernel, writer_.name_of_tile(tile, tiles),
                                        context_.type_of(tensor));
    spec.output_bytes = bytes;
    const VectorSize all = vector_size(context_, tensor);
    VectorSize size = all.part(double(bytes) / double(std::max<std::uint64_t>(all.bytes, 1)));
    size.bytes = bytes;
    set_work(spec, vector_work(context_.target, kernel, size));
    spec.tensor = tensor;
    const Shape& whole = shapes.empty() ? context_.slice_of(partition, core) : shapes[core];
    writer_.works_on(spec, {writer_.in_vtcm(TaskOperand::Use::out, tensor, whole, bytes),
                            writer_.in_vtcm(TaskOperand::Use::in, tensor, whole, bytes)});
    writer_.add_compute(spec, std::span(&from, 1), to);
  }
}

BufferId Transfers::convert(StorageId id, BufferId from, const CoreBytes& core_bytes,
                            const Partition& partition, Layout layout) {
  const BufferId buffer = place_.residency.try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return buffer;
  const std::string kernel = layout == Layout::flat          ? "aicconvertfromd32"
                             : layout == Layout::weights_d32 ? "aicconvertweightstod32"
                                                             : "aicconverttod32";
  convert({kernel, place_.storages[id].views[0], partition, core_bytes, from, buffer, 0, 1});
  return buffer;
}

void Transfers::convert_layout(StorageId id, Layout layout) {
  Storage& storage = place_.storages[id];
  const BufferId from = storage.buffer;
  if (from == BufferId::none) return;  // each tile is converted after loading
  const CoreBytes core_bytes = context_.slices_of(storage.partition, storage.bytes);
  const BufferId buffer = convert(id, from, core_bytes, storage.partition, layout);
  if (buffer == BufferId::none) {
    return place_.residency.spill(
        id,
        Spill::Cause::rearranged);  // converted tile by tile on the way back
  }
  place_.residency.release(from);
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
  place_.constants.count(id, bytes, bytes);
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
    const std::uint64_t gap = place_.residency.largest_free_bytes();
    const std::uint64_t min_bytes = last ? VtcmAllocator::alignment : min_tile_bytes;
    std::uint64_t finer = 1;
    for (;; finer *= 2) {
      const auto now = sizes(finer);
      if (fit_together(now, gap)) {
        while (now.size() > few_tiles && place_.residency.evict_one()) continue;
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
                            place_.storages[each.storage].buffer != each.buffer;
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
    place_.residency.release(result->buffer);
    result->buffer = BufferId::none;
    result->streamed = true;
    place_.ddr.begin_spill(result->storage, Spill::Cause::no_room);
    return true;
  }
  if (operand == nullptr) return false;
  const BufferId buffer = operand->buffer;
  for (Operand& each : operands)
    if (each.buffer == buffer) stream(each);
  return true;
}

void TilePlanner::stream(Operand& operand) {
  if (operand.storage != no_storage && place_.storages[operand.storage].buffer != BufferId::none) {
    operand.temporary ? place_.ddr.write_back(operand.storage, Spill::Cause::no_room)
                      : place_.residency.spill(operand.storage, Spill::Cause::no_room);
  }
  if (operand.temporary) place_.residency.release(operand.buffer);
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
    sizes.insert(sizes.end(), place_.transfers.converts_tiles(operand) ? 2 : 1, bytes);
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

BufferId Transfers::place_tile(const NodeResult& result, const CoreBytes& core_bytes) {
  return result.streamed ? place_.residency.allocate(core_bytes, Lifetime::tile) : result.buffer;
}

std::size_t TilePlanner::tiles_at_once(const NodeResult& result) const {
  return place_.storages[result.storage].leaves_flat() ? 2 : 1;
}

}  // namespace npuscope::npu::nsp
