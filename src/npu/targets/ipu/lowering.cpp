#include "npu/targets/ipu/lowering.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/text.hpp"
#include "base/try.hpp"

namespace npuscope::npu::ipu {
namespace {

// What an ONNX operator is called in a fixed model.
struct OperatorType {
  std::string name;
  bool is_custom = false;
};

// By the ONNX name. Names of TFLite are in capitals, others those of custom operators.
const std::map<std::string_view, std::string_view>& operator_names() {
  static const auto names = word_pairs(
      "Abs=ABS Add=ADD And=LOGICAL_AND ArgMax=ARG_MAX ArgMin=ARG_MIN AveragePool=AVERAGE_POOL_2D "
      "Cast=CAST Ceil=CEIL Clip=Clip Concat=CONCATENATION ConvInteger=CONV_2D Cos=COS "
      "CumSum=CUMSUM DepthToSpace=DEPTH_TO_SPACE DequantizeLinear=DEQUANTIZE Div=DIV Elu=ELU "
      "Equal=EQUAL Erf=Erf Exp=EXP Expand=BROADCAST_TO Floor=FLOOR Gather=GATHER "
      "GatherND=GATHER_ND Gelu=GELU GlobalAveragePool=MEAN GlobalMaxPool=REDUCE_MAX "
      "Greater=GREATER GreaterOrEqual=GREATER_EQUAL HardSigmoid=HardSigmoid HardSwish=HARD_SWISH "
      "InstanceNormalization=InstanceNorm LRN=LOCAL_RESPONSE_NORMALIZATION "
      "LayerNormalization=LayerNorm LeakyRelu=LEAKY_RELU Less=LESS LessOrEqual=LESS_EQUAL Log=LOG "
      "LogSoftmax=LOG_SOFTMAX Max=MAXIMUM MaxPool=MAX_POOL_2D Min=MINIMUM Mish=Mish Mod=FLOOR_MOD "
      "Mul=MUL Neg=NEG Not=LOGICAL_NOT Or=LOGICAL_OR PRelu=PRELU Pad=PAD Pow=POW "
      "QuantizeLinear=QUANTIZE RMSNormalization=RmsNorm Reciprocal=Reciprocal ReduceMax=REDUCE_MAX "
      "ReduceMean=MEAN ReduceMin=REDUCE_MIN ReduceProd=REDUCE_PROD ReduceSum=SUM Relu=RELU "
      "Round=ROUND ScatterND=SCATTER_ND Sigmoid=LOGISTIC Sign=SIGN Sin=SIN Slice=STRIDED_SLICE "
      "Softmax=SOFTMAX Softplus=Softplus SpaceToDepth=SPACE_TO_DEPTH Split=SPLIT_V Sqrt=SQRT "
      "Sub=SUB Tanh=TANH Tile=TILE TopK=TOPK_V2 Transpose=TRANSPOSE Where=SELECT_V2");
  return names;
}

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

// None: the IPU has no such operator.
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
  const auto found = operator_names().find(op);
  if (found == operator_names().end()) return std::nullopt;
  return OperatorType{std::string(found->second), std::ranges::any_of(found->second, [](char c) {
                        return c >= 'a' && c <= 'z';
                      })};
}

constexpr std::uint64_t max_tensor_bytes = 0xffffffff;  // descriptors have 32 bits

bool is_product(OpClass op_class) {
  return op_class == OpClass::matmul || op_class == OpClass::convolution;
}

// Four dimensions and more are held with the channels innermost, so that a view of other channels
// or of fewer dimensions is not of the same bytes.
bool has_channels_inside(const Shape& shape) {
  if (shape.size() < 4 || shape[1] == 1) return false;
  return std::any_of(shape.begin() + 2, shape.end(), [](std::int64_t size) { return size != 1; });
}

class Lowering {
 public:
  Lowering(const Graph& graph, const std::string& model) : model_(model) {
    lowered_.graph = graph;
    same_as_.resize(graph.tensors.size());
    for (std::uint32_t i = 0; i < same_as_.size(); ++i) same_as_[i] = TensorId(i);
    absorbed_.resize(graph.nodes.size());
    is_output_.resize(graph.tensors.size());
    for (const TensorId id : graph.outputs) is_output_[std::uint32_t(id)] = true;
  }

  Result<Lowered> run() {
    for (std::uint32_t i = 0; i < absorbed_.size(); ++i)
      if (!absorbed_[i]) lower_node(NodeId(i));
    if (!unsupported_.empty()) return refuse();
    add_outputs();
    choose_types();
    TRY(check_sizes());
    return std::move(lowered_);
  }

 private:
  Graph& graph() { return lowered_.graph; }

