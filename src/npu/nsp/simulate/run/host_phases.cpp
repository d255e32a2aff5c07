#include "npu/nsp/simulate/run/host_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace npuscope::npu::nsp {

namespace {

std::int64_t whole_nanoseconds(Picoseconds time) { return std::llround(double(time.value) / 1e3); }

// Microseconds with all their nanoseconds.
std::string as_microseconds(std::int64_t nanoseconds) {
  const std::int64_t size = std::abs(nanoseconds);
  return fmt::format("{}{}.{:03}", nanoseconds < 0 ? "-" : "", size / 1000, size % 1000);
}

}  // namespace

// Both ends are rounded, so that what follows one another does not overlap.
void HostPhases::slice(const char* name, const SimulatedInference& inference, Picoseconds begin,
                       Picoseconds end) {
  const std::uint64_t track =
      std::uint64_t{inference.activation} * set_size_ + inference.number % set_size_ + 1;
  events_ += fmt::format(
      ",\n"
      R"({{"name": "{}", "cat": "host", "ph": "X", "pid": 1, "tid": {}, "ts": {}, "dur": {}, )"
      R"("args": {{"inference" : "{}", "activation" : "{}"}}}})",
      name, track, as_microseconds(whole_nanoseconds(begin)),
      as_microseconds(std::max<std::int64_t>(0, whole_nanoseconds(end) - whole_nanoseconds(begin))),
      inference.number, inference.activation);
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

}  // namespace npuscope::npu::nsp
