// Operators whose windows slide over spatial dimensions: convolutions and poolings.
#include <algorithm>

#include "npu/graph/operation.hpp"
#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace {

// The arithmetic of the windows.
struct Window {
  Shape kernel, strides, dilations;
  Shape pads_begin, pads_end;
};

inline Shape spatial_of(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

constexpr std::int64_t largest_window = std::int64_t(1)
                                        << 31;  // no window is larger; products stay small

Shape read_list(const Operation& op, std::string_view name, std::size_t count,
                std::int64_t otherwise, std::int64_t min) {
  if (!op.has_attribute(name)) return Shape(count, otherwise);
  Shape values = op.node().ints_attribute(name);
  if (values.empty()) return Shape(count, otherwise);
  if (values.size() != count) fail("its {} has {} numbers, not {}", name, values.size(), count);
  for (const std::int64_t value : values) {
    if (value < min || value >= largest_window) fail("its {} has the value {}", name, value);
  }
  return values;
}

std::int64_t extent(const Window& window, std::size_t i) {
  return (window.kernel[i] - 1) * window.dilations[i] + 1;
}

// The attribute kernel_shape, or `otherwise` where the node leaves it out.
Shape kernel_shape(const Operation& op, Shape otherwise) {
  return op.has_attribute("kernel_shape") ? op.node().ints_attribute("kernel_shape") : otherwise;
}

// Reads strides, dilations, pads and auto_pad of the node for these spatial input sizes.
Window read_window(const Operation& op, const Shape& spatial, Shape kernel) {
  const std::size_t count = spatial.size();
  if (kernel.size() != count)
    fail("its kernel {} does not fit an input of {} spatial dimensions", to_text(kernel), count);
  for (const std::int64_t size : kernel) {
    if (size < 1 || size >= largest_window) fail("its kernel is {}", to_text(kernel));
  }
  Window window;
  window.kernel = std::move(kernel);
  window.strides = read_list(op, "strides", count, 1, 1);
  window.dilations = read_list(op, "dilations", count, 1, 1);
  const Shape pads = read_list(op, "pads", 2 * count, 0, -largest_window);
  window.pads_begin.assign(pads.begin(), pads.begin() + std::ptrdiff_t(count));
  window.pads_end.assign(pads.begin() + std::ptrdiff_t(count), pads.end());
  const std::string mode = op.node().string_attribute("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) return window;
  if (mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    fail("its auto_pad is '{}'", mode);
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t pad = 0;
    if (mode != "VALID") {
      const std::int64_t out = (spatial[i] + window.strides[i] - 1) / window.strides[i];
      pad =
          std::max<std::int64_t>(0, (out - 1) * window.strides[i] + extent(window, i) - spatial[i]);
    }
    const std::int64_t less = pad / 2;
    window.pads_begin[i] = mode == "SAME_LOWER" ? pad - less : less;
    window.pads_end[i] = pad - window.pads_begin[i];
  }
  return window;
}

// Spatial output sizes: floor((in + pads - ((kernel - 1) * dilation + 1)) / stride) + 1, or the
// ceiling with ceil_mode as long as the last window starts inside the input or its left padding.
Shape window_output(const Operation& op, const Window& window, const Shape& spatial) {
  Shape out;
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    const std::int64_t padded = spatial[i] + window.pads_begin[i] + window.pads_end[i];
    const std::int64_t room = padded - extent(window, i), stride = window.strides[i];
    if (room < 0) {
      fail("its window of {} does not fit into {} of dimension {}", extent(window, i), padded,
           i + 2);
    }
    std::int64_t count = room / stride + 1;
    if (op.attribute("ceil_mode", 0) != 0) {
      if (room % stride != 0) ++count;
      if ((count - 1) * stride >= spatial[i] + window.pads_begin[i]) --count;
    }
    out.push_back(count);
  }
  return out;
}

}  // namespace

// Convolutions: x [N, C, spatial], w [M, C / group, kernel] -> [N, M, spatial].
namespace operators_convolution {

std::int64_t group_of(const Operation& op) {
  const std::int64_t group = op.attribute("group", 1);
  if (group < 1) fail("its group is {}", group);
  return group;
}

void infer_convolution(Operation& op, std::size_t weights, DataType type) {
  const Shape& x = op.shape_of_rank_from(0, 3);
  const Shape& w = op.shape_of_rank(weights, x.size());
  const std::int64_t group = group_of(op);
  if (multiply(w[1], group) != x[1] || w[0] % group != 0) {
    fail("the input {} and the weights {} do not fit each other in {} group{}", to_text(x),
         to_text(w), group, group == 1 ? "" : "s");
  }
  const Shape spatial = spatial_of(x);
  const Window window = read_window(op, spatial, kernel_shape(op, spatial_of(w)));
  if (window.kernel != spatial_of(w))
    fail("its kernel_shape {} is not that of the weights {}", to_text(window.kernel), to_text(w));
  Shape out{x[0], w[0]};
  for (const std::int64_t size : window_output(op, window, spatial)) out.push_back(size);
  op.set(0, type, std::move(out));
}

void infer_conv(Operation& op) { infer_convolution(op, 1, op.type(0)); }
void infer_conv_integer(Operation& op) { infer_convolution(op, 1, DataType::int32); }
// (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias)
void infer_qlinear_conv(Operation& op) { infer_convolution(op, 3, op.type(7)); }

// w [C, M / group, kernel]. out = stride * (in - 1) + output_padding + extent - pads.
void infer_conv_transpose(Operation& op) {
  const Shape& x = op.shape_of_rank_from(0, 3);
  const Shape& w = op.shape_of_rank(1, x.size());
  const std::int64_t group = group_of(op);
  if (w[0] != x[1] || x[1] % group != 0) {
    fail("the input {} and the weights {} do not fit each other in {} group{}", to_text(x),
         to_text(w), group, group == 1 ? "" : "s");
  }
  const Shape spatial = spatial_of(x);
  const Window window = read_window(op, spatial, spatial_of(w));
  const Shape given = op.node().ints_attribute("output_shape");
  const Shape more = op.node().ints_attribute("output_padding");
  const bool same = op.node().string_attribute("auto_pad", "").starts_with("SAME");
  if (!more.empty() && more.size() != spatial.size())
    fail("its output_padding has {} numbers", more.size());
  if (!given.empty() && given.size() < spatial.size())
    fail("its output_shape has {} numbers", given.size());
  Shape out{x[0], multiply(w[1], group)};
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    const std::int64_t stride = window.strides[i];
    std::int64_t size = multiply(stride, spatial[i]);
    if (!given.empty()) {
      size = given[given.size() - spatial.size() + i];
    } else if (!same) {
      const std::int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
      size = add(add(size - stride, extent - window.pads_begin[i] - window.pads_end[i]),
                 more.empty() ? 0 : more[i]);
    }
    out.push_back(size);
  }
  op.set(0, op.type(0), std::move(out));
}

