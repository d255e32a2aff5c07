// Sizes and products of operators that keep a state of fixed size from token to token.
//
//   LinearAttention of a token, 16 heads for keys, 32 for queries, 128 x 128 each, delta rule:
//   (32 + 2 x 16) x 128 x 128 multiply-accumulates
#pragma once

#include "npu/graph/operation.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu {

// query [B, T, heads * head size], key [B, T, key heads * head size], value, state [B, key heads,
// head size, value head size], decay, update rate
struct LinearAttentionSizes {
  std::int64_t batch = 0, tokens = 0, heads = 0, key_heads = 0, head_size = 0, value_head_size = 0;
  bool is_gated = false, is_delta = false;
};

// Throw OperatorFailure where the inputs do not fit each other.
LinearAttentionSizes linear_attention_sizes(const Graph& graph, const Node& node);
MatrixProduct linear_attention_product(const Graph& graph, const Node& node);
MatrixProduct causal_convolution_product(const Graph& graph, const Node& node);

}  // namespace npuscope::npu
