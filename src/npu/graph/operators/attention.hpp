// The sizes of an attention operator, whichever of ONNX's and onnxruntime's forms it has: one
// reading, used for its shapes and for its multiply-accumulates.
//
//   scores = query [batch, heads, queries, head_size] x key [batch, key_heads, keys, head_size]
//   output = softmax(scores) x value [batch, key_heads, keys, value_head_size]
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu {

struct AttentionSizes {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;  // fewer than heads: grouped queries
  std::int64_t queries = 0;
  std::int64_t keys = 0;  // past ones included
  std::int64_t head_size = 0;
  std::int64_t value_head_size = 0;
  std::int64_t projection_depth = 0;  // com.microsoft.Attention projects its input first, else 0
};

bool is_attention(const Node& node);
bool is_flex_attention(const Node& node);

// Throws OperatorFailure when the inputs do not fit each other.
AttentionSizes attention_sizes(const Graph& graph, const Node& node);

// Einsum's equation ("bhqd,bhkd->bhqk") with the size of every letter known.

struct Einsum {
  std::vector<std::string> operands;  // letters of each input, an ellipsis written out as digits
  std::string output;
  std::map<char, std::int64_t> sizes;
};

// Throws OperatorFailure for an equation that does not fit the shapes.
Einsum parse_einsum(std::string_view equation, const std::vector<Shape>& shapes);

}  // namespace npuscope::npu
