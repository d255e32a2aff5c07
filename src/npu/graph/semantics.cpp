#include "npu/graph/operators.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "npu/graph/semantics.hpp"

namespace npuscope::npu {
namespace {

using Table = std::unordered_map<std::string_view, const Operator*>;

Table make_table() {
  Table table;
  for (const Operator& each : every_operator()) table.emplace(each.name, &each);
  return table;
}

}  // namespace

const std::vector<Operator>& every_operator() {
  static const std::vector<Operator> all = [] {
    std::vector<Operator> operators;
    for (const auto family :
         {attention_operators(), convolution_operators(), elementwise_operators(),
          expert_operators(), generator_operators(), indexing_operators(), layout_operators(),
          matmul_operators(), movement_operators(), normalization_operators(), pooling_operators(),
          quantization_operators(), recurrent_operators(), reduction_operators(),
          resize_operators(), state_space_operators()}) {
      for (const OperatorRow& row : family) {
        for (const std::string_view name : words_of(row.names)) {
          operators.push_back({name, row.op_class, row.infer, row.fold, row.bound});
        }
      }
    }
    return operators;
  }();
  return all;
}

const Operator* find_operator(std::string_view domain, std::string_view op) {
  static const Table table = make_table();
  if (domain.empty()) {
    // A dot would reach into another domain's rows.
    if (op.find('.') != std::string_view::npos) return nullptr;
    const auto found = table.find(op);
    return found == table.end() ? nullptr : found->second;
  }
  const auto found = table.find(std::string(domain) + '.' + std::string(op));
  return found == table.end() ? nullptr : found->second;
}

void infer_same(Operation& op) { op.set(0, op.type(0), op.shape(0)); }

namespace {

bool is_folded(const Graph& graph, const Node& node) {
  return std::ranges::all_of(
      node.outputs, [&](TensorId id) { return id == TensorId::none || graph[id].constant; });
}

// Moving only dimensions of size 1 leaves every byte where it is.
bool keeps_order(const Graph& graph, const Node& node) {
  const Shape& in = graph[node.inputs[0]].shape;
  auto from = node.ints_attribute("perm");
  if (from.empty())
    for (std::size_t i = in.size(); i-- > 0;) from.push_back(std::int64_t(i));
  std::erase_if(from, [&](std::int64_t axis) {
    const auto rank = std::int64_t(in.size());
    return in[std::size_t(axis < 0 ? axis + rank : axis)] == 1;
  });
  return std::ranges::is_sorted(from);
}

bool leaves_bytes_alone(const Graph& graph, const Node& node) {
  const Tensor& in = graph[node.inputs[0]];
  const Tensor& out = graph[node.outputs[0]];
  if (node.op == "Transpose") return keeps_order(graph, node);
  if (node.op == "Cast" || node.op == "CastLike") return in.type == out.type;
  if (node.op == "Expand" || node.op == "Tile") return in.elements() == out.elements();
  if (node.op == "Concat") return node.inputs.size() == 1;
  if (node.op == "Split") return node.outputs.size() == 1;
  return false;
}

}  // namespace

OpClass classify(const Graph& graph, const Node& node) {
  if (is_folded(graph, node)) return OpClass::folded;
  const Operator* row = node.unknown ? nullptr : find_operator(node.domain, node.op);
  if (row == nullptr) return OpClass::elementwise;
  if (node.op == "Einsum") return einsum_class(graph, node);
  const bool plain =
      node.has_input(0) && !node.outputs.empty() && node.outputs[0] != TensorId::none;
  return plain && leaves_bytes_alone(graph, node) ? OpClass::view : row->op_class;
}

MatrixProduct matrix_product(const Graph& graph, const Node& node) {
  const OpClass op_class = classify(graph, node);
  if (op_class != OpClass::matmul && op_class != OpClass::convolution) return {};
  return find_product(graph, node);
}

std::uint64_t multiply_accumulates(const Graph& graph, const Node& node) {
  const MatrixProduct product = matrix_product(graph, node);
  return saturating_product({product.batch, product.rows, product.depth, product.columns});
}

Shape stated_axes(const Graph& graph, const Node& node) {
  Shape axes = node.ints_attribute("axes");
  if (axes.empty() && node.has_input(1)) axes = graph[node.inputs[1]].values.value_or(Shape{});
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += std::int64_t(graph[node.inputs[0]].shape.size());
  std::ranges::sort(axes);
  return axes;
}

std::optional<double> scalar_of(const Tensor& tensor) {
  if (!tensor.constant || tensor.elements() != 1) return std::nullopt;
  if (tensor.float_values && !tensor.float_values->empty()) return tensor.float_values->front();
  if (!tensor.values || tensor.values->empty()) return std::nullopt;
  const TensorScale scale = tensor.scale.value_or(TensorScale{});
  return double(tensor.values->front() - scale.zero_point) * scale.step;
}

std::int64_t power_of(const Graph& graph, const Node& node) {
  if (!node.has_input(0) || !node.has_input(1)) return 0;
  const auto power = node.op == "Pow" ? scalar_of(graph[node.inputs[1]]) : std::nullopt;
  constexpr double most = 64;
  if (!power || !(std::abs(*power) < most)) return 0;
  // Integers of 8 bits say 2 as 255 * 0.00784314.
  return std::abs(*power - std::round(*power)) < 1e-3 ? std::llround(*power) : 0;
}

bool is_square(const Graph& graph, const Node& node) {
  if (node.op == "Mul")
    return node.inputs.size() == 2 && node.has_input(0) && node.inputs[0] == node.inputs[1];
  return power_of(graph, node) == 2;
}

}  // namespace npuscope::npu
