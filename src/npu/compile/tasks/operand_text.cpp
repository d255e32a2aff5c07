#include "npu/compile/tasks/operand_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "npu/compile/tasks/device_tensor.hpp"

namespace npuscope::npu {
namespace {

std::string role(const char* name, std::size_t index) {
  return index == 0 ? name : fmt::format("{}{}", name, index);
}

template <class Visit>
void for_each_operand(const Node& node, const Visit& visit) {
  std::size_t index = 0;
  for (TensorId id : node.outputs) {
    if (id != TensorId::none) visit("out", role("Dest", index++), id);
  }
  index = 0;
  for (TensorId id : node.inputs) {
    if (id != TensorId::none) visit("in", role("Src", index++), id);
  }
}

}  // namespace

std::string shapes_of(const Graph& graph, const Node& node) {
  std::string text;
  for_each_operand(node, [&](const char*, const std::string& name, TensorId id) {
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", name, shape_text(graph[id].shape));
  });
  return text;
}

std::string types_of(const Graph& graph, const Node& node, bool convert_to_fp16) {
  std::vector<std::string_view> types;
  for_each_operand(node, [&](const char*, const std::string&, TensorId id) {
    const auto type = name_of(device_type(graph[id].type, convert_to_fp16));
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  });
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string operands_of(const Graph& graph, const Node& node, bool convert_to_fp16) {
  std::string text;
  for_each_operand(node, [&](const char* direction, const std::string& name, TensorId id) {
    const Tensor& tensor = graph[id];
    const DataType type = device_type(tensor.type, convert_to_fp16);
    text += fmt::format("{}{} {} {} {} {} <{}> {}KB", text.empty() ? "" : "\n", direction,
                        tensor.constant ? "DDR" : "TCM", name, tensor.name, name_of(type),
                        shape_text(tensor.shape), device_bytes(tensor.elements(), type) / 1024);
  });
  return text;
}

std::string attributes_of(const Node& node) {
  const auto kernels = node.ints_attribute("kernel_shape");
  if (kernels.empty()) return "";
  return fmt::format("{{Kernels: [{}], Strides: [{}], Borders: [{}], Group: {}, Dilation: [{}]}}",
                     fmt::join(kernels, ", "), fmt::join(node.ints_attribute("strides"), ", "),
                     fmt::join(node.ints_attribute("pads"), ", "), node.int_attribute("group", 1),
                     fmt::join(node.ints_attribute("dilations"), ", "));
}

}  // namespace npuscope::npu
