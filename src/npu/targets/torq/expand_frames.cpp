// Images of constants around data, and strides that become channels: what windows need whose reach
// slices do not know.
//
//   window 3x3 with gaps, padded by 2     an image of zeros goes out to XRAM, the data into it; the
//                                         kernel computes all of that, and what is no result is
//                                         left
//   window 4x4, stride 4, 3 channels      of each 4x4 pixels 16 channels, then a window of one
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

// Strides that the four parts do not serve become channels.
void Expander::plan_phases(const Node& node, Plan& plan, ImageShape& shape) const {
  const Shape& in = graph_[node.inputs[0]].shape;
  const bool is_row = in.size() == 3;
  const auto strides = node.ints_attribute("strides");
  const std::uint64_t down = strides.empty() ? 1 : largest_of({strides.front()}, 1);
  const std::uint64_t across = is_row || strides.empty() ? 1 : largest_of({strides.back()}, 1);
  const bool serves = !is_row && down == across && down < 3;
  if (shape.element_bytes != 2 || shape.channelwise || in[0] != 1 || shape.window_area == 1 ||
      serves || shape.stride == 1)
    return;
  const std::uint64_t columns = shape.window_area / shape.window;
  const auto padded = [&](std::size_t side, std::uint64_t read, std::uint64_t made,
                          std::uint64_t window, std::uint64_t by) {
    const std::uint64_t reached = (made - 1) * by + window;
    return round_up(read + pads_of(node, side, reached, read), by);
  };
  const std::uint64_t rows = padded(0, shape.in_rows, shape.out_rows, shape.window, down);
  const std::uint64_t wide =
      is_row ? 1 : padded(1, shape.in_columns, shape.out_columns, columns, across);
  plan.turned = saturating_product({shape.in_channels, rows, wide});
  if (rows > shape.in_rows || wide > shape.in_columns) plan.frame = plan.turned * 2;
  const std::uint64_t shared = shape.in_channels > 4 || is_row ? shape.in_channels : down;
  plan.turning_ways = shared % (4 * plan.ways) == 0 ? plan.ways : 1;
  plan.turns_pairs = !is_row && across % 2 == 0;
  shape.in_channels *= down * across;
  shape.in_rows = rows / down;
  shape.in_columns = wide / across;
  shape.window = divide_up(shape.window, down);
  shape.window_area = shape.window * divide_up(columns, across);
  shape.stride = 1;
}

// Data within an image of constants: it goes out, the data are written into it.
std::uint32_t Expander::filled(std::uint32_t from, std::uint64_t bytes, std::uint64_t ways) {
  const std::uint32_t made = new_buffer(bytes, true);
  const std::uint64_t room = target_.lram_for_data() - ways * target_.slices.program_bytes;
  for_room(bytes, room, [&](std::uint64_t share) {
    step(SliceKernel::fill, {}, share / element_bytes(), share, ways, false, made);
  });
  const std::uint64_t moved = out_.buffers[from].bytes;
  for_room(moved, room, [&](std::uint64_t share) {
    const bool is_whole = share == moved;
    Stage& move = add(SliceKernel::fill, {{is_whole ? from : new_buffer(share, true), true}}, made);
    move.kind = StageKind::move;
    move.calls.push_back({.reads = {share}, .writes = share});
  });
  return made;
}

// The data of a whole operation within its image of constants, or the data, where each slice has an
// image of its own.
std::uint32_t Expander::framed(const Plan& plan) {
  if (!plan.frames_apart()) return filled(data(), plan.frame, 1);
  const std::uint64_t bytes = plan.frame * (plan.image->channelwise ? 1 : plan.ways);
  step(SliceKernel::fill, {}, bytes / element_bytes(), bytes, plan.ways);
  return data();
}

// The data go out with as many channels more as their extents are less.
std::uint32_t Expander::phases(const Plan& plan, std::uint32_t from) {
  const std::uint64_t bytes = plan.turned * 2;
  const std::uint32_t made = new_buffer(bytes, true);
  const std::uint64_t room =
      target_.lram_for_data() - plan.turning_ways * target_.slices.program_bytes;
  for_room(bytes, room / 2 & ~std::uint64_t{1}, [&](std::uint64_t share) {
    const std::uint32_t read = share == bytes ? from : new_buffer(share, true);
    step(SliceKernel::transpose, {read}, share / 2, share, plan.turning_ways, false, made);
    if (plan.turns_pairs) return;
    for (Call& call : out_.stages.back().calls) call.cycles *= 2;
  });
  return made;
}

}  // namespace npuscope::npu::torq
