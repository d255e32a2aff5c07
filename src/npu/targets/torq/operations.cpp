#include "npu/targets/torq/lowering.hpp"

#include <algorithm>

#include "npu/graph/semantics.hpp"
#include "npu/targets/torq/tiles.hpp"

namespace npuscope::npu::torq {
namespace {

constexpr std::uint64_t bias_and_scale_bytes = 8;  // of a channel (breg_width)
constexpr std::uint64_t largest_window = 1 << 20;

struct ElementwiseKernel {
  std::string_view kernel;
  SliceKernel mover;
  std::string_view operators;  // a space between them
};

constexpr ElementwiseKernel elementwise_kernels[] = {
    {"add", SliceKernel::elementwise, "Add Sub Sum Mean BiasAdd"},
    {"mul", SliceKernel::elementwise, "Mul BatchNormalization Affine ImageScaler"},
    {"act", SliceKernel::elementwise,
     "Relu Clip Abs Neg Ceil Floor Round Sign Cast CastLike IsNaN IsInf QuantizeLinear "
     "DequantizeLinear ThresholdedRelu PRelu LeakyRelu"},
    {"elementwise", SliceKernel::elementwise,
     "Min Max And Or Xor Not Equal Greater GreaterOrEqual Less LessOrEqual Where BitwiseAnd "
     "BitwiseOr BitwiseXor BitwiseNot BitShift QLinearAdd QLinearMul"},
    {"table", SliceKernel::table,
     "Sigmoid Tanh Exp Erf Gelu HardSigmoid HardSwish Elu Selu Celu Mish Softplus Softsign Swish "
     "Reciprocal Sqrt Log Sin Cos FastGelu QuickGelu BiasGelu ScaledTanh Shrink QLinearSigmoid "
     "QLinearLeakyRelu"},
};

const Tensor* input_of(const Graph& graph, const Node& node, std::size_t index) {
  if (!node.has_input(index)) return nullptr;
  return &graph[node.inputs[index]];
}

const Tensor& output_of(const Graph& graph, const Node& node) {
  const auto found =
      std::ranges::find_if(node.outputs, [](TensorId id) { return id != TensorId::none; });
  return graph[*found];  // a node without outputs has nothing to execute
}

std::uint64_t product_of(const Shape& shape, std::size_t first, std::size_t end) {
  std::uint64_t product = 1;
  for (std::size_t i = first; i < std::min(end, shape.size()); ++i) {
    product = saturating_product({product, std::uint64_t(shape[i])});
  }
  return product;
}

class Describer {
 public:
  Describer(const Graph& graph, NodeId id, OpClass op_class, const Target& target)
      : graph_(graph),
        node_(graph[id]),
        op_class_(op_class),
        target_(target),
        out_(output_of(graph, node_)) {
    operation_.nodes = {id};
    for (const TensorId input : present(node_.inputs))
      operation_.input_bytes += storage_bytes(graph[input]);
    for (const TensorId output : present(node_.outputs)) {
      operation_.output_bytes += storage_bytes(graph[output]);
      operation_.elements += graph[output].elements();
    }
    operation_.multiply_accumulates = multiply_accumulates(graph, node_);
    operation_.slice.element_bytes = element_bytes(data().type);
    operation_.slice.output_element_bytes = element_bytes(out_.type);
  }

  Operation run() {
    describe();
    return std::move(operation_);
  }

 private:
  const Tensor& data() const {
    const Tensor* first = input_of(graph_, node_, 0);
    return first != nullptr ? *first : out_;
  }

  void describe() {
    if (node_.unknown || out_.elements() == 0) return on_host();
    switch (op_class_) {
      case OpClass::convolution: return convolution();
      case OpClass::pooling: return pooling();
      case OpClass::matmul: return product();
      case OpClass::elementwise: return elementwise();
      case OpClass::reduction: return reduction();
      case OpClass::softmax: return on_css("softmax");
      case OpClass::normalization:
        if (node_.op == "BatchNormalization") return elementwise();
        return on_css(node_.op == "LRN" ? "power" : "normalization");
      case OpClass::transpose:
        on_slices(SliceKernel::transpose, "transpose");
        operation_.slice.rows = operation_.slice.input_rows = out_.elements();
        operation_.slice.input_row_bytes = operation_.slice.element_bytes;
        return;
      case OpClass::gather: return gather();
      case OpClass::copy: return copy();
      default: return on_host();
    }
  }

