#include "npu/models/layers.hpp"

#include <cmath>

namespace npuscope::npu::models {

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
