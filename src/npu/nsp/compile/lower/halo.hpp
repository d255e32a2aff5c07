// Rows of an image that a core's neighbours need for windows across the border between them.
#pragma once

#include "npu/nsp/compile/place/placement.hpp"

namespace npuscope::npu::nsp {

// The neighbours' rows that a window operator on `operand` needs; none where it needs none, or
// where there is no room: then the operand is streamed instead.
BufferId exchange_halo(const CompileContext& context, TaskWriter& writer, Placement& place,
                       const Node& node, Operand& operand, const Partition& partition);

}  // namespace npuscope::npu::nsp
