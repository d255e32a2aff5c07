// What did not fit on the chip: data written to DDR to make room (spill) and read back (fill), what
// that costs and how much of it is hidden.
//
//   spill   281 instances, 82.9 MB, 2,132,558 cycles of work, 555,491 of them exposed
//   fill    262 instances, 86.8 MB, 979,837 cycles of work, 338,345 exposed
//   tensors  of "Conv_12": written by 2 spills, read back by 2 fills 1,204,711 cycles later
//
// A spill is an op of kind @Spill, or q:: with Spill in its name; on Cloud AI 100 a copy from VTCM
// whose data a copy to VTCM needs. A fill is @Fill, q:: with Fill (where it is a transfer), or such
// a copy to VTCM. Exposed: its share of the dominant path where the trace has one. Alone: time in
// which it runs and nothing else works.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/traffic.hpp"

namespace npuscope::analysis {

struct SpillSide {
  std::uint32_t ops = 0;
  std::uint64_t instances = 0;  // spans of work
  RouteBytes bytes;
  std::int64_t work = 0;                       // ticks, summed over spans
  std::optional<std::int64_t> exposed;         // ticks of the dominant path
  std::optional<std::int64_t> hidden() const;  // work less exposed, on the same spans
  std::int64_t waited = 0;                     // ticks of waits for its transfers
  std::int64_t alone = 0;                      // ticks
};

// A tensor that was written to DDR, perhaps in parts, and read back, perhaps more than once.
struct SpilledTensor {
  OpId op = OpId::none;  // that makes it: the spill, or the op that joins its parts without running
  std::uint32_t spills = 0, fills = 0;  // ops
  std::int64_t written = 0, read = 0;   // bytes
  std::optional<std::int64_t> away;     // ticks from the last spill's end to the first fill's start
};

struct Spill {
  SpillSide spill, fill;
  std::int64_t waited_alone = 0;                          // ticks: waited for, and nothing works
  std::vector<OpId> ops;                                  // all that ran of both sides
  std::vector<SpilledTensor> tensors;                     // with both sides; most bytes first
  std::uint64_t unpaired_fills = 0, unpaired_spills = 0;  // ops
  bool has_edges = false;                                 // without them nothing can be paired

  bool any() const { return spill.ops + fill.ops > 0; }
};

}  // namespace npuscope::analysis
