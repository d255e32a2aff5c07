#include "npu/tune/model_facts.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "npu/targets/nsp/compile/tasks/packed.hpp"

namespace npuscope::npu {

ModelFacts facts_of(const Graph& graph) {
  ModelFacts facts;
  std::set<std::string_view> operators;
  for (const Node& node : graph.nodes) operators.insert(node.op);
  const auto has = [&](const char* op) { return operators.contains(op); };
  const bool attends = has("Attention") || has("MultiHeadAttention") ||
                       has("GroupQueryAttention") || (has("MatMul") && has("Softmax"));
  if (has("Conv")) {
    facts.family = ModelFamily::convolutional;
  } else if (std::ranges::count(nsp::find_retained_state(graph), true) > 0 ||
             has("GroupQueryAttention")) {
    facts.family = ModelFamily::decoder;
  } else if (attends) {
    facts.family = ModelFamily::encoder;
  }
  facts.is_quantized = has("DequantizeLinear") || has("QLinearConv") || has("QLinearMatMul");
  double wide_weights = 0, weights = 0;
  for (const Tensor& tensor : graph.tensors) {
    const bool is_wide = tensor.type == DataType::float32 || tensor.type == DataType::float64;
    facts.has_wide_floats |= is_wide;
    if (!tensor.constant) continue;
    weights += double(tensor.bytes());
    if (is_wide) wide_weights += double(tensor.bytes());
  }
  facts.is_float32 = 2 * wide_weights > weights;
  return facts;
}

}  // namespace npuscope::npu
