// Attention and rotary embeddings as single operators.
#include "npu/graph/operators.hpp"
#include "npu/graph/operators/attention.hpp"

namespace npuscope::npu {
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

constexpr Operator rows[] = {
    {"Attention", matmul, with_sizes<infer_attention>},
    {"RotaryEmbedding", elementwise, infer_same},
    {"com.microsoft.Attention", matmul, with_sizes<infer_projecting_attention>},
    {"com.microsoft.DecoderMaskedMultiHeadAttention", matmul, with_sizes<infer_fused_attention>},
    {"com.microsoft.GroupQueryAttention", matmul, with_sizes<infer_fused_attention>},
    {"com.microsoft.MultiHeadAttention", matmul, with_sizes<infer_fused_attention>},
    {"com.microsoft.QAttention", matmul, with_sizes<infer_projecting_attention>},
    {"com.microsoft.RotaryEmbedding", elementwise, infer_same},
};

}  // namespace operators_attention

std::span<const Operator> attention_operators() { return operators_attention::rows; }

}  // namespace npuscope::npu
