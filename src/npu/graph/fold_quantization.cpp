#include "npu/graph/fold_quantization.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "npu/graph/semantics.hpp"

namespace npuscope::npu {
namespace {

bool is_fixed_point(DataType type) { return type >= DataType::int8 && type <= DataType::uint16; }

class Folder {
 public:
  Folder(const Graph& graph, bool host_quantizes)
      : graph_(graph),
        host_quantizes_(host_quantizes),
        integer_(graph.nodes.size()),
        becomes_(graph.tensors.size()) {
    std::iota(becomes_.begin(), becomes_.end(), 0u);
    for (std::size_t i = 0; i < integer_.size(); ++i) integer_[i] = !converts(graph.nodes[i]);
  }

  Graph run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < integer_.size(); ++i) {
        if (!integer_[i] || stays_integer(graph_.nodes[i])) continue;
        integer_[i] = false;
        changed = true;
      }
    }
    Graph folded = graph_;
    const auto scales = tensor_scales(graph_);
    for (std::size_t i = 0; i < scales.size(); ++i) folded.tensors[i].scale = scales[i];
    for (std::size_t i = 0; i < integer_.size(); ++i) {
      if (integer_[i]) make_integer(graph_.nodes[i], folded);
    }
    std::vector<bool> vanishes(graph_.nodes.size());
    for (std::size_t i = 0; i < vanishes.size(); ++i) vanishes[i] = fold(graph_.nodes[i]);
    rename(folded, vanishes);
    return folded;
  }

 private:
  static bool converts(const Node& node) {
    return node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
  }
  bool is_output(TensorId id) const {
    return std::ranges::find(graph_.outputs, id) != graph_.outputs.end();
  }
  const Node* producer(TensorId id) const {
    return graph_[id].producer == NodeId::none ? nullptr : &graph_[graph_[id].producer];
  }
  bool makes_integers(NodeId id) const { return integer_[std::uint32_t(id)]; }

  // Whether the values are there as integers when their makers are folded.
  bool comes_as_integers(TensorId id) const {
    if (!is_float(graph_[id].type)) return true;
    const Node* node = producer(id);
    if (node == nullptr) return false;
    if (node->op == "DequantizeLinear")
      return node->has_input(0) && is_fixed_point(graph_[node->inputs[0]].type);
    return makes_integers(graph_[id].producer);
  }
  bool goes_as_integers(TensorId id) const {
    if (!is_float(graph_[id].type)) return true;
    return !is_output(id) && std::ranges::all_of(graph_[id].consumers, [&](NodeId consumer) {
      return graph_[consumer].op == "QuantizeLinear" || makes_integers(consumer);
    });
  }
  // A constant in floating point, such as the slope of an activation function, is the kernel's own.
  bool stays_integer(const Node& node) const {
    bool quantized = false;
    for (const TensorId id : present(node.inputs)) {
      if (!graph_[id].constant && !comes_as_integers(id)) return false;
      quantized = quantized || (!graph_[id].constant && is_float(graph_[id].type));
    }
    auto outputs = present(node.outputs);
    return quantized &&
           std::ranges::all_of(outputs, [&](TensorId id) { return goes_as_integers(id); });
  }

  // Results between two operators have no QuantizeLinear that would say their type.
  void make_integer(const Node& node, Graph& folded) {
    for (const TensorId id : present(node.outputs)) {
      if (is_float(graph_[id].type)) folded[id].type = DataType::uint8;
    }
  }

  // Whether the node goes away; then its result is another tensor.
  bool fold(const Node& node) {
    if (!converts(node) || !node.has_input(0) || present(node.outputs).empty()) return false;
    const TensorId from = node.inputs[0], to = node.outputs[0];
    if (node.op == "QuantizeLinear") return fold_quantize(from, to);
    const bool constant = graph_[from].constant;
    if (!constant && !is_fixed_point(graph_[from].type)) return false;
    const auto& consumers = graph_[to].consumers;
    if (is_output(to)) {
      if (!host_quantizes_ || constant || !consumers.empty()) return false;
    } else if (!std::ranges::all_of(consumers, [&](NodeId id) { return makes_integers(id); })) {
      return false;
    }
    becomes_[std::uint32_t(to)] = std::uint32_t(from);
    return true;
  }

  bool fold_quantize(TensorId from, TensorId to) {
    const bool host_input = graph_[from].producer == NodeId::none && !graph_[from].constant;
    const bool folds =
        host_input ? host_quantizes_ && graph_[from].consumers.size() == 1 && !is_output(from)
                   : graph_[from].producer != NodeId::none && makes_integers(graph_[from].producer);
    if (!folds) return false;
    // Of several that quantise one result the first says what it becomes.
    std::uint32_t& result = becomes_[std::uint32_t(from)];
    if (result == std::uint32_t(from)) {
      result = std::uint32_t(to);
    } else {
      becomes_[std::uint32_t(to)] = result;
    }
    return true;
  }

  TensorId final_of(TensorId id) const {
    if (id == TensorId::none) return id;
    std::uint32_t at = std::uint32_t(id);
    while (becomes_[at] != at) at = becomes_[at];
    return TensorId(at);
  }

  void rename(Graph& folded, const std::vector<bool>& vanishes) const {
    const auto rename_all = [&](std::vector<TensorId>& ids) {
      for (TensorId& id : ids) id = final_of(id);
    };
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < folded.nodes.size(); ++i) {
      if (vanishes[i]) continue;
      nodes.push_back(std::move(folded.nodes[i]));
      rename_all(nodes.back().inputs);
      rename_all(nodes.back().outputs);
    }
    folded.nodes = std::move(nodes);
    rename_all(folded.inputs);
    rename_all(folded.outputs);
    connect(folded);
  }

  const Graph& graph_;
  bool host_quantizes_;
  std::vector<bool> integer_;           // by node: works on integers when all is folded
  std::vector<std::uint32_t> becomes_;  // by tensor
};

}  // namespace

