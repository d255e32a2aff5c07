// What a model costs, in closed form from its sizes alone: the yardstick for whatever counts the
// same on the graph.
//
//   summarize(amber_7b, {.batch = 1, .sequence = 32, .context = 128})
//     parameters 6,738,415,616   multiply_accumulates 208,436,985,856
#pragma once

#include <cstdint>

#include "npuscope/base/result.hpp"
#include "npuscope/npu/models/architecture.hpp"

namespace npuscope::npu {

// Rows that a matrix engine computes at once: products are padded to a multiple.
inline constexpr std::uint64_t padded_row_multiple = 32;

struct ModelSummary {
  std::uint64_t parameters = 0;                   // a table used twice (tied) counts once
  std::uint64_t weight_bytes_float16 = 0;         // two bytes a parameter
  std::uint64_t retained_bytes_float16 = 0;       // key/value state of all layers
  std::uint64_t multiply_accumulates = 0;         // of all matrix products of one inference
  std::uint64_t padded_multiply_accumulates = 0;  // with every product's rows padded

  double weight_mebibytes_float16() const { return double(weight_bytes_float16) / (1 << 20); }
  double retained_mebibytes_float16() const { return double(retained_bytes_float16) / (1 << 20); }
};

// Usage errors: those of validate(), and counts that do not fit in 63 bits.
Result<ModelSummary> summarize(const Architecture& architecture, const InputSizes& sizes);

}  // namespace npuscope::npu
