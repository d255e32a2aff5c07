// Linear attention and the short convolution before it, as they are written without an operator of
// their own.
#include "npu/graph/operation.hpp"
#include "npu/graph/operators/state_space.hpp"
#include "npu/graph/parts/parts.hpp"

namespace npuscope::npu {

// x [B, C, L], weights [C, 1, k], bias, the last k - 1 places of before: joined, convolved, and
// the last k - 1 of them kept.
void make_causal_convolution(Parts& parts, const Node& node) {
  const TensorId x = input_of(node, 0), weights = input_of(node, 1);
  const Shape places = parts.shape(x), window = parts.shape(weights);
  const std::int64_t kept = window[2] - 1;
  if (kept < 1) fail("a window of one keeps nothing");
  TensorId before = input_of(node, 3);
  if (before == TensorId::none)
    before = parts.zeros("before", parts[x].type, {places[0], places[1], kept});
  const TensorId joined = parts.add("joined", "Concat", {before, x}, {{"axis", std::int64_t{2}}});
  const std::string function = node.string_attribute("activation", "none");
  const bool is_activated = function == "silu" || function == "swish";
  const TensorId result = output_of(node, 0);
  const TensorId convolved =
      parts.add("convolution", "Conv", {joined, weights, input_of(node, 2)},
                {{"group", places[1]}, {"kernel_shape", std::vector<std::int64_t>{window[2]}}},
                is_activated ? TensorId::none : result);
  if (is_activated) {
    const TensorId gate = parts.add("gate", "Sigmoid", {convolved});
    parts.add("activation", "Mul", {convolved, gate}, {}, result);
  }
  if (const TensorId state = output_of(node, 1); state != TensorId::none) {
    parts.add("state", "Slice",
              {joined, parts.integers({places[2]}), parts.integers({places[2] + kept}),
               parts.integers({2})},
              {}, state);
  }
}

// One token: the state decays, takes the product of key and value, and is read by the queries.
void make_linear_attention(Parts& parts, const Node& node) {
  const LinearAttentionSizes sizes = linear_attention_sizes(parts.graph(), node);
  if (sizes.tokens != 1) fail("several tokens go through the state one after the other");
  const std::int64_t batch = sizes.batch, heads = sizes.key_heads, keys = sizes.head_size,
                     values = sizes.value_head_size;
  const DataType type = parts[node.inputs[0]].type;
  TensorId state = input_of(node, 3);
  if (state == TensorId::none) state = parts.zeros("before", type, {batch, heads, keys, values});
  if (sizes.is_gated) {
    const TensorId decay = input_of(node, 4);
    const bool is_per_key = parts.shape(decay).back() == heads * keys;
    const TensorId factor = parts.reshape("decay", parts.add("decay_factor", "Exp", {decay}),
                                          {batch, heads, is_per_key ? keys : 1, 1});
    state = parts.add("decayed", "Mul", {state, factor});
  }
  TensorId value = parts.reshape("value", node.inputs[2], {batch, heads, 1, values});
  if (sizes.is_delta) {
    const TensorId key = parts.reshape("key_row", node.inputs[1], {batch, heads, 1, keys});
    const TensorId known = parts.add("known", "MatMul", {key, state});
    value = parts.add("news", "Sub", {value, known});
    const TensorId rate = input_of(node, 5);
    const std::int64_t rates = parts.shape(rate).back();
    value = parts.add("update", "Mul", {value, parts.reshape("rate", rate, {batch, rates, 1, 1})});
  }
  const TensorId key = parts.reshape("key", node.inputs[1], {batch, heads, keys, 1});
  const TensorId change = parts.add("change", "Mul", {key, value});
  state = parts.add("state", "Add", {state, change}, {}, output_of(node, 1));
  const std::int64_t shared = sizes.heads / heads;
  TensorId query = parts.add("query_scaled", "Mul", {node.inputs[0], parts.scalar(type, 1)});
  query = parts.reshape("query", query, {batch, heads, shared, keys});
  const TensorId read = parts.add("context", "MatMul", {query, state});
  parts.reshape("result", read, parts.shape(output_of(node, 0)), output_of(node, 0));
}

}  // namespace npuscope::npu
