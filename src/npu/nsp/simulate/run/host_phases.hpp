// What the host saw of the sampled inferences, as a Chrome trace that can join the device's
// (opstats --host-trace): a slice per phase, and tracks on which inferences under way at once lie
// side by side.
//
//   queue     the application has it ready, no host thread is free
//   prepare   the host thread makes of its inputs what the device takes
//   submit    and hands it over
//   send      until the device begins: its input moves, the inference before it ends
//   device    the device executes it
//   complete  its outputs move, and a host thread sees that it is done
//   post      which makes of the outputs what the application takes
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "npu/nsp/simulate/simulate.hpp"

namespace npuscope::npu::nsp {

class HostPhases {
 public:
  // A host that keeps `set_size` inferences of each activation queued.
  explicit HostPhases(std::uint32_t set_size) : set_size_(set_size) {}

  // `device_begin_tick`: the tick at which the device began it.
  void add(const SimulatedInference& inference, std::int64_t device_begin_tick,
           double timer_kilohertz);
  // All of them as JSON, with the device's tick at host time 0. Empty when there are none.
  std::string trace() const;

 private:
  struct Slice {
    const char* name;
    std::uint64_t track;
    std::int64_t begin, duration;  // nanoseconds
    std::uint64_t inference;
    std::uint32_t activation;
  };
  void slice(const char* name, const SimulatedInference& inference, Picoseconds begin,
             Picoseconds end);

  std::uint32_t set_size_;
  std::vector<Slice> slices_;
  std::optional<std::int64_t> ticks_at_zero_;
};

}  // namespace npuscope::npu::nsp
