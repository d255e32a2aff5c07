// Pooling over spatial windows, and over regions of interest.
#include <algorithm>

#include "npu/graph/operators.hpp"
#include "npu/graph/operators/window.hpp"

namespace npuscope::npu {
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

constexpr Operator rows[] = {
    {"AveragePool", pooling, infer_pool},
    {"GlobalAveragePool", OpClass::reduction, infer_global_pool},
    {"GlobalLpPool", OpClass::reduction, infer_global_pool},
    {"GlobalMaxPool", OpClass::reduction, infer_global_pool},
    {"LpPool", pooling, infer_pool},
    {"MaxPool", pooling, infer_pool},
    {"MaxRoiPool", pooling, infer_roi_pool},
    {"MaxUnpool", OpClass::scatter, infer_max_unpool},
    {"RoiAlign", pooling, infer_roi_pool},
    {"com.microsoft.QLinearAveragePool", pooling, infer_qlinear_pool},
    {"com.microsoft.QLinearGlobalAveragePool", OpClass::reduction, infer_qlinear_global_pool},
};

}  // namespace operators_pooling

std::span<const Operator> pooling_operators() { return operators_pooling::rows; }

}  // namespace npuscope::npu
