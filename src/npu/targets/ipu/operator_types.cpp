#include "npu/targets/ipu/operator_types.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace npuscope::npu::ipu {
namespace {

struct TypeRow {
  std::string_view onnx;
  std::string_view name;
  bool is_custom = false;
};

// Sorted by the ONNX name.
constexpr std::array type_rows{
    TypeRow{"Abs", "ABS"},
    TypeRow{"Add", "ADD"},
    TypeRow{"And", "LOGICAL_AND"},
    TypeRow{"ArgMax", "ARG_MAX"},
    TypeRow{"ArgMin", "ARG_MIN"},
    TypeRow{"AveragePool", "AVERAGE_POOL_2D"},
    TypeRow{"Cast", "CAST"},
    TypeRow{"Ceil", "CEIL"},
    TypeRow{"Clip", "Clip", true},
    TypeRow{"Concat", "CONCATENATION"},
    TypeRow{"ConvInteger", "CONV_2D"},
    TypeRow{"Cos", "COS"},
    TypeRow{"CumSum", "CUMSUM"},
    TypeRow{"DepthToSpace", "DEPTH_TO_SPACE"},
    TypeRow{"DequantizeLinear", "DEQUANTIZE"},
    TypeRow{"Div", "DIV"},
    TypeRow{"Elu", "ELU"},
    TypeRow{"Equal", "EQUAL"},
    TypeRow{"Erf", "Erf", true},
    TypeRow{"Exp", "EXP"},
    TypeRow{"Expand", "BROADCAST_TO"},
    TypeRow{"Floor", "FLOOR"},
    TypeRow{"Gather", "GATHER"},
    TypeRow{"GatherND", "GATHER_ND"},
    TypeRow{"Gelu", "GELU"},
    TypeRow{"GlobalAveragePool", "MEAN"},
    TypeRow{"GlobalMaxPool", "REDUCE_MAX"},
    TypeRow{"Greater", "GREATER"},
    TypeRow{"GreaterOrEqual", "GREATER_EQUAL"},
    TypeRow{"HardSigmoid", "HardSigmoid", true},
    TypeRow{"HardSwish", "HARD_SWISH"},
    TypeRow{"InstanceNormalization", "InstanceNorm", true},
    TypeRow{"LRN", "LOCAL_RESPONSE_NORMALIZATION"},
    TypeRow{"LayerNormalization", "LayerNorm", true},
    TypeRow{"LeakyRelu", "LEAKY_RELU"},
    TypeRow{"Less", "LESS"},
    TypeRow{"LessOrEqual", "LESS_EQUAL"},
    TypeRow{"Log", "LOG"},
    TypeRow{"LogSoftmax", "LOG_SOFTMAX"},
    TypeRow{"Max", "MAXIMUM"},
    TypeRow{"MaxPool", "MAX_POOL_2D"},
    TypeRow{"Min", "MINIMUM"},
    TypeRow{"Mish", "Mish", true},
    TypeRow{"Mod", "FLOOR_MOD"},
    TypeRow{"Mul", "MUL"},
    TypeRow{"Neg", "NEG"},
    TypeRow{"Not", "LOGICAL_NOT"},
    TypeRow{"Or", "LOGICAL_OR"},
    TypeRow{"PRelu", "PRELU"},
    TypeRow{"Pad", "PAD"},
    TypeRow{"Pow", "POW"},
    TypeRow{"QuantizeLinear", "QUANTIZE"},
    TypeRow{"RMSNormalization", "RmsNorm", true},
    TypeRow{"Reciprocal", "Reciprocal", true},
    TypeRow{"ReduceMax", "REDUCE_MAX"},
    TypeRow{"ReduceMean", "MEAN"},
    TypeRow{"ReduceMin", "REDUCE_MIN"},
    TypeRow{"ReduceProd", "REDUCE_PROD"},
    TypeRow{"ReduceSum", "SUM"},
    TypeRow{"Relu", "RELU"},
    TypeRow{"Round", "ROUND"},
    TypeRow{"ScatterND", "SCATTER_ND"},
    TypeRow{"Sigmoid", "LOGISTIC"},
    TypeRow{"Sign", "SIGN"},
    TypeRow{"Sin", "SIN"},
    TypeRow{"Slice", "STRIDED_SLICE"},
    TypeRow{"Softmax", "SOFTMAX"},
    TypeRow{"Softplus", "Softplus", true},
    TypeRow{"SpaceToDepth", "SPACE_TO_DEPTH"},
    TypeRow{"Split", "SPLIT_V"},
    TypeRow{"Sqrt", "SQRT"},
    TypeRow{"Sub", "SUB"},
    TypeRow{"Tanh", "TANH"},
    TypeRow{"Tile", "TILE"},
    TypeRow{"TopK", "TOPK_V2"},
    TypeRow{"Transpose", "TRANSPOSE"},
    TypeRow{"Where", "SELECT_V2"},
};
static_assert(std::ranges::is_sorted(type_rows, {}, &TypeRow::onnx));

std::optional<OperatorType> convolution_type(const Graph& graph, const Node& node) {
  const std::size_t weights = node.op == "QLinearConv" ? 3 : 1;
  const Shape& in = graph[node.inputs[0]].shape;
  const Shape& kernel = graph[node.inputs[weights]].shape;
  const std::int64_t group = node.int_attribute("group", 1);
  if (in.size() > 4) return OperatorType{"CONV_3D"};
  const bool is_depthwise = group > 1 && group == in[1] && kernel[0] % group == 0;
  return OperatorType{is_depthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D"};
}

bool has_constant_right_side(const Graph& graph, const Node& node) {
  const std::size_t right = node.op == "QLinearMatMul" ? 3 : 1;
  return node.inputs.size() > right && graph[node.inputs[right]].constant;
}

}  // namespace

std::optional<OperatorType> operator_type_of(const Graph& graph, const Node& node) {
  if (node.unknown) return OperatorType{node.op, true};
  if (!node.domain.empty()) return std::nullopt;
  const std::string_view op = node.op;
  if (op == "Conv" || op == "QLinearConv") return convolution_type(graph, node);
  if (op == "ConvTranspose") return OperatorType{"TRANSPOSE_CONV"};
  if (op == "MatMul" || op == "Gemm" || op == "MatMulInteger" || op == "QLinearMatMul") {
    return OperatorType{has_constant_right_side(graph, node) ? "FULLY_CONNECTED" : "BATCH_MATMUL"};
  }
  if (op == "Sum") return OperatorType{node.inputs.size() == 2 ? "ADD" : "ADD_N"};
  if (op == "Resize" || op == "Upsample") {
    const bool is_nearest = node.string_attribute("mode", "nearest") == "nearest";
    return OperatorType{is_nearest ? "RESIZE_NEAREST_NEIGHBOR" : "RESIZE_BILINEAR"};
  }
  const auto* row = std::ranges::lower_bound(type_rows, op, {}, &TypeRow::onnx);
  if (row == type_rows.end() || row->onnx != op) return std::nullopt;
  return OperatorType{std::string(row->name), row->is_custom};
}

}  // namespace npuscope::npu::ipu
