// Which kernel on HVX a node on the rows of a matrix is, where that goes by how the rows lie
// (single_rows.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp {

// Empty: the usual one.
std::string row_kernel(const CompileContext& context, const Node& node);

// Scores of few heads in integers that a mask is added to, or that a division scales, and whose
// rows do not fill eights: heads next to one another are the rows of a tile, and take next to
// nothing.
bool are_scores_by_heads(const CompileContext& context, const Node& node);

// A bias of integers whose sums are next seen as heads: how many, each of which is added to alone.
// 0: it is another node.
std::uint64_t heads_added_to(const CompileContext& context, const Node& node);

// Whether the HMX does an activation of float16 on a matrix with the product before it, as it does
// on images.
bool stays_on_hmx(const CompileContext& context, const Node& node);

}  // namespace npuscope::npu::nsp
