// Strides that become channels: those that the four parts of data do not serve.
//
//   window 4x4, stride 4, 3 channels      of each 4x4 pixels 16 channels, then a window of one
#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {

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

// Windows of seven and a stride of four reach one place further than the results: sums in 32-bit
// floats, from which the host takes these and to which it adds the bias.
bool Expander::exceeds_results(const Plan& plan) const {
  const ImageShape& shape = *plan.image;
  const std::uint64_t columns = shape.window_area / shape.window;
  return plan.turned > 0 && !plan.is_row && plan.cut == TileCut{} &&
         shape.in_rows >= shape.window && shape.in_columns >= columns &&
         (shape.in_rows - shape.window >= shape.out_rows ||
          shape.in_columns - columns >= shape.out_columns);
}

void Expander::image_in_float(const Plan& plan, std::uint32_t from) {
  constexpr std::uint64_t size = 4;
  const ImageShape& shape = *plan.image;
  const std::uint64_t pixels = shape.in_rows * shape.in_columns;
  const std::uint64_t kept = (shape.in_rows - shape.window + 1) *
                             (shape.in_columns - shape.window_area / shape.window + 1);
  const std::vector<std::uint64_t> parts = parts_of(shape.out_channels, plan.ways, 4);
  Stage& stage = add(SliceKernel::conv2d, {{from, true}}, new_buffer(0, true));
  for (const std::uint64_t part : parts) {
    KernelWork work = work_of(SliceKernel::conv2d, pixels);
    work.in_channels = shape.in_channels;
    work.out_channels = part;
    work.window_y = shape.window;
    work.window_x = shape.window_area / shape.window;
    stage.calls.push_back({.cycles = kernel_cycles(work, target_),
                           .constants = {shape.weight_bytes(part), part * shape.bias_bytes},
                           .reads = {out_.buffers[from].bytes},
                           .writes = part * pixels * size});
  }
  for (const std::uint64_t part : parts) moved(part * kept * size);
  for (std::size_t i = 0; i < parts.size(); ++i) host();
  const std::uint64_t elements = result_elements();
  step(SliceKernel::round, {new_buffer(elements * size, true)}, elements, elements * 2, plan.ways,
       false, result());
}

}  // namespace npuscope::npu::torq