  TensorId resolved(TensorId id) const {
    return id == TensorId::none ? id : same_as_[std::uint32_t(id)];
  }

  static bool makes_nothing(const Node& node) {
    return std::ranges::all_of(node.outputs, [](TensorId id) { return id == TensorId::none; });
  }

  // Names may be left out where a file is wrong: of the first output, and of what is lowered alone.
  static bool has_operands(const Node& node, OpClass op_class) {
    if (node.outputs[0] == TensorId::none) return false;
    const bool is_normalisation = node.op == "BatchNormalization" && !node.unknown;
    const std::size_t needed = is_normalisation ? 3 : op_class == OpClass::view ? 1 : 0;
    return node.inputs.size() >= needed && (needed == 0 || node.inputs[0] != TensorId::none);
  }

  void add_unsupported(const Node& node) {
    Unsupported& where = unsupported_[node.domain.empty() ? node.op : node.domain + "." + node.op];
    ++where.count;
    if (where.first.empty()) where.first = node.name;
  }

  void lower_node(NodeId id) {
    const Node node = graph()[id];
    const OpClass op_class = classify(graph(), node);
    if (op_class == OpClass::folded || makes_nothing(node)) return;
    if (!has_operands(node, op_class)) return add_unsupported(node);
    if (op_class == OpClass::view) return lower_view(node, id);
    if (node.op == "BatchNormalization" && !node.unknown) return lower_normalisation(node, id);
    const auto type = operator_type_of(graph(), node);
    if (!type) return add_unsupported(node);
    Operator op{type->name, type->is_custom, {}, {}, id, op_class};
    for (const TensorId input : node.inputs) op.inputs.push_back(resolved(input));
    for (const TensorId output : present(node.outputs)) op.outputs.push_back(output);
    if (op.outputs.size() == 1 && takes_activation(op)) {
      op.outputs[0] = absorb_followers(op.outputs[0], is_product(op_class));
    }
    lowered_.operators.push_back(std::move(op));
  }

  // The public schema's fused_activation_function.
  static bool takes_activation(const Operator& op) {
    return is_product(op.op_class) || op.type == "ADD" || op.type == "SUB" || op.type == "MUL" ||
           op.type == "DIV";
  }

  bool is_relu6(const Node& node) const {
    if (node.op != "Clip") return false;
    const auto bound = [&](std::size_t input, std::string_view attribute) -> double {
      if (node.has_input(input)) {
        const auto& values = lowered_.graph[node.inputs[input]].float_values;
        return values && values->size() == 1 ? values->front() : -1;
      }
      return node.float_attribute(attribute, -1);
    };
    return bound(1, "min") == 0 && bound(2, "max") == 6;
  }

  // What becomes part of the operator before it: the output of the last such node.
  TensorId absorb_followers(TensorId output, bool with_normalisation) {
    while (!is_output_[std::uint32_t(output)] && graph()[output].consumers.size() == 1) {
      const NodeId next = graph()[output].consumers[0];
      const Node& node = graph()[next];
      const bool is_normalisation = with_normalisation && node.op == "BatchNormalization";
      const bool is_activation = node.op == "Relu" || is_relu6(node);
      if (node.unknown || !node.domain.empty() || (!is_normalisation && !is_activation) ||
          node.inputs[0] != output || makes_nothing(node) || node.outputs[0] == TensorId::none) {
        break;
      }
      absorbed_[std::uint32_t(next)] = true;
      output = node.outputs[0];
      if (is_activation) break;
    }
    return output;
  }

  void lower_view(const Node& node, NodeId id) {
    const TensorId from = resolved(node.inputs[0]), to = node.outputs[0];
    const Shape& in = graph()[from].shape;
    const Shape& out = graph()[to].shape;
    if (in == out) {
      same_as_[std::uint32_t(to)] = from;
      return;
    }
    const bool moves = has_channels_inside(in) || has_channels_inside(out);
    lowered_.operators.push_back(
        {moves ? "RESHAPE" : "Reshape_Alias", !moves, {from}, {to}, id, OpClass::view});
  }

  TensorId add_tensor(const std::string& name, TensorId like) {
    Tensor tensor = graph()[like];
    tensor.name = name;
    tensor.constant = false;
    graph().tensors.push_back(std::move(tensor));
    same_as_.push_back(TensorId(graph().tensors.size() - 1));
    is_output_.push_back(false);
    return same_as_.back();
  }

