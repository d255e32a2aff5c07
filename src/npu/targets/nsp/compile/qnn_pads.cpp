// Borders that operators before windows add, and quotients of integers by constants.
#include <algorithm>
#include <optional>
#include <utility>

#include "npu/graph/fold_quantization.hpp"
#include "npu/targets/nsp/compile/qnn_folds.hpp"

namespace npuscope::npu::nsp {
namespace {

// Of zeros around the places of an image: as a convolution has them.
std::optional<Shape> border_of(const Graph& graph, const Node& node) {
  if (node.op != "Pad" || !node.has_input(0) ||
      node.string_attribute("mode", "constant") != "constant")
    return std::nullopt;
  if (node.has_input(3) && graph[node.inputs[3]].elements() > 0) return std::nullopt;
  if (node.has_input(2)) {
    const Tensor& value = graph[node.inputs[2]];
    const auto is_zero = [](double each) { return each == 0; };
    if (!value.constant ||
        (value.float_values && !std::ranges::all_of(*value.float_values, is_zero)))
      return std::nullopt;
  }
  Shape pads = node.ints_attribute("pads");
  if (node.has_input(1)) pads = graph[node.inputs[1]].values.value_or(Shape{});
  const std::size_t rank = graph[node.inputs[0]].shape.size();
  if (pads.size() != 2 * rank || rank < 3) return std::nullopt;
  if (std::ranges::any_of(pads, [](std::int64_t pad) { return pad < 0; })) return std::nullopt;
  if (pads[0] + pads[1] + pads[rank] + pads[rank + 1] != 0) return std::nullopt;
  Shape border(pads.begin() + 2, pads.begin() + std::ptrdiff_t(rank));
  border.insert(border.end(), pads.begin() + std::ptrdiff_t(rank) + 2, pads.end());
  return border;
}

bool takes_border(const Graph& graph, const Node& node, TensorId padded) {
  const std::string automatic = node.string_attribute("auto_pad", "NOTSET");
  return (node.op == "Conv" || node.op == "MaxPool") && node.inputs[0] == padded &&
         std::ranges::count(node.inputs, padded) == 1 && graph[padded].shape.size() > 2 &&
         (automatic == "NOTSET" || automatic == "VALID");
}

// Of a convolution along one axis that reads few channels in wide steps, as the first of networks
// that take sound: its stride; 0: of others.
std::int64_t stride_of_waves(const Graph& graph, const Node& node) {
  constexpr std::int64_t least_channels = 8, most_channels = 4;
  if (node.op != "Conv" || !node.has_input(0) || !node.has_input(1) ||
      present(node.outputs).empty())
    return 0;
  const Tensor &from = graph[node.inputs[0]], &weights = graph[node.inputs[1]];
  const auto strides = node.ints_attribute("strides"), pads = node.ints_attribute("pads");
  const auto is_set = [](std::int64_t value) { return value != 0; };
  const bool fits = from.shape.size() == 3 && graph[node.outputs[0]].shape.size() == 3 &&
                    weights.shape.size() == 3 && weights.constant && !from.constant &&
                    strides.size() == 1 && std::ranges::none_of(pads, is_set) &&
                    node.string_attribute("auto_pad", "NOTSET") == "NOTSET" &&
                    node.int_attribute("group", 1) == 1 && bits_of(from.type) > 8 &&
                    node.ints_attribute("dilations") <= Shape{1} &&
                    from.shape[1] <= most_channels && weights.shape[2] > strides[0];
  return fits && from.shape[1] * strides[0] >= least_channels ? strides[0] : 0;
}

// The places of a step become channels, so that the convolution has none.
void gather_places(Graph& graph, Node& node, std::int64_t stride) {
  Tensor places = graph[node.inputs[0]], weights = graph[node.inputs[1]];
  const std::int64_t steps = (weights.shape[2] + stride - 1) / stride;
  const std::int64_t made = graph[node.outputs[0]].shape[2];
  places.name += "_" + node.name;
  places.shape = {places.shape[0], places.shape[1] * stride, made + steps - 1};
  weights.name += "_" + node.name;
  weights.shape = {weights.shape[0], places.shape[1], steps};
  weights.values.reset();
  weights.float_values.reset();
  graph.tensors.push_back(std::move(places));
  graph.tensors.push_back(std::move(weights));
  const auto at = std::uint32_t(graph.tensors.size());
  Node gather;
  gather.op = "GatherFewPlaces";
  gather.name = node.name + "_Gather";
  gather.inputs = {node.inputs[0]};
  gather.outputs = {TensorId(at - 2)};
  node.inputs[0] = gather.outputs[0];
  node.inputs[1] = TensorId(at - 1);
  node.attributes["kernel_shape"] = Shape{steps};
  node.attributes["strides"] = Shape{1};
  graph.nodes.push_back(std::move(gather));
}

}  // namespace

void fuse_borders(Graph& graph) {
  std::vector<bool> gone(graph.nodes.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    const Node& pad = graph.nodes[i];
    const auto border = border_of(graph, pad);
    if (!border || is_output(graph, pad.outputs[0])) continue;
    const TensorId padded = pad.outputs[0];
    const auto& readers = graph[padded].consumers;
    const bool all = std::ranges::all_of(
        readers, [&](NodeId reader) { return takes_border(graph, graph[reader], padded); });
    if (!all || readers.empty()) continue;
    for (const NodeId reader : readers) {
      Node& convolution = graph.nodes[std::uint32_t(reader)];
      Shape pads = convolution.ints_attribute("pads");
      pads.resize(border->size());
      for (std::size_t axis = 0; axis < pads.size(); ++axis) pads[axis] += (*border)[axis];
      convolution.attributes["pads"] = std::move(pads);
      convolution.attributes.erase("auto_pad");
      convolution.inputs[0] = pad.inputs[0];
    }
    gone[i] = true;
  }
  remove_nodes(graph, gone);
}

void gather_strides(Graph& graph) {
  std::vector<Node> nodes = std::exchange(graph.nodes, {});
  for (Node& node : nodes) {
    const std::int64_t stride = stride_of_waves(graph, node);
    if (stride > 0) gather_places(graph, node, stride);
    graph.nodes.push_back(std::move(node));
  }
  connect(graph);
}

void fold_quotients(Graph& graph) {
  std::vector<bool> gone(graph.nodes.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.op != "Div" || !node.has_input(0) || !node.has_input(1)) continue;
    const TensorId from = node.inputs[0];
    const Tensor& divisor = graph[node.inputs[1]];
    const NodeId before = graph[from].producer;
    if (bits_of(graph[from].type) > 8 || !divisor.constant || divisor.elements() != 1 ||
        before == NodeId::none || !has_one_reader(graph, from))
      continue;
    std::ranges::replace(graph.nodes[std::uint32_t(before)].outputs, from, node.outputs[0]);
    graph[node.outputs[0]].producer = before;
    gone[i] = true;
  }
  remove_nodes(graph, gone);
}

}  // namespace npuscope::npu::nsp