Graph fold_quantization(const Graph& graph, bool host_quantizes) {
  const bool quantized = std::ranges::any_of(
      graph.nodes, [](const Node& node) { return node.op == "DequantizeLinear"; });
  return quantized ? Folder(graph, host_quantizes).run() : graph;
}

Graph without_limits_of_sums(Graph graph) {
  std::vector<bool> vanishes(graph.nodes.size());
  for (Node& node : graph.nodes) {
    if (node.op != "Add" || node.outputs.size() != 1 || node.inputs.size() != 2) continue;
    const Tensor& sum = graph[node.outputs[0]];
    const bool constant =
        std::ranges::any_of(node.inputs, [&](TensorId id) { return graph[id].constant; });
    if (constant || !is_fixed_point(sum.type) || sum.consumers.size() != 1 ||
        std::ranges::find(graph.outputs, node.outputs[0]) != graph.outputs.end())
      continue;
    const Node& limit = graph[sum.consumers[0]];
    const bool limits = (limit.op == "Relu" || limit.op == "Clip") && limit.domain.empty() &&
                        limit.has_input(0) && limit.inputs[0] == node.outputs[0];
    if (!limits || graph[limit.outputs[0]].type != sum.type) continue;
    vanishes[std::uint32_t(sum.consumers[0])] = true;
    node.outputs = limit.outputs;
  }
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < vanishes.size(); ++i) {
    if (!vanishes[i]) nodes.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(nodes);
  connect(graph);
  return graph;
}

void connect(Graph& graph) {
  for (Tensor& tensor : graph.tensors) {
    tensor.producer = NodeId::none;
    tensor.consumers.clear();
  }
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const TensorId id : present(graph.nodes[i].outputs)) graph[id].producer = NodeId(i);
    for (const TensorId id : present(graph.nodes[i].inputs)) {
      auto& consumers = graph[id].consumers;
      if (consumers.empty() || consumers.back() != NodeId(i)) consumers.push_back(NodeId(i));
    }
  }
}

}  // namespace npuscope::npu