  // One that follows no product: a scale and an offset.
  void lower_normalisation(const Node& node, NodeId id) {
    const TensorId to = node.outputs[0];
    const TensorId scaled = add_tensor(graph()[to].name + "_scaled", to);
    const auto constant = [&](std::size_t input) { return resolved(node.inputs[input]); };
    lowered_.operators.push_back({"MUL",
                                  false,
                                  {resolved(node.inputs[0]), constant(1)},
                                  {scaled},
                                  id,
                                  OpClass::elementwise});
    lowered_.operators.push_back({"ADD",
                                  false,
                                  {scaled, constant(2)},
                                  {absorb_followers(to, false)},
                                  id,
                                  OpClass::elementwise});
  }

  void add_outputs() {
    for (TensorId& output : graph().outputs) {
      const TensorId id = output;
      const TensorId from = resolved(id);
      const bool is_made = graph()[id].producer != NodeId::none;
      if (!is_float(graph()[id].type)) {
        if (from != id) {
          lowered_.operators.push_back(
              {"Reshape_Alias", true, {from}, {id}, NodeId::none, OpClass::view});
        }
        continue;
      }
      TensorId fixed = from;
      if (!is_made) {  // an input or a constant that is an output too
        output = add_tensor(graph()[id].name + "_float", id);
      } else if (from == id) {
        fixed = add_tensor(graph()[id].name + "_fix", id);
        for (Operator& op : lowered_.operators) {
          std::ranges::replace(op.inputs, id, fixed);
          std::ranges::replace(op.outputs, id, fixed);
        }
      }
      lowered_.operators.push_back(
          {"Fix2Float", true, {fixed}, {output}, NodeId::none, OpClass::elementwise});
    }
  }

  void choose_types() {
    auto& types = lowered_.tensor_types;
    for (const Tensor& tensor : graph().tensors) {
      types.push_back(tensor.type == DataType::boolean ? tensor_type::boolean
                      : bits_of(tensor.type) <= 8      ? tensor_type::uint8
                      : !is_float(tensor.type)         ? tensor_type::int32
                      : tensor.constant                ? tensor_type::int8
                                                       : tensor_type::uint8);
    }
    const auto set = [&](TensorId id, std::int32_t type) { types[std::uint32_t(id)] = type; };
    for (const Operator& op : lowered_.operators) {
      for (const TensorId id : op.inputs) {
        const bool is_bias = id != TensorId::none && graph()[id].constant &&
                             graph()[id].shape.size() <= 1 && is_product(op.op_class);
        if (is_bias) set(id, tensor_type::int32);
      }
      if (op.type == "Fix2Float") set(op.outputs[0], tensor_type::float32);
    }
    for (const TensorId id : graph().inputs) {
      if (is_float(graph()[id].type) && !is_image(graph()[id])) set(id, tensor_type::int16);
    }
  }

  Status check_sizes() {
    for (const Operator& op : lowered_.operators) {
      for (const auto* list : {&op.inputs, &op.outputs}) {
        for (const TensorId id : *list) {
          if (id == TensorId::none || graph()[id].elements() <= max_tensor_bytes / 4) continue;
          return input_error(
              "{}: tensor '{}' has {} elements, more than the IPU can address; "
              "give its dimensions smaller sizes",
              model_, printable(graph()[id].name), graph()[id].elements());
        }
      }
    }
    return {};
  }

  tl::unexpected<Error> refuse() const {
    std::string list;
    std::size_t named = 0;
    constexpr std::size_t max_named = 8;
    for (const auto& [type, where] : unsupported_) {
      if (++named > max_named) break;
      list += fmt::format("{}{} (node '{}'{})", list.empty() ? "" : ", ", printable(type),
                          printable(where.first),
                          where.count > 1 ? fmt::format(" and {} more", where.count - 1) : "");
    }
    if (named > max_named) list += fmt::format(" and {} more", unsupported_.size() - max_named);
    return input_error("{}: the IPU has no operator for {}; cut the model before it, or replace it",
                       model_, list);
  }

  struct Unsupported {
    std::string first;
    std::size_t count = 0;
  };

  const std::string& model_;
  Lowered lowered_;
  std::vector<TensorId> same_as_;  // by tensor
  std::vector<bool> is_output_;
  std::vector<bool> absorbed_;  // by node
  std::map<std::string, Unsupported> unsupported_;
};

}  // namespace

std::uint32_t bytes_of_type(std::int32_t type) {
  switch (type) {
    case tensor_type::float32:
    case tensor_type::int32: return 4;
    case tensor_type::int16: return 2;
    default: return 1;
  }
}

bool is_image(const Tensor& tensor) { return tensor.shape.size() == 4 && tensor.shape[1] == 3; }

Result<Lowered> lower(const Graph& graph, const std::string& model) {
  return Lowering(graph, model).run();
}

}  // namespace npuscope::npu::ipu
