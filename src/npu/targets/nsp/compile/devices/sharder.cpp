#include "npu/targets/nsp/compile/devices/devices.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {
namespace {

// Weights that are read as bytes behind a DequantizeLinear are not cut.
bool is_quantized(const Graph& graph, const Tensor& weights) {
  return weights.producer != NodeId::none && graph[weights.producer].op == "DequantizeLinear";
}

// Walks the nodes and decides for each how the devices share it.
class Sharder {
 public:
  Sharder(const Graph& source, std::uint32_t devices, std::int64_t column_grain)
      : source_(source),
        devices_(devices),
        column_grain_(column_grain),
        graph_(source),
        splits_(source.tensors.size()),
        undecided_(source.tensors.size(), false) {
    graph_.nodes.clear();
    for (TensorId input : source.inputs) undecided_[std::uint32_t(input)] = true;
  }

  ShardedGraph run() {
    for (const Node& node : source_.nodes) place(node);
    link_tensors();
    return {std::move(graph_), std::move(splits_), devices_, std::move(whole_products_)};
  }

 private:
  // What a node's inputs must be (by input; none: as they are) for its outputs to be split so.
  struct Rule {
    std::vector<std::optional<DeviceSplit>> inputs;
    DeviceSplit output;
    bool partial = false;  // the output is a sum of which each device has a part
  };
  static constexpr DeviceSplit whole{};

  void place(const Node& node) {
    const OpClass op_class = classify(source_, node);
    if (op_class == OpClass::folded) return add_node(node);
    if (const auto rule = choose(node, op_class)) return apply(node, *rule);
    if (op_class == OpClass::matmul || op_class == OpClass::convolution) {
      whole_products_.push_back(node.name);
    }
    apply(node, {std::vector<std::optional<DeviceSplit>>(node.inputs.size(), whole), whole, false});
  }

  std::optional<Rule> choose(const Node& node, OpClass op_class) const {
    const auto missing = [](TensorId id) { return id == TensorId::none; };
    if (node.inputs.empty() || missing(node.inputs[0]) || node.outputs.empty() ||
        std::ranges::any_of(node.outputs, missing)) {
      return std::nullopt;
    }
    const bool product = op_class == OpClass::matmul || op_class == OpClass::convolution;
    if (product && (node.op == "Conv" || node.op == "MatMul" || node.op == "Gemm")) {
      return choose_product(node);
    }
    if (op_class == OpClass::view) return choose_view(node);
    if (op_class == OpClass::scatter) return choose_scatter(node);
    if (op_class == OpClass::gather) return choose_gather(node);
    return choose_by_axes(node, op_class);
  }

  std::optional<Rule> choose_view(const Node& node) const {
    const TensorId input = node.inputs[0];
    if (!is_split(input) || node.outputs.size() != 1) return std::nullopt;
    const DeviceSplit split = split_of(input);
    const Partition seen = partition_in_view({tensor(input).shape, split.axis, split.unit},
                                             tensor(node.outputs[0]).shape);
    if (seen.axis < 0) return std::nullopt;
    Rule rule;
    rule.inputs.assign(node.inputs.size(), std::nullopt);
    rule.output = {seen.axis, seen.unit};
    return rule;
  }

