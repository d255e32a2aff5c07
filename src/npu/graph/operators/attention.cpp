#include "npu/graph/operators/attention.hpp"

#include <algorithm>

#include "npu/graph/limits.hpp"
#include "npu/graph/operation.hpp"
#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace {

// The inputs of a node that is there whole or in part.
class Inputs {
 public:
  Inputs(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  const Tensor* find(std::size_t i) const {
    const bool there = node_.has_input(i);
    return there ? &graph_[node_.inputs[i]] : nullptr;
  }
  const Shape& shape(std::size_t i, std::size_t min_rank) const {
    const Tensor* tensor = find(i);
    if (tensor == nullptr) fail("it lacks its input {}", i);
    if (tensor->shape.size() < min_rank) {
      fail("input {} '{}' is {} but must have at least {} dimensions", i, tensor->name,
           to_text(tensor->shape), min_rank);
    }
    return tensor->shape;
  }
  // Length of past keys [batch, heads, past, head size], 0 without.
  std::int64_t past(std::size_t i, std::size_t axis = 2) const {
    return find(i) != nullptr ? shape(i, axis + 2)[axis] : 0;
  }

 private:
  const Graph& graph_;
  const Node& node_;
};

std::int64_t heads_of(const Node& node, std::string_view attribute, std::int64_t otherwise = 0) {
  const std::int64_t heads = node.int_attribute(attribute, otherwise);
  if (heads < 1 || heads > 1 << 20) fail("its {} is {}", attribute, heads);
  return heads;
}

std::int64_t part(std::int64_t whole, std::int64_t parts) {
  if (whole % parts != 0) fail("a hidden size of {} does not divide into {} heads", whole, parts);
  return whole / parts;
}

// ai.onnx (q, k, v, mask, past key, past value): each [B, H, S, D] or [B, S, H * D].
AttentionSizes standard(const Node& node, const Inputs& in) {
  AttentionSizes sizes;
  const Shape &q = in.shape(0, 3), &k = in.shape(1, 3), &v = in.shape(2, 3);
  if (q.size() != k.size() || k.size() != v.size()) fail("query, key and value differ in rank");
  sizes.batch = q[0];
  if (q.size() >= 4) {
    sizes.heads = q[1];
    sizes.key_heads = k[1];
    sizes.queries = q[2];
    sizes.keys = k[2];
    sizes.head_size = q[3];
    sizes.value_head_size = v[3];
  } else {
    sizes.heads = heads_of(node, "q_num_heads");
    sizes.key_heads = heads_of(node, "kv_num_heads");
    sizes.queries = q[1];
    sizes.keys = k[1];
    sizes.head_size = part(q[2], sizes.heads);
    sizes.value_head_size = part(v[2], sizes.key_heads);
  }
  sizes.keys = add(sizes.keys, in.past(4));
  return sizes;
}

// com.microsoft.MultiHeadAttention (q, k, v, bias, padding, bias, past key, past value); q may be
// [B, S, H, 3, D] alone, k [B, L, H, 2, D] with v inside, and k, v [B, H, L, D].
AttentionSizes multi_head(const Node& node, const Inputs& in) {
  AttentionSizes sizes;
  const Shape& q = in.shape(0, 3);
  sizes.batch = q[0];
  sizes.queries = q[1];
  sizes.heads = sizes.key_heads = heads_of(node, "num_heads");
  if (q.size() == 5) {
    sizes.keys = q[1];
    sizes.head_size = sizes.value_head_size = q[4];
    return sizes;
  }
  sizes.head_size = sizes.value_head_size = part(q[2], sizes.heads);
  const Shape& k = in.shape(1, 3);
  sizes.keys = k.size() == 4 ? k[2] : k[1];
  if (in.find(2) != nullptr) {
    const Shape& v = in.shape(2, 3);
    sizes.value_head_size = v.size() == 4 ? v[3] : part(v[2], sizes.heads);
  }
  // A shared buffer has the place of the new keys already.
  const std::int64_t past = in.past(6);
  sizes.keys = past > 0 && node.int_attribute("past_present_share_buffer", 0) != 0
                   ? past
                   : add(sizes.keys, past);
  return sizes;
}

// com.microsoft.GroupQueryAttention (q, k, v, past key, past value, lengths, total length ...);
// without k and v, q holds all three. Past buffers may already have room for the new keys.
AttentionSizes group_query(const Node& node, const Inputs& in) {
  AttentionSizes sizes;
  const Shape& q = in.shape(0, 3);
  sizes.batch = q[0];
  sizes.queries = q[1];
  sizes.heads = heads_of(node, "num_heads");
  sizes.key_heads = heads_of(node, "kv_num_heads");
  const bool packed = in.find(1) == nullptr;
  sizes.head_size = part(q[2], packed ? sizes.heads + 2 * sizes.key_heads : sizes.heads);
  sizes.value_head_size = sizes.head_size;
  const std::int64_t past = in.past(3);
  const Tensor* total = in.find(6);
  sizes.keys = total != nullptr && total->values && total->values->size() == 1
                   ? std::max(past, total->values->front())
                   : add(past, sizes.queries);
  if (sizes.keys < 0) fail("its total length is {}", sizes.keys);
  return sizes;
}

// com.microsoft.Attention (x [B, S, I], weights [I, q + k + v], bias, mask, past [2, B, H, P, D]);
// QAttention has scales and zero points between, and its past as input 8.
AttentionSizes projecting(const Node& node, const Inputs& in) {
  AttentionSizes sizes;
  const Shape &x = in.shape(0, 3), &w = in.shape(1, 2);
  sizes.batch = x[0];
  sizes.queries = x[1];
  sizes.projection_depth = x[2];
  sizes.heads = sizes.key_heads = heads_of(node, "num_heads");
  auto hidden = node.ints_attribute("qkv_hidden_sizes");
  if (hidden.empty()) hidden.assign(3, part(w[1], 3));
  if (hidden.size() != 3 || hidden[0] < 1 || hidden[2] < 1 || w[0] != x[2]) {
    fail("the input {} and the weights {} do not fit each other", to_text(x), to_text(w));
  }
  sizes.head_size = part(hidden[0], sizes.heads);
  sizes.value_head_size = part(hidden[2], sizes.heads);
  sizes.keys = add(x[1], in.past(node.op == "QAttention" ? 8 : 4, 3));
  return sizes;
}

}  // namespace

