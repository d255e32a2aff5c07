#include "formats/onnxruntime/node_tensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/numbers.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::onnxruntime {
namespace {

bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::uint8_t bits_of(std::string_view type) {
  if (type == "double") return 64;
  if (type == "bool") return 8;
  std::string_view digits = type.substr(std::min(type.find_first_of("0123456789"), type.size()));
  const std::uint32_t bits = take_number<std::uint32_t>(digits).value_or(32);
  return bits > 0 && bits <= 64 ? std::uint8_t(bits) : 32;
}

double elements_of(const NodeTensor& tensor) {
  double elements = 1;
  for (const std::int64_t extent : tensor.extents) elements *= double(extent);
  return elements;
}

// Inputs that are neither a bias nor a scale or zero point of quantisation.
std::vector<const NodeTensor*> matrices_of(const NodeTensors& tensors) {
  std::vector<const NodeTensor*> matrices;
  for (const NodeTensor& input : tensors.inputs) {
    if (input.extents.size() >= 2) matrices.push_back(&input);
  }
  return matrices;
}

ProductKind product_of(std::string_view op_type) {
  if (holds(op_type, "ConvTranspose")) return ProductKind::transposed_convolution;
  if (holds(op_type, "Conv")) return ProductKind::convolution;
  const bool is_product = holds(op_type, "MatMul") || holds(op_type, "Gemm");
  return is_product ? ProductKind::matrices : ProductKind::none;
}

std::string text_of(const NodeTensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.extents, ","));
}

}  // namespace

std::vector<NodeTensor> tensors_in(std::string_view json) {
  std::vector<NodeTensor> tensors;
  while (true) {
    const std::size_t begin = json.find("{\""), end = json.find("\":[", begin);
    if (begin == json.npos || end == json.npos) return tensors;
    NodeTensor tensor{json.substr(begin + 2, end - begin - 2), {}};
    json.remove_prefix(end + 3);
    while (!json.empty() && json.front() != ']') {
      if (const auto extent = take_number<std::int64_t>(json)) {
        tensor.extents.push_back(*extent);
      } else {
        json.remove_prefix(1);
      }
    }
    tensors.push_back(std::move(tensor));
  }
}

bool has_all_weights(std::string_view op_type, const NodeTensors& tensors) {
  const auto matrices = matrices_of(tensors);
  if (holds(op_type, "LSTM") || holds(op_type, "GRU")) return matrices.size() >= 3;
  const bool has_weight =
      product_of(op_type) != ProductKind::none || op_type == "Attention" || op_type == "QAttention";
  if (!has_weight) return true;
  if (matrices.size() < 2) return false;
  // What looks like the weight may be a bias of two axes.
  if (!holds(op_type, "Gemm") || tensors.outputs.empty()) return true;
  const NodeTensor& output = tensors.outputs.front();
  if (output.extents.size() != 2) return true;
  const double rows = double(output.extents[0]), columns = double(output.extents[1]);
  return elements_of(*matrices[1]) * rows == elements_of(*matrices[0]) * columns;
}

void set_tensors(const NodeTensors& tensors, std::string_view op_type, Op& op, Profile& profile) {
  std::vector<std::string_view> types;
  std::string operands;
  const auto add = [&](const NodeTensor& tensor, std::string_view way) {
    if (std::ranges::find(types, tensor.type) == types.end()) types.push_back(tensor.type);
    operands +=
        fmt::format("{}{} {} {}", operands.empty() ? "" : "\n", way, tensor.type, text_of(tensor));
  };
  for (const NodeTensor& input : tensors.inputs) add(input, "in");
  for (const NodeTensor& output : tensors.outputs) add(output, "out");
  op.types = profile.strings.intern(fmt::format("{}", fmt::join(types, ", ")));
  op.operands = profile.strings.intern(operands);
  if (tensors.outputs.empty()) return;
  const NodeTensor& output = tensors.outputs.front();
  op.shape = profile.strings.intern(text_of(output));
  op.extents = shape_of(output.extents, profile.shapes);
  op.product = product_of(op_type);
  const auto matrices = matrices_of(tensors);
  const bool is_known = op.product != ProductKind::none && matrices.size() >= 2;
  if (!is_known || !has_all_weights(op_type, tensors)) return;
  std::vector<Operand> list;
  for (const NodeTensor* tensor : {matrices[0], matrices[1], &output}) {
    const ShapeId shape = shape_of(tensor->extents, profile.shapes);
    if (shape == ShapeId::none || tensor->extents.empty()) return;
    list.push_back({shape, bits_of(tensor->type), tensor == &output});
  }
  op.operand_list = profile.operand_lists.intern(list);
}

}  // namespace npuscope::onnxruntime
