// Convolutions: x [N, C, spatial], w [M, C / group, kernel] -> [N, M, spatial].
#include "npu/graph/operators.hpp"
#include "npu/graph/operators/window.hpp"

namespace npuscope::npu {
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

constexpr Operator rows[] = {
    {"Conv", convolution, infer_conv},
    {"ConvInteger", convolution, infer_conv_integer},
    {"ConvTranspose", convolution, infer_conv_transpose},
    {"DeformConv", convolution, infer_conv},
    {"QLinearConv", convolution, infer_qlinear_conv},
    {"com.microsoft.FusedConv", convolution, infer_conv},
};

}  // namespace operators_convolution

std::span<const Operator> convolution_operators() { return operators_convolution::rows; }

}  // namespace npuscope::npu
