// Normalisations that exporters write as several operators.
#include <algorithm>
#include <set>
#include <utility>

#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/qnn_folds.hpp"

namespace npuscope::npu::nsp {
namespace {

class NormFuser {
 public:
  explicit NormFuser(Graph& graph) : graph_(graph), gone_(graph.nodes.size()) {}

  void run() {
    for (Node& node : graph_.nodes) {
      if (node.op == "Div") fuse_layer(node);
      if (node.op == "InstanceNormalization") fuse_groups(node);
    }
    remove_nodes(graph_, gone_);
  }

 private:
  Node* producer(TensorId id) {
    const NodeId node = id == TensorId::none ? NodeId::none : graph_[id].producer;
    return node == NodeId::none ? nullptr : &graph_.nodes[std::uint32_t(node)];
  }
  Node* producer(TensorId id, std::string_view op) {
    Node* node = producer(id);
    return node != nullptr && node->op == op && node->has_input(0) ? node : nullptr;
  }
  Node* only_reader(TensorId id) {
    return has_one_reader(graph_, id) ? &graph_.nodes[std::uint32_t(graph_[id].consumers[0])]
                                      : nullptr;
  }
  void take_out(const Node& node) { gone_[std::size_t(&node - graph_.nodes.data())] = true; }

  bool is_constant(TensorId id) const { return id != TensorId::none && graph_[id].constant; }

  // The mean of each row.
  Node* mean_of_rows(TensorId id) {
    Node* node = producer(id, "ReduceMean");
    if (node == nullptr || node->int_attribute("keepdims", 1) == 0) return nullptr;
    const auto last = std::int64_t(graph_[node->inputs[0]].shape.size()) - 1;
    return stated_axes(graph_, *node) == Shape{last} ? node : nullptr;
  }

  // x less its mean.
  Node* centred(TensorId id) {
    Node* node = producer(id, "Sub");
    if (node == nullptr || !node->has_input(1)) return nullptr;
    Node* mean = mean_of_rows(node->inputs[1]);
    return mean != nullptr && mean->inputs[0] == node->inputs[0] ? node : nullptr;
  }

  // (x - mean) / Sqrt(mean of (x - mean)^2 + epsilon), then times and plus constants.
  void fuse_layer(Node& quotient) {
    if (!quotient.has_input(0) || !quotient.has_input(1)) return;
    Node* above = centred(quotient.inputs[0]);
    Node* root = producer(quotient.inputs[1], "Sqrt");
    Node* sum = root == nullptr ? nullptr : producer(root->inputs[0], "Add");
    if (above == nullptr || sum == nullptr || !sum->has_input(1)) return;
    const std::size_t side = is_constant(sum->inputs[1]) ? 0 : 1;
    Node* spread = is_constant(sum->inputs[1 - side]) ? mean_of_rows(sum->inputs[side]) : nullptr;
    Node* square = spread == nullptr ? nullptr : producer(spread->inputs[0]);
    if (square == nullptr || !is_square(graph_, *square)) return;
    Node* again = centred(square->inputs[0]);
    if (again == nullptr || again->inputs[0] != above->inputs[0]) return;
    const TensorId x = above->inputs[0];
    const std::set<Node*> parts{root,
                                sum,
                                spread,
                                square,
                                above,
                                again,
                                producer(above->inputs[1]),
                                producer(again->inputs[1])};
    const auto is_of_norm = [&](NodeId reader) {
      Node* node = &graph_.nodes[std::uint32_t(reader)];
      return node == &quotient || parts.contains(node);
    };
    for (Node* node : parts) {
      const TensorId made = node->outputs[0];
      if (is_output(graph_, made) || !std::ranges::all_of(graph_[made].consumers, is_of_norm))
        return;
    }
    for (Node* node : parts) take_out(*node);
    become(quotient, "LayerNormalization", x);
    quotient.attributes["axis"] = std::int64_t{-1};
    quotient.attributes["written_out"] = std::int64_t{1};
  }

  // Reshape to groups, InstanceNormalization, Reshape back, times and plus constants.
  void fuse_groups(Node& norm) {
    Node* to = producer(norm.inputs[0], "Reshape");
    Node* back = only_reader(norm.outputs[0]);
    if (to == nullptr || back == nullptr || back->op != "Reshape") return;
    const Shape& grouped = graph_[norm.inputs[0]].shape;
    const TensorId x = to->inputs[0];
    const Shape& image = graph_[x].shape;
    const bool same = grouped.size() == 3 && image.size() == 4 && image[0] == grouped[0] &&
                      graph_[back->outputs[0]].shape == image &&
                      has_one_reader(graph_, norm.inputs[0]);
    if (!same) return;
    take_out(*to);
    take_out(norm);
    become(*back, "GroupNormalization", x);
    back->attributes["num_groups"] = grouped[1];
  }

  // `node` and what scales and shifts what it makes, by constants, are one operator on `x`.
  void become(Node& node, const char* op, TensorId x) {
    TensorId made = node.outputs[0];
    std::vector<TensorId> inputs{x};
    for (const char* next : {"Mul", "Add"}) {
      Node* reader = only_reader(made);
      if (reader == nullptr || reader->op != next || reader->inputs.size() != 2) break;
      const TensorId other = reader->inputs[0] == made ? reader->inputs[1] : reader->inputs[0];
      if (!is_constant(other) || other == made) break;
      inputs.push_back(other);
      made = reader->outputs[0];
      node.name = reader->name;
      take_out(*reader);
    }
    node.op = op;
    node.domain.clear();
    node.attributes.clear();
    node.inputs = std::move(inputs);
    node.outputs = {made};
  }

  Graph& graph_;
  std::vector<bool> gone_;
};

}  // namespace

void fuse_norms(Graph& graph) { NormFuser(graph).run(); }

}  // namespace npuscope::npu::nsp
