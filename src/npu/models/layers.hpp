// What decoder and encoder graphs share.
#pragma once

#include "npu/models/onnx_builder.hpp"

namespace npuscope::npu::models {

// Stands in for weights that are not there: matrices get the deviation that models are usually
// initialised with, norms scale by one.
inline constexpr double matrix_fill = 0.02;
inline constexpr double norm_fill = 1;
inline constexpr double bias_fill = 0;

// Added to the scores of positions that are not attended to; within float16, and its exponential
// is zero there.
inline constexpr double masked_score = -10000;

struct InputDimensions {
  Dimension batch, sequence, context;
};

inline InputDimensions input_dimensions(const InputSizes& sizes, bool symbolic) {
  if (symbolic) return {"batch_size", "seq_len", "ctx_len"};
  return {sizes.batch, sizes.sequence, sizes.context};
}

enum class Rank : std::uint8_t { scalar, vector };

// The size of dimension `axis` of `x`, as an operand. A known size is a constant, since the ONNX
// library's shape inference does not follow bounds that are computed.
Value size_of(OnnxBuilder& builder, const Dimension& dimension, const Value& x, std::int64_t axis,
              Rank rank);

// x [... x inputs] times a weight [inputs x outputs] of the module `name`.
inline Value linear(OnnxBuilder& builder, std::string_view name, const Value& x,
                    std::int64_t inputs, std::int64_t outputs) {
  auto scope = builder.enter(name);
  return builder.node("MatMul", {x, builder.weight("weight", {inputs, outputs}, matrix_fill)});
}

// [batch x sequence x heads * head_size] -> [batch x sequence x heads x head_size]
inline Value split_heads(OnnxBuilder& builder, const Value& x, std::int64_t heads,
                         std::int64_t head_size) {
  return builder.node("Reshape", {x, builder.integers({0, 0, heads, head_size})});
}

// The two middle dimensions change places: heads before tokens, or back.
inline Value swap_heads_and_tokens(OnnxBuilder& builder, const Value& x) {
  return builder.node("Transpose", {x}, {{"perm", Integers{0, 2, 1, 3}}});
}

// softmax(queries x keys' / sqrt(head size) + mask) x values, all [batch x heads x tokens x head
// size], back in [batch x sequence x heads * head_size].
Value attention(OnnxBuilder& builder, const Value& queries, const Value& keys, const Value& values,
                const Value& mask, const Architecture& architecture);

void build_decoder(OnnxBuilder& builder, const Architecture& architecture,
                   const InputDimensions& dimensions);
void build_encoder(OnnxBuilder& builder, const Architecture& architecture,
                   const InputDimensions& dimensions);

}  // namespace npuscope::npu::models
