// The recorders of one inference, one per device: each device writes a statistics buffer of its
// own. Cores and tasks are those of the joined program (program_slices.hpp); a recorder knows those
// of its device.
#pragma once

#include <memory>
#include <vector>

#include "npu/nsp/simulate/record/recorder.hpp"

namespace npuscope::npu::nsp {

class DeviceRecorders {
 public:
  // `contexts`: of each device. All must outlive it.
  DeviceRecorders(const std::vector<std::unique_ptr<RecordingContext>>& contexts,
                  std::uint32_t activation, std::uint64_t inference);

  // As in Recorder.
  void thread_begin(std::uint32_t core, std::uint32_t thread, Picoseconds time, double cycles) {
    of(core).thread_begin(core % cores_, thread, time, cycles);
  }
  void thread_end(std::uint32_t core, std::uint32_t thread, Picoseconds time, double cycles) {
    of(core).thread_end(core % cores_, thread, time, cycles);
  }
  void activation(std::uint32_t core, std::uint32_t thread, Picoseconds duration, double cycles) {
    of(core).activation(core % cores_, thread, duration, cycles);
  }
  void port(std::uint32_t core, std::uint32_t thread, std::uint32_t port, Picoseconds wait_begin,
            Picoseconds wait_end, std::uint32_t poll_ticks, bool doorbell) {
    of(core).port(core % cores_, thread, port, wait_begin, wait_end, poll_ticks, doorbell);
  }
  void task(TaskExecution execution) {
    Recorder& recorder = of(execution.core);
    execution.truth.task -= first_task_[execution.core / cores_];
    execution.core %= cores_;
    recorder.task(execution);
  }
  void transfer(std::uint32_t core, std::uint32_t position, Picoseconds end,
                double streaming_cycles) {
    of(core).transfer(core % cores_, position, end, streaming_cycles);
  }

  std::uint32_t devices() const { return std::uint32_t(recorders_.size()); }
  Recorder& device(std::uint32_t device) { return recorders_[device]; }

 private:
  Recorder& of(std::uint32_t core) { return recorders_[core / cores_]; }

  std::uint32_t cores_;  // of a device
  std::vector<Recorder> recorders_;
  std::vector<std::uint32_t> first_task_;  // in the joined program, by device
};

}  // namespace npuscope::npu::nsp
