#include "npu/targets/ipu/plan.hpp"

#include <algorithm>
#include <numeric>

#include "base/arithmetic.hpp"

namespace npuscope::npu::ipu {
namespace {

// One dimension of a sliding window: the rows.
struct RowWindow {
  std::int64_t kernel = 1, stride = 1, dilation = 1, pad = 0;
  std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

std::int64_t first_of(const Node& node, std::string_view attribute, std::int64_t otherwise) {
  const auto values = node.ints_attribute(attribute);
  return values.empty() ? otherwise : values.front();
}

RowWindow row_window(const Node& node, std::int64_t kernel, std::int64_t in, std::int64_t out) {
  RowWindow window;
  window.kernel = kernel;
  window.stride = std::max<std::int64_t>(1, first_of(node, "strides", 1));
  window.dilation = std::max<std::int64_t>(1, first_of(node, "dilations", 1));
  window.pad = first_of(node, "pads", 0);
  const std::string mode = node.string_attribute("auto_pad", "NOTSET");
  if (mode.starts_with("SAME")) {
    const std::int64_t all =
        std::max<std::int64_t>(0, (out - 1) * window.stride + window.extent() - in);
    window.pad = mode == "SAME_LOWER" ? all - all / 2 : all / 2;
  }
  return window;
}

class WorkMaker {
 public:
  WorkMaker(const Lowered& lowered, const Operator& op, std::uint64_t batch, const Target& target)
      : lowered_(lowered), graph_(lowered.graph), op_(op), batch_(batch), target_(target) {}

  Work run() {
    for (const TensorId id : op_.outputs) work_.output_bytes += bytes_of(id);
    const bool is_product = op_.node != NodeId::none && (op_.op_class == OpClass::convolution ||
                                                         op_.op_class == OpClass::matmul);
    if (is_product) {
      describe_product();
    } else if (op_.type == "MAX_POOL_2D" || op_.type == "AVERAGE_POOL_2D") {
      describe_pooling();
    } else {
      describe_plain();
    }
    work_.rows = std::max<std::uint64_t>(1, work_.rows);  // also of tensors without elements
    return std::move(work_);
  }

 private:
  const Tensor& tensor(TensorId id) const { return graph_[id]; }
  std::uint64_t elements(TensorId id) const {
    return tensor(id).elements() * (tensor(id).constant ? 1 : batch_);
  }
  std::uint64_t bytes_of(TensorId id) const {
    return elements(id) * bytes_of_type(lowered_.tensor_types[std::uint32_t(id)]);
  }
  std::uint64_t output_elements() const {
    std::uint64_t sum = 0;
    for (const TensorId id : op_.outputs) sum += elements(id);
    return sum;
  }

  // Each input once, though an operator may name it twice.
  std::vector<TensorId> inputs() const {
    std::vector<TensorId> once;
    for (const TensorId id : op_.inputs) {
      if (id != TensorId::none && std::ranges::find(once, id) == once.end()) once.push_back(id);
    }
    return once;
  }

  void add_even_stream(TensorId id, std::uint64_t bytes) {
    work_.streams.push_back({.tensor = id, .bytes = bytes, .is_constant = tensor(id).constant});
  }

  void add_window_stream(TensorId id, const RowWindow& window, std::int64_t in, std::int64_t out) {
    Stream stream{.tensor = id, .bytes = bytes_of(id), .is_constant = tensor(id).constant};
    stream.images = std::uint64_t(tensor(id).shape[0]) * (tensor(id).constant ? 1 : batch_);
    stream.in_rows = std::uint64_t(in);
    stream.out_rows = std::uint64_t(out);
    // Rows that a stride skips lie between those that are needed and come along.
    stream.extent = std::max(window.extent(), window.stride);
    stream.stride = window.stride;
    stream.pad = window.pad;
    work_.streams.push_back(stream);
  }

