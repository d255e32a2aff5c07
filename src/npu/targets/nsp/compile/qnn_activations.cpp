// Activations that exporters write as several operators.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "npu/targets/nsp/compile/qnn_folds.hpp"

namespace npuscope::npu::nsp {
namespace {

// x / sqrt(2) -> Erf -> + 1 -> * x -> / 2, or with the half first, becomes one operator, as does
// what Tanh of a polynomial of x approximates it by.
class GeluFuser {
 public:
  explicit GeluFuser(Graph& graph) : graph_(graph), gone_(graph.nodes.size()) {}

  void run() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph_.nodes[i].op == "Erf" || graph_.nodes[i].op == "Tanh") fuse(i);
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

  // The degree of a polynomial of `x`, 0 of a constant; `nodes` are what it is made of.
  std::optional<std::int64_t> degree(TensorId id, TensorId x,
                                     std::vector<std::uint32_t>& nodes) const {
    if (id == x) return 1;
    if (id != TensorId::none && graph_[id].constant && graph_[id].elements() == 1) return 0;
    constexpr std::size_t most_nodes = 8;
    const std::uint32_t node = producer(id);
    if (node == none || nodes.size() == most_nodes || !has_one_reader(graph_, id))
      return std::nullopt;
    const Node& made_by = graph_.nodes[node];
    const bool is_power = made_by.op == "Pow";
    if (made_by.inputs.size() != 2 || (made_by.op != "Mul" && made_by.op != "Add" && !is_power))
      return std::nullopt;
    nodes.push_back(node);
    const auto first = degree(made_by.inputs[0], x, nodes);
    const auto second = is_power ? power_of(graph_, made_by) : degree(made_by.inputs[1], x, nodes);
    if (!first || !second) return std::nullopt;
    if (is_power) return *first * *second;
    return made_by.op == "Mul" ? *first + *second : std::max(*first, *second);
  }

  void fuse(std::uint32_t step) {
    if (!graph_.nodes[step].has_input(0) || graph_.nodes[step].outputs.empty()) return;
    const std::uint32_t shifted = only_reader(graph_.nodes[step].outputs[0], "Add");
    if (scaled(shifted, "Add") == TensorId::none) return;
    const TensorId sum = graph_.nodes[shifted].outputs[0];
    const std::uint32_t product = only_reader(sum, "Mul");
    if (product == none || graph_.nodes[product].inputs.size() != 2) return;
    const auto& factors = graph_.nodes[product].inputs;
    const TensorId other = factors[0] == sum ? factors[1] : factors[0];
    if (other == TensorId::none) return;
    // Half of x is the other factor, or what is made is halved.
    std::uint32_t last = product, half = producer(other);
    TensorId x = has_one_reader(graph_, other) ? scaled(half, "Mul Div") : TensorId::none;
    if (x == TensorId::none) {
      x = other;
      last = only_reader(graph_.nodes[product].outputs[0], "Mul");
      half = product;
      if (scaled(last, "Mul") == TensorId::none) return;
    }
    const TensorId inner = graph_.nodes[step].inputs[0];
    std::vector<std::uint32_t> inside;
    // With a degree of one it would be x * Sigmoid(2 * inner).
    if (graph_.nodes[step].op == "Tanh" ? degree(inner, x, inside) != 3
                                        : !is_scaled(inner, x, inside))
      return;
    for (const std::uint32_t node : inside) gone_[node] = true;
    for (const std::uint32_t node : {step, shifted, product, half}) gone_[node] = true;
    gone_[last] = false;
    graph_.nodes[last].op = "Gelu";
    graph_.nodes[last].inputs = {x};
  }

  bool is_scaled(TensorId id, TensorId x, std::vector<std::uint32_t>& nodes) const {
    nodes.push_back(producer(id));
    return scaled(nodes.back(), "Div Mul") == x && has_one_reader(graph_, id);
  }

  Graph& graph_;
  std::vector<bool> gone_;
};

// x * Sigmoid(x) and x * Sigmoid(beta * x) become one operator. Where that is not done, beta is
// part of the table that an integer Sigmoid is, and of a second convolution, whose Sigmoid is then
// its own, of what one makes.
class SwishFuser {
 public:
  explicit SwishFuser(Graph& graph) : graph_(graph), gone_(graph.nodes.size()) {}

  void run() {
    for (Node& node : graph_.nodes) {
      if (node.op != "Mul" || !node.has_input(0) || !node.has_input(1)) continue;
      if (!fuse(node, 0)) fuse(node, 1);
    }
    remove_nodes(graph_, gone_);
  }

 private:
  // Where operand `gate` of the product is the Sigmoid.
  bool fuse(Node& product, std::size_t gate) {
    const NodeId sigmoid = graph_[product.inputs[gate]].producer;
    if (sigmoid == NodeId::none || graph_[sigmoid].op != "Sigmoid" ||
        !graph_[sigmoid].has_input(0) || !has_one_reader(graph_, product.inputs[gate]))
      return false;
    const TensorId x = product.inputs[1 - gate], inner = graph_[sigmoid].inputs[0];
    if (inner == x) {
      gone_[std::uint32_t(sigmoid)] = true;
      product.op = "Swish";
      product.inputs = {x};
      return true;
    }
    const NodeId scaling = graph_[inner].producer;
    if (scaling == NodeId::none || !has_one_reader(graph_, inner) || !scales(graph_[scaling], x))
      return false;
    const NodeId source = graph_[x].producer;
    if (bits_of(graph_[x].type) <= 8) {
      graph_.nodes[std::uint32_t(sigmoid)].inputs[0] = x;
      gone_[std::uint32_t(scaling)] = true;
    } else if (source != NodeId::none && graph_[source].op == "Conv") {
      convolve_again(graph_[source], graph_.nodes[std::uint32_t(scaling)]);
    } else {
      gone_[std::uint32_t(sigmoid)] = gone_[std::uint32_t(scaling)] = true;
      product.op = "SwishBeta";
      product.inputs = {x};
    }
    return true;
  }

  // Whether a node is the product of `x` and a constant scalar.
  bool scales(const Node& node, TensorId x) const {
    if (node.op != "Mul" || node.inputs.size() != 2) return false;
    const TensorId factor = node.inputs[0] == x ? node.inputs[1] : node.inputs[0];
    return std::ranges::find(node.inputs, x) != node.inputs.end() && factor != TensorId::none &&
           graph_[factor].constant && graph_[factor].elements() == 1;
  }

  void convolve_again(const Node& convolution, Node& scaling) {
    const std::vector<TensorId> outputs = scaling.outputs;
    const std::string name = scaling.name;
    scaling = convolution;
    scaling.name = name;
    scaling.outputs = outputs;
    for (std::size_t i = 1; i < scaling.inputs.size(); ++i) {
      // What the network computes or is given is read twice.
      if (scaling.inputs[i] == TensorId::none || !graph_[scaling.inputs[i]].constant) continue;
      Tensor scaled = graph_[scaling.inputs[i]];
      scaled.name = fmt::format("{}_{}", scaled.name, name);
      graph_.tensors.push_back(std::move(scaled));
      scaling.inputs[i] = TensorId(graph_.tensors.size() - 1);
    }
  }

  Graph& graph_;
  std::vector<bool> gone_;
};

}  // namespace

void fuse_activations(Graph& graph) {
  GeluFuser(graph).run();
  SwishFuser(graph).run();
}

}  // namespace npuscope::npu::nsp
