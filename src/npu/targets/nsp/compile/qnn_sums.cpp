#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "npu/targets/nsp/compile/images.hpp"
#include "npu/targets/nsp/compile/qnn_folds.hpp"

namespace npuscope::npu::nsp {
namespace {

// A sum of floating point with what a transpose gives is made before the transpose: its other term
// is turned for it, and the sum is turned back for each that reads it.
class SumTurner {
 public:
  explicit SumTurner(Graph& graph) : graph_(graph), sequences_(find_sequences(graph)) {}

  void run() {
    for (const Node& node : graph_.nodes)
      if (turns(node)) transposes_.emplace(node.outputs[0], node.inputs[0]);
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    std::set<TensorId> unread;
    for (Node& node : nodes) {
      for (TensorId& input : node.inputs)
        if (const auto sum = turned_.find(input); sum != turned_.end())
          input = turn(node, input, sum->second);
      const std::size_t side = turned_side(node);
      // What is turned back for a transpose is not there before it.
      if (side > 1 || turned_.contains(transposes_.at(node.inputs[side]))) {
        graph_.nodes.push_back(std::move(node));
        continue;
      }
      const TensorId made = node.outputs[0], other = node.inputs[1 - side];
      const TensorId before = transposes_.at(node.inputs[side]);
      unread.insert(node.inputs[side]);
      node.inputs = {turn(node, other, TensorId::none), before};
      node.outputs = {like(before, made, node.name)};
      turned_.emplace(made, node.outputs[0]);
      graph_.nodes.push_back(std::move(node));
    }
    std::erase_if(graph_.nodes, [&](const Node& node) {
      return turns(node) && unread.contains(node.outputs[0]);
    });
    connect(graph_);
  }

 private:
  static bool turns(const Node& node) {
    return node.op == "Transpose" && node.has_input(0) &&
           node.ints_attribute("perm") == Shape{0, 2, 1};
  }

  // Which term of a sum a transpose gives; 2: none.
  std::size_t turned_side(const Node& node) const {
    if (!is_sum(node) || !node.has_input(0) || !node.has_input(1)) return 2;
    const TensorId made = node.outputs[0];
    const Tensor& sum = graph_[made];
    if (bits_of(sum.type) <= 8 || sum.shape.size() != 3 || is_output(graph_, made)) return 2;
    for (std::size_t side = 0; side < 2; ++side) {
      const TensorId term = node.inputs[side], other = node.inputs[1 - side];
      const auto transpose = transposes_.find(term);
      const bool matrices = graph_[other].shape == sum.shape && !graph_[other].constant &&
                            graph_[term].shape == sum.shape;
      if (transpose == transposes_.end() || !matrices || !has_one_reader(graph_, term)) continue;
      if (!sequences_[std::uint32_t(transpose->second)]) return side;  // those turn without work
    }
    return 2;
  }

  TensorId like(TensorId shape_of, TensorId named, const std::string& of) {
    Tensor tensor = graph_[shape_of];
    tensor.name = fmt::format("{}_{}_turned", graph_[named].name, of);
    graph_.tensors.push_back(std::move(tensor));
    return TensorId(graph_.tensors.size() - 1);
  }

  // What `reader` reads of `id`: turned, or turned back from `from`.
  TensorId turn(const Node& reader, TensorId id, TensorId from) {
    Node node;
    node.op = "Transpose";
    node.name = fmt::format("{}_{}_Turned", reader.name, graph_[id].name);
    node.attributes["perm"] = Shape{0, 2, 1};
    node.inputs = {from == TensorId::none ? id : from};
    TensorId made = like(id, id, reader.name);
    if (from == TensorId::none) std::swap(graph_[made].shape[1], graph_[made].shape[2]);
    node.outputs = {made};
    graph_.nodes.push_back(std::move(node));
    return made;
  }

  Graph& graph_;
  std::vector<bool> sequences_;
  std::map<TensorId, TensorId> transposes_;  // what they give, and of what
  std::map<TensorId, TensorId> turned_;      // sums, and what they are now
};

}  // namespace

void turn_sums(Graph& graph) { SumTurner(graph).run(); }

}  // namespace npuscope::npu::nsp
