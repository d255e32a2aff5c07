// Borders that operators before windows add, and quotients of integers by constants.
#include <algorithm>
#include <optional>
#include <utility>

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
