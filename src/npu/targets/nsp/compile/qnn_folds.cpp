#include "npu/targets/nsp/compile/qnn_folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "npu/graph/fold_quantization.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/images.hpp"
#include "npu/targets/nsp/compile/single_rows.hpp"

namespace npuscope::npu::nsp {
namespace {

// x / sqrt(2) -> Erf -> + 1 -> * x -> / 2, or with the half first, becomes one operator.
class GeluFuser {
 public:
  explicit GeluFuser(Graph& graph) : graph_(graph), gone_(graph.nodes.size()) {}

  void run() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph_.nodes[i].op == "Erf") fuse(i);
    remove_nodes(graph_, gone_);
  }

 private:
  static constexpr std::uint32_t none = ~0u;

  std::uint32_t producer(TensorId id) const {
    return id == TensorId::none ? none : std::uint32_t(graph_[id].producer);
  }
  std::uint32_t only_reader(TensorId id, std::string_view op) const {
    if (id == TensorId::none || !has_one_reader(graph_, id)) return none;
    const NodeId reader = graph_[id].consumers[0];
    return graph_[reader].op == op ? std::uint32_t(reader) : none;
  }
  // The other operand of a node that scales or shifts by a constant scalar.
  TensorId scaled(std::uint32_t node, std::string_view ops) const {
    if (node == none || ops.find(graph_.nodes[node].op) == ops.npos) return TensorId::none;
    const auto& inputs = graph_.nodes[node].inputs;
    if (inputs.size() != 2 || !graph_.nodes[node].has_input(0) || !graph_.nodes[node].has_input(1))
      return TensorId::none;
    for (std::size_t i = 0; i < 2; ++i) {
      const Tensor& factor = graph_[inputs[1 - i]];
      if (factor.constant && factor.elements() == 1) return inputs[i];
    }
    return TensorId::none;
  }

  void fuse(std::uint32_t erf) {
    if (!graph_.nodes[erf].has_input(0) || graph_.nodes[erf].outputs.empty()) return;
    const std::uint32_t scaling = producer(graph_.nodes[erf].inputs[0]);
    const TensorId x = scaled(scaling, "Div Mul");
    const std::uint32_t shifted = only_reader(graph_.nodes[erf].outputs[0], "Add");
    if (x == TensorId::none || scaled(shifted, "Add") == TensorId::none ||
        !has_one_reader(graph_, graph_.nodes[erf].inputs[0])) {
      return;
    }
    const TensorId sum = graph_.nodes[shifted].outputs[0];
    const std::uint32_t product = only_reader(sum, "Mul");
    if (product == none || graph_.nodes[product].inputs.size() != 2) return;
    const auto& factors = graph_.nodes[product].inputs;
    const TensorId other = factors[0] == sum ? factors[1] : factors[0];
    std::uint32_t last = product, half = only_reader(graph_.nodes[product].outputs[0], "Mul");
    if (other == x && scaled(half, "Mul") != TensorId::none) {
      last = half;
      half = product;
    } else if (half = producer(other); scaled(half, "Mul") != x || !has_one_reader(graph_, other)) {
      return;
    }
    for (const std::uint32_t node : {erf, scaling, shifted, product, half}) gone_[node] = true;
    gone_[last] = false;
    graph_.nodes[last].op = "Gelu";
    graph_.nodes[last].inputs = {x};
  }

  Graph& graph_;
  std::vector<bool> gone_;
};

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

// Convolutions of groups that do not fill tiles of channels: one for as many groups as lie at equal
// places in a tile, whose channels are taken out first and joined again.
class GroupSplitter {
 public:
  explicit GroupSplitter(Graph& graph) : graph_(graph) {}

  void run() {
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    for (Node& node : nodes) {
      if (node.op.empty()) continue;  // done with the products before it
      const std::int64_t channels = channels_of_part(node);
      if (channels == 0) {
        graph_.nodes.push_back(std::move(node));
        continue;
      }
      while (Node* reader = done_with_products(node.outputs[0], nodes)) {
        node.outputs = reader->outputs;
        reader->op.clear();
      }
      split(node, channels);
    }
    connect(graph_);
  }

