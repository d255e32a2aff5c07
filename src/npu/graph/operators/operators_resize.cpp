// Resampling of images, and the signal transforms.
#include <algorithm>
#include <cmath>

#include "npu/graph/operators.hpp"

namespace npuscope::npu {
namespace operators_resize {

// floor(size * scale + rounding)
std::int64_t scaled(std::int64_t size, double scale, double rounding = 0) {
  const double result = std::floor(double(size) * scale + rounding);
  if (!(scale > 0) || !(result < 0x1p56)) fail("its scale is {}", scale);
  return std::int64_t(result);
}

void set_scaled(Operation& op, const std::vector<double>& scales,
                const std::vector<std::size_t>& axes) {
  if (scales.size() != axes.size())
    fail("it has {} scales for {} axes", scales.size(), axes.size());
  Shape shape = op.shape(0);
  for (std::size_t i = 0; i < axes.size(); ++i) shape[axes[i]] = scaled(shape[axes[i]], scales[i]);
  op.set(0, op.type(0), std::move(shape));
}

std::vector<std::size_t> axes_of(const Operation& op) {
  const auto axes = op.node().ints_attribute("axes");
  return normal_axes(axes.empty() ? first_axes(op.rank(0)) : axes, op.rank(0));
}

// One scale for all axes, so that the result fits into the sizes or covers them.
std::vector<double> common_scale(const Operation& op, const std::vector<std::int64_t>& sizes,
                                 const std::vector<std::size_t>& axes, bool larger) {
  std::optional<double> common;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t in = op.shape(0)[axes[i]];
    if (in == 0) fail("it scales an empty dimension");
    const double scale = double(sizes[i]) / double(in);
    if (!common || (larger ? scale > *common : scale < *common)) common = scale;
  }
  return std::vector<double>(axes.size(), common.value_or(1));
}

void set_sizes(Operation& op, const std::vector<std::int64_t>& sizes) {
  const auto axes = axes_of(op);
  if (sizes.size() != axes.size()) fail("it has {} sizes for {} axes", sizes.size(), axes.size());
  const std::string policy = op.node().string_attribute("keep_aspect_ratio_policy", "stretch");
  Shape shape = op.shape(0);
  for (std::size_t i = 0; i < axes.size(); ++i) shape[axes[i]] = sizes[i];
  if (policy != "stretch") {
    const auto scales = common_scale(op, sizes, axes, policy == "not_smaller");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      // Rounded half up, as the specification says.
      shape[axes[i]] = scaled(op.shape(0)[axes[i]], scales[i], 0.5);
    }
  }
  op.set(0, op.type(0), std::move(shape));
}

// Opset 10: (x, scales). From 11: (x, roi, scales, sizes), one of the two empty or left out.
void infer_resize(Operation& op) {
  if (op.opset() < 11) return set_scaled(op, op.floats(1), axes_of(op));
  const bool has_sizes = op.has(3) && op.input(3).elements() > 0;
  if (has_sizes) return set_sizes(op, op.integers(3));
  set_scaled(op, op.floats(2), axes_of(op));
}

// Scales: attributes height_scale and width_scale (opset 1), scales (7), or an input (9).
void infer_upsample(Operation& op) {
  std::vector<double> scales;
  const auto& attributes = op.node().attributes;
  if (op.has_attribute("scales")) {
    const auto* given = std::get_if<std::vector<double>>(&attributes.find("scales")->second);
    if (given != nullptr) scales = *given;
  } else if (op.has_attribute("height_scale")) {
    scales = {1, 1, op.node().float_attribute("height_scale", 1),
              op.node().float_attribute("width_scale", 1)};
  } else {
    scales = op.floats(1);
  }
  set_scaled(op, scales, axes_of(op));
}

// (x [N, C, spatial], grid [N, spatial out, dimensions])
void infer_grid_sample(Operation& op) {
  const Shape& x = op.shape_of_rank_from(0, 3);
  const Shape& grid = op.shape_of_rank(1, x.size());
  Shape out{x[0], x[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  op.set(0, op.type(0), std::move(out));
}

// (theta, size [N, C, spatial]) -> [N, spatial, dimensions]
void infer_affine_grid(Operation& op) {
  const auto size = op.integers(1);
  if (size.size() != 4 && size.size() != 5) fail("its size has {} numbers", size.size());
  Shape out{size[0]};
  out.insert(out.end(), size.begin() + 2, size.end());
  out.push_back(std::int64_t(size.size()) - 2);
  op.set(0, op.type(0), std::move(out));
}

// (x [..., 1 or 2], dft_length, axis from opset 20) -> [..., 2 (or 1: inverse of one side)]
void infer_dft(Operation& op) {
  Shape out = op.shape_of_rank_from(0, 2);
  std::int64_t axis = op.attribute("axis", op.opset() >= 20 ? -2 : 1);
  if (op.has(2)) axis = op.integer(2);
  std::int64_t& length = out[normal_axis(axis, out.size())];
  const bool one_side = op.attribute("onesided", 0) != 0, inverse = op.attribute("inverse", 0) != 0;
  if (op.has(1)) length = op.integer(1);
  if (one_side && !inverse) length = length / 2 + 1;
  out.back() = one_side && inverse ? 1 : 2;
  op.set(0, op.type(0), std::move(out));
}

// (signal [N, length, 1 or 2], step, window, frame length) -> [N, frames, bins, 2]
void infer_stft(Operation& op) {
  const Shape& signal = op.shape_of_rank(0, 3);
  const std::int64_t step = op.integer(1);
  const std::int64_t frame = op.has(3) ? op.integer(3) : op.shape_of_rank(2, 1)[0];
  if (step < 1 || frame < 1 || frame > signal[1]) {
    fail("frames of {} every {} do not fit a signal of {}", frame, step, signal[1]);
  }
  const std::int64_t bins = op.attribute("onesided", 1) != 0 ? frame / 2 + 1 : frame;
  op.set(0, op.type(0), {signal[0], (signal[1] - frame) / step + 1, bins, 2});
}

constexpr auto copy = OpClass::copy;

constexpr OperatorRow rows[] = {
    {"AffineGrid", OpClass::elementwise, infer_affine_grid},
    {"DFT", OpClass::reduction, infer_dft},
    {"GridSample com.microsoft.GridSample", OpClass::gather, infer_grid_sample},
    {"Resize", copy, infer_resize},
    {"STFT", OpClass::reduction, infer_stft},
    {"Upsample", copy, infer_upsample},
};

}  // namespace operators_resize

std::span<const OperatorRow> resize_operators() { return operators_resize::rows; }

}  // namespace npuscope::npu
