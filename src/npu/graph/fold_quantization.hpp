// Quantised operators as compilers of quantised networks execute them: QuantizeLinear and
// DequantizeLinear around an operator say only how its integers are meant.
//
//   x int8 -DequantizeLinear-> x' -Conv-> y' -Relu-> z' -QuantizeLinear-> z int8
//   becomes
//   x int8 -Conv-> y' int8 -Relu-> z int8
//
// What the integers mean stays in Tensor::scale.
#pragma once

#include "npu/graph/graph.hpp"

namespace npuscope::npu {

// `host_quantizes`: inputs are quantised, and outputs made floating point, before and after the
// graph, whose inputs and outputs are then the integers.
Graph fold_quantization(const Graph& graph, bool host_quantizes);

// Relu and Clip behind the sum of two tensors of integers go away: whoever brings the sum to its
// scale cuts it off there.
Graph without_limits_of_sums(Graph graph);

// Sets producers and consumers anew, after nodes have been put in or taken out.
void connect(Graph& graph);

}  // namespace npuscope::npu