bool is_flex_attention(const Node& node) {
  return node.domain == "ai.onnx.preview" && node.op == "FlexAttention";
}

bool is_attention(const Node& node) {
  if (is_flex_attention(node)) return true;
  if (node.domain.empty()) return node.op == "Attention";
  return node.domain == "com.microsoft" &&
         (node.op == "Attention" || node.op == "QAttention" || node.op == "MultiHeadAttention" ||
          node.op == "DecoderMaskedMultiHeadAttention" || node.op == "GroupQueryAttention");
}

AttentionSizes attention_sizes(const Graph& graph, const Node& node) {
  const Inputs inputs(graph, node);
  if (node.domain.empty() || is_flex_attention(node)) return standard(node, inputs);
  if (node.op == "GroupQueryAttention") return group_query(node, inputs);
  if (node.op == "Attention" || node.op == "QAttention") return projecting(node, inputs);
  return multi_head(node, inputs);
}

// Attention and rotary embeddings as single operators.

namespace operators_attention {

Shape past_shape(const AttentionSizes& sizes, std::int64_t head_size) {
  return {sizes.batch, sizes.key_heads, sizes.keys, head_size};
}

Shape joined_heads(const AttentionSizes& sizes) {
  return {sizes.batch, sizes.queries, multiply(sizes.heads, sizes.value_head_size)};
}

// -> (y like q, present key, present value, scores)
void infer_attention(Operation& op, const AttentionSizes& sizes) {
  const bool split = op.rank(0) >= 4;
  op.set(0, op.type(0),
         split ? Shape{sizes.batch, sizes.heads, sizes.queries, sizes.value_head_size}
               : joined_heads(sizes));
  op.set(1, op.type(1), past_shape(sizes, sizes.head_size));
  op.set(2, op.type(2), past_shape(sizes, sizes.value_head_size));
  op.set(3, op.type(0), {sizes.batch, sizes.heads, sizes.queries, sizes.keys});
}

// Scores and weights may go through graphs of the model's own.
void infer_flex_attention(Operation& op, const AttentionSizes& sizes) {
  for (const char* name : {"score_mod", "prob_mod"}) {
    if (!op.has_graph(name)) continue;
    fail("its {} is a graph of its own, which is not costed; export Attention with a mask", name);
  }
  infer_attention(op, sizes);
}

// -> (y [B, S, H * D], present key, present value, scores)
void infer_fused_attention(Operation& op, const AttentionSizes& sizes) {
  op.set(0, op.type(0), joined_heads(sizes));
  op.set(1, op.type(0), past_shape(sizes, sizes.head_size));
  op.set(2, op.type(0), past_shape(sizes, sizes.value_head_size));
  op.set(3, op.type(0), {sizes.batch, sizes.heads, sizes.queries, sizes.keys});
}

// -> (y [B, S, H * D], present [2, B, H, keys, D]); QAttention's y is of its input scale's type.
void infer_projecting_attention(Operation& op, const AttentionSizes& sizes) {
  const DataType type = op.node().op == "QAttention" ? op.type(3) : op.type(0);
  op.set(0, type, joined_heads(sizes));
  op.set(1, type, {2, sizes.batch, sizes.heads, sizes.keys, sizes.head_size});
}

template <auto infer>
void with_sizes(Operation& op) {
  infer(op, attention_sizes(op.graph(), op.node()));
}

constexpr auto matmul = OpClass::matmul;
constexpr auto elementwise = OpClass::elementwise;

constexpr OperatorRow rows[] = {
    {"Attention", matmul, with_sizes<infer_attention>},
    {"ai.onnx.preview.FlexAttention", matmul, with_sizes<infer_flex_attention>},
    {"RotaryEmbedding com.microsoft.RotaryEmbedding", elementwise, infer_same},
    {"com.microsoft.Attention com.microsoft.QAttention", matmul,
     with_sizes<infer_projecting_attention>},
    {"com.microsoft.DecoderMaskedMultiHeadAttention com.microsoft.GroupQueryAttention "
     "com.microsoft.MultiHeadAttention",
     matmul, with_sizes<infer_fused_attention>},
};

}  // namespace operators_attention

std::span<const OperatorRow> attention_operators() { return operators_attention::rows; }

}  // namespace npuscope::npu