  // The first split of an input that the whole node can follow.
  std::optional<Rule> choose_by_axes(const Node& node, OpClass op_class) const {
    const Shape& shape = tensor(node.outputs[0]).shape;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!is_split(node.inputs[i])) continue;
      const DeviceSplit split = split_of(node.inputs[i]);
      const std::int64_t extent = tensor(node.inputs[i]).shape[std::size_t(split.axis)];
      for (int axis = 0; axis < int(shape.size()); ++axis) {
        if (input_axis(source_, node, op_class, i, axis) != split.axis) continue;
        const std::int64_t own = shape[std::size_t(axis)];
        if (own < extent || own % extent != 0) continue;
        if (auto rule = rule_for_axis(node, op_class, axis, split.unit * (own / extent)))
          return rule;
      }
    }
    return std::nullopt;
  }

  std::optional<Rule> rule_for_axis(const Node& node, OpClass op_class, int axis,
                                    std::int64_t unit) const {
    const std::int64_t extent = tensor(node.outputs[0]).shape[std::size_t(axis)];
    const auto rank = std::int64_t(tensor(node.outputs[0]).shape.size());
    for (TensorId output : node.outputs) {
      const Shape& shape = tensor(output).shape;
      if (std::int64_t(shape.size()) != rank || shape[std::size_t(axis)] != extent) {
        return std::nullopt;
      }
    }
    // Parts that are joined along the split would lie in another order than in the whole model.
    const std::int64_t joined = node.int_attribute("axis", 0);
    if (node.op == "Concat" && (joined < 0 ? joined + rank : joined) == axis) return std::nullopt;
    Rule rule;
    rule.output = {axis, unit};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      rule.inputs.emplace_back();
      const TensorId id = node.inputs[i];
      if (id == TensorId::none) continue;
      const int own_axis = input_axis(source_, node, op_class, i, axis);
      if (own_axis == incompatible) return std::nullopt;
      DeviceSplit needed = whole;
      if (own_axis >= 0 && tensor(id).shape[std::size_t(own_axis)] > 1) {
        const std::int64_t own = tensor(id).shape[std::size_t(own_axis)];
        const std::int64_t ratio = extent / own;
        if (extent % own != 0 || unit % ratio != 0) return std::nullopt;
        needed = {own_axis, unit / ratio};
      }
      if (!can_be(id, needed)) return std::nullopt;
      rule.inputs.back() = needed;
    }
    return rule;
  }

  // Of state that updates are written into (a KV cache) each device has the part that it updates.
  std::optional<Rule> choose_scatter(const Node& node) const {
    if (!node.has_input(2) || !is_split(node.inputs[2])) return std::nullopt;
    const DeviceSplit split = split_of(node.inputs[2]);
    const std::int64_t extent = tensor(node.inputs[2]).shape[std::size_t(split.axis)];
    const std::size_t rank = tensor(node.inputs[2]).shape.size();
    const auto follows = [&](TensorId id, std::size_t min_rank) {
      const Shape& shape = tensor(id).shape;
      return shape.size() >= min_rank && shape[std::size_t(split.axis)] == extent &&
             can_be(id, split);
    };
    const bool same_rank = tensor(node.inputs[0]).shape.size() == rank;
    if (!same_rank || !follows(node.inputs[0], rank) ||
        !follows(node.inputs[1], std::size_t(split.axis) + 1)) {
      return std::nullopt;
    }
    Rule rule;
    rule.inputs.assign(node.inputs.size(), split);
    rule.output = split;
    return rule;
  }

  // A split that the gather does not index along is kept.
  std::optional<Rule> choose_gather(const Node& node) const {
    if (node.op != "Gather" || node.inputs.size() != 2 || !is_split(node.inputs[0])) {
      return std::nullopt;
    }
    const DeviceSplit split = split_of(node.inputs[0]);
    const int rank = int(tensor(node.inputs[0]).shape.size());
    int axis = int(node.int_attribute("axis", 0));
    if (axis < 0) axis += rank;
    if (split.axis == axis || !can_be(node.inputs[1], whole)) return std::nullopt;
    const int shift = int(tensor(node.outputs[0]).shape.size()) - rank;
    Rule rule;
    rule.inputs = {split, whole};
    rule.output = {split.axis < axis ? split.axis : split.axis + shift, split.unit};
    return rule;
  }

  std::optional<Rule> choose_product(const Node& node) const {
    if (!node.has_input(1) || node.outputs.size() != 1) return std::nullopt;
    if (node.op == "Conv") return choose_convolution(node);
    if (node.op != "MatMul" && node.op != "Gemm") return std::nullopt;
    const Tensor& weights = tensor(node.inputs[1]);
    if (!weights.constant) return node.op == "MatMul" ? choose_dynamic_product(node) : std::nullopt;
    if (is_quantized(source_, weights) || weights.shape.size() != 2) return std::nullopt;
    return choose_weight_product(node);
  }

  std::optional<Rule> choose_weight_product(const Node& node) const {
    const Shape& input = tensor(node.inputs[0]).shape;
    const Shape& weights = tensor(node.inputs[1]).shape;
    const Shape& result = tensor(node.outputs[0]).shape;
    const bool turned = node.op == "Gemm" && node.int_attribute("transB", 0) != 0;
    if (node.op == "Gemm" && node.int_attribute("transA", 0) != 0) return std::nullopt;
    const int depth_axis = turned ? 1 : 0;
    const int column_axis = 1 - depth_axis;
    const TensorId bias = node.inputs.size() > 2 ? node.inputs[2] : TensorId::none;
    if (input.size() < 2 || result.size() < 2 || input.back() != weights[std::size_t(depth_axis)] ||
        result.back() != weights[std::size_t(column_axis)]) {
      return std::nullopt;
    }
    Rule rule;
    rule.inputs.assign(node.inputs.size(), std::nullopt);
    const DeviceSplit split = split_of(node.inputs[0]);
    if (split.axis == int(input.size()) - 1) {
      rule.inputs[1] = DeviceSplit{depth_axis, split.unit};
      rule.partial = true;
      return rule;
    }
    if (split.axis >= 0) {
      if (input.size() != result.size() || bias != TensorId::none) return std::nullopt;
      rule.output = split;
      return rule;
    }
    const std::int64_t unit = column_unit(node.outputs[0]);
    if (!enough(result.back(), unit)) return std::nullopt;
    rule.inputs[0] = whole;
    rule.inputs[1] = DeviceSplit{column_axis, unit};
    if (bias != TensorId::none && !tensor(bias).shape.empty() && tensor(bias).shape.back() > 1) {
      const DeviceSplit of_bias{int(tensor(bias).shape.size()) - 1, unit};
      if (!can_be(bias, of_bias)) return std::nullopt;
      rule.inputs[2] = of_bias;
    }
    rule.output = {int(result.size()) - 1, unit};
    return rule;
  }

  // Of two activations: batches (heads), rows of the one, columns of the other, or the depth of
  // both.
  std::optional<Rule> choose_dynamic_product(const Node& node) const {
    const int rank = int(tensor(node.outputs[0]).shape.size());
    for (std::size_t i = 0; i < 2; ++i) {
      if (!is_split(node.inputs[i])) continue;
      const DeviceSplit split = split_of(node.inputs[i]);
      const int own_rank = int(tensor(node.inputs[i]).shape.size());
      const int depth_axis = i == 0 ? own_rank - 1 : own_rank - 2;
      if (own_rank < 2) continue;
      if (split.axis == depth_axis) {
        const TensorId other = node.inputs[1 - i];
        const int other_rank = int(tensor(other).shape.size());
        const DeviceSplit of_other{i == 0 ? other_rank - 2 : other_rank - 1, split.unit};
        if (other_rank < 2 || !can_be(other, of_other)) continue;
        Rule rule;
        rule.inputs = {split, of_other};
        if (i == 1) std::swap(rule.inputs[0], rule.inputs[1]);
        rule.partial = true;
        return rule;
      }
      if (auto rule = rule_for_batch(node, split.axis + rank - own_rank, split.unit)) return rule;
    }
    return std::nullopt;
  }

  std::optional<Rule> rule_for_batch(const Node& node, int axis, std::int64_t unit) const {
    const Shape& result = tensor(node.outputs[0]).shape;
    const int rank = int(result.size());
    if (axis < 0) return std::nullopt;
    Rule rule;
    rule.output = {axis, unit};
    for (std::size_t i = 0; i < 2; ++i) {
      const Shape& shape = tensor(node.inputs[i]).shape;
      const int own = axis - (rank - int(shape.size()));
      const bool is_other_side = axis == (i == 0 ? rank - 1 : rank - 2);
      const bool shared = !is_other_side && own >= 0 && shape[std::size_t(own)] > 1;
      if (shared && shape[std::size_t(own)] != result[std::size_t(axis)]) return std::nullopt;
      rule.inputs.emplace_back(shared ? DeviceSplit{own, unit} : whole);
      if (!can_be(node.inputs[i], *rule.inputs.back())) return std::nullopt;
    }
    return rule;
  }

  // By output channels where the input is whole, by input channels where those are split; depthwise
  // ones follow the channels.
  std::optional<Rule> choose_convolution(const Node& node) const {
    const TensorId bias = node.inputs.size() > 2 ? node.inputs[2] : TensorId::none;
    const Shape& input = tensor(node.inputs[0]).shape;
    const Shape& weights = tensor(node.inputs[1]).shape;
    const std::int64_t groups = node.int_attribute("group", 1);
    if (!tensor(node.inputs[1]).constant || input.size() < 3 || weights.size() < 3 ||
        is_quantized(source_, tensor(node.inputs[1]))) {
      return std::nullopt;
    }
    Rule rule;
    rule.inputs.assign(node.inputs.size(), std::nullopt);
    const DeviceSplit split = split_of(node.inputs[0]);
    const auto by_outputs = [&](std::int64_t unit) -> std::optional<Rule> {
      rule.inputs[1] = DeviceSplit{0, unit};
      if (bias != TensorId::none) rule.inputs[2] = DeviceSplit{0, unit};
      rule.output = {1, unit};
      return rule;
    };
    if (split.axis == 1 && groups == 1) {
      rule.inputs[1] = split;
      rule.partial = true;
      return rule;
    }
    if (split.axis == 1) {
      const bool depthwise = groups == input[1] && weights[1] == 1 && weights[0] == groups;
      return depthwise ? by_outputs(split.unit) : std::nullopt;
    }
    if (split.axis >= 0 || groups != 1 || !enough(weights[0], column_grain_)) return std::nullopt;
    rule.inputs[0] = whole;
    return by_outputs(column_grain_);
  }

  // Whole heads where the result is next seen as heads, after a bias perhaps.
  std::int64_t column_unit(TensorId result) const {
    constexpr int max_steps = 6;
    const Shape& shape = tensor(result).shape;
    TensorId id = result;
    for (int step = 0; step < max_steps && tensor(id).consumers.size() == 1; ++step) {
      const Node& consumer = source_[tensor(id).consumers[0]];
      const OpClass op_class = classify(source_, consumer);
      if (op_class != OpClass::view && op_class != OpClass::elementwise) break;
      id = consumer.outputs[0];
      const Shape& view = tensor(id).shape;
      if (op_class == OpClass::view && !view.empty() && view.back() > 1 &&
          view.back() < shape.back() && shape.back() % view.back() == 0) {
        return view.back();
      }
    }
    return column_grain_;
  }

  void apply(const Node& node, const Rule& rule) {
    Node placed = node;
    for (std::size_t i = 0; i < placed.inputs.size(); ++i) {
      if (placed.inputs[i] == TensorId::none) continue;
      if (rule.inputs[i]) placed.inputs[i] = as(placed.inputs[i], *rule.inputs[i]);
      undecided_[std::uint32_t(node.inputs[i])] = false;
    }
    if (rule.partial) return apply_partial(std::move(placed));
    for (TensorId output : present(placed.outputs)) splits_[std::uint32_t(output)] = rule.output;
    add_node(std::move(placed));
  }

  // The bias comes after the sum, lest it be added once per device.
  void apply_partial(Node node) {
    const TensorId result = node.outputs[0];
    TensorId bias = TensorId::none;
    if (node.inputs.size() > 2) {
      bias = node.inputs[2];
      node.inputs.resize(2);
      if (node.op == "Conv" && bias != TensorId::none) {  // one number per channel
        bias = add_tensor(bias, "");
        graph_[bias].shape.resize(graph_[result].shape.size() - 1, 1);
      }
    }
    const TensorId partial = add_tensor(result, "/partial");
    const TensorId sum = bias == TensorId::none ? result : add_tensor(result, "/sum");
    node.outputs = {partial};
    const std::string name = node.name;
    add_node(std::move(node));
    Node reduce;
    reduce.name = fmt::format("{}/{}", name, all_reduce);
    reduce.op = all_reduce;
    reduce.domain = collective_domain;
    reduce.inputs = {partial};
    reduce.outputs = {sum};
    add_node(std::move(reduce));
    if (bias == TensorId::none) return;
    Node add;
    add.name = name + "/bias";
    add.op = "Add";
    add.inputs = {sum, bias};
    add.outputs = {result};
    add_node(std::move(add));
  }

  TensorId as(TensorId id, const DeviceSplit& wanted) {
    if (wanted.axis < 0) return is_split(id) ? gathered(id) : id;
    if (is_split(id)) return id;  // as wanted: the rule has looked
    if (undecided_[std::uint32_t(id)]) {
      splits_[std::uint32_t(id)] = wanted;
      return id;
    }
    return part_of(id, wanted);
  }

  TensorId gathered(TensorId id) {
    const auto known = gathered_.find(id);
    if (known != gathered_.end()) return known->second;
    const TensorId all = add_tensor(id, "/whole");
    splits_[std::uint32_t(all)] = whole;
    Node gather;
    gather.name = fmt::format("{}/{}", graph_[id].name, all_gather);
    gather.op = all_gather;
    gather.domain = collective_domain;
    gather.inputs = {id};
    gather.outputs = {all};
    gather.attributes["axis"] = std::int64_t{split_of(id).axis};
    gather.attributes["unit"] = split_of(id).unit;
    add_node(std::move(gather));
    gathered_.emplace(id, all);
    return all;
  }

  // Of a constant the device's memory has only the part; of what was computed whole it is copied.
  TensorId part_of(TensorId id, const DeviceSplit& wanted) {
    const auto key = std::tuple(id, wanted.axis, wanted.unit);
    const auto known = parts_.find(key);
    if (known != parts_.end()) return known->second;
    const TensorId part = add_tensor(id, "");
    splits_[std::uint32_t(part)] = wanted;
    parts_.emplace(key, part);
    if (graph_[id].constant) return part;
    Node slice;
    slice.name = graph_[id].name + "/part";
    slice.op = "Slice";
    slice.inputs = {id};
    slice.outputs = {part};
    add_node(std::move(slice));
    return part;
  }

  TensorId add_tensor(TensorId like, std::string_view suffix) {
    Tensor tensor = graph_[like];
    tensor.name += suffix;
    tensor.values.reset();
    tensor.float_values.reset();
    tensor.consumers.clear();
    graph_.tensors.push_back(std::move(tensor));
    splits_.emplace_back();
    undecided_.push_back(false);
    return TensorId(graph_.tensors.size() - 1);
  }

  void add_node(Node node) { graph_.nodes.push_back(std::move(node)); }

  void link_tensors() {
    for (Tensor& tensor : graph_.tensors) {
      tensor.producer = NodeId::none;
      tensor.consumers.clear();
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (TensorId input : present(graph_.nodes[i].inputs))
        graph_[input].consumers.push_back(NodeId(i));
      for (TensorId output : present(graph_.nodes[i].outputs)) graph_[output].producer = NodeId(i);
    }
  }

  const Tensor& tensor(TensorId id) const { return source_[id]; }
  DeviceSplit split_of(TensorId id) const { return splits_[std::uint32_t(id)]; }
  bool is_split(TensorId id) const {
    return id != TensorId::none && splits_[std::uint32_t(id)].axis >= 0;
  }

  // Whether it can become `wanted` without asking other devices.
  bool can_be(TensorId id, const DeviceSplit& wanted) const {
    if (!is_split(id)) {
      return wanted.axis < 0 || enough(tensor(id).shape[std::size_t(wanted.axis)], wanted.unit);
    }
    const DeviceSplit split = split_of(id);
    return split.axis == wanted.axis &&
           same(tensor(id).shape[std::size_t(split.axis)], split.unit, wanted.unit);
  }

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

bool shares_evenly(const Tensor& whole, const DeviceSplit& split, std::uint32_t devices) {
  const auto parts = shares(whole.shape[std::size_t(split.axis)], split.unit, devices);
  return parts.front() == parts.back();
}

}  // namespace

ShardedGraph shard_graph(const Graph& graph, std::uint32_t devices, std::int64_t column_grain) {
  return Sharder(graph, devices, column_grain).run();
}

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