 private:
  // What limits or scales the result, and nothing else reads; of integers a scale is a product of
  // its own.
  Node* done_with_products(TensorId made, std::vector<Node>& nodes) const {
    if (!has_one_reader(graph_, made)) return nullptr;
    Node& reader = nodes[std::uint32_t(graph_[made].consumers[0])];
    const bool scales = reader.op == "BatchNormalization" && reader.inputs[0] == made &&
                        reader.outputs.size() == 1 && bits_of(graph_[made].type) > 8;
    return is_limit(reader) || scales ? &reader : nullptr;
  }

  // 0: stays whole.
  std::int64_t channels_of_part(const Node& node) const {
    if (node.op != "Conv" || !node.has_input(0) || !node.has_input(1)) return 0;
    const Shape &from = graph_[node.inputs[0]].shape, &made = graph_[node.outputs[0]].shape;
    const std::int64_t groups = node.int_attribute("group", 1);
    if (from.size() != 4 || groups < 2 || groups >= from[1]) return 0;
    const std::int64_t channels = from[1], own = channels / groups;
    if (channels % channels_of_a_tile == 0) return 0;
    const std::int64_t aligned = std::gcd(channels, channels_of_a_tile);
    const std::int64_t part = aligned % own == 0 ? aligned : own;
    return part < channels && made[1] % (channels / part) == 0 ? part : 0;
  }

  void split(const Node& node, std::int64_t channels) {
    const TensorId from = node.inputs[0], made = node.outputs[0];
    Node joined;
    joined.name = node.name + "_Joined";
    joined.op = "Concat";
    joined.attributes["axis"] = std::int64_t{1};
    joined.outputs = {made};
    const std::int64_t all = graph_[from].shape[1];
    const std::int64_t columns = graph_[made].shape[1] / (all / channels);
    for (std::int64_t first = 0; first < all; first += channels) {
      Node part = node;
      part.name = fmt::format("{}_{}", node.name, first / channels);
      part.attributes["group"] = std::int64_t{1};
      part.inputs = {taken(node, from, first, channels),
                     weights(node, part.name, channels, columns)};
      if (node.has_input(2)) part.inputs.push_back(resized(node.inputs[2], part.name, 0, columns));
      part.outputs = {resized(made, part.name, 1, columns)};
      joined.inputs.push_back(part.outputs[0]);
      graph_.nodes.push_back(std::move(part));
    }
    graph_.nodes.push_back(std::move(joined));
  }

  TensorId taken(const Node& node, TensorId from, std::int64_t first, std::int64_t channels) {
    const std::string name = fmt::format("{}_From{}", node.name, first);
    Node take;
    take.name = name;
    take.inputs = {from};
    take.outputs = {resized(from, name, 1, channels)};
    take.op = first % channels_of_a_tile == 0 ? "TakeBlocks" : "TakeChannels";
    graph_.nodes.push_back(take);
    return take.outputs[0];
  }

  TensorId weights(const Node& node, const std::string& name, std::int64_t channels,
                   std::int64_t columns) {
    const TensorId part = resized(node.inputs[1], name, 0, columns);
    graph_[part].shape[1] = channels;
    return part;
  }

  TensorId resized(TensorId id, const std::string& name, std::size_t axis, std::int64_t extent) {
    Tensor part = graph_[id];
    part.name = fmt::format("{}_{}", part.name, name);
    part.shape[axis] = extent;
    part.values.reset();
    part.float_values.reset();
    graph_.tensors.push_back(std::move(part));
    return TensorId(graph_.tensors.size() - 1);
  }

  Graph& graph_;
};

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
  GeluFuser(graph).run();
  fuse_swish(graph);
  fuse_limits(graph);
  limit_before_places(graph);
  fuse_places(graph);
  turn_sums(graph);
  convolve_means(graph);
  GroupSplitter(graph).run();
}

}  // namespace npuscope::npu::nsp
