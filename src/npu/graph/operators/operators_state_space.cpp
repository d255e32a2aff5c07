// Operators of models that keep a state of fixed size in place of keys and values (Mamba, gated
// delta networks): linear attention and the short convolution before it.
#include "npu/graph/operators.hpp"
#include "npu/graph/operators/state_space.hpp"

namespace npuscope::npu {

namespace operators_state_space {

std::int64_t heads_of(const Node& node, std::string_view attribute) {
  const std::int64_t heads = node.int_attribute(attribute, 0);
  if (heads < 1 || heads > 1 << 20) fail("its {} is {}", attribute, heads);
  return heads;
}

std::int64_t part(std::int64_t whole, std::int64_t parts) {
  if (whole % parts != 0) fail("a hidden size of {} does not divide into {} heads", whole, parts);
  return whole / parts;
}

const Shape& shape_of(const Graph& graph, const Node& node, std::size_t i) {
  if (!node.has_input(i)) fail("it lacks its input {}", i);
  const Shape& shape = graph[node.inputs[i]].shape;
  if (shape.size() != 3) fail("its input {} is {} but must have 3 dimensions", i, to_text(shape));
  return shape;
}

}  // namespace operators_state_space

LinearAttentionSizes linear_attention_sizes(const Graph& graph, const Node& node) {
  const Shape &q = operators_state_space::shape_of(graph, node, 0),
              &k = operators_state_space::shape_of(graph, node, 1),
              &v = operators_state_space::shape_of(graph, node, 2);
  LinearAttentionSizes sizes;
  sizes.batch = q[0];
  sizes.tokens = q[1];
  sizes.heads = operators_state_space::heads_of(node, "q_num_heads");
  sizes.key_heads = operators_state_space::heads_of(node, "kv_num_heads");
  operators_state_space::part(sizes.heads, sizes.key_heads);
  sizes.head_size = operators_state_space::part(q[2], sizes.heads);
  sizes.value_head_size = operators_state_space::part(v[2], sizes.key_heads);
  if (operators_state_space::part(k[2], sizes.key_heads) != sizes.head_size)
    fail("query {} and key {} have heads of other sizes", to_text(q), to_text(k));
  const std::string rule = node.string_attribute("update_rule", "gated_delta");
  sizes.is_gated = rule == "gated" || rule == "gated_delta";
  sizes.is_delta = rule == "delta" || rule == "gated_delta";
  if (!sizes.is_gated && !sizes.is_delta && rule != "linear")
    fail("its update_rule '{}' is not one of linear, gated, delta, gated_delta", rule);
  return sizes;
}

// Of each token a query reads the state of its head, and each state takes the product of key and
// value; by the delta rule what the state says of the key comes off first.
MatrixProduct linear_attention_product(const Graph& graph, const Node& node) {
  const LinearAttentionSizes sizes = linear_attention_sizes(graph, node);
  const auto uses =
      std::uint64_t(sizes.heads) + std::uint64_t(sizes.key_heads) * (sizes.is_delta ? 2 : 1);
  MatrixProduct product;
  product.batch = std::uint64_t(sizes.batch);
  product.rows = std::uint64_t(sizes.tokens);
  product.depth = std::uint64_t(sizes.head_size);
  product.columns = saturating_product({uses, std::uint64_t(sizes.value_head_size)});
  return product;
}

// x [B, C, L], weights [C, 1, k]
MatrixProduct causal_convolution_product(const Graph& graph, const Node& node) {
  const Shape &x = operators_state_space::shape_of(graph, node, 0),
              &w = operators_state_space::shape_of(graph, node, 1);
  MatrixProduct product;
  product.batch = saturating_product({std::uint64_t(x[0]), std::uint64_t(x[1])});
  product.rows = std::uint64_t(x[2]);
  product.depth = std::uint64_t(w[2]);
  product.columns = 1;
  product.kernel_area = product.depth;
  return product;
}

namespace operators_state_space {

void infer_linear_attention(Operation& op) {
  const LinearAttentionSizes sizes = linear_attention_sizes(op.graph(), op.node());
  op.set(0, op.type(0), {sizes.batch, sizes.tokens, multiply(sizes.heads, sizes.value_head_size)});
  op.set(1, op.has(3) ? op.type(3) : op.type(0),
         {sizes.batch, sizes.key_heads, sizes.head_size, sizes.value_head_size});
}

void infer_causal_convolution(Operation& op) {
  const Shape &x = op.shape_of_rank(0, 3), &w = op.shape_of_rank(1, 3);
  if (w[0] != x[1] || w[1] != 1 || w[2] < 1)
    fail("its weights {} do not fit its input {}", to_text(w), to_text(x));
  op.set(0, op.type(0), x);
  op.set(1, op.type(0), {x[0], x[1], w[2] - 1});
}

constexpr OperatorRow rows[] = {
    {"CausalConvWithState com.microsoft.CausalConvWithState", OpClass::convolution,
     infer_causal_convolution},
    {"LinearAttention com.microsoft.LinearAttention", OpClass::matmul, infer_linear_attention},
};

}  // namespace operators_state_space

std::span<const OperatorRow> state_space_operators() { return operators_state_space::rows; }

}  // namespace npuscope::npu
