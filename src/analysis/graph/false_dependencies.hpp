// Dependencies that nothing in the model asks for, with the evidence:
//
//   shared tensors   constants or scratch of some size that several custom ops on independent
//                    branches use: a compiler that makes one of equal constants makes one scratch
//                    of several, and whoever writes to it orders the branches
//     $Const_17  65,536 bytes   GdnMerge_0 then GdnMerge_1   waited 1,200 cycles
//   reuse            ops that wait for another one only because its memory becomes theirs
//     MatMul_3 (HMX) waits for Softmax_2 (HVX)   waited 800 cycles
//
// What waited counts: its unit was free, its inputs were there, and it began when the other one
// had ended. Constants that are small, or read by kernels of the vendor's own (weights, biases,
// control constants), are not reported but counted.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ops/op_times.hpp"
#include "npuscope/analysis/graph.hpp"

namespace npuscope::analysis {

// Smaller tensors control a kernel rather than hold its data.
constexpr std::int64_t min_scratch_bytes = 4096;

enum class SharingVerdict : std::uint8_t {
  waited,     // the second could have begun before the first had ended, and did not
  unit_busy,  // they never overlap, but the second had no free unit or input either
  untimed,    // they did not run in this trace: the graph alone cannot tell
};

struct SharedTensor {
  std::uint32_t tensor = 0;
  std::uint64_t consumers = 0;
  OpId first = OpId::none, second = OpId::none;  // of independent branches, by time
  SharingVerdict verdict = SharingVerdict::untimed;
  std::int64_t waited = 0;           // of the second, ticks
  bool ordered_by_compiler = false;  // an order or reuse edge leads from the first to the second
};

struct SharedTensors {
  std::vector<SharedTensor> findings;  // by what they cost, then by size
  // Shared tensors that are no finding, by the first reason that holds.
  std::uint64_t small = 0, read_only = 0, dependent = 0, overlapping = 0;
  std::uint64_t not_tried = 0;  // pairs beyond the number that is tried
};

SharedTensors shared_tensors(const Profile& profile, const OpGraph& graph, const OpTimes& times);

struct ReuseWait {
  OpId op = OpId::none, waits_for = OpId::none;
  std::int64_t ready = 0;   // when its unit and all its inputs were there
  std::int64_t waited = 0;  // ticks
};

struct ReuseWaits {
  std::vector<ReuseWait> waits;  // the longest first
  std::int64_t sum = 0;          // over ops; waits of different units may be at once
  std::int64_t active = 0;       // when at least one op waited so
  std::uint64_t edges = 0;       // of kind reuse between ops that ran
  std::uint64_t not_kept = 0;    // whose second op began before the first had ended
};

ReuseWaits reuse_waits(const OpGraph& graph, const OpTimes& times);

// Whether a kernel is the vendor's own by its name and so only reads its constants: "q::…", "aic…",
// "element…", or the name of a usual operator.
bool is_known_kernel(std::string_view kind);

}  // namespace npuscope::analysis
