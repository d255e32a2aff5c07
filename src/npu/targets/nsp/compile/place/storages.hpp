// Place, split and remaining uses of each tensor's bytes on the device.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/targets/nsp/compile/place/strips.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"
#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

namespace npuscope::npu::nsp {

// The pieces in which a tensor in VTCM comes about, so that the operator after it can begin with
// the first while the rest is still being made: HVX works on what the HMX has finished already.

struct Pieces {
  std::vector<std::vector<std::uint64_t>> core_bytes;  // by piece, on each core
  // So many elements that follow one another are never in two pieces, and the pieces are in the
  // order of the elements; 1: any elements in any order.
  std::uint64_t row_elements = 1;
  std::uint64_t rows = 1, columns = 1;  // how often whoever made them cut the rows, the columns
  bool columns_are_last = false;        // of the dimensions; else they are channels
  bool bands = false;  // one after the other: rows of images, with all their channels
  bool operator==(const Pieces&) const = default;
};

// The pieces of `pieces` that have bytes [begin, end) of what one core holds.
BufferPart part_of_bytes(const Pieces& pieces, std::uint32_t core, std::uint64_t begin,
                         std::uint64_t end);

// Rows of images, in so many even parts.
Pieces bands_of(const CoreBytes& core_bytes, std::uint64_t count, DataType type);

// Neighbours joined, so that `count` are left.
Pieces joined(const Pieces& pieces, std::uint64_t count);

// Into how many tiles whole pieces make, about as many as are wanted.
std::uint64_t tiles_along(const Pieces& pieces, std::uint64_t wanted);
// Of one piece of a tensor with that partition, which has so many bytes on each core.
CoreShapes piece_shapes(const Pieces& pieces, const Partition& partition,
                        const CoreBytes& core_bytes, DataType type);

// Collects the pieces of a result while its tiles are written.
class PieceWriter {
 public:
  // Of a result that is cut into so many rows, each into so many columns.
  PieceWriter(const std::vector<std::uint64_t>& core_bytes, std::uint64_t rows,
              std::uint64_t columns, std::uint64_t row_elements, bool columns_are_last = true);
  // The pieces are rows of images.
  void are_bands() { pieces_.bands = true; }
  // The bytes of piece `index`, given again for each task that has a share in making it.
  BufferPart piece(std::uint64_t index, const std::vector<std::uint64_t>& core_bytes);
  // Null when there is only one, or too many to tell apart.
  std::shared_ptr<const Pieces> pieces() const;

 private:
  std::vector<std::uint64_t> all_;
  Pieces pieces_;
};

enum class Layout : std::uint8_t { flat, d32, weights_d32 };

using StorageId = std::uint32_t;
inline constexpr StorageId no_storage = ~StorageId{0};

// One tensor's bytes on the device, shared by all its views (reshapes).
struct Storage {
  std::uint64_t bytes = 0;
  DataType type = DataType::undefined;
  TensorId made_as = TensorId::none;  // which says how it lies in DDR
  Partition partition;
  Layout layout = Layout::flat;      // in VTCM
  BufferId buffer = BufferId::none;  // in VTCM
  bool in_ddr = false;               // a valid copy lies in DDR
  Layout ddr_layout = Layout::flat;
  bool host_input = false;               // written there by the host
  std::shared_ptr<const Pieces> pieces;  // of what is in the buffer; null: one
  bool of_vectors = false;  // made on HVX: where in pieces, the HMX can begin with the first
  Strips strips;            // the same on an HTP
  static constexpr std::size_t never_spilled = ~std::size_t{0};
  std::size_t spill = never_spilled;  // the latest entry of the log
  TaskNeeds ddr_writers;              // of each queue the last, which implies those before it
  std::int64_t uses = 0;              // consumers still to come, graph outputs included
  std::int64_t output_uses = 0;       // graph outputs among them: a copy in DDR serves those
  std::vector<TensorId> views;

  // Of an output of the graph that is stored tile by tile: the host takes it flat.
  bool leaves_flat() const { return output_uses > 0 && layout == Layout::d32; }
  // Of a transfer to VTCM.
  Movement movement() const { return host_input ? Movement::host_input : Movement::fill; }
};

// All storages, by number and by tensor.
class Storages {
 public:
  explicit Storages(const CompileContext& context);

  StorageId make(TensorId tensor, Partition partition, Layout layout);
  // Of a constant, which lies in DDR, as it is in VTCM between two nodes that take it.
  StorageId make_copy(TensorId constant, std::uint64_t bytes);
  void add_view(StorageId id, TensorId view);
  Storage& operator[](StorageId id) { return storages_[id]; }
  const Storage& operator[](StorageId id) const { return storages_[id]; }
  StorageId of(TensorId tensor) const {
    return tensor == TensorId::none ? no_storage : storage_of_[std::uint32_t(tensor)];
  }
  // How often it is an output of the graph.
  std::int64_t outputs_of(TensorId tensor) const { return outputs_of_[std::uint32_t(tensor)]; }
  // The next node from `position` on that takes it.
  std::size_t next_use(StorageId id, std::size_t position) const;
  TrafficPurpose purpose_of_reading(StorageId id) const;
  TrafficPurpose purpose_of_writing(StorageId id) const;
  // In the view that `tensor` is of it.
  Partition held_as(StorageId id, TensorId tensor) const {
    return partition_in_view(storages_[id].partition, context_.tensor(tensor).shape);
  }