  void add_vector(std::uint64_t elements, std::string_view type) {
    const double passes = target_.passes_of(type);
    if (passes > 0 && elements > 0) work_.vectors.push_back({elements, passes});
  }

  void describe_product() {
    const Node& node = graph_[op_.node];
    const MatrixProduct product = matrix_product(graph_, node);
    work_.multiply_accumulates = multiply_accumulates(graph_, node) * batch_;
    const TensorId data = op_.inputs[0];
    const Shape& out = tensor(op_.outputs[0]).shape;
    const bool has_rows = op_.op_class == OpClass::convolution;
    work_.rows =
        has_rows ? std::uint64_t(out[0] * out[2]) * batch_ : product.batch * product.rows * batch_;
    const std::uint64_t area = product.kernel_area;
    const std::uint64_t channels = std::max<std::uint64_t>(1, product.depth / area);
    const bool is_grouped = has_rows && product.batch > 1;
    add_conv(is_grouped ? product.batch : 1, channels, area, product.columns,
             product.rows * batch_ * (has_rows ? 1 : product.batch));
    add_vector(output_elements(), "requantize");
    if (has_rows && op_.type != "TRANSPOSE_CONV") {
      const Shape& in = tensor(data).shape;
      const std::size_t weights = node.op == "QLinearConv" ? 3 : 1;
      add_window_stream(data, row_window(node, tensor(op_.inputs[weights]).shape[2], in[2], out[2]),
                        in[2], out[2]);
    } else if (tensor(data).constant) {
      work_.weight_bytes += bytes_of(data);
    } else {
      add_even_stream(data, bytes_of(data));
    }
    const bool is_shared = has_rows || product.batch * batch_ == 1;
    for (const TensorId id : inputs()) {
      if (id == data) continue;
      if (tensor(id).constant) {
        work_.weight_bytes += bytes_of(id);
      } else if (is_shared) {
        work_.resident_bytes += bytes_of(id);
      } else {
        add_even_stream(id, bytes_of(id));
      }
    }
    const bool can_divide = !is_grouped && work_.resident_bytes + work_.weight_bytes > 0;
    work_.columns = can_divide ? std::max<std::uint64_t>(1, product.columns) : 1;
  }

  // Small groups share the array: they lie on its diagonal.
  void add_conv(std::uint64_t groups, std::uint64_t channels, std::uint64_t area,
                std::uint64_t columns, std::uint64_t pixels) {
    const std::uint64_t in_lanes = target_.conv_input_lanes, out_lanes = target_.conv_output_lanes;
    const std::uint64_t beside = std::max<std::uint64_t>(
        1, std::min(in_lanes / std::min(channels, in_lanes),
                    out_lanes / std::min(std::max<std::uint64_t>(columns, 1), out_lanes)));
    const std::uint64_t passes = divide_up(groups, beside) * area * divide_up(channels, in_lanes);
    work_.convs.push_back({pixels, passes, columns});
  }

  void describe_pooling() {
    const Node& node = graph_[op_.node];
    const TensorId data = op_.inputs[0];
    const Shape& in = tensor(data).shape;
    const Shape& out = tensor(op_.outputs[0]).shape;
    const auto kernel = node.ints_attribute("kernel_shape");
    std::uint64_t area = 1;
    constexpr std::uint64_t max_area = 1 << 20;
    for (const std::int64_t size : kernel) {
      area = std::min(max_area, area * std::uint64_t(std::clamp<std::int64_t>(size, 1, 1 << 20)));
    }
    work_.rows = std::uint64_t(out[0] * out[2]) * batch_;
    const std::int64_t rows_of_kernel = kernel.empty() ? 1 : kernel.front();
    add_window_stream(data, row_window(node, rows_of_kernel, in[2], out[2]), in[2], out[2]);
    add_vector(output_elements() * area, op_.type);
  }

