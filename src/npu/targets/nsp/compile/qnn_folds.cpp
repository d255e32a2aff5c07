#include "npu/targets/nsp/compile/qnn_folds.hpp"

#include <algorithm>
#include <utility>

#include "npu/graph/fold_quantization.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/images.hpp"
#include "npu/targets/nsp/compile/single_rows.hpp"

namespace npuscope::npu::nsp {
namespace {

// A limit of places that a product's channels become is done with the product.
void limit_before_places(Graph& graph) {
  std::vector<bool> gone(graph.nodes.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!is_limit(node) || node.outputs.size() != 1) continue;
    const NodeId moves = graph[node.inputs[0]].producer;
    if (moves == NodeId::none || graph[moves].op != "DepthToSpace" ||
        !has_one_reader(graph, node.inputs[0]))
      continue;
    const TensorId from = graph[moves].inputs[0];
    const NodeId product = graph[from].producer;
    if (product == NodeId::none || graph[product].op != "Conv" || !has_one_reader(graph, from))
      continue;
    graph.nodes[std::uint32_t(moves)].outputs = {node.outputs[0]};
    gone[i] = true;
  }
  remove_nodes(graph, gone);
}

// Places of an image as rows, or rows as the places of one, are one step where the host's order has
// a reshape and a transpose.
void fuse_places(Graph& graph) {
  const std::vector<bool> images = find_images(graph);
  std::vector<bool> gone(graph.nodes.size());
  const auto turns = [](const Node& node) {
    return node.op == "Transpose" && node.has_input(0) &&
           node.ints_attribute("perm") == Shape{0, 2, 1};
  };
  const auto sees_places = [&](const Shape& image, const Shape& rows) {
    return image.size() == 4 && rows.size() == 3 && image[0] == rows[0] && image[1] == rows[1];
  };
  for (std::size_t i = 0; i < gone.size(); ++i) {
    Node& node = graph.nodes[i];
    const bool first = turns(node);
    if ((!first && node.op != "Reshape") || !node.has_input(0)) continue;
    const NodeId before = graph[node.inputs[0]].producer;
    if (before == NodeId::none || !has_one_reader(graph, node.inputs[0])) continue;
    const Node& other = graph[before];
    const bool pair = first ? other.op == "Reshape" && other.has_input(0) : turns(other);
    if (!pair || gone[std::uint32_t(before)]) continue;
    const TensorId from = other.inputs[0], image = first ? from : node.outputs[0];
    if (!images[std::uint32_t(image)] ||
        !sees_places(graph[image].shape, graph[node.inputs[0]].shape))
      continue;
    node.op = first ? "PlacesToRows" : "RowsToPlaces";
    node.inputs = {from};
    node.attributes.clear();
    gone[std::uint32_t(before)] = true;
  }
  remove_nodes(graph, gone);
}

// What limits a sum in tiles, such as that of two images, is part of the sum.
void fuse_limits(Graph& graph) {
  const std::vector<bool> images = find_images(graph), rows = find_rows_in_tiles(graph);
  std::vector<bool> gone(graph.nodes.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!is_limit(node) || present(node.outputs).empty() || node.outputs.size() != 1) continue;
    const TensorId sum = node.inputs[0];
    const NodeId producer = graph[sum].producer;
    // Others come out of their tiles before they are limited.
    const bool in_tiles = images[std::uint32_t(sum)] || rows[std::uint32_t(sum)];
    const bool fuses = producer != NodeId::none && is_sum(graph[producer]) && in_tiles &&
                       has_one_reader(graph, sum);
    if (!fuses) continue;
    graph.nodes[std::uint32_t(producer)].outputs = {node.outputs[0]};
    gone[i] = true;
  }
  remove_nodes(graph, gone);
}

// What a constant is added to or multiplied by stands first, as exporters have it that write x + 3
// and 3 + x alike.
void put_constants_last(Graph& graph) {
  for (Node& node : graph.nodes) {
    const bool commutes = node.op == "Add" || node.op == "Mul";
    if (!commutes || node.inputs.size() != 2 || !node.has_input(0) || !node.has_input(1)) continue;
    if (graph[node.inputs[0]].constant && !graph[node.inputs[1]].constant)
      std::swap(node.inputs[0], node.inputs[1]);
  }
}

// A mean of windows that counts the zeros around the image is a depthwise convolution.
void convolve_means(Graph& graph) {
  for (Node& node : graph.nodes) {
    if (node.op != "AveragePool" || !node.has_input(0) || node.int_attribute("ceil_mode", 0) != 0)
      continue;
    const Tensor& from = graph[node.inputs[0]];
    const auto pads = node.ints_attribute("pads"), kernel = node.ints_attribute("kernel_shape");
    const bool counts = node.int_attribute("count_include_pad", 0) != 0 &&
                        std::ranges::any_of(pads, [](std::int64_t pad) { return pad > 0; });
    if (!counts || from.shape.size() != 4 || kernel.size() != 2) continue;
    Tensor weights;
    weights.name = node.name + "_weights";
    weights.type = from.type;
    weights.shape = {from.shape[1], 1, kernel[0], kernel[1]};
    weights.constant = true;
    node.op = "Conv";
    node.attributes["group"] = from.shape[1];
    graph.tensors.push_back(std::move(weights));
    node.inputs = {node.inputs[0], TensorId(graph.tensors.size() - 1)};
  }
  connect(graph);
}

}  // namespace

void remove_nodes(Graph& graph, const std::vector<bool>& gone) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) nodes.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(nodes);
  connect(graph);
}

void fold_as_qnn(Graph& graph) {
  put_constants_last(graph);
  fuse_norms(graph);
  fuse_activations(graph);
  fuse_borders(graph);
  gather_strides(graph);
  gather_stems(graph);
  fold_quotients(graph);
  fuse_lookups(graph);
  fuse_limits(graph);
  limit_before_places(graph);
  fuse_places(graph);
  turn_sums(graph);
  convolve_means(graph);
  split_groups(graph);
}

}  // namespace npuscope::npu::nsp
