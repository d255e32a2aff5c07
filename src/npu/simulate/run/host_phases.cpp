#include "npu/simulate/run/host_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace npuscope::npu {

void HostPhases::slice(const char* name, const SimulatedInference& inference, Picoseconds begin,
                       Picoseconds end) {
  const std::uint64_t track =
      std::uint64_t{inference.activation} * set_size_ + inference.number % set_size_ + 1;
  events_ += fmt::format(
      ",\n"
      R"({{"name": "{}", "cat": "host", "ph": "X", "pid": 1, "tid": {}, "ts": {:.6f}, "dur": {:.6f}, )"
      R"("args": {{"inference" : "{}", "activation" : "{}"}}}})",
      name, track, double(begin.value) * 1e-6,
      double(std::max<std::int64_t>(0, end.value - begin.value)) * 1e-6, inference.number,
      inference.activation);
}

void HostPhases::add(const SimulatedInference& inference, std::int64_t device_begin_tick,
                     double timer_kilohertz) {
  if (!ticks_at_zero_) {
    ticks_at_zero_ = device_begin_tick -
                     std::llround(double(inference.device_begin.value) * timer_kilohertz * 1e-9);
  }
  slice("queue", inference, inference.queued, inference.taken);
  slice("prepare", inference, inference.taken, inference.prepared);
  slice("submit", inference, inference.prepared, inference.submitted);
  slice("send", inference, inference.submitted, inference.device_begin);
  slice("device", inference, inference.device_begin, inference.device_end);
  slice("complete", inference, inference.device_end, inference.awake);
  slice("post", inference, inference.awake, inference.finished);
}

std::string HostPhases::trace() const {
  if (!ticks_at_zero_) return {};
  return fmt::format(
      R"({{"otherData": {{"utimer_ticks_at_zero": "{}"}}, "traceEvents": [)"
      "\n"
      R"json({{"name": "process_name", "ph": "M", "pid": 1, "args": {{"name": "HOST_PROC (pid 1)"}}}}{})json"
      "\n]}}\n",
      *ticks_at_zero_, events_);
}

}  // namespace npuscope::npu
