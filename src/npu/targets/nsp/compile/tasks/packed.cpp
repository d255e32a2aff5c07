#include "npu/targets/nsp/compile/tasks/packed.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp {
namespace {

constexpr std::string_view state_suffix = "_RetainedState";

bool is_matmul(const Node& node) {
  return node.op == "MatMul" || node.op == "Gemm" || node.op == "FusedMatMul";
}

bool is_only_weights(const Graph& graph, TensorId id) {
  return std::ranges::all_of(graph[id].consumers, [&](NodeId consumer) {
    const Node& node = graph[consumer];
    return is_matmul(node) && std::ranges::count(node.inputs, id) == 1 && node.inputs[1] == id;
  });
}

}  // namespace

std::vector<DataType> packed_types(const Graph& graph, const std::vector<NodePlan>& plans,
                                   const CompileOptions& options) {
  std::vector<DataType> types(graph.tensors.size(), DataType::undefined);
  const auto is_half = [&](TensorId id) {
    return device_type(graph[id].type, options.convert_to_fp16) == DataType::float16;
  };
  for (std::size_t i = 0; options.mxfp6_matmul && i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!is_matmul(node) || plans[i].fate != NodeFate::execute || plans[i].compound) continue;
    const TensorId weights = node.inputs[1];
    if (!graph[weights].constant || !is_half(weights) || !is_only_weights(graph, weights)) continue;
    types[std::size_t(weights)] = DataType::mxfp6;
  }
  const std::vector<bool> state = find_mxint8_state(graph, options);
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (!state[i] || !is_half(TensorId(i))) continue;
    // Of a view the same bytes.
    TensorId id = TensorId(i);
    types[std::size_t(id)] = DataType::mxint8;
    for (NodeId made = graph[id].producer;
         made != NodeId::none && plans[std::size_t(made)].fate == NodeFate::view;
         made = graph[id].producer) {
      id = graph[made].inputs[0];
      types[std::size_t(id)] = DataType::mxint8;
    }
  }
  return types;
}

std::vector<bool> find_retained_state(const Graph& graph) {
  std::vector<bool> retained(graph.tensors.size(), false);
  std::map<std::string, TensorId, std::less<>> inputs;
  for (TensorId id : graph.inputs) inputs.emplace(graph[id].name, id);
  for (TensorId id : graph.outputs) {
    const std::string_view name = graph[id].name;
    if (!name.ends_with(state_suffix)) continue;
    retained[std::size_t(id)] = true;
    const auto input = inputs.find(name.substr(0, name.size() - state_suffix.size()));
    if (input != inputs.end()) retained[std::size_t(input->second)] = true;
  }
  return retained;
}

std::vector<bool> find_mxint8_state(const Graph& graph, const CompileOptions& options) {
  const bool any =
      options.retained_state && (options.mxint8_state || !options.mxint8_names.empty());
  if (!any) return std::vector<bool>(graph.tensors.size(), false);
  std::vector<bool> state = find_retained_state(graph);
  if (options.mxint8_state) return state;
  // An input and its output are one place: naming either is enough.
  const auto is_named = [&](std::string_view name) {
    return std::ranges::any_of(options.mxint8_names, [&](std::string_view each) {
      if (each.ends_with(state_suffix)) each.remove_suffix(state_suffix.size());
      return name == each;
    });
  };
  for (std::size_t i = 0; i < state.size(); ++i) {
    std::string_view name = graph[TensorId(i)].name;
    if (name.ends_with(state_suffix)) name.remove_suffix(state_suffix.size());
    state[i] = state[i] && is_named(name);
  }
  return state;
}

DataType type_in_ddr(const Graph& graph, TensorId id, const std::vector<bool>& mxint8,
                     const CompileOptions& options) {
  const DataType type = device_type(graph[id].type, options.convert_to_fp16);
  return mxint8[std::size_t(id)] && type == DataType::float16 ? DataType::mxint8 : type;
}

std::string_view unpacking_kernel(DataType packed) {
  return packed == DataType::mxfp6 ? "blockdequantize_mxfp6" : "blockdequantize_mxint8";
}

std::string_view packing_kernel(DataType) { return "blockquantize_mxint8"; }

}  // namespace npuscope::npu::nsp
