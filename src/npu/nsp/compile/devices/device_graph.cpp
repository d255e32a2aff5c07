// The part of one device: shapes cut along the splits.
#include <algorithm>

#include "npu/nsp/compile/devices/shard.hpp"

namespace npuscope::npu::nsp {
namespace {

bool shares_evenly(const Tensor& whole, const DeviceSplit& split, std::uint32_t devices) {
  const auto parts = shares(whole.shape[std::size_t(split.axis)], split.unit, devices);
  return parts.front() == parts.back();
}

}  // namespace

Graph device_graph(const ShardedGraph& sharded, std::uint32_t device) {
  Graph graph = sharded.graph;
  bool even = true;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const DeviceSplit& split = sharded.splits[i];
    if (split.axis < 0) continue;
    Tensor& tensor = graph.tensors[i];
    even = even && shares_evenly(tensor, split, sharded.devices);
    std::int64_t& extent = tensor.shape[std::size_t(split.axis)];
    extent = std::int64_t(shares(extent, split.unit, sharded.devices)[device]);
    tensor.values.reset();
    tensor.float_values.reset();
  }
  for (Node& node : graph.nodes) {
    if (node.domain == collective_domain) node.attributes["even"] = std::int64_t{even ? 1 : 0};
    const bool grouped = node.op == "Conv" && node.int_attribute("group", 1) > 1;
    if (grouped) {
      node.attributes["group"] = graph[node.inputs[0]].shape[1] / graph[node.inputs[1]].shape[1];
    }
  }
  return graph;
}

}  // namespace npuscope::npu::nsp
