// Attention over a long sequence, in blocks of queries: scores that no core can hold at once are
// made, masked and used up block by block.
//
//   MatMul q, k -> Add mask -> Softmax -> MatMul v    becomes, for each block of the queries' rows,
//   Slice q, MatMul k, Slice mask, Add, Softmax, MatMul v, and a Concat of what they make
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "npu/graph/graph.hpp"

namespace npuscope::npu {

// `blocks_for`: how many blocks scores of that shape need; 1: none. Nothing where no attention
// needs any.
std::optional<Graph> with_query_blocks(
    const Graph& graph, const std::function<std::int64_t(const Tensor& scores)>& blocks_for);

}  // namespace npuscope::npu