  // What reads its inputs evenly: elementwise operators, reductions, movements of data.
  void describe_plain() {
    const std::uint64_t made = output_elements();
    std::uint64_t max = made;
    const bool picks = op_.type == "STRIDED_SLICE" || op_.type.starts_with("GATHER");
    const bool takes_constants = op_.op_class == OpClass::elementwise ||
                                 op_.op_class == OpClass::normalization ||
                                 op_.type == "CONCATENATION";
    for (const TensorId id : inputs()) {
      const bool is_data = id == op_.inputs[0];
      // Indices, pads, axes: they are in the instructions.
      if (tensor(id).constant && !is_data && !takes_constants) continue;
      const std::uint64_t each = bytes_of_type(lowered_.tensor_types[std::uint32_t(id)]);
      if (picks) {
        if (is_data) add_even_stream(id, std::min(bytes_of(id), made * each));
      } else if (tensor(id).constant && elements(id) < made && op_.type != "CONCATENATION") {
        work_.weight_bytes += bytes_of(id);
      } else {
        add_even_stream(id, bytes_of(id));
        max = std::max(max, elements(id));
      }
    }
    add_vector(max, op_.type);
    work_.rows = std::clamp<std::uint64_t>(rows_of_plain(made), 1, 0xffffffff);
  }

  // What normalises or chooses along an axis keeps it together; the rest is divided anywhere.
  std::uint64_t rows_of_plain(std::uint64_t made) const {
    const bool along_axis = op_.op_class == OpClass::softmax || op_.type == "LayerNorm" ||
                            op_.type == "RmsNorm" || op_.op_class == OpClass::sort;
    if (!along_axis || op_.node == NodeId::none) return divide_up(made, target_.vector_lanes);
    const Shape& shape = tensor(op_.inputs[0]).shape;
    if (shape.empty()) return 1;
    const auto rank = std::int64_t(shape.size());
    std::int64_t axis = graph_[op_.node].int_attribute("axis", -1);
    axis = std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank - 1);
    const std::int64_t length = std::max<std::int64_t>(1, shape[std::size_t(axis)]);
    return elements(op_.inputs[0]) / std::uint64_t(length);
  }

  const Lowered& lowered_;
  const Graph& graph_;
  const Operator& op_;
  std::uint64_t batch_;
  const Target& target_;
  Work work_;
};

}  // namespace

std::uint64_t Stream::needed(Range of, std::uint64_t rows) const {
  if (of.begin >= of.end) return 0;
  if (in_rows == 0 || out_rows == 0) return share_of(bytes, of, rows);
  const std::uint64_t row_bytes = bytes / std::max<std::uint64_t>(1, images * in_rows);
  std::uint64_t sum = 0;
  for (std::uint64_t image = of.begin / out_rows; image * out_rows < of.end; ++image) {
    const auto from = std::int64_t(std::max(of.begin, image * out_rows) - image * out_rows);
    const auto to = std::int64_t(std::min(of.end, (image + 1) * out_rows) - image * out_rows);
    const auto max = std::int64_t(in_rows);
    const std::int64_t first = std::clamp<std::int64_t>(from * stride - pad, 0, max);
    const std::int64_t last = std::clamp<std::int64_t>((to - 1) * stride - pad + extent, 0, max);
    sum += std::uint64_t(std::max<std::int64_t>(0, last - first)) * row_bytes;
  }
  return sum;
}

std::uint64_t Work::input_bytes() const {
  std::uint64_t sum = resident_bytes;
  for (const Stream& stream : streams) {
    if (!stream.is_constant) sum += stream.needed({0, rows}, rows);
  }
  return sum;
}

std::uint64_t Work::constant_bytes() const {
  std::uint64_t sum = weight_bytes;
  for (const Stream& stream : streams) {
    if (stream.is_constant) sum += stream.needed({0, rows}, rows);
  }
  return sum;
}

Work work_of(const Lowered& lowered, const Operator& op, std::uint64_t batch,
             const Target& target) {
  return WorkMaker(lowered, op, batch, target).run();
}

}  // namespace npuscope::npu::ipu
