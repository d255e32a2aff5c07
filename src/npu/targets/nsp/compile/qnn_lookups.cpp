#include <algorithm>
#include <set>
#include <string>

#include "npu/targets/nsp/compile/qnn_folds.hpp"

namespace npuscope::npu::nsp {
namespace {

// Of integers of eight bits, what one table gives: a function of one tensor and of numbers.
bool looks_up(const Graph& graph, const Node& node) {
  static const std::set<std::string, std::less<>> functions{
      "Add",  "Sub", "Mul", "Div", "Pow",      "Sigmoid", "HardSigmoid", "HardSwish", "Tanh",
      "Gelu", "Elu", "Exp", "Erf", "Softplus", "Sqrt",    "LeakyRelu",   "Swish",     "Abs"};
  if (!functions.contains(node.op) || node.outputs.size() != 1 || !node.has_input(0) ||
      node.outputs[0] == TensorId::none)
    return false;
  const auto is_number = [&](TensorId id) {
    return id == TensorId::none || (graph[id].constant && graph[id].elements() == 1);
  };
  return !graph[node.inputs[0]].constant && bits_of(graph[node.inputs[0]].type) <= 8 &&
         bits_of(graph[node.outputs[0]].type) <= 8 &&
         std::all_of(node.inputs.begin() + 1, node.inputs.end(), is_number);
}

// Another scale of the same integers, which costs less than a table; and those that any table takes
// in.
bool scales(const Node& node) { return node.op == "Mul" || node.op == "Div"; }
bool shifts(const Node& node) { return node.op == "Add" || node.op == "Sub"; }

}  // namespace

void fuse_lookups(Graph& graph) {
  std::vector<bool> gone(graph.nodes.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    Node& node = graph.nodes[i];
    if (!looks_up(graph, node)) continue;
    const TensorId between = node.inputs[0];
    const NodeId producer = graph[between].producer;
    if (producer == NodeId::none || !has_one_reader(graph, between)) continue;
    Node& first = graph.nodes[std::uint32_t(producer)];
    if (!looks_up(graph, first)) continue;
    if (scales(node) || (shifts(node) && !scales(first))) {  // what it moves stands for both
      const std::vector<TensorId> numbers(first.inputs.begin() + 1, first.inputs.end());
      node.op = first.op;
      node.attributes = first.attributes;
      node.inputs.resize(1);
      node.inputs.insert(node.inputs.end(), numbers.begin(), numbers.end());
    }
    node.inputs[0] = first.inputs[0];
    gone[std::uint32_t(producer)] = true;
    std::ranges::replace(graph[node.inputs[0]].consumers, producer, NodeId(std::uint32_t(i)));
  }
  remove_nodes(graph, gone);
}

}  // namespace npuscope::npu::nsp
