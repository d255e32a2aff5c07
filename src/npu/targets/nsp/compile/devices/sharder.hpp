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

#include <map>
#include <optional>
#include <string_view>
#include <tuple>
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

// Walks the nodes and decides for each how the devices share it.
class Sharder {
 public:
  Sharder(const Graph& source, std::uint32_t devices, std::int64_t column_grain);
  ShardedGraph run();

 private:
  // What a node's inputs must be (by input; none: as they are) for its outputs to be split so.
  struct Rule {
    std::vector<std::optional<DeviceSplit>> inputs;
    DeviceSplit output;
    bool partial = false;  // the output is a sum of which each device has a part
  };
  static constexpr DeviceSplit whole{};

  void place(const Node& node);
  std::optional<Rule> choose(const Node& node, OpClass op_class) const;
  std::optional<Rule> choose_view(const Node& node) const;
  std::optional<Rule> choose_by_axes(const Node& node, OpClass op_class) const;
  std::optional<Rule> rule_for_axis(const Node& node, OpClass op_class, int axis,
                                    std::int64_t unit) const;
  std::optional<Rule> choose_scatter(const Node& node) const;
  std::optional<Rule> choose_gather(const Node& node) const;
  // Of products: sharder_products.cpp
  std::optional<Rule> choose_product(const Node& node) const;
  std::optional<Rule> choose_weight_product(const Node& node) const;
  std::optional<Rule> choose_dynamic_product(const Node& node) const;
  std::optional<Rule> rule_for_batch(const Node& node, int axis, std::int64_t unit) const;
  std::optional<Rule> choose_convolution(const Node& node) const;
  std::int64_t column_unit(TensorId result) const;

  void apply(const Node& node, const Rule& rule);
  void apply_partial(Node node);
  TensorId as(TensorId id, const DeviceSplit& wanted);
  TensorId gathered(TensorId id);
  TensorId part_of(TensorId id, const DeviceSplit& wanted);
  TensorId add_tensor(TensorId like, std::string_view suffix);
  void add_node(Node node);
  void link_tensors();

  const Tensor& tensor(TensorId id) const { return source_[id]; }
  DeviceSplit split_of(TensorId id) const { return splits_[std::uint32_t(id)]; }
  bool is_split(TensorId id) const {
    return id != TensorId::none && splits_[std::uint32_t(id)].axis >= 0;
  }
  // Whether it can become `wanted` without asking other devices.
  bool can_be(TensorId id, const DeviceSplit& wanted) const;
  bool enough(std::int64_t extent, std::int64_t unit) const {
    return divide_up(std::uint64_t(extent), std::uint64_t(unit)) >= devices_;
  }
  bool same(std::int64_t extent, std::int64_t unit, std::int64_t other_unit) const {
    return shares(extent, unit, devices_) == shares(extent, other_unit, devices_);
  }

  const Graph& source_;
  const std::uint32_t devices_;
  const std::int64_t column_grain_;
  Graph graph_;
  std::vector<DeviceSplit> splits_;  // by tensor
  std::vector<bool> undecided_;      // inputs that nobody has used yet
  std::map<TensorId, TensorId> gathered_;
  std::map<std::tuple<TensorId, int, std::int64_t>, TensorId> parts_;
  std::vector<std::string> whole_products_;
};

}  // namespace npuscope::npu::nsp
