// What the integers of quantised tensors stand for: real = (integer - zero point) * step. The
// scales stand in the model beside the tensors, as operands of QuantizeLinear, DequantizeLinear and
// the operators on quantised tensors; operators that only move values keep them.
//
//   x  uint8  --DequantizeLinear(x, 0.5, 128)-->  …     scales[x] = {0.5, 128}
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu {

struct TensorScale {
  double step = 1;  // finite, above 0
  std::int64_t zero_point = 0;
};

// By tensor. None for tensors that are not quantised, or by channel, or by scales that are only
// known when the model runs.
std::vector<std::optional<TensorScale>> tensor_scales(const Graph& graph);

}  // namespace npuscope::npu
