// How long the device sets a network up before its first inference: its threads, and the constants
// that are to stay in VTCM.
#pragma once

#include "formats/qaic/qpc/program.hpp"
#include "npu/nsp/simulate/time.hpp"
#include "npu/nsp/target/target.hpp"

namespace npuscope::npu::nsp {

// Reading the constants alone; all cores at once, each device from its own DDR.
double seconds_of_hoisting(const qaic::Program& program, const Target& target);

inline Picoseconds set_up_time(const qaic::Program& program, const Target& target) {
  return from_seconds(target.activation_s + seconds_of_hoisting(program, target));
}

}  // namespace npuscope::npu::nsp
