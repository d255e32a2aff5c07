#include "npu/targets/nsp/compile/place/storages.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

namespace npuscope::npu::nsp {
namespace {

// Buffers with more are used whole: as many waits as pieces would cost more than waiting less
// gains.
constexpr std::uint64_t max_pieces = 64;

}  // namespace

BufferPart part_of_bytes(const Pieces& pieces, std::uint32_t core, std::uint64_t begin,
                         std::uint64_t end) {
  const std::uint32_t count = std::uint32_t(pieces.core_bytes.size());
  BufferPart part{0, count, count};
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t next = at + pieces.core_bytes[i][core];
    if (next <= begin) part.first = std::min(i + 1, count - 1);
    if (at < end) part.last = i + 1;
    at = next;
  }
  part.last = std::max(part.last, part.first + 1);
  return part;
}

Pieces bands_of(const CoreBytes& core_bytes, std::uint64_t count, DataType type) {
  Pieces pieces;
  pieces.rows = count;
  pieces.bands = true;
  for (std::uint64_t i = 0; i < count; ++i)
    pieces.core_bytes.push_back(even_bytes(core_bytes, i, count, type));
  return pieces;
}

Pieces joined(const Pieces& pieces, std::uint64_t count) {
  const std::uint64_t all = pieces.core_bytes.size();
  Pieces result;
  result.row_elements = pieces.row_elements;
  result.rows = pieces.rows;
  result.columns = pieces.columns;
  result.columns_are_last = pieces.columns_are_last;
  result.bands = pieces.bands;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto& bytes = result.core_bytes.emplace_back(pieces.core_bytes[0].size(), 0);
    for (std::uint64_t j = all * i / count; j < all * (i + 1) / count; ++j) {
      for (std::size_t core = 0; core < bytes.size(); ++core)
        bytes[core] += pieces.core_bytes[j][core];
    }
  }
  return result;
}

std::uint64_t tiles_along(const Pieces& pieces, std::uint64_t wanted) {
  const std::uint64_t all = pieces.core_bytes.size();
  std::uint64_t tiles = std::min(all, wanted);
  if (tiles < 2) return 1;
  while (all % tiles != 0) ++tiles;
  return tiles;
}

