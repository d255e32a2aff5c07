// How the cores share an operator: along which axis of its output, and what part of its inputs each
// of them then needs.
#pragma once

#include "npu/targets/nsp/compile/place/placement.hpp"
#include "npu/targets/nsp/compile/place/storages.hpp"

namespace npuscope::npu::nsp {

inline constexpr std::uint64_t repeat_bytes =
    64 * 1024;  // computing this on every core beats exchanging it

// The axis of input `index` that corresponds to `output_axis` of the node's output; `replicated`
// when that input is needed whole; `incompatible` when the output cannot be split there.
int input_axis(const Graph& graph, const Node& node, OpClass op_class, std::size_t index,
               int output_axis);

// That of the largest input that is in VTCM, where the operator allows it.
Partition choose_partition(const CompileContext& context, const Storages& storages,
                           const Node& node, OpClass op_class);

// What input `index` must be for the output to have the partition.
Partition partition_of_input(const Graph& graph, const Node& node, OpClass op_class,
                             std::size_t index, const Partition& output);

// Rows of an image that a core's neighbours need for windows across the border between them.

// The neighbours' rows that a window operator on `operand` needs; none where it needs none, or
// where there is no room: then the operand is streamed instead.
BufferId exchange_halo(const CompileContext& context, TaskWriter& writer, Placement& place,
                       const Node& node, Operand& operand, const Partition& partition);

}  // namespace npuscope::npu::nsp
