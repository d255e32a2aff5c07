#include <algorithm>
#include <map>

#include "npu/targets/torq/lowering.hpp"

namespace npuscope::npu::torq {
namespace {

// What the operators of a class of their own become; others by their class.
struct FormWords {
  Form form;
  Executor executor;
  std::string_view kernel;
  std::string_view operators;  // a space between them
};

using enum Executor;

constexpr FormWords float_forms[] = {
    {Form::sum, slices, "add", "Add Sub Sum Mean BiasAdd"},
    {Form::multiplication, slices, "mul", "Mul Affine ImageScaler"},
    {Form::unary, slices, "clamp", "Relu Clip Min Max"},
    {Form::unary, slices, "abs", "Abs"},
    {Form::unary, slices, "negate", "Neg"},
    {Form::unary, slices, "convert", "Cast CastLike Ceil Floor Round Sign"},
    {Form::unary, slices, "GREATER",
     "Equal Greater GreaterOrEqual Less LessOrEqual Not And Or Xor IsNaN IsInf BitwiseAnd "
     "BitwiseOr BitwiseXor BitwiseNot BitShift"},
    {Form::unary, slices, "select", "Where"},
    {Form::sigmoid, slices, "table", "Sigmoid Tanh Softsign"},
    {Form::square_root, slices, "mul", "Sqrt"},
    {Form::division, slices, "table", "Div Reciprocal"},
    {Form::error_function, slices, "mul", "Erf Gelu FastGelu QuickGelu BiasGelu"},
    {Form::softmax, slices, "table", "Softmax LogSoftmax"},
    {Form::batch_normalization, css, "css", "BatchNormalization"},
    {Form::local_normalization, css, "power", "LRN"},
    {Form::layer_normalization, slices, "mul",
     "LayerNormalization SimplifiedLayerNormalization SkipLayerNormalization RMSNormalization "
     "SkipSimplifiedLayerNormalization InstanceNormalization GroupNormalization "
     "MeanVarianceNormalization"},
};

// The rest of int8 is the host's: the compiler has no kernels for it there.
constexpr FormWords int8_forms[] = {
    {Form::sum, slices, "add", "Add QLinearAdd"},
    {Form::multiplication, slices, "mul", "Mul QLinearMul"},
    {Form::table, slices, "table", "Sigmoid QLinearSigmoid"},
    {Form::css, css, "css", "Relu"},
    {Form::unary, slices, "abs", "Abs"},
    {Form::unary, slices, "negate", "Neg"},
    {Form::softmax, css, "softmax", "Softmax"},
    {Form::layer_normalization, slices, "reduce_mean", "LayerNormalization"},
};

const Tensor* input_of(const Graph& graph, const Node& node, std::size_t index) {
  return node.has_input(index) ? &graph[node.inputs[index]] : nullptr;
}

bool is_dilated(const Node& node) {
  return std::ranges::any_of(node.ints_attribute("dilations"),
                             [](std::int64_t each) { return each > 1; });
}

class Describer {
 public:
  Describer(const Graph& graph, NodeId id, OpClass op_class, bool is_int8)
      : graph_(graph), node_(graph[id]), op_class_(op_class) {
    operation_.nodes = {id};
    operation_.is_int8 = is_int8;
    const auto result =
        std::ranges::find_if(node_.outputs, [](TensorId each) { return each != TensorId::none; });
    operation_.result = *result;  // a node without outputs has nothing to execute
  }

  Operation run() {
    describe();
    return std::move(operation_);
  }

 private:
  bool is_int8() const { return operation_.is_int8; }
  const Tensor& result() const { return graph_[operation_.result]; }

  void describe() {
    if (node_.unknown || result().elements() == 0) return on_host();
    const Tensor* data = input_of(graph_, node_, 0);
    if (data == nullptr) return on_host();
    const bool is_image = result().shape.size() == 4 && data->shape.size() == 4;
    switch (op_class_) {
      case OpClass::convolution: return is_image || is_row(*data) ? convolution() : product();
      case OpClass::pooling: return is_image ? pooling() : on_host();
      case OpClass::matmul: return product();
      case OpClass::reduction: return reduction(is_image || data->shape.size() == 4);
      case OpClass::transpose:
        return node_.op == "Transpose" || node_.op == "DepthToSpace" || node_.op == "SpaceToDepth"
                   ? be(Form::transpose, slices, "transpose-generalized")
                   : on_host();
      case OpClass::gather:
        return node_.op == "Gather" ? be(Form::gather, slices, "gather") : on_host();
      case OpClass::copy:
        if (node_.op == "Resize" || node_.op == "Upsample") return resize(is_image);
        return is_int8() && (node_.op == "Slice" || node_.op == "Pad")
                   ? on_host()
                   : be(Form::copy, dma, "copy");
      case OpClass::elementwise:
      case OpClass::softmax:
      case OpClass::normalization: return by_words();
      default: return on_host();
    }
  }