CoreShapes piece_shapes(const Pieces& pieces, const Partition& partition,
                        const CoreBytes& core_bytes, DataType type) {
  const bool along_last = pieces.columns_are_last && pieces.rows == 1 && pieces.columns > 1;
  const auto cores = std::uint32_t(core_bytes.size());
  CoreShapes shapes;
  for (std::uint32_t core = 0; core < cores; ++core) {
    Shape shape = slice_shape(partition, core, cores);
    std::uint64_t outer = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) outer *= std::uint64_t(shape[i]);
    const std::uint64_t elements = core_bytes[core] * 8 / std::max(bits_of(type), 1u);
    const std::uint64_t of_row = pieces.bands && shape.size() == 4 && shape[2] > 0
                                     ? std::uint64_t(shape[0] * shape[1] * shape[3])
                                     : 0;
    if (of_row > 0 && elements % of_row == 0) {
      shape[2] = std::int64_t(elements / of_row);
    } else if (along_last && !shape.empty() && outer > 0 && elements % outer == 0) {
      shape.back() = std::int64_t(elements / outer);
    } else {
      shape = part_of_shape(shape, core_bytes[core], type);
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

PieceWriter::PieceWriter(const std::vector<std::uint64_t>& core_bytes, std::uint64_t rows,
                         std::uint64_t columns, std::uint64_t row_elements, bool columns_are_last)
    : all_(core_bytes) {
  pieces_.row_elements = std::max<std::uint64_t>(row_elements, 1);
  pieces_.rows = rows;
  pieces_.columns = columns;
  pieces_.columns_are_last = columns_are_last;
  const std::uint64_t count = rows * columns;
  if (count > 1 && count <= max_pieces) {
    pieces_.core_bytes.assign(count, std::vector<std::uint64_t>(core_bytes.size(), 0));
  }
}

BufferPart PieceWriter::piece(std::uint64_t index, const std::vector<std::uint64_t>& core_bytes) {
  if (pieces_.core_bytes.empty()) return {};
  pieces_.core_bytes[index] = core_bytes;
  const auto count = std::uint32_t(pieces_.core_bytes.size());
  return {std::uint32_t(index), std::uint32_t(index) + 1, count};
}

std::shared_ptr<const Pieces> PieceWriter::pieces() const {
  if (pieces_.core_bytes.empty()) return nullptr;
  auto result = std::make_shared<Pieces>(pieces_);
  // The tiles' bytes are rounded; the last piece has what is left.
  for (std::size_t core = 0; core < all_.size(); ++core) {
    std::uint64_t left = all_[core];
    for (auto& piece : result->core_bytes) {
      piece[core] = &piece == &result->core_bytes.back() ? left : std::min(piece[core], left);
      left -= piece[core];
    }
  }
  return result;
}

Storages::Storages(const CompileContext& context)
    : context_(context),
      storage_of_(context.graph.tensors.size(), no_storage),
      outputs_of_(context.graph.tensors.size(), 0),
      retained_(context.options.retained_state
                    ? find_retained_state(context.graph)
                    : std::vector<bool>(context.graph.tensors.size(), false)) {
  for (TensorId output : context.graph.outputs) ++outputs_of_[std::uint32_t(output)];
}

StorageId Storages::make(TensorId id, Partition partition, Layout layout) {
  Storage storage;
  storage.bytes = context_.bytes_of(id);
  storage.type = context_.type_of(id);
  storage.made_as = id;
  storage.partition = std::move(partition);
  storage.layout = layout;
  storages_.push_back(std::move(storage));
  add_view(StorageId(storages_.size() - 1), id);
  return StorageId(storages_.size() - 1);
}

StorageId Storages::make_copy(TensorId constant, std::uint64_t bytes) {
  Storage storage;
  storage.bytes = bytes;
  storage.type = context_.type_of(constant);
  storage.made_as = constant;
  storage.in_ddr = true;
  storage.views = {constant};
  storages_.push_back(std::move(storage));
  return StorageId(storages_.size() - 1);
}

void Storages::add_view(StorageId id, TensorId view) {
  Storage& storage = storages_[id];
  storage_of_[std::uint32_t(view)] = id;
  storage.views.push_back(view);
  const std::int64_t outputs = outputs_of(view);
  storage.output_uses += outputs;
  storage.uses += std::int64_t(context_.tensor(view).consumers.size()) + outputs;
}

std::size_t Storages::next_use(StorageId id, std::size_t position) const {
  std::size_t next = std::numeric_limits<std::size_t>::max();
  for (TensorId view : storages_[id].views) {
    const auto& consumers = context_.tensor(view).consumers;  // in the order of the nodes
    const auto at = std::ranges::lower_bound(consumers, NodeId(position));
    if (at != consumers.end()) next = std::min(next, std::size_t(*at));
  }
  return next;
}

bool Storages::is_retained(const Storage& storage) const {
  return std::ranges::any_of(storage.views,
                             [&](TensorId view) { return retained_[std::size_t(view)]; });
}

TrafficPurpose Storages::purpose_of_reading(StorageId id) const {
  const Storage& storage = storages_[id];
  if (!storage.host_input) return TrafficPurpose::spill;
  return is_retained(storage) ? TrafficPurpose::retained_state : TrafficPurpose::network_input;
}

TrafficPurpose Storages::purpose_of_writing(StorageId id) const {
  const Storage& storage = storages_[id];
  if (storage.output_uses == 0) return TrafficPurpose::spill;
  return is_retained(storage) ? TrafficPurpose::retained_state : TrafficPurpose::network_output;
}

void DdrCopies::write_back(StorageId id, Spill::Cause cause, std::uint64_t wanted_bytes) {
  Storage& storage = storages_[id];
  if (storage.in_ddr) return;
  begin_spill(id, cause, wanted_bytes);
  const Pieces pieces = pieces_to_leave(id);
  const auto count = std::uint32_t(pieces.core_bytes.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const CoreBytes& bytes = pieces.core_bytes[i];
    const CoreShapes shapes =
        count > 1 ? piece_shapes(pieces, storage.partition, bytes, storage.type) : CoreShapes{};
    store_tile(id, storage.buffer, bytes, shapes, {i, i + 1, count});
  }
  storage.in_ddr = true;
  storage.ddr_layout = storage.layout;
}

void DdrCopies::begin_spill(StorageId id, Spill::Cause cause, std::uint64_t wanted_bytes) {
  Storage& storage = storages_[id];
  if (storages_.purpose_of_writing(id) != TrafficPurpose::spill) return;
  storage.spill = log_.size();
  SpillLog entry;
  entry.spill.tensor = context_.tensor(storage.views[0]).name;
  entry.spill.bytes = storage.bytes;
  entry.spill.bytes_of_core = largest(context_.slices_of(storage.partition, storage.bytes));
  entry.spill.cause = cause;
  entry.spill.node = writer_.node_text();
  entry.spill.wanted_bytes = wanted_bytes;
  log_.push_back(std::move(entry));
}

// Of a repeated tensor every core writes its part.
void DdrCopies::store_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                           const CoreShapes& shapes, const BufferPart& part) {
  const Storage& storage = storages_[id];
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    const std::uint64_t all = core_bytes[core];
    const std::uint64_t bytes =
        storage.partition.axis < 0 ? even_bytes(all, core, context_.cores, storage.type) : all;
    if (bytes == 0) continue;
    const Shape& shape = shapes.empty() ? context_.slice_of(storage.partition, core) : shapes[core];
    is_written(id, store(id, core, storage.views[0], shape, bytes, buffer, part));
  }
}

