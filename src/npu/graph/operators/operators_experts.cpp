// Mixtures of experts, as ONNX Runtime's operators for them state their inputs (contrib operators
// MoE and QMoE: input, router_probs, then weights, scales and bias of fc1, fc2 and fc3).
#include "npu/graph/operators.hpp"
#include "npu/graph/operators/experts.hpp"

namespace npuscope::npu {

bool has_experts(const Node& node) {
  return node.domain == "com.microsoft" && (node.op == "MoE" || node.op == "QMoE");
}

ExpertInputs expert_inputs(const Node& node, std::size_t layer) {
  if (node.op == "QMoE") return {2 + 3 * layer, 4 + 3 * layer, 3 + 3 * layer};
  return {2 + 2 * layer, 3 + 2 * layer, 0};
}

namespace operators_experts {

const Tensor& tensor(const Graph& graph, const Node& node, std::size_t i) {
  if (!node.has_input(i)) fail("it lacks its input {}", i);
  return graph[node.inputs[i]];
}

// Of one expert's weights so many for each of `depth`; packed ones stand for several.
std::int64_t columns_of(const Graph& graph, const Node& node, std::size_t layer,
                        const ExpertSizes& sizes, std::int64_t depth) {
  const std::size_t at = expert_inputs(node, layer).weights;
  const Shape& shape = tensor(graph, node, at).shape;
  if (shape.size() != 3 || shape[0] != sizes.experts) {
    fail("its input {} is {} but must have 3 dimensions, the first of {} experts", at,
         to_text(shape), sizes.experts);
  }
  const std::int64_t packed = sizes.bits > 0 ? 8 / sizes.bits : 1;
  const std::int64_t values = multiply(multiply(shape[1], shape[2]), packed);
  if (depth < 1 || values % depth != 0)
    fail("its input {} is {}, which does not fit a depth of {}", at, to_text(shape), depth);
  return values / depth;
}

}  // namespace operators_experts

ExpertSizes expert_sizes(const Graph& graph, const Node& node) {
  const Shape &x = operators_experts::tensor(graph, node, 0).shape,
              &router = operators_experts::tensor(graph, node, 1).shape;
  if (x.size() < 2 || router.size() != 2)
    fail("its inputs are {} and {}, not tokens and probabilities", to_text(x), to_text(router));
  ExpertSizes sizes;
  sizes.hidden = x.back();
  sizes.tokens = std::int64_t(elements_of(x, x.size() - 1));
  sizes.experts = router[1];
  sizes.experts_per_token = node.int_attribute("k", 1);
  if (sizes.tokens < 1 || router[0] != sizes.tokens) {
    fail("it has probabilities of {} tokens for {} tokens", router[0], sizes.tokens);
  }
  if (sizes.experts_per_token < 1 || sizes.experts_per_token > sizes.experts)
    fail("its k is {}, of {} experts", sizes.experts_per_token, sizes.experts);
  multiply(sizes.tokens, sizes.experts_per_token);
  if (node.op == "QMoE") {
    sizes.bits = node.int_attribute("expert_weight_bits", 4);
    if (sizes.bits != 2 && sizes.bits != 4 && sizes.bits != 8)
      fail("its expert_weight_bits is {}, not 2, 4 or 8", sizes.bits);
    sizes.block = node.int_attribute("block_size", 0);
  }
  sizes.first_columns = operators_experts::columns_of(graph, node, 0, sizes, sizes.hidden);
  sizes.inner = operators_experts::columns_of(graph, node, 1, sizes, sizes.hidden);
  if (node.has_input(expert_inputs(node, 2).weights))
    sizes.gate_columns = operators_experts::columns_of(graph, node, 2, sizes, sizes.hidden);
  const bool fits = sizes.first_columns == sizes.inner ||
                    (sizes.first_columns == 2 * sizes.inner && sizes.gate_columns == 0);
  if (!fits || (sizes.gate_columns != 0 && sizes.gate_columns != sizes.inner)) {
    fail("its layers are {}, {} and {} wide, which do not fit one another", sizes.first_columns,
         sizes.inner, sizes.gate_columns);
  }
  return sizes;
}

MatrixProduct expert_product(const Graph& graph, const Node& node) {
  const ExpertSizes sizes = expert_sizes(graph, node);
  MatrixProduct product;
  product.rows = std::uint64_t(sizes.routed_rows());
  product.depth = std::uint64_t(sizes.hidden);
  product.columns = std::uint64_t(sizes.first_columns) + std::uint64_t(sizes.gate_columns) +
                    std::uint64_t(sizes.inner);
  product.constant_weights =
      operators_experts::tensor(graph, node, expert_inputs(node, 0).weights).constant;
  return product;
}

namespace operators_experts {

void infer_experts(Operation& op) {
  expert_sizes(op.graph(), op.node());
  op.set(0, op.type(0), op.shape(0));
}

constexpr OperatorRow rows[] = {
    {"com.microsoft.MoE com.microsoft.QMoE", OpClass::matmul, infer_experts},
};

}  // namespace operators_experts

std::span<const OperatorRow> expert_operators() { return operators_experts::rows; }

}  // namespace npuscope::npu
