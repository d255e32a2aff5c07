#include "npu/nsp/compile/tasks/operand_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "npu/nsp/compile/tasks/device_tensor.hpp"

namespace npuscope::npu::nsp {
namespace {

template <class Visit>
void for_each_operand(const Node& node, const Visit& visit) {
  for (const auto* ids : {&node.outputs, &node.inputs}) {
    for (TensorId id : *ids) {
      if (id != TensorId::none) visit(id);
    }
  }
}

// Dest, Dest1, Src, Src1: in the order in which they are asked for.
class Roles {
 public:
  std::string next(TaskOperand::Use use) {
    const bool reads = use == TaskOperand::Use::in;
    const std::size_t index = reads ? sources_++ : results_++;
    const char* name = reads ? "Src" : "Dest";
    return index == 0 ? name : fmt::format("{}{}", name, index);
  }

 private:
  std::size_t results_ = 0, sources_ = 0;
};

std::string_view text_of(TaskOperand::Use use) {
  switch (use) {
    case TaskOperand::Use::out: return "out";
    case TaskOperand::Use::inout: return "inout";
    default: return "in";
  }
}

std::string_view text_of(TaskOperand::Memory memory) {
  switch (memory) {
    case TaskOperand::Memory::vtcm: return "TCM";
    case TaskOperand::Memory::ddr: return "DDR";
    default: return "";
  }
}

std::uint64_t elements_in(const Shape& shape) {
  std::uint64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= std::uint64_t(extent);
  return elements;
}

}  // namespace

Shape part_of_shape(const Shape& whole, std::uint64_t elements) {
  std::uint64_t inner = elements_in(whole);
  if (inner == elements || whole.empty()) return whole;
  Shape part = whole;
  for (std::size_t axis = 0; axis < part.size(); ++axis) {
    inner = whole[axis] > 0 ? inner / std::uint64_t(whole[axis]) : 1;
    const bool last = axis + 1 == part.size();
    if (last || (inner > 0 && elements % inner == 0 && elements >= inner)) {
      part[axis] = std::int64_t(last ? elements : elements / inner);
      return part;
    }
    part[axis] = 1;
  }
  return part;
}

Shape part_of_shape(const Shape& whole, std::uint64_t bytes, DataType type) {
  if (device_bytes(elements_in(whole), type) == bytes) return whole;
  const std::uint64_t elements = bytes * 8 / std::max(bits_of(type), 1u);  // strings have none
  return part_of_shape(whole.empty() ? Shape{1} : whole, elements);
}

std::string shapes_of(std::span<const TaskOperand> operands) {
  std::string text;
  Roles roles;
  for (const TaskOperand& operand : operands) {
    const TaskOperand& first = operands.front();
    const bool copied =
        &operand != &first && operand.name == first.name && operand.shape == first.shape;
    if (copied) continue;
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", roles.next(operand.use),
                        shape_text(operand.shape));
  }
  return text;
}

std::string types_of(const Graph& graph, const Node& node, bool convert_to_fp16) {
  std::vector<std::string_view> types;
  for_each_operand(node, [&](TensorId id) {
    const auto type = name_of(device_type(graph[id].type, convert_to_fp16));
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  });
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string operands_of(std::span<const TaskOperand> operands) {
  std::string text;
  Roles roles;
  for (const TaskOperand& operand : operands) {
    const std::uint64_t bytes = device_bytes(elements_in(operand.shape), operand.type);
    text +=
        fmt::format("{}{} {} {} {} {} <{}> {}KB", text.empty() ? "" : "\n", text_of(operand.use),
                    text_of(operand.memory), roles.next(operand.use), operand.name,
                    name_of(operand.type), shape_text(operand.shape), bytes / 1024);
  }
  return text;
}

std::string attributes_of(const Node& node) {
  const auto kernels = node.ints_attribute("kernel_shape");
  if (kernels.empty()) return "";
  return fmt::format("{{Kernels: [{}], Strides: [{}], Borders: [{}], Group: {}, Dilation: [{}]{}}}",
                     fmt::join(kernels, ", "), fmt::join(node.ints_attribute("strides"), ", "),
                     fmt::join(node.ints_attribute("pads"), ", "), node.int_attribute("group", 1),
                     fmt::join(node.ints_attribute("dilations"), ", "),
                     node.op == "ConvTranspose" ? ", Transposed: 1" : "");
}

}  // namespace npuscope::npu::nsp