Pieces DdrCopies::pieces_to_leave(StorageId id) const {
  constexpr std::uint64_t min_bytes = 128 * 1024, usual_pieces = 4;
  const Storage& storage = storages_[id];
  Pieces whole;
  whole.core_bytes = {context_.slices_of(storage.partition, storage.bytes)};
  const bool split = context_.cores == 1 || storage.partition.axis >= 0;
  if (storage.pieces == nullptr || storage.output_uses == 0 || !split) return whole;
  const std::uint64_t worth = std::min(largest(whole.core_bytes[0]) / min_bytes, usual_pieces);
  const std::uint64_t count = tiles_along(*storage.pieces, worth);
  return count > 1 ? joined(*storage.pieces, count) : whole;
}

TaskIndex DdrCopies::store(StorageId id, std::uint32_t core, TensorId tensor, const Shape& shape,
                           std::uint64_t bytes, BufferId buffer, const BufferPart& part) {
  const Storage& storage = storages_[id];
  const DataType packed = context_.packed_type(storage.made_as);
  const std::uint64_t moved = context_.ddr_bytes(storage.made_as, bytes);
  const StringId name = writer_.intern(context_.tensor(tensor).name);
  TaskSpec spec = writer_.dma_task(core, copy_from_vtcm, name, tensor, shape, moved, packed);
  spec.ddr_write = moved;
  spec.write_purpose = storages_.purpose_of_writing(id);
  spec.movement = storage.output_uses > 0 ? Movement::output : Movement::spill;
  if (packed == DataType::undefined) return writer_.add(spec, {reads(buffer, core, part)});
  const TaskSpec pack = writer_.packing_task(core, packing_kernel(packed), name, tensor, shape,
                                             {bytes, context_.type_of(tensor)}, {moved, packed});
  return writer_.add(spec, {}, {{writer_.add(pack, {reads(buffer, core, part)}), true}});
}

void DdrCopies::is_read(StorageId id, TaskIndex task) {
  const Storage& storage = storages_[id];
  writer_.tasks().uses_ddr({task, id, false});
  if (storage.spill != Storage::never_spilled) {
    SpillLog& entry = log_[storage.spill];
    entry.last = task;
    if (entry.back == no_task) {
      entry.back = task;
      entry.spill.back_node = writer_.node_text();
    }
  }
  if (storage.host_input) last_input_read_[writer_.tasks().task(task).core] = task;
}

// A tensor is written to DDR in as many tiles as it takes, and were every tile read back to name
// them all, their number would grow with its square. Waits count the completed tasks of a queue, so
// one per queue is enough. DMA queues are reordered by when their tasks could start, but one core's
// stores of one tensor stay in order: when there are several, each starts as the task ends that
// made its tile, and those tasks share a queue that is not reordered.
void DdrCopies::is_written(StorageId id, TaskIndex task) {
  const TaskGraph& tasks = writer_.tasks();
  writer_.tasks().uses_ddr({task, id, true});
  if (storages_[id].spill != Storage::never_spilled) {
    SpillLog& entry = log_[storages_[id].spill];
    entry.last = task;
    if (entry.out == no_task) entry.out = task;
  }
  TaskNeeds& writers = storages_[id].ddr_writers;
  const auto same = std::ranges::find_if(writers, [&](const TaskNeed& writer) {
    return tasks.queue_of(writer.task) == tasks.queue_of(task);
  });
  if (same != writers.end()) {
    same->task = task;
  } else {
    writers.push_back({task, true});
  }
}