  void convolution() {
    const Tensor* weights = input_of(graph_, node_, node_.op == "QLinearConv" ? 3 : 1);
    const MatrixProduct matrix = matrix_product(graph_, node_);
    if (weights == nullptr || node_.op == "DeformConv" || matrix.kernel_area == 0) return on_host();
    SliceOperation& slice = operation_.slice;
    on_slices(SliceKernel::convolution, "conv2d");
    if (node_.op == "ConvTranspose" || !set_image(data(), out_)) return product();
    set_window({weights->shape.begin() + 2, weights->shape.end()});
    slice.repeats = matrix.batch;
    slice.in_channels = std::max<std::uint64_t>(1, matrix.depth / matrix.kernel_area);
    slice.out_channels = matrix.columns;
    if (matrix.batch > 1 && slice.in_channels == 1) {  // each channel alone
      on_slices(SliceKernel::depthwise, "depthwise_conv2d");
      slice.out_channels = saturating_product({slice.repeats, slice.out_channels});
      slice.repeats = 1;
      slice.channelwise = true;
    }
    slice.weight_bytes = saturating_product({slice.in_channels, slice.window_x, slice.window_y,
                                             element_bytes(weights->type)}) +
                         bias_and_scale_bytes;
  }

  void pooling() {
    const bool takes_maximum = node_.op == "MaxPool";
    const bool known = takes_maximum || node_.op.ends_with("AveragePool") || node_.op == "LpPool";
    if (!known || !set_image(data(), out_)) return on_host();
    on_slices(takes_maximum ? SliceKernel::max_pooling : SliceKernel::depthwise,
              takes_maximum ? "maxpool2d" : "avgpool2d");
    SliceOperation& slice = operation_.slice;
    set_window(node_.ints_attribute("kernel_shape"));
    slice.out_channels = std::uint64_t(out_.shape[1]);
    slice.channelwise = true;
  }

  void product() {
    const bool has_steps = node_.op.ends_with("Attention") || node_.op == "LSTM" ||
                           node_.op == "GRU" || node_.op == "RNN" || node_.op == "MatMulNBits";
    const MatrixProduct matrix = matrix_product(graph_, node_);
    if (has_steps || matrix.columns == 0) return on_host();
    SliceOperation& slice = operation_.slice;
    on_slices(SliceKernel::matrix_product, "matmul");
    slice.repeats = matrix.batch;
    slice.rows = slice.input_rows = matrix.rows;
    slice.row_pixels = 1;
    slice.in_channels = matrix.depth;
    slice.out_channels = matrix.columns;
    slice.input_row_bytes = slice.element_bytes;
    slice.weight_bytes =
        saturating_product({matrix.depth, slice.element_bytes}) + bias_and_scale_bytes;
    // Few rows leave most of the ALU idle unless its groups hold results.
    SliceOperation other = slice;
    other.kernel = SliceKernel::fully_connected;
    const TileSize whole{slice.rows, slice.out_channels};
    const auto cycles = [&](const SliceOperation& each) {
      return kernel_cycles(ndls_of(work_of(each, whole), target_));
    };
    if (slice.rows > 0 && cycles(other) < cycles(slice)) {
      on_slices(SliceKernel::fully_connected, "fully_connected");
    }
  }

  void elementwise() {
    for (const ElementwiseKernel& each : elementwise_kernels) {
      auto operators = words_of(each.operators);
      if (std::ranges::find(operators, std::string_view(node_.op)) == operators.end()) continue;
      if (each.mover == SliceKernel::table && operation_.slice.element_bytes > 2) break;
      on_slices(each.mover, each.kernel);
      SliceOperation& slice = operation_.slice;
      slice.rows = slice.input_rows = out_.elements();
      slice.input_row_bytes = slice.element_bytes;
      slice.operands = 0;
      for (const TensorId id : present(node_.inputs)) {
        const bool whole = graph_[id].elements() == out_.elements();
        slice.operands += whole;
        if (!whole) slice.shared_bytes += storage_bytes(graph_[id]);
      }
      return;
    }
    on_css(node_.op == "Pow" ? "power" : node_.op == "Div" ? "divide" : "default");
  }

  void reduction() {
    const bool known = node_.op.starts_with("Reduce") || node_.op.starts_with("Global") ||
                       node_.op.starts_with("Arg") || node_.op == "QLinearGlobalAveragePool";
    if (!known || out_.elements() == 0) return on_host();
    on_slices(SliceKernel::reduction, "reduce");
    SliceOperation& slice = operation_.slice;
    slice.rows = slice.input_rows = out_.elements();
    slice.in_channels = std::max<std::uint64_t>(1, data().elements() / out_.elements());
    slice.input_row_bytes = slice.element_bytes;
  }

