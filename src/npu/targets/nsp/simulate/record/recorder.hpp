// What the device writes down during one sampled inference: the statistics buffer of the program's
// level, and beside it, when asked for, what really happened.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "npu/targets/nsp/simulate/events.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"

namespace npuscope::npu::nsp {

// What performance counters can count (Target::PmuEvent::counts).
enum class PmuMetric : std::uint8_t {
  cycles,
  hmx_macs,
  hmx_cycles,
  hvx_cycles,
  dma_cycles,
  ddr_read_bytes,
  ddr_write_bytes,
  multicast_bytes,
  tasks,
  nothing,
};
inline constexpr std::size_t pmu_metrics = std::size_t(PmuMetric::nothing);
using PmuCounts = std::array<std::uint64_t, pmu_metrics>;

// The absolute UTIMER of a core. All cores' timers agree to within a few ticks.
class CoreTimer {
 public:
  CoreTimer(std::uint32_t kilohertz, std::uint64_t offset)
      : kilohertz_(kilohertz), offset_(offset) {}
  std::uint64_t ticks(Picoseconds time) const {
    constexpr std::int64_t per_millisecond = 1'000'000'000;
    const std::uint64_t whole = std::uint64_t(time.value / per_millisecond);
    const std::uint64_t rest = std::uint64_t(time.value % per_millisecond);
    return offset_ + whole * kilohertz_ + rest * kilohertz_ / per_millisecond;
  }

 private:
  std::uint64_t kilohertz_;
  std::uint64_t offset_;
};

// One execution of a task on one thread, as the machine saw it.
struct TaskExecution {
  std::uint32_t core = 0;  // of the network
  qaic::ThreadGroup group = qaic::ThreadGroup::hvx;
  std::uint32_t position = 0;  // in its queue
  TaskTruth truth;
  double wait_cycles = 0;  // the core's cycle counter
  double start_cycles = 0;
  double kernel_end_cycles = 0;
  double leave_cycles = 0;
  double nominal_cycles = 0;  // the kernel's, without jitter and waiting for memory
  bool synced = false;
  std::uint32_t waited_for = OpTraceRecord::nothing;
};

// Facts that all recorders of a run share.
struct RecordingContext {
  const qaic::Program& program;
  const Target& target;
  const SimulationOptions& options;
  std::uint64_t program_fingerprint = 0;     // for those whose buffers are kept
  std::vector<CoreTimer> timers;             // by physical core of an activation's devices
  std::vector<std::uint64_t> counter_bases;  // cycle counter at the start, by physical core
  // Place among the recorded tasks of its queue, by task; only at levels that record some of them.
  std::vector<std::uint32_t> record_positions;

  // Of the devices [first_device, first_device + devices) of a multi-device program; `program` is
  // then theirs together.
  RecordingContext(const qaic::Program& program, const Target& target,
                   const SimulationOptions& options, std::uint32_t first_device = 0,
                   std::uint32_t devices = 1);
};

class Recorder {
 public:
  Recorder(const RecordingContext& context, std::uint32_t activation, std::uint64_t inference);

  void thread_begin(std::uint32_t core, std::uint32_t thread, Picoseconds time, double cycles);
  void thread_end(std::uint32_t core, std::uint32_t thread, Picoseconds time, double cycles);
  void activation(std::uint32_t core, std::uint32_t thread, Picoseconds duration, double cycles);
  void port(std::uint32_t core, std::uint32_t thread, std::uint32_t port, Picoseconds wait_begin,
            Picoseconds wait_end, std::uint32_t poll_ticks, bool doorbell);
  void task(const TaskExecution& execution);
  // The asynchronous transfer of a DMA task, after task(); streaming cycles are those that the
  // engine was busy with it.
  void transfer(std::uint32_t core, std::uint32_t position, Picoseconds end,
                double streaming_cycles);

  // Call after the last thread_end, once.
  std::vector<std::byte> take_buffer() { return buffer_.take(); }
  std::vector<TaskTruth> take_truth() { return std::move(truth_); }
  std::vector<OpTraceRecord> take_op_trace() { return std::move(op_trace_); }

 private:
  using Counters = std::array<std::uint32_t, qaic::max_pmu_counters>;
  std::size_t index(std::uint32_t core, std::uint32_t thread) const {
    return std::size_t{core} * context_.program.threads_per_core() + thread;
  }
  const CoreTimer& timer(std::uint32_t core) const { return context_.timers[first_core_ + core]; }
  std::uint64_t counter(std::uint32_t core, double cycles) const {
    return context_.counter_bases[first_core_ + core] + std::uint64_t(cycles);
  }
  PmuCounts work_of(const TaskExecution& execution, std::uint64_t cycles) const;
  Counters counters(const PmuCounts& counts) const;
  std::uint32_t record_position(std::uint32_t task, std::uint32_t position) const {
    return context_.record_positions.empty() ? position : context_.record_positions[task];
  }
  void add_op(const TaskExecution& execution, const qaic::Task& task, std::uint64_t cycles,
              const Counters& counted_before);
  void add_to_op_trace(const TaskExecution& execution);
  qaic::StatsBufferWriter empty_buffer(std::uint32_t activation, std::uint64_t inference) const;
  void prepare_truth();
  void prepare_pmu();

  const RecordingContext& context_;
  std::uint32_t first_core_;
  qaic::StatsBufferWriter buffer_;
  std::size_t ports_ = 0;  // recorded
  std::array<PmuMetric, qaic::max_pmu_counters> pmu_metric_{};
  std::array<std::uint32_t, qaic::max_pmu_counters> pmu_divisor_{};
  std::vector<PmuCounts> pmu_;            // by core and thread
  std::vector<std::size_t> truth_begin_;  // by core and thread
  std::vector<TaskTruth> truth_;
  bool traces_ops_ = false;
  std::vector<OpTraceRecord> op_trace_;
};

// Size of the buffer that each inference of the program writes; 0 below level 40.
std::uint64_t stats_bytes(const qaic::Program& program);

// The recorders of one inference, one per device: each device writes a statistics buffer of its
// own. Cores and tasks are those of the joined program (program_slices.hpp); a recorder knows those
// of its device.
class DeviceRecorders {
 public:
  // `contexts`: of each device. All must outlive it.
  DeviceRecorders(const std::vector<std::unique_ptr<RecordingContext>>& contexts,
                  std::uint32_t activation, std::uint64_t inference);

  // Of a core of the joined program: its device's recorder, and its number there.
  Recorder& of(std::uint32_t core) { return recorders_[core / cores_]; }
  std::uint32_t own(std::uint32_t core) const { return core % cores_; }
  void task(TaskExecution& execution) {
    const std::uint32_t device = execution.core / cores_;
    execution.truth.task -= first_task_[device];
    execution.core -= device * cores_;
    recorders_[device].task(execution);
  }

  std::uint32_t devices() const { return std::uint32_t(recorders_.size()); }
  Recorder& device(std::uint32_t device) { return recorders_[device]; }

 private:
  std::uint32_t cores_;  // of a device
  std::vector<Recorder> recorders_;
  std::vector<std::uint32_t> first_task_;  // in the joined program, by device
};

}  // namespace npuscope::npu::nsp