namespace {

// Tensors in VTCM at once, several times what real models need. Every allocation looks at all of
// them, so this keeps the cost of models with very many live tensors linear.
constexpr std::size_t max_resident = 512;

}  // namespace

BufferId Residency::try_allocate(const CoreBytes& core_bytes, Lifetime lifetime) {
  const std::uint64_t bytes = largest(core_bytes);
  if (lifetime == Lifetime::tensor && resident_.size() >= max_resident) evict_one();
  TaskGraph& tasks = writer_.tasks();
  do {
    if (auto allocation = vtcm_.allocate(bytes, tasks.next_buffer(), lifetime)) {
      for (std::uint32_t core = 0; core < context_.cores; ++core) {
        auto& peak = metrics_.cores[core].vtcm_bytes;
        if (core_bytes[core] > 0) peak = std::max(peak, allocation->address + core_bytes[core]);
      }
      return tasks.add_buffer(bytes, std::move(*allocation));
    }
    wanted_bytes_ = bytes;
  } while (evict_one());
  return BufferId::none;
}

BufferId Residency::allocate(const CoreBytes& core_bytes, Lifetime lifetime) {
  const BufferId buffer = try_allocate(core_bytes, lifetime);
  if (buffer != BufferId::none) return buffer;
  throw LoweringFailure{
      fmt::format("node '{}' needs {} bytes of VTCM at once, more than {} has left; use more cores "
                  "or a smaller "
                  "batch",
                  writer_.node_text(), largest(core_bytes), context_.target.name)};
}

void Residency::release(BufferId buffer) {
  if (buffer == BufferId::none) return;
  vtcm_.release(writer_.tasks().buffer_address(buffer));
}

void Residency::keep(StorageId id, BufferId buffer) {
  storages_[id].buffer = buffer;
  resident_.push_back(id);
}

BufferId Residency::take_buffer(StorageId id) {
  const BufferId buffer = std::exchange(storages_[id].buffer, BufferId::none);
  std::erase(resident_, id);
  return buffer;
}

void Residency::use_done(TensorId tensor) {
  const StorageId id = storages_.of(tensor);
  if (id == no_storage) return;
  --storages_[id].uses;
  drop_if_unused(id);
}

void Residency::drop_if_unused(StorageId id) {
  const Storage& storage = storages_[id];
  const std::int64_t needed = storage.in_ddr && storage.ddr_layout == Layout::flat
                                  ? storage.uses - storage.output_uses
                                  : storage.uses;
  if (needed <= 0 && storage.buffer != BufferId::none) release(take_buffer(id));
}

void Residency::spill(StorageId id, Spill::Cause cause) {
  ddr_.write_back(id, cause, cause == Spill::Cause::pushed_out ? wanted_bytes_ : 0);
  release(take_buffer(id));
  storages_[id].pieces.reset();
  storages_[id].strips = {};
}

bool Residency::evict_one() {
  StorageId victim = no_storage;
  std::size_t farthest = 0;
  for (StorageId id : resident_) {
    if (pinned_.contains(id)) continue;
    const std::size_t use = storages_.next_use(id, writer_.position());
    if (victim == no_storage || use > farthest) {
      victim = id;
      farthest = use;
    }
  }
  if (victim == no_storage) return false;
  spill(victim, Spill::Cause::pushed_out);
  return true;
}

std::uint64_t Residency::largest_free_bytes() const {
  std::vector<std::uint64_t> may_go;
  for (StorageId id : resident_) {
    if (pinned_.contains(id)) continue;
    may_go.push_back(writer_.tasks().buffer_address(storages_[id].buffer));
  }
  std::ranges::sort(may_go);
  return vtcm_.largest_gap_without(may_go);
}

// Transfers run ahead of the work by as many tiles as there is room for: were that taken away, time
// would be lost for traffic.
bool Residency::has_space_for(std::uint64_t bytes) const {
  constexpr std::uint64_t tiles_ahead = 4;
  return vtcm_.peak_live_bytes() + bytes + tiles_ahead * context_.tile_bytes <= vtcm_.capacity();
}

}  // namespace npuscope::npu::nsp