  // Places one after the other under a window that slices take as one of an image.
  bool is_row(const Tensor& data) const {
    const Tensor* weights = input_of(graph_, node_, 1);
    return node_.op == "Conv" && !is_int8() && data.shape.size() == 3 && weights != nullptr &&
           weights->shape.size() == 3 && !is_dilated(node_) && node_.int_attribute("group", 1) == 1;
  }

  // Of floats, over more places than the kernel of a slice knows.
  bool is_wide(const Tensor& weights) const {
    constexpr std::int64_t widest = 7;
    const auto strides = node_.ints_attribute("strides");
    return !is_int8() && !is_dilated(node_) &&
           std::ranges::all_of(strides, [](std::int64_t each) { return each == 1; }) &&
           std::any_of(weights.shape.begin() + 2, weights.shape.end(),
                       [](std::int64_t extent) { return extent > widest; });
  }

  void convolution() {
    const Tensor* weights = input_of(graph_, node_, node_.op == "QLinearConv" ? 3 : 1);
    const MatrixProduct matrix = matrix_product(graph_, node_);
    if (weights == nullptr || weights->shape.size() < 3) return on_host();
    if (node_.op == "ConvTranspose") {
      const bool is_plain = node_.int_attribute("group", 1) == 1 && !is_dilated(node_);
      return is_plain ? be(Form::convolution, slices, "conv2d") : on_host();
    }
    if (matrix.kernel_area == 0 || node_.op == "DeformConv") return on_host();
    const bool alone = matrix.batch > 1 && matrix.depth == matrix.kernel_area;
    if (is_wide(*weights)) return be(Form::grouped, host_program, "host");
    if (!alone && node_.int_attribute("group", 1) > 1)
      return is_int8() ? be(Form::grouped, css, "convolution")
                       : be(Form::grouped, host_program, "host");
    alone ? be(Form::depthwise, slices, "DepthwiseConv2d")
          : be(Form::convolution, slices, "conv2d");
  }

  void pooling() {
    const bool takes_maximum = node_.op == "MaxPool";
    if (!takes_maximum && !node_.op.ends_with("AveragePool")) return on_host();
    takes_maximum ? be(Form::max_pooling, slices, "maxpool2d")
                  : be(Form::depthwise, slices, "DepthwiseConv2d");
  }

  // int8 products are one row by constants; what MatMul says of them the compiler refuses.
  void product() {
    const MatrixProduct matrix = matrix_product(graph_, node_);
    const bool multiplies = node_.op == "MatMul" || node_.op == "Gemm" || node_.op == "Einsum" ||
                            node_.op == "FullyConnected" || node_.op == "FusedMatMul" ||
                            op_class_ == OpClass::convolution;
    if (!multiplies || matrix.columns == 0 || node_.op == "ConvTranspose") return on_host();
    const bool is_plain = node_.op == "Gemm" || graph_[node_.inputs[0]].shape.size() == 2;
    if (is_int8()) {
      if (node_.op == "Gemm") return be(Form::product, slices, "fc");
      return matrix.constant_weights ? on_host() : be(Form::matmul, slices, "Fill");
    }
    if (!matrix.constant_weights || !is_plain) return be(Form::matmul, slices, "matmul-fast");
    be(Form::product, slices, matrix.rows == 1 ? "fc" : "fc-fast");
  }

  void reduction(bool is_image) {
    const Shape axes = stated_axes(graph_, node_);
    const bool means_images = is_int8() && node_.op == "ReduceMean" && axes == Shape{2, 3} &&
                              graph_[node_.inputs[0]].shape.size() == 4;
    if (means_images || (is_image && node_.op.ends_with("GlobalAveragePool"))) {
      return be(Form::global_average, slices, "avgpool2d");
    }
    const std::int64_t last = std::int64_t(graph_[node_.inputs[0]].shape.size()) - 1;
    const bool means_rows = node_.op == "ReduceMean" && !axes.empty() && axes.back() != last;
    if ((is_int8() && !means_rows) || !node_.op.starts_with("Reduce")) return on_host();
    be(Form::reduction, slices,
       node_.op == "ReduceMean"                             ? "reduce_mean"
       : node_.op == "ReduceMax" || node_.op == "ReduceMin" ? "reduce_max"
                                                            : "reduce_sum");
  }

