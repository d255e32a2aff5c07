#include "npu/targets/nsp/compile/images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "npu/graph/fold_quantization.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::nsp {
namespace {

// Those that want channels last.
bool reads_images(const Graph& graph, const Node& node) {
  const OpClass op_class = classify(graph, node);
  return op_class == OpClass::convolution || op_class == OpClass::pooling ||
         node.op == "GlobalAveragePool" || node.op == "GlobalMaxPool" || node.op == "Resize";
}

// Channels to places, or back: of fewer channels than a tile has, back in the host's order.
bool moves_depth(const Graph& graph, const Node& node) {
  if ((node.op != "DepthToSpace" && node.op != "SpaceToDepth") || node.outputs.size() != 1)
    return false;
  const Shape& made = graph[node.outputs[0]].shape;
  return made.size() == 4 && (made[1] >= channels_of_a_tile || node.op == "DepthToSpace");
}

// Channels of one place are a row as any other.
bool is_along_channels(const Graph& graph, const Node& node) {
  if (node.op != "Softmax" || node.int_attribute("axis", -1) != 1) return false;
  const Shape& sides = graph[node.inputs[0]].shape;
  return std::ranges::any_of(sides | std::views::drop(2),
                             [](std::int64_t side) { return side > 1; });
}

bool keeps_images(OpClass op_class) {
  return op_class == OpClass::elementwise || op_class == OpClass::normalization ||
         op_class == OpClass::copy || op_class == OpClass::reduction;
}

// Tensors of so many dimensions that stand for places with channels.
template <class Reads>
std::vector<bool> find_places(const Graph& graph, std::size_t rank, const Reads& reads) {
  std::vector<bool> images(graph.tensors.size());
  const auto mark = [&](TensorId id) {
    if (graph[id].shape.size() == rank && !graph[id].constant) images[std::uint32_t(id)] = true;
  };
  const auto is_image = [&](TensorId id) { return bool(images[std::uint32_t(id)]); };
  const auto visit = [&](const Node& node, bool backwards) {
    auto inputs = present(node.inputs);
    auto outputs = present(node.outputs);
    if (reads(node)) {
      if (!inputs.empty()) mark(*inputs.begin());
      for (const TensorId id : outputs) mark(id);
    } else if (keeps_images(classify(graph, node)) || moves_depth(graph, node) ||
               is_along_channels(graph, node)) {
      if (!backwards && std::ranges::any_of(inputs, is_image))
        for (const TensorId id : outputs) mark(id);
      if (backwards && std::ranges::any_of(outputs, is_image))
        for (const TensorId id : inputs) mark(id);
    }
  };
  for (const Node& node : graph.nodes) visit(node, false);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) visit(*node, true);
  return images;
}

}  // namespace

std::string_view sorting_for_strides(const Graph& graph, const Node& node) {
  if ((node.op != "Conv" && node.op != "QLinearConv") || !node.has_input(0)) return {};
  const auto strides = node.ints_attribute("strides");
  const auto kernel = node.ints_attribute("kernel_shape");
  if (std::ranges::all_of(strides, [](std::int64_t stride) { return stride <= 1; })) return {};
  const Tensor& from = graph[node.inputs[0]];
  const std::int64_t channels = from.shape.size() == 4 ? from.shape[1] : 0;
  // Of depthwise ones of integers a kernel of its own reads every second place.
  const bool depthwise = channels > 1 && node.int_attribute("group", 1) == channels;
  if (bits_of(from.type) <= 8 && depthwise) return {};
  const auto all_are_one = [](std::int64_t extent) { return extent == 1; };
  if (std::ranges::all_of(kernel, all_are_one)) return "Decimate";
  if (kernel == strides) return places_of_patches;
  if (std::ranges::any_of(kernel, [](std::int64_t extent) { return extent > 3; }))
    return "SpaceToDepthLarge";
  constexpr std::int64_t of_cameras = 4;
  return channels > of_cameras ? "SpaceToDepthStride2" : "SpaceToDepthFew";
}

std::optional<Graph> with_sorted_places(const Graph& graph) {
  const auto needs_sorting = [&](const Node& node) {
    return !sorting_for_strides(graph, node).empty() && graph[node.inputs[0]].shape.size() == 4 &&
           !graph[node.inputs[0]].constant;
  };
  if (std::ranges::none_of(graph.nodes, needs_sorting)) return std::nullopt;
  Graph sorted = graph;
  sorted.nodes.clear();
  for (Node node : graph.nodes) {
    if (needs_sorting(node)) {
      Tensor places = graph[node.inputs[0]];
      places.name += "_sorted";
      sorted.tensors.push_back(std::move(places));
      Node sorting;
      sorting.op = sorting_for_strides(graph, node);
      sorting.name = fmt::format("{}_{}", node.name, sorting.op);
      sorting.inputs = {node.inputs[0]};
      sorting.outputs = {TensorId(sorted.tensors.size() - 1)};
      node.inputs[0] = sorting.outputs[0];
      sorted.nodes.push_back(std::move(sorting));
    }
    sorted.nodes.push_back(std::move(node));
  }
  connect(sorted);
  return sorted;
}

std::vector<bool> find_images(const Graph& graph) {
  return find_places(graph, 4, [&](const Node& node) { return reads_images(graph, node); });
}

std::vector<bool> find_sequences(const Graph& graph) {
  return find_places(graph, 3, [&](const Node& node) { return node.op == "Conv"; });
}

}  // namespace npuscope::npu::nsp
