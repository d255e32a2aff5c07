// A call to a device that has sessions (an HTP): what it does before the graph and after it, each
// phase with a frequency of its own.
//
//   QNN DSP Execute  [------------------------------------------------------]
//   VTCM Acquire        [---]
//   Resource Power On          [----------]
//   Graph Execute                            [------ the machine ------]
//
// The first call, and any after a long rest, finds the device cold: power and VTCM take longer, and
// the graph runs at a lower clock.
#pragma once

#include <vector>

#include "formats/qaic/qpc/program.hpp"
#include "npu/targets/nsp/simulate/device/machine.hpp"
#include "npu/targets/nsp/simulate/events.hpp"
#include "npu/targets/nsp/target/target.hpp"

namespace npuscope::npu::nsp {

// How long the device sets a network up before its first inference: its threads, and the constants
// that are to stay in VTCM.

// Reading the constants alone; all cores at once, each device from its own DDR.
double seconds_of_hoisting(const qaic::Program& program, const Target& target);

inline Picoseconds set_up_time(const qaic::Program& program, const Target& target) {
  return from_seconds(target.activation_s + seconds_of_hoisting(program, target));
}

class DeviceSession {
 public:
  DeviceSession(const RecordingContext& context, Machine& machine, std::uint32_t activation)
      : context_(context), machine_(machine), activation_(activation) {}

  // The call begins; returns when the graph does.
  Picoseconds enter(std::uint64_t inference, Picoseconds now);
  // The graph has ended; returns when the call does.
  Picoseconds leave(Picoseconds graph_end);

  std::uint64_t inference() const { return inference_; }
  std::vector<SessionPhase> take_phases() { return std::move(phases_); }
  // Of the whole call.
  std::uint64_t ticks() const { return phases_.front().end_ticks - phases_.front().start_ticks; }

 private:
  struct Moment {
    std::uint64_t ticks = 0;
    std::uint64_t cycles = 0;
  };
  Moment moment(Picoseconds time) const;
  Picoseconds length(double seconds, std::uint32_t which) const;
  void add_phase(std::string_view name, Moment begin, Moment end);

  const RecordingContext& context_;
  Machine& machine_;
  std::uint32_t activation_;
  std::uint64_t inference_ = 0;
  bool used_ = false;
  Picoseconds ended_{};
  const SessionState* state_ = nullptr;
  std::vector<SessionPhase> phases_;
};

}  // namespace npuscope::npu::nsp
