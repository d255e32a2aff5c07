// Images of constants around data: what windows need whose reach slices do not know.
//
//   window 3x3 with gaps, padded by 2     an image of zeros goes out to XRAM, the data into it; the
//                                         kernel computes all of that, and what is no result is
//                                         left
#include <algorithm>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {

std::uint64_t pads_of(const Node& node, std::size_t side, std::uint64_t reached, std::uint64_t in) {
  const auto pads = node.ints_attribute("pads");
  const std::size_t sides = pads.size() / 2;
  if (side < sides) {
    const std::int64_t pad =
        std::max<std::int64_t>(0, pads[side]) + std::max<std::int64_t>(0, pads[sides + side]);
    return std::uint64_t(pad);
  }
  return reached > in ? reached - in : 0;  // auto_pad
}

std::uint64_t largest_of(const std::vector<std::int64_t>& values, std::int64_t otherwise) {
  const std::int64_t largest = values.empty() ? otherwise : *std::ranges::max_element(values);
  return std::uint64_t(std::clamp<std::int64_t>(largest, 1, 1 << 20));
}

// Windows with gaps, and those of transposed convolutions, whose data have the gaps: the data go
// into an image of zeros as large as all windows reach. Gaps of windows that reach over seven rows
// or less are zeros among the weights, those of wider ones the kernel leaves out.
void Expander::plan_gaps(const Node& node, Plan& plan, ImageShape& shape) const {
  const bool is_transposed = node.op == "ConvTranspose";
  const auto spreads = node.ints_attribute("dilations");
  const std::uint64_t spread = largest_of(spreads, 1);
  if (!is_transposed && (spread == 1 || shape.stride > 1 || node.op.ends_with("Pool"))) return;
  constexpr std::uint64_t widest_of_zeros = 7;
  const std::uint64_t columns = shape.window_area / shape.window;
  const auto reach = [&](std::uint64_t taps, std::size_t side) {
    return (taps - 1) * (spreads.size() == 2 ? largest_of({spreads[side]}, 1) : 1) + 1;
  };
  const std::uint64_t high = reach(shape.window, 0), wide = reach(columns, 1);
  const Shape& in = graph_[node.inputs[0]].shape;
  const std::uint64_t images = std::max<std::uint64_t>(1, std::uint64_t(in[0]));
  const std::uint64_t rows = saturating_product({images, shape.out_rows / images + high - 1});
  const std::uint64_t columns_read = shape.out_columns + wide - 1;
  const bool has_frame = is_transposed || rows > shape.in_rows || columns_read > shape.in_columns;
  shape.in_rows = rows;
  shape.in_columns = columns_read;
  shape.stride = 1;
  shape.reach = high;
  if (std::max(high, wide) <= widest_of_zeros) {
    shape.window = high;
    shape.window_area = high * wide;
  }
  if (!has_frame) return;
  shape.framed = !is_transposed;  // those lie between others, which only all of them can
  plan.frame = saturating_product({std::uint64_t(in[1]), rows, columns_read, shape.element_bytes});
}

// Strides of two take even numbers of rows and columns.
void Expander::plan_odd(const Node& node, Plan& plan, ImageShape& shape) const {
  const Shape& in = graph_[node.inputs[0]].shape;
  const bool is_even = shape.in_rows % 2 == 0 && shape.in_columns % 2 == 0;
  if (shape.stride != 2 || shape.window == 1 || is_even || in.size() != 4 || in[0] != 1 ||
      node.op == "MaxPool")
    return;
  shape.in_rows = round_up(shape.in_rows, 2);
  shape.in_columns = round_up(shape.in_columns, 2);
  shape.framed = shape.channelwise;
  plan.frame = saturating_product(
      {std::uint64_t(in[1]), shape.in_rows, shape.in_columns, shape.element_bytes});
}

// The data of a whole operation within its image of constants, or the data, where each slice has an
// image of its own.
std::uint32_t Expander::framed(const Plan& plan) {
  if (!plan.frames_apart()) return filled(data(), plan.frame, 1);
  const std::uint64_t bytes = plan.frame * (plan.image->channelwise ? 1 : plan.ways);
  step(SliceKernel::fill, {}, bytes / element_bytes(), bytes, plan.ways);
  return data();
}

}  // namespace npuscope::npu::torq
