#include "npu/graph/semantics.hpp"

#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace {

// Where a quantised operand stands among a node's inputs; its scale and zero point follow at
// `scale` and `scale` + 1. The result's stand at `result_scale`; 0: it is not quantised.
struct Operand {
  std::size_t tensor;
  std::size_t scale;
};
struct Places {
  std::vector<Operand> operands;
  std::size_t result_scale;
};

const Places* places_of(const Node& node) {
  static const std::map<std::string_view, Places> places{
      {"QuantizeLinear", {{}, 1}},
      {"DequantizeLinear", {{{0, 1}}, 0}},
      {"QLinearConv", {{{0, 1}, {3, 4}}, 6}},
      {"QLinearMatMul", {{{0, 1}, {3, 4}}, 6}},
      {"QGemm", {{{0, 1}, {3, 4}}, 7}},
      {"QLinearAdd", {{{0, 1}, {3, 4}}, 6}},
      {"QLinearMul", {{{0, 1}, {3, 4}}, 6}},
      {"QLinearLeakyRelu", {{{0, 1}}, 3}},
      {"QLinearSigmoid", {{{0, 1}}, 3}},
      {"QLinearSoftmax", {{{0, 1}}, 3}},
      {"QLinearAveragePool", {{{0, 1}}, 3}},
      {"QLinearGlobalAveragePool", {{{0, 1}}, 3}},
      {"QLinearReduceMean", {{{0, 1}}, 3}},
      {"QLinearWhere", {{{1, 2}, {4, 5}}, 7}},
  };
  const auto found = places.find(node.op);
  return found == places.end() ? nullptr : &found->second;
}

bool moves_values(const Node& node) {
  static const std::set<std::string_view> movers{
      "Concat",  "DepthToSpace", "Expand", "Flatten",   "Gather",   "Identity",
      "MaxPool", "Pad",          "Relu",   "Reshape",   "Slice",    "SpaceToDepth",
      "Split",   "Squeeze",      "Tile",   "Transpose", "Unsqueeze"};
  return movers.contains(node.op);
}

class ScaleFinder {
 public:
  explicit ScaleFinder(const Graph& graph) : graph_(graph) {
    for (const Tensor& tensor : graph.tensors) scales_.push_back(tensor.scale);
  }

  std::vector<std::optional<TensorScale>> find() {
    for (const Node& node : graph_.nodes) {
      take_operands(node);
      if (moves_values(node)) hand_on(node.inputs, node.outputs);
    }
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      if (moves_values(*node)) hand_on(node->outputs, node->inputs);
    }
    for (const Node& node : graph_.nodes) {  // to other readers of what was learned backwards
      if (moves_values(node)) hand_on(node.inputs, node.outputs);
    }
    return std::move(scales_);
  }

 private:
  static TensorId at(const std::vector<TensorId>& ids, std::size_t i) {
    return i < ids.size() ? ids[i] : TensorId::none;
  }

  void take_operands(const Node& node) {
    if (node.op == "QLinearConcat") {
      for (std::size_t i = 2; i + 1 < node.inputs.size(); i += 3) {
        set(node.inputs[i], scale_at(node, i + 1));
      }
      return set(at(node.outputs, 0), scale_at(node, 0));
    }
    const Places* places = places_of(node);
    if (places == nullptr) return;
    for (const Operand& operand : places->operands) {
      set(at(node.inputs, operand.tensor), scale_at(node, operand.scale));
    }
    if (places->result_scale != 0) set(at(node.outputs, 0), scale_at(node, places->result_scale));
  }

  std::optional<TensorScale> scale_at(const Node& node, std::size_t place) const {
    const TensorId step_id = at(node.inputs, place), zero_id = at(node.inputs, place + 1);
    if (step_id == TensorId::none) return std::nullopt;
    const auto& steps = graph_[step_id].float_values;
    if (!steps || steps->size() != 1) return std::nullopt;
    TensorScale scale{steps->front(), 0};
    if (!std::isfinite(scale.step) || !(scale.step > 0)) return std::nullopt;
    if (zero_id == TensorId::none) return scale;
    const auto& zeros = graph_[zero_id].values;
    if (!zeros || zeros->size() != 1) return std::nullopt;
    scale.zero_point = zeros->front();
    return scale;
  }

  // The first word counts: a tensor that is read with another scale than it was written with keeps
  // its writer's.
  void set(TensorId id, const std::optional<TensorScale>& scale) {
    if (id == TensorId::none || !scale || scales_[std::uint32_t(id)]) return;
    scales_[std::uint32_t(id)] = scale;
  }

  void hand_on(const std::vector<TensorId>& from, const std::vector<TensorId>& to) {
    const TensorId source = at(from, 0);
    if (source == TensorId::none || !scales_[std::uint32_t(source)]) return;
    const std::optional<TensorScale> scale = scales_[std::uint32_t(source)];
    for (const TensorId id : to) {
      if (id == TensorId::none || graph_[id].type != graph_[source].type) continue;
      set(id, scale);
    }
  }

  const Graph& graph_;
  std::vector<std::optional<TensorScale>> scales_;
};

}  // namespace