  // The slices read any element of LRAM; a table that is larger stays with the host.
  void gather() {
    const bool by_element = node_.op != "Gather";
    const std::int64_t rank = std::int64_t(data().shape.size());
    std::int64_t axis = node_.int_attribute("axis", 0);
    if (axis < 0) axis += rank;
    const std::uint64_t run =
        by_element
            ? 1
            : product_of(data().shape, std::size_t(std::clamp<std::int64_t>(axis, 0, rank)) + 1,
                         data().shape.size());
    const std::uint64_t indices = out_.elements() / std::max<std::uint64_t>(1, run);
    if (node_.op == "GridSample" || node_.op == "GatherBlockQuantized") return on_host();
    if (storage_bytes(data()) > target_.lram_for_data() / 2) {
      operation_.executor = Executor::host_copy;
      operation_.kernel = "copy";
      operation_.runs = indices;
      return;
    }
    on_slices(SliceKernel::gather, "gather");
    SliceOperation& slice = operation_.slice;
    slice.rows = slice.input_rows = indices;
    slice.out_channels = std::max<std::uint64_t>(1, run);
    slice.in_channels = 1;
    slice.operands = 1;
    slice.input_row_bytes = 4;  // the index
    slice.shared_bytes = storage_bytes(data());
  }

  // What lies together in the source and in the result is one run.
  void copy() {
    operation_.executor = Executor::host_copy;
    operation_.kernel = "copy";
    const auto rank = std::int64_t(out_.shape.size());
    std::int64_t axis = node_.int_attribute("axis", 0);
    if (axis < 0) axis += rank;
    const auto outer = [&](std::size_t parts) {
      return saturating_product(
          {product_of(out_.shape, 0, std::size_t(std::clamp<std::int64_t>(axis, 0, rank))), parts});
    };
    if (node_.op.ends_with("Concat")) {
      operation_.runs = outer(std::max<std::size_t>(1, node_.inputs.size()));
    } else if (node_.op == "Split") {
      operation_.runs = outer(std::max<std::size_t>(1, node_.outputs.size()));
    } else {
      const std::uint64_t row = rank > 0 ? std::uint64_t(out_.shape.back()) : 1;
      operation_.runs = operation_.elements / std::max<std::uint64_t>(1, row);
    }
  }

  void on_slices(SliceKernel kernel, std::string_view name) {
    operation_.executor = Executor::slices;
    operation_.slice.kernel = kernel;
    operation_.kernel = name;
  }

  void on_css(std::string_view name) {
    operation_.executor = Executor::css;
    operation_.kernel = name;
  }

  void on_host() {
    operation_.executor = Executor::host_program;
    operation_.kernel = "host";
    for (const TensorId input : present(node_.inputs))
      operation_.elements += graph_[input].elements();
  }

  void set_window(const Shape& window) {
    SliceOperation& slice = operation_.slice;
    const std::size_t rank = window.size();
    slice.window_x = rank > 1 ? product_of(window, rank - 1, rank) : 1;
    slice.window_y = rank > 1 ? product_of(window, 0, rank - 1) : product_of(window, 0, rank);
    slice.window_x = std::clamp<std::uint64_t>(slice.window_x, 1, largest_window);
    slice.window_y = std::clamp<std::uint64_t>(slice.window_y, 1, largest_window);
    const auto strides = node_.ints_attribute("strides");
    const std::int64_t stride = strides.empty() ? 1 : *std::ranges::max_element(strides);
    slice.stride = std::uint64_t(std::clamp<std::int64_t>(stride, 1, largest_window));
  }

  // The last dimension is a row's length, those between it and the channels make rows. Of a signal
  // of one dimension each sample is a row, so that it can be cut.
  bool set_image(const Tensor& in, const Tensor& out) {
    SliceOperation& slice = operation_.slice;
    const std::size_t rank = out.shape.size();
    if (rank < 3 || in.shape.size() != rank) return false;
    const bool signal = rank == 3;
    const std::size_t rows_end = signal ? rank : rank - 1;
    slice.rows =
        saturating_product({std::uint64_t(out.shape[0]), product_of(out.shape, 2, rows_end)});
    slice.row_pixels = signal ? 1 : std::uint64_t(out.shape[rank - 1]);
    slice.input_rows =
        saturating_product({std::uint64_t(in.shape[0]), product_of(in.shape, 2, rows_end)});
    slice.input_row_bytes =
        saturating_product({signal ? 1 : std::uint64_t(in.shape[rank - 1]), slice.element_bytes});
    return true;
  }

  const Graph& graph_;
  const Node& node_;
  OpClass op_class_;
  const Target& target_;
  const Tensor& out_;
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
  if (operation.executor != Executor::slices) return false;
  const SliceKernel kernel = operation.slice.kernel;
  const bool multiplies = kernel == SliceKernel::convolution || kernel == SliceKernel::depthwise ||
                          kernel == SliceKernel::fully_connected ||
                          kernel == SliceKernel::matrix_product;
  const bool has_weights = multiplies && operation.slice.weight_bytes > 0;
  if (node.op == "BatchNormalization") return has_weights;
  if (node.op != "Relu" && node.op != "Clip") return false;
  return multiplies || operation.kernel == "add" || operation.kernel == "mul";
}

Operation operation_of(const Graph& graph, NodeId id, OpClass op_class, const Target& target) {
  return Describer(graph, id, op_class, target).run();
}

}  // namespace npuscope::npu::torq
