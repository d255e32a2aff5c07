// Walks the nodes and decides for each how the devices share it; shard.hpp tells the rules.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "npu/graph/semantics.hpp"
#include "npu/nsp/compile/devices/shard.hpp"

namespace npuscope::npu::nsp {

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