std::vector<std::optional<TensorScale>> tensor_scales(const Graph& graph) {
  return ScaleFinder(graph).find();
}

// Between floating point and integers, and elementwise operators on quantized tensors.

namespace operators_quantization {

// (x, scale, zero point): the zero point's type, else output_dtype, else uint8.
void infer_quantize(Operation& op) {
  DataType type = op.has(2) ? op.type(2) : DataType::uint8;
  if (!op.has(2) && op.attribute("output_dtype", 0) != 0) {
    type = data_type_of(op.attribute("output_dtype", 0));
    if (type == DataType::undefined) fail("its output_dtype is not known");
  }
  op.set(0, type, op.shape(0));
}

// (x, scale, zero point): the scale's type unless output_dtype says otherwise.
void infer_dequantize(Operation& op) {
  DataType type = op.type(1);
  if (op.attribute("output_dtype", 0) != 0) type = data_type_of(op.attribute("output_dtype", 0));
  if (type == DataType::undefined) fail("its output_dtype is not known");
  op.set(0, type, op.shape(0));
}

void infer_dynamic_quantize(Operation& op) {
  op.set(0, DataType::uint8, op.shape(0));
  op.set(1, DataType::float32, {});
  op.set(2, DataType::uint8, {});
}

// com.microsoft (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
void infer_qlinear_binary(Operation& op) {
  op.set(0, op.type(0), broadcast(op.shape(0), op.shape(3)));
}

// com.microsoft (condition, x, x_scale, x_zero, y, y_scale, y_zero, z_scale, z_zero)
void infer_qlinear_where(Operation& op) {
  op.set(0, op.type(1), broadcast(broadcast(op.shape(0), op.shape(1)), op.shape(4)));
}

// com.microsoft (y_scale, y_zero, x0, scale0, zero0, x1, ...)
void infer_qlinear_concat(Operation& op) {
  Shape out = op.shape(2);
  const std::size_t axis = normal_axis(op.required_attribute("axis"), out.size());
  for (std::size_t i = 5; i < op.input_count(); i += 3) {
    const Shape& part = op.shape_of_rank(i, out.size());
    out[axis] = add(out[axis], part[axis]);
  }
  op.set(0, op.type(2), std::move(out));
}

constexpr auto elementwise = OpClass::elementwise;

constexpr OperatorRow rows[] = {
    {"DequantizeLinear com.microsoft.DequantizeLinear", elementwise, infer_dequantize},
    {"DynamicQuantizeLinear", elementwise, infer_dynamic_quantize},
    {"QuantizeLinear com.microsoft.QuantizeLinear", elementwise, infer_quantize},
    {"com.microsoft.QLinearAdd com.microsoft.QLinearMul", elementwise, infer_qlinear_binary},
    {"com.microsoft.QLinearConcat", OpClass::copy, infer_qlinear_concat},
    {"com.microsoft.QLinearLeakyRelu com.microsoft.QLinearSigmoid", elementwise, infer_same},
    {"com.microsoft.QLinearWhere", elementwise, infer_qlinear_where},
    {"com.microsoft.QLinearSoftmax", OpClass::softmax, infer_same},
};

}  // namespace operators_quantization

std::span<const OperatorRow> quantization_operators() { return operators_quantization::rows; }

}  // namespace npuscope::npu
