#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "npu/targets/nsp/compile/images.hpp"
#include "npu/targets/nsp/compile/qnn_folds.hpp"

namespace npuscope::npu::nsp {
namespace {

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

void split_groups(Graph& graph) { GroupSplitter(graph).run(); }

}  // namespace npuscope::npu::nsp
