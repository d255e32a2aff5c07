// Copies in DDR: stores to them, who reads and writes them, and which of them are spills.
#pragma once

#include "npu/nsp/compile/place/storages.hpp"
#include "npu/nsp/compile/tasks/task_writer.hpp"

namespace npuscope::npu::nsp {

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
