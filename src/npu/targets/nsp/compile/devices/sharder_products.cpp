// How devices share matrix products and convolutions.
#include <algorithm>

#include "npu/targets/nsp/compile/devices/sharder.hpp"

namespace npuscope::npu::nsp {
namespace {

// Weights that are read as bytes behind a DequantizeLinear are not cut.
bool is_quantized(const Graph& graph, const Tensor& weights) {
  return weights.producer != NodeId::none && graph[weights.producer].op == "DequantizeLinear";
}

}  // namespace

std::optional<Sharder::Rule> Sharder::choose_product(const Node& node) const {
  if (node.inputs.size() < 2 || node.inputs[1] == TensorId::none || node.outputs.size() != 1) {
    return std::nullopt;
  }
  if (node.op == "Conv") return choose_convolution(node);
  if (node.op != "MatMul" && node.op != "Gemm") return std::nullopt;
  const Tensor& weights = tensor(node.inputs[1]);
  if (!weights.constant) {
    return node.op == "MatMul" ? choose_dynamic_product(node) : std::nullopt;
  }
  if (is_quantized(source_, weights) || weights.shape.size() != 2) return std::nullopt;
  return choose_weight_product(node);
}

std::optional<Sharder::Rule> Sharder::choose_weight_product(const Node& node) const {
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

// Whole heads where the result is next seen as heads, after a bias perhaps.
std::int64_t Sharder::column_unit(TensorId result) const {
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

// Of two activations: batches (heads), rows of the one, columns of the other, or the depth of both.
std::optional<Sharder::Rule> Sharder::choose_dynamic_product(const Node& node) const {
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

std::optional<Sharder::Rule> Sharder::rule_for_batch(const Node& node, int axis,
                                                     std::int64_t unit) const {
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
std::optional<Sharder::Rule> Sharder::choose_convolution(const Node& node) const {
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

}  // namespace npuscope::npu::nsp
