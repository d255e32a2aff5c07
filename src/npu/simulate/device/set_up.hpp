// How long the device sets a network up before its first inference: its threads, and the constants
// that are to stay in VTCM.
#pragma once

#include "npu/simulate/time.hpp"
#include "npuscope/formats/qaic/program.hpp"
#include "npuscope/npu/target/target.hpp"

namespace npuscope::npu {

// Reading the constants alone; all cores at once, each device from its own DDR.
double seconds_of_hoisting(const qaic::Program& program, const Target& target);

inline Picoseconds set_up_time(const qaic::Program& program, const Target& target) {
  return from_seconds(target.activation_s + seconds_of_hoisting(program, target));
}

}  // namespace npuscope::npu
