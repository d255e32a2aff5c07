// The host estimate's sums, which ONNX Runtime's csv has between the preparation of a graph and its
// executes:
//
//   0,BACKEND,187922,CYCLES,…,Simulated (Accelerator exec cycles),        one graph's estimate
//   0,BACKEND,160234,CYCLES,…,Simulated (Accelerator exec cycles (lower estimate)),
//   0,BACKEND,1538048,BYTES,…,Input Fill,
//
// Rows that only group others are written as times of 0; "Missing Ops" is a count of ops whatever
// its unit says.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/qnn/read/artifact_parts.hpp"
#include "formats/qnn/read/viewer.hpp"

namespace npuscope::qnn {

// The csv's cycles are so many more than from the first start to the last end of the trace.
inline constexpr std::int64_t cycles_around_estimate = 6;

struct EstimateRows {
  std::int64_t cycles = missing, lower = missing, upper = missing;
  std::int64_t microseconds = missing;  // rounded down
  // Bytes from and to DDR, by why they are moved.
  std::int64_t input_fill = missing, fill = missing, spill = missing, output_spill = missing;
  std::int64_t other_htp_fill = missing, other_htp_spill = missing;
  std::int64_t ops_without_estimate = missing;

  bool any() const { return cycles != missing; }
};

// Those in what a file says of a graph.
EstimateRows estimate_rows_of(const ViewerOutput& output);

// What the row of this label is for; none of most.
NumberRole role_of_estimate(std::string_view label);

}  // namespace npuscope::qnn