constexpr auto convolution = OpClass::convolution;

constexpr OperatorRow rows[] = {
    {"Conv DeformConv com.microsoft.FusedConv", convolution, infer_conv},
    {"ConvInteger", convolution, infer_conv_integer},
    {"ConvTranspose", convolution, infer_conv_transpose},
    {"QLinearConv", convolution, infer_qlinear_conv},
};

}  // namespace operators_convolution

std::span<const OperatorRow> convolution_operators() { return operators_convolution::rows; }

// Pooling over spatial windows, and over regions of interest.

namespace operators_pooling {

void infer_pool(Operation& op) {
  const Shape& x = op.shape_of_rank_from(0, 3);
  const Shape spatial = spatial_of(x);
  const Window window = read_window(op, spatial, op.node().ints_attribute("kernel_shape"));
  Shape out{x[0], x[1]};
  for (const std::int64_t size : window_output(op, window, spatial)) out.push_back(size);
  op.set(1, DataType::int64, out);  // positions of the maxima
  op.set(0, op.type(0), std::move(out));
}

void infer_global_pool(Operation& op) {
  Shape out = op.shape_of_rank_from(0, 2);
  std::fill(out.begin() + 2, out.end(), 1);
  op.set(0, op.type(0), std::move(out));
}

// com.microsoft (x, x_scale, x_zero, y_scale, y_zero)
void infer_qlinear_global_pool(Operation& op) {
  Shape out = op.shape_of_rank_from(0, 2);
  const bool last = op.attribute("channels_last", 0) != 0;
  for (std::size_t i = 1; i + 1 < out.size(); ++i) out[last ? i : i + 1] = 1;
  op.set(0, op.type(0), std::move(out));
}

void infer_qlinear_pool(Operation& op) {
  if (op.attribute("channels_last", 0) != 0) fail("its channels_last form is not supported");
  infer_pool(op);
}

// The inverse of the window's formula, unless the shape is given.
void infer_max_unpool(Operation& op) {
  const Shape& x = op.shape_of_rank_from(0, 3);
  if (op.has(2)) return op.set(0, op.type(0), op.integers(2));
  const Shape spatial = spatial_of(x);
  const Window window = read_window(op, spatial, op.node().ints_attribute("kernel_shape"));
  Shape out{x[0], x[1]};
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    out.push_back(add(multiply(spatial[i] - 1, window.strides[i]),
                      window.kernel[i] - window.pads_begin[i] - window.pads_end[i]));
  }
  op.set(0, op.type(0), std::move(out));
}

// (x [N, C, H, W], regions [R, 4 or 5]) -> [R, C, height, width]
void infer_roi_pool(Operation& op) {
  const Shape& x = op.shape_of_rank(0, 4);
  const Shape& regions = op.shape_of_rank(1, 2);
  Shape size = op.node().ints_attribute("pooled_shape");
  if (op.node().op == "RoiAlign") {
    size = {op.attribute("output_height", 1), op.attribute("output_width", 1)};
  }
  if (size.size() != 2) fail("its pooled_shape must be two numbers");
  op.set(0, op.type(0), {regions[0], x[1], size[0], size[1]});
}

constexpr auto pooling = OpClass::pooling;

constexpr OperatorRow rows[] = {
    {"AveragePool LpPool MaxPool", pooling, infer_pool},
    {"GlobalAveragePool GlobalLpPool GlobalMaxPool", OpClass::reduction, infer_global_pool},
    {"MaxRoiPool RoiAlign", pooling, infer_roi_pool},
    {"MaxUnpool", OpClass::scatter, infer_max_unpool},
    {"com.microsoft.QLinearAveragePool", pooling, infer_qlinear_pool},
    {"com.microsoft.QLinearGlobalAveragePool", OpClass::reduction, infer_qlinear_global_pool},
};

}  // namespace operators_pooling

std::span<const OperatorRow> pooling_operators() { return operators_pooling::rows; }

}  // namespace npuscope::npu
