// Place, split and remaining uses of each tensor's bytes on the device.
#pragma once

#include <memory>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/targets/nsp/compile/place/pieces.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"
#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

namespace npuscope::npu::nsp {

enum class Layout : std::uint8_t { flat, d32, weights_d32 };

using StorageId = std::uint32_t;
inline constexpr StorageId no_storage = ~StorageId{0};

// One tensor's bytes on the device, shared by all its views (reshapes).
struct Storage {
  std::uint64_t bytes = 0;
  DataType type = DataType::undefined;
  Partition partition;
  Layout layout = Layout::flat;      // in VTCM
  BufferId buffer = BufferId::none;  // in VTCM
  bool in_ddr = false;               // a valid copy lies in DDR
  Layout ddr_layout = Layout::flat;
  bool host_input = false;               // written there by the host
  std::shared_ptr<const Pieces> pieces;  // of what is in the buffer; null: one
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

// State that a network keeps from one inference to the next (-retained-state): an input X and the
// output X_RetainedState share memory on the device.

// By tensor of the graph, whether it is such an input or output.
std::vector<bool> find_retained_state(const Graph& graph);

// Copies in DDR: stores to them, who reads and writes them, and which of them are spills.

// A spill while the program is made: its times are known when it is scheduled.
struct SpillLog {
  Spill spill;
  TaskIndex out = no_task;   // the first store
  TaskIndex back = no_task;  // the first load after it
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
                  const CoreShapes& shapes = {});
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

}  // namespace npuscope::npu::nsp
