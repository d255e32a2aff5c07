#include "formats/ggml/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/ggml/engine_units.hpp"

namespace npuscope::ggml {
namespace {

// "MUL_MAT hmx-tiled".
std::string kernel_of(const Operation& operation) {
  const std::string_view kernel = operation.kernel;
  const bool names_it = !kernel.empty() && !kernel.starts_with("vtcm") &&
                        !kernel.starts_with("nth") && !kernel.starts_with("idx") &&
                        !kernel.starts_with("seq");
  if (!names_it) return operation.op;
  return fmt::format("{} {}", operation.op, kernel.substr(0, kernel.find(' ')));
}

std::string types_of(const Operation& operation) {
  std::vector<std::string_view> types;
  for (const auto* tensors : {&operation.inputs, &operation.outputs}) {
    for (const Tensor& tensor : *tensors) {
      if (tensor.type.empty() || std::ranges::find(types, tensor.type) != types.end()) continue;
      types.push_back(tensor.type);
    }
  }
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string operands_of(const Operation& operation) {
  std::string operands;
  const auto add = [&](const std::vector<Tensor>& tensors, const char* side) {
    for (const Tensor& tensor : tensors) {
      operands += fmt::format("{}{} {} {} {}", operands.empty() ? "" : "\n", side, tensor.name,
                              tensor.type, tensor.extents_text);
    }
  };
  add(operation.inputs, "in");
  add(operation.outputs, "out");
  return operands;
}

}  // namespace

OpId OpTable::at(std::uint32_t operation, std::size_t place) {
  std::vector<OpId>& ops = ops_[operation];
  if (place >= ops.size()) ops.resize(place + 1, OpId::none);
  if (ops[place] == OpId::none) {
    ops[place] = OpId(std::uint32_t(profile_.ops.size()));
    profile_.ops.push_back(place == 0 ? window(operation) : part(operation, place - 1));
    is_window_.push_back(place == 0);
  }
  return ops[place];
}

Op OpTable::part(std::uint32_t operation, std::size_t event) {
  Op op;
  const std::string& name = log_.event_names[event];
  const StringId kind = profile_.strings.intern(name);
  if (operation < log_.operations.size()) {
    op = window(operation);
  } else {
    op.name = op.node = profile_.strings.intern("between ops");
  }
  op.kind = kind;
  op.engine = engine_of(lane_of(name));
  return op;
}

Op OpTable::window(std::uint32_t number) {
  Op op;
  const auto text = [this](std::string_view word) { return profile_.strings.intern(word); };
  const Operation& operation = log_.operations[number];
  op.name = op.node = text(layers_[number].label);
  op.node_kind = text(operation.op);
  op.kind = text(kernel_of(operation));
  op.engine = Engine::core;
  op.operands = text(operands_of(operation));
  op.types = text(types_of(operation));
  op.attributes = text(operation.kernel);
  if (!operation.outputs.empty()) {
    const Tensor& output = operation.outputs.front();
    op.shape = text(output.extents_text);
    const std::array<std::int64_t, 4> extents{output.extents[3], output.extents[2],
                                              output.extents[1], output.extents[0]};
    const std::size_t skip = extents[0] == 1 && extents[1] == 1 ? 2 : 0;
    op.extents = profile_.shapes.intern(std::span(extents).subspan(skip));
  }
  op.once_per_inference = true;
  return op;
}

}  // namespace npuscope::ggml
