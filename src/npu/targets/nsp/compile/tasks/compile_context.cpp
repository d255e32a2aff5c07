#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace npuscope::npu::nsp {
namespace {

bool is_byte(DataType type) { return type == DataType::int8 || type == DataType::uint8; }

bool is_matrix(OpClass op_class) {
  return op_class == OpClass::matmul || op_class == OpClass::convolution;
}

// The tensor before a DequantizeLinear from bytes, or `id` itself.
TensorId before_dequantize(const Graph& graph, TensorId id) {
  const NodeId producer = graph[id].producer;
  if (producer == NodeId::none || graph[producer].op != "DequantizeLinear") return id;
  const TensorId source = graph[producer].inputs[0];
  return is_byte(graph[source].type) ? source : id;
}

bool is_graph_output(const Graph& graph, TensorId id) {
  return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
}

// The other operand of a two-operand node when it is a constant no larger than a bias.
TensorId constant_operand(const Graph& graph, const Node& node, TensorId data) {
  if (node.inputs.size() != 2) return TensorId::none;
  const TensorId other = node.inputs[0] == data ? node.inputs[1] : node.inputs[0];
  if (other == data || other == TensorId::none || !graph[other].constant) return TensorId::none;
  const Shape& shape = graph[node.outputs[0]].shape;
  const std::int64_t widest = shape.empty() ? 1 : *std::max_element(shape.begin(), shape.end());
  return graph[other].elements() <= std::uint64_t(widest) ? other : TensorId::none;
}

// Tries to make `next`, the only consumer of the product's result so far, part of the product.
bool fuse(const Graph& graph, const Node& next, OpClass op_class, NodePlan& plan) {
  if (next.outputs.size() != 1) return false;
  if (next.op == "Relu" || next.op == "Clip" || next.op == "QuantizeLinear") return true;
  if (next.op == "BatchNormalization" && op_class == OpClass::convolution) {
    const bool folds = std::all_of(next.inputs.begin() + 1, next.inputs.end(), [&](TensorId id) {
      return id == TensorId::none || graph[id].constant;
    });
    if (folds && next.inputs.size() > 2) plan.fused_constants.push_back(next.inputs[2]);
    return folds;
  }
  if (next.op == "Add") {
    const TensorId bias = constant_operand(graph, next, plan.result);
    if (bias != TensorId::none) plan.fused_constants.push_back(bias);
    return bias != TensorId::none;
  }
  return false;
}

std::size_t operand_count(const Node& node) { return node.inputs.size(); }

// Operators of one product whose operands stand where assign_operands looks for them.
bool is_simple_product(const Node& node) {
  static const std::set<std::string, std::less<>> simple{
      "MatMul", "Gemm",          "FusedMatMul", "MatMulInteger", "QLinearMatMul", "MatMulNBits",
      "Conv",   "ConvTranspose", "ConvInteger", "QLinearConv",   "FusedConv"};
  const bool quantized = node.op.starts_with("QLinear");
  return simple.contains(node.op) && node.outputs.size() == 1 &&
         node.inputs.size() >= (quantized ? 8u : 2u) && node.inputs[0] != TensorId::none &&
         node.inputs[quantized ? 3 : 1] != TensorId::none;
}

// Which inputs of a matrix node are the activation, the weights and the bias.
void assign_operands(const Graph& graph, const Node& node, NodePlan& plan) {
  const bool quantized = node.op == "QLinearConv" || node.op == "QLinearMatMul";
  const std::size_t weights = quantized ? 3 : 1;
  plan.activation = before_dequantize(graph, node.inputs[0]);
  plan.weights = before_dequantize(graph, node.inputs[weights]);
  plan.integer = is_byte(graph[plan.activation].type) && is_byte(graph[plan.weights].type);
  if (!plan.integer) plan.activation = node.inputs[0];
  const bool has_bias = node.op == "Conv" || node.op == "Gemm" || node.op == "ConvTranspose";
  if (has_bias && operand_count(node) > 2 && node.inputs[2] != TensorId::none) {
    plan.fused_constants.push_back(node.inputs[2]);
  }
  if (node.op == "QLinearConv" && operand_count(node) > 8 && node.inputs[8] != TensorId::none) {
    plan.fused_constants.push_back(node.inputs[8]);
  }
}

void fuse_followers(const Graph& graph, const Node& node, std::vector<NodePlan>& plans,
                    NodePlan& plan) {
  plan.result = node.outputs[0];
  while (!is_graph_output(graph, plan.result) && graph[plan.result].consumers.size() == 1) {
    const NodeId next_id = graph[plan.result].consumers[0];
    const Node& next = graph[next_id];
    if (std::count(next.inputs.begin(), next.inputs.end(), plan.result) != 1) return;
    if (!fuse(graph, next, plan.op_class, plan)) return;
    plans[std::uint32_t(next_id)].fate = NodeFate::fused;
    plan.result = next.outputs[0];
    if (next.op == "QuantizeLinear") return;
  }
}

// A DequantizeLinear whose consumers all take the bytes themselves costs nothing.
bool dequantize_vanishes(const Graph& graph, const Node& node, const std::vector<NodePlan>& plans) {
  if (node.op != "DequantizeLinear" || is_graph_output(graph, node.outputs[0])) return false;
  const auto& consumers = graph[node.outputs[0]].consumers;
  return !consumers.empty() && std::all_of(consumers.begin(), consumers.end(), [&](NodeId id) {
    const NodePlan& plan = plans[std::uint32_t(id)];
    return is_matrix(plan.op_class) && plan.integer;
  });
}

}  // namespace

std::vector<NodePlan> plan_nodes(const Graph& graph) {
  std::vector<NodePlan> plans(graph.nodes.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].op_class = classify(graph, graph.nodes[i]);
    if (plans[i].op_class == OpClass::folded) plans[i].fate = NodeFate::folded;
    if (plans[i].op_class == OpClass::view) plans[i].fate = NodeFate::view;
    if (!is_matrix(plans[i].op_class)) continue;
    plans[i].compound = !is_simple_product(graph.nodes[i]);
    if (!plans[i].compound) assign_operands(graph, graph.nodes[i], plans[i]);
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    NodePlan& plan = plans[i];
    if (is_matrix(plan.op_class) && plan.fate == NodeFate::execute && !plan.compound) {
      fuse_followers(graph, graph.nodes[i], plans, plan);
    }
    if (plan.fate == NodeFate::execute && dequantize_vanishes(graph, graph.nodes[i], plans)) {
      plan.fate = NodeFate::view;
    }
  }
  return plans;
}

}  // namespace npuscope::npu::nsp
