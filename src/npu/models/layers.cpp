#include "npu/models/layers.hpp"

#include <cmath>

namespace npuscope::npu::models {

Value size_of(OnnxBuilder& builder, const Dimension& dimension, const Value& x, std::int64_t axis,
              Rank rank) {
  const auto constant = [&](std::int64_t value) {
    return rank == Rank::scalar ? builder.integer(value) : builder.integers({value});
  };
  if (const auto* size = std::get_if<std::int64_t>(&dimension)) return constant(*size);
  const Value shape = builder.node("Shape", {x});
  return builder.node("Gather", {shape, constant(axis)}, {{"axis", std::int64_t{0}}});
}

Value attention(OnnxBuilder& builder, const Value& queries, const Value& keys, const Value& values,
                const Value& mask, const Architecture& architecture) {
  const Value turned = builder.node("Transpose", {keys}, {{"perm", Integers{0, 1, 3, 2}}});
  const Value products = builder.node("MatMul", {queries, turned});
  const Value scale = builder.number(1 / std::sqrt(double(architecture.head_size)));
  const Value scores = builder.node("Mul", {products, scale});
  const Value masked = builder.node("Add", {scores, mask});
  const Value shares = builder.node("Softmax", {masked}, {{"axis", std::int64_t{-1}}});
  const Value heads = builder.node("MatMul", {shares, values});
  const Value tokens = swap_heads_and_tokens(builder, heads);
  return builder.node("Reshape", {tokens, builder.integers({0, 0, architecture.query_size()})});
}

}  // namespace npuscope::npu::models
