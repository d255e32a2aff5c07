// Why bytes move between the device and its DDR: what a network must read and write, what it keeps,
// what the host and the profiler take, and what is moved only because VTCM was full.
//
//   Amber 7B, 32 tokens, 14 cores       read KB    write KB
//   constants                         12,912,224           0
//   retained state                        65,536      65,536
//   network input                              7           0
//   network output                             0          62
//   statistics                                 0       4,191
//   spill                                      0           0
//
// "Read minus constants" is no spill: here it is the state alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::npu::nsp {

enum class TrafficPurpose : std::uint8_t {
  constants,       // weights, tables
  retained_state,  // X and X_RetainedState (-retained-state)
  network_input,
  network_output,
  statistics,  // the profiler's own buffer
  spill,       // activations that VTCM had no room for
};
inline constexpr std::size_t traffic_purposes = 6;

constexpr std::string_view name_of(TrafficPurpose purpose) {
  constexpr std::array<std::string_view, traffic_purposes> names{
      "constants", "retained state", "network input", "network output", "statistics", "spill"};
  return names[std::size_t(purpose)];
}

struct Traffic {
  std::uint64_t read_bytes = 0;   // from DDR
  std::uint64_t write_bytes = 0;  // to DDR
};

struct PurposeTraffic {
  std::array<Traffic, traffic_purposes> of{};
  Traffic& operator[](TrafficPurpose purpose) { return of[std::size_t(purpose)]; }
  const Traffic& operator[](TrafficPurpose purpose) const { return of[std::size_t(purpose)]; }
  Traffic total() const {
    Traffic sum;
    for (const Traffic& each : of) {
      sum.read_bytes += each.read_bytes;
      sum.write_bytes += each.write_bytes;
    }
    return sum;
  }
};

// All cores together. What moves under no tensor's name is the statistics buffer.
struct TensorTraffic {
  std::string tensor;
  TrafficPurpose purpose = TrafficPurpose::constants;
  Traffic ddr;
  std::uint32_t cores = 0;  // that take part
};

// An activation that went to DDR because VTCM had no room for it.
struct Spill {
  enum class Cause : std::uint8_t {
    pushed_out,  // something that was needed sooner took its place
    too_large,   // its slice alone is beyond what a core keeps in VTCM
    no_room,     // when it was made, what else was in use left no room
    rearranged,  // it had to be split over the cores in another way, beside which it did not fit
  };
  std::string tensor;
  std::uint64_t bytes = 0;          // of the tensor, all cores
  std::uint64_t bytes_of_core = 0;  // of the core that holds most of it
  Cause cause = Cause::pushed_out;
  std::string node;                // that was being lowered
  std::uint64_t wanted_bytes = 0;  // of one core, for what took its place; 0: nothing did
  std::string back_node;           // for which it came back; empty: never
  // When the first of it left and came back, by the compiler's estimate from the inference's begin.
  double out_s = 0;
  double back_s = 0;
};

}  // namespace npuscope::npu::nsp