  // Elements several times as they are.
  void resize(bool is_image) {
    const Shape& from = graph_[node_.inputs[0]].shape;
    const auto is_multiple = [&](std::size_t side) {
      return is_image && result().shape[side] % std::max<std::int64_t>(1, from[side]) == 0;
    };
    const bool copies = node_.string_attribute("mode", "nearest") == "nearest";
    copies && !is_int8() && is_multiple(2) && is_multiple(3) ? be(Form::copy, slices, "broadcast")
                                                             : on_host();
  }

  // In int8 slices add and multiply what is not of the model.
  bool takes_constant() const {
    if (!is_int8() || (node_.op != "Add" && node_.op != "Mul")) return false;
    return std::ranges::any_of(present(node_.inputs), [&](TensorId id) { return is_constant(id); });
  }

  bool is_constant(TensorId id) const {
    if (graph_[id].constant) return true;
    const NodeId producer = graph_[id].producer;
    return producer != NodeId::none && graph_[producer].op == "DequantizeLinear" &&
           graph_[graph_[producer].inputs[0]].constant;
  }

  bool compares_tensors() const {
    return (node_.op == "Max" || node_.op == "Min") &&
           std::ranges::count_if(present(node_.inputs),
                                 [&](TensorId id) { return !is_constant(id); }) > 1;
  }

  void by_words() {
    const bool squares = is_square(graph_, node_);  // a product that reads its tensor once
    if (takes_constant() || (is_int8() && squares)) return on_host();
    if (squares) return be(Form::unary, slices, "mul");
    if (!is_int8() && compares_tensors()) return be(Form::css, css, "css");
    const auto find = [&](std::span<const FormWords> forms) {
      for (const FormWords& each : forms) {
        auto operators = words_of(each.operators);
        if (std::ranges::find(operators, std::string_view(node_.op)) == operators.end()) continue;
        be(each.form, each.executor, each.kernel);
        return true;
      }
      return false;
    };
    if (is_int8() ? find(int8_forms) : find(float_forms)) return;
    const bool scales =
        node_.op.ends_with("QuantizeLinear") || node_.op.ends_with("DequantizeLinear");
    const bool on_css = !is_int8() && !scales && op_class_ != OpClass::softmax;
    constexpr std::string_view powers[] = {"Pow", "Exp", "Log", "Elu", "Softplus"};
    const bool by_powers =
        std::ranges::find(powers, std::string_view(node_.op)) != std::end(powers);
    on_css ? be(Form::css, css, by_powers ? "power" : "css") : on_host();
  }

  void be(Form form, Executor executor, std::string_view kernel) {
    operation_.form = form;
    operation_.executor = executor;
    operation_.kernel = kernel;
  }

  void on_host() { be(Form::host, host_program, "host"); }

  const Graph& graph_;
  const Node& node_;
  OpClass op_class_;
  Operation operation_;
};

}  // namespace

std::uint64_t element_bytes(DataType type) {
  if (is_float(type)) return 2;
  const std::uint32_t bits = bits_of(type);
  return bits <= 8 ? 1 : bits == 16 ? 2 : 4;
}

std::uint64_t storage_bytes(const Tensor& tensor) {
  return saturating_product({tensor.elements(), element_bytes(tensor.type)});
}

bool can_take_in(const Operation& operation, const Node& node) {
  const bool has_weights = operation.form == Form::convolution ||
                           operation.form == Form::depthwise || operation.form == Form::grouped ||
                           operation.form == Form::product;
  if (node.op == "BatchNormalization") return has_weights && operation.is_int8;
  if (node.op != "Relu" && node.op != "Clip") return false;
  return has_weights || (operation.is_int8 && operation.form == Form::sum);
}

Operation operation_of(const Graph& graph, NodeId id, OpClass op_class, bool is_int8) {
  return Describer(graph, id, op_class, is_int8).run();
}

}  // namespace npuscope::npu::torq
