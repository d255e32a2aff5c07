// Tensor parallelism: one model on several devices, each with a part of the weights.
//
//   x ── q_proj ──┬─ attention of half of the heads ── o_proj ── partial sums ── AllReduce ── x'
//   whole  columns│  everything between stays on its device    rows of weights      whole
//          of weights
//
// Products with constant weights are split by columns where their input is whole, and by rows where
// it is split along the depth: then each device has a partial sum, and an AllReduce adds them up.
// What lies between follows the split as far as each operator allows; where one does not, an
// AllGather makes its input whole again. What no rule splits, every device computes whole.
// Retained state and other inputs are split as their first use wants them.
#pragma once

#include <string_view>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp {

// Operators that exchange data between devices. AllReduce: partial sums of a tensor in, the sum
// out. AllGather: a part along `axis`, in steps of `unit` elements, in; the whole tensor out.
inline constexpr std::string_view collective_domain = "npuscope";
inline constexpr std::string_view all_reduce = "AllReduce";
inline constexpr std::string_view all_gather = "AllGather";

// How a tensor is split over the devices: as a Partition over cores, whose shape is the tensor's.
struct DeviceSplit {
  int axis = replicated;
  std::int64_t unit = 1;
  bool operator==(const DeviceSplit&) const = default;
};

struct ShardedGraph {
  Graph graph;                      // with the whole model's shapes, and the exchanges
  std::vector<DeviceSplit> splits;  // by tensor
  std::uint32_t devices = 1;
  std::vector<std::string> whole_products;  // that every device computes, by name
};

// Columns are dealt out in multiples of `column_grain`, or in whole heads.
ShardedGraph shard_graph(const Graph& graph, std::uint32_t devices, std::int64_t column_grain);

// What one device executes, with the shapes of its parts.
Graph device_graph(const ShardedGraph& sharded, std::uint32_t device);

}  // namespace npuscope::npu::nsp