 private:
  bool is_retained(const Storage& storage) const;

  const CompileContext& context_;
  std::vector<Storage> storages_;
  std::vector<StorageId> storage_of_;     // by tensor
  std::vector<std::int64_t> outputs_of_;  // by tensor
  const std::vector<bool> retained_;      // by tensor
};

// Copies in DDR: stores to them, who reads and writes them, and which of them are spills.

// A spill while the program is made: its times are known when it is scheduled.
struct SpillLog {
  Spill spill;
  TaskIndex out = no_task;   // the first store
  TaskIndex back = no_task;  // the first load after it
  TaskIndex last = no_task;  // the last store or load: its place is free after that
};

class DdrCopies {
 public:
  DdrCopies(const CompileContext& context, TaskWriter& writer, Storages& storages)
      : context_(context),
        writer_(writer),
        storages_(storages),
        last_input_read_(context.cores, no_task) {}

  // Stores the buffer in DDR, unless a copy is there. `wanted_bytes`: size of the allocation that
  // it makes way for.
  void write_back(StorageId id, Spill::Cause cause, std::uint64_t wanted_bytes = 0);
  // Opens an entry of the spill log; none for an output of the graph.
  void begin_spill(StorageId id, Spill::Cause cause, std::uint64_t wanted_bytes = 0);
  // `shapes`: of the tile on each core; empty: a part of the outermost dimension.
  void store_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                  const CoreShapes& shapes = {}, const BufferPart& part = {});
  // So many bytes of one core, packed on their way where the tensor lies packed in DDR.
  TaskIndex store(StorageId id, std::uint32_t core, TensorId tensor, const Shape& shape,
                  std::uint64_t bytes, BufferId buffer, const BufferPart& part = {});
  // In which an output leaves: the first while the last comes about, none too small for a transfer.
  Pieces pieces_to_leave(StorageId id) const;
  // Records that a task of the current node reads the copy.
  void is_read(StorageId id, TaskIndex task);

  // By core: the last transfer from host inputs.
  const std::vector<TaskIndex>& last_input_read() const { return last_input_read_; }
  std::vector<SpillLog> take_log() { return std::move(log_); }

 private:
  void is_written(StorageId id, TaskIndex task);

  const CompileContext& context_;
  TaskWriter& writer_;
  Storages& storages_;
  std::vector<TaskIndex> last_input_read_;
  std::vector<SpillLog> log_;
};

// Buffers in VTCM for tensors (split over the cores or repeated on each) and tiles.
//
// Tensors whose slice is larger than two fifths of the VTCM stay in DDR and are streamed tile by
// tile; smaller ones stay in VTCM until their last use, or until something needed sooner pushes
// them out (spill).

using Lifetime = VtcmAllocator::Lifetime;

class Residency {
 public:
  // `bytes`: size of each core's VTCM without that of constants. Counts in `metrics`.
  Residency(const CompileContext& context, TaskWriter& writer, Storages& storages, DdrCopies& ddr,
            CompileMetrics& metrics, std::uint64_t bytes)
      : context_(context),
        writer_(writer),
        storages_(storages),
        ddr_(ddr),
        metrics_(metrics),
        vtcm_(bytes, context.target.shared_main_thread) {}

  // Spills unpinned tensors until the buffer fits; LoweringFailure when it never does.
  BufferId allocate(const CoreBytes& core_bytes, Lifetime lifetime);
  // The same, BufferId::none instead of a failure.
  BufferId try_allocate(const CoreBytes& core_bytes, Lifetime lifetime);
  void release(BufferId buffer);  // BufferId::none: no effect

  // Storages of the current node, never spilled for another. False: already pinned.
  bool pin(StorageId id) { return pinned_.insert(id).second; }
  void pin_only(std::set<StorageId> ids) { pinned_ = std::move(ids); }

  // Gives the storage its buffer.
  void keep(StorageId id, BufferId buffer);
  // Takes the buffer from the storage, for another.
  BufferId take_buffer(StorageId id);
  void use_done(TensorId tensor);
  void drop_if_unused(StorageId id);
  // Moves it from VTCM to DDR.
  void spill(StorageId id, Spill::Cause cause);
  // Spills the unpinned tensor with the farthest next use; false when there is none.
  bool evict_one();

  // The largest gap without the unpinned tensors.
  std::uint64_t largest_free_bytes() const;
  // Whether the finished program would also fit into a VTCM with so many bytes less.
  bool has_space_for(std::uint64_t bytes) const;

 private:
  const CompileContext& context_;
  TaskWriter& writer_;
  Storages& storages_;
  DdrCopies& ddr_;
  CompileMetrics& metrics_;
  VtcmAllocator vtcm_;
  std::vector<StorageId> resident_;  // storages with a buffer, oldest first
  std::set<StorageId> pinned_;
  std::uint64_t wanted_bytes_ = 0;  // of the last allocation that did not fit
};

}  // namespace npuscope::npu::nsp
