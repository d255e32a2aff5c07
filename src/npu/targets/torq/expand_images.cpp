// Convolutions and pooling: tiles of rows and channels, data in four parts for strides.
#include <algorithm>

#include "base/text.hpp"
#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {
namespace {

// A row of places has one column.
std::uint64_t extent(const Shape& shape, std::size_t i) {
  return i < shape.size() ? std::uint64_t(shape[i]) : 1;
}

}  // namespace

void Expander::plan_image(const Operation& operation, Plan& plan) {
  const Node& node = graph_[operation.nodes.front()];
  const Tensor& in = graph_[node.inputs[0]];
  const Tensor& out =
      graph_[*std::ranges::find_if(node.outputs, [](TensorId id) { return id != TensorId::none; })];
  ImageShape shape;
  shape.element_bytes = operation.is_int8 ? 1 : 2;
  shape.in_channels = extent(in.shape, 1);
  shape.out_channels = std::max<std::uint64_t>(1, extent(out.shape, 1));
  shape.in_rows = saturating_product({extent(in.shape, 0), extent(in.shape, 2)});
  shape.out_rows = saturating_product({extent(out.shape, 0), extent(out.shape, 2)});
  shape.in_columns = extent(in.shape, 3);
  shape.out_columns = extent(out.shape, 3);
  shape.stride = largest_of(node.ints_attribute("strides"), 1);
  shape.ways = plan.ways;
  std::uint64_t columns = 1;
  if (operation.form == Form::max_pooling || node.op.ends_with("AveragePool")) {
    const auto window = node.ints_attribute("kernel_shape");
    shape.window = window.empty() ? 1 : largest_of({window.front()}, 1);
    columns = window.empty() ? 1 : largest_of({window.back()}, 1);
  } else {
    const Tensor& weights = graph_[node.inputs[node.op == "QLinearConv" ? 3 : 1]];
    const std::size_t of_data = node.op == "ConvTranspose" ? 0 : 1;
    shape.in_channels = std::max<std::uint64_t>(1, extent(weights.shape, of_data));
    shape.window = std::max<std::uint64_t>(1, extent(weights.shape, 2));
    columns = std::max<std::uint64_t>(1, extent(weights.shape, 3));
    shape.bias_bytes = operation.is_int8 ? 8 : 4;
  }
  shape.window_area = saturating_product({shape.window, columns});
  shape.channelwise = operation.form != Form::convolution;
  plan.is_row = in.shape.size() == 3;
  plan_gaps(node, plan, shape);
  plan_odd(node, plan, shape);
  plan_phases(node, plan, shape);
  shape.segmented = shape.stride > 1;
  auto cut = cut_of(shape, target_);
  // Cut both ways it is one slice's where that takes fewer tiles; with windows of three and a
  // stride, whose last rows a kernel fills up, always, with wider ones and none never.
  const bool may_be_alone = shape.stride > 1 || shape.window <= 3;
  if (cut && cut->row_parts > 1 && cut->channel_parts > 1 && shape.window > 1 && may_be_alone) {
    ImageShape other = shape;
    other.ways = 1;
    const auto alone = cut_of(other, target_);
    const auto tiles_of = [](const ImageShape& each, const TileCut& by) {
      return by.row_parts * divide_up(each.out_channels, each.channels(by));
    };
    const bool always = shape.stride > 1 && shape.window == 3;
    if (alone && (always || tiles_of(other, *alone) < tiles_of(shape, *cut))) {
      shape = other;
      plan.ways = 1;
      cut = alone;
    }
  }
  plan.image = shape;
  if (!cut) {
    return leave_to_host(operation, plan,
                         fmt::format("its smallest tile does not fit {} bytes of LRAM",
                                     thousands(target_.lram_for_data())));
  }
  plan.cut = *cut;
}

// The four parts of data that came from XRAM; what a kernel before made it writes so itself.
std::uint32_t Expander::segmented(std::uint32_t from, std::uint64_t channels, std::uint64_t rows,
                                  std::uint64_t columns, std::uint64_t ways, bool is_framed) {
  const std::uint64_t bytes = saturating_product({channels, rows, columns, element_bytes()});
  const std::uint32_t made = new_buffer(bytes);
  Stage& stage = add(SliceKernel::segmentation, {{from, ways == 1}}, made);
  stage.follows = is_framed;
  for (const std::uint64_t part : parts_of(channels, ways, 1)) {
    KernelWork work = work_of(SliceKernel::segmentation, saturating_product({part, rows, columns}));
    work.row_bytes = divide_up(columns, 2) * element_bytes();
    stage.calls.push_back({.cycles = kernel_cycles(work, target_),
                           .constants = constants_of(SliceKernel::segmentation),
                           .reads = {out_.buffers[from].bytes / channels * part},
                           .frame = is_framed ? bytes / channels * part : 0,
                           .writes = bytes / channels * part});
  }
  return made;
}

void Expander::image(const Plan& plan) {
  const ImageShape& shape = *plan.image;
  const TileCut cut = plan.cut;
  const std::uint64_t each = shape.channels(cut), row_parts = cut.row_parts;
  const bool in_float = exceeds_results(plan);
  if (in_float) bias_in_float(shape.out_channels);
  std::uint32_t whole = plan.frame > 0 ? framed(plan) : data();
  if (plan.turned > 0) whole = phases(plan, whole);
  if (in_float) return image_in_float(plan, whole);
  for (std::uint64_t channel = 0; channel < shape.out_channels; channel += each) {
    const std::uint64_t channels = std::min(each, shape.out_channels - channel);
    const auto tile = [&](std::uint64_t r) {
      if (r * shape.rows(cut) >= shape.out_rows) return;
      plan.writer ? image_rows_together(channels, r) : image_rows(plan, whole, channels, r);
    };
    tile(0);
    if (row_parts > 1 && cut.channel_parts == 1) {
      const bool is_strided = shape.stride == 2 && !shape.channelwise;
      if (takes_in_first_tile()) {
        if (joins_first_tile(tile)) continue;
      } else if (operation().is_int8 && shape.window > 1) {
        is_strided ? moved(shape.rows(cut) * (out_.buffers[result()].bytes / shape.out_rows))
                   : store_all_of_result();
      }
    }
    for (std::uint64_t r = 1; r < row_parts && out_.stages.size() < max_tasks; ++r) tile(r);
  }
}

// A whole result that fits LRAM next to its first tile, or next to both of two.
bool Expander::takes_in_first_tile() {
  const ImageShape& shape = *plan().image;
  const TileCut& cut = plan().cut;
  const std::uint64_t bytes = out_.buffers[result()].bytes;
  const std::uint64_t main = shape.rows(cut) * (bytes / shape.out_rows);
  return cut.row_parts > 1 && cut.channel_parts == 1 && !operation().is_int8 && shape.window > 1 &&
         bytes + (cut.row_parts == 2 ? bytes : main) <=
             target_.lram_for_data() - target_.slices.program_bytes;
}

// It takes that in first; the second of two is put together with it. Whether that was all.
bool Expander::joins_first_tile(const std::function<void(std::uint64_t)>& make) {
  const ImageShape& shape = *plan().image;
  const std::uint64_t row_parts = plan().cut.row_parts, bytes = out_.buffers[result()].bytes;
  const std::uint64_t row = bytes / shape.out_rows, size = element_bytes();
  const std::uint64_t main = shape.rows(plan().cut) * row;
  if (row_parts == 2) {
    joined(
        {main / size, (bytes - main) / size}, size, true, [&] { make(1); }, result());
    return true;
  }
  step(SliceKernel::convert, {new_buffer(main, true)}, main / size, bytes, 1, false, result());
  return false;
}

// A tile of a result's rows.
void Expander::image_rows(const Plan& plan, std::uint32_t data, std::uint64_t channels,
                          std::uint64_t r) {
  const ImageShape& shape = *plan.image;
  const TileCut cut = plan.cut;
  const bool is_segmented = shape.stride > 1 && (is_from_outside() || plan.frame > 0);
  const bool by_rows = cut.row_parts > 1, parted = shape.channelwise && cut.channel_parts > 1;
  const std::uint64_t first = r * shape.rows(cut);
  const std::uint64_t rows = std::min(shape.rows(cut), shape.out_rows - first);
  const bool is_last = first + rows == shape.out_rows;
  const bool by_windows =
      by_rows && is_segmented && shape.window > 1 && shape.stride == 2 && !shape.channelwise;
  const std::uint64_t read = by_windows ? shape.rows_of_tile(rows, r == 0, is_last)
                             : by_rows  ? shape.rows_read(cut)
                                        : shape.in_rows;
  const std::uint64_t row_bytes = saturating_product(
      {shape.channelwise ? channels : shape.in_channels, shape.in_columns, shape.element_bytes});
  std::uint32_t from =
      !by_rows && !parted ? data : new_buffer(saturating_product({read, row_bytes}), true);
  const std::uint64_t even = by_windows ? round_up(read, 2) : read;
  if (even > read) from = made_even(from, read * row_bytes, even * row_bytes);
  // Weights of one slice stay for all rows.
  const bool may_stay = operation().is_int8 ? shape.window == 1 : cut.channel_parts > 1;
  const bool stay = r > 0 && plan.ways == 1 && may_stay && !shape.channelwise && shape.stride == 1;
  image_tile(plan, from, channels, rows, even, is_segmented, !stay);
}

// Rows of a tile become even in number for the four parts: wide windows' go out for that, others
// where LRAM does not hold all of them, their parts and, next to those, weights or another tile.
std::uint32_t Expander::made_even(std::uint32_t from, std::uint64_t read, std::uint64_t made) {
  const ImageShape& shape = *plan().image;
  const TileCut& cut = plan().cut;
  if (shape.window > 3) return filled(from, made, 1);
  const std::uint32_t even =
      step(SliceKernel::convert, {from}, read / element_bytes(), made, 1, false, new_buffer(made));
  const std::uint64_t other = cut.channel_parts > 1   ? shape.weight_bytes(shape.channels(cut))
                              : takes_in_first_tile() ? out_.buffers[result()].bytes / cut.row_parts
                                                      : 0;
  if (cut.row_parts == 2 && read + 2 * made + other > target_.lram_for_data()) moved(made);
  return even;
}

// The first tile of rows stores a whole result that fits LRAM next to it.
void Expander::store_all_of_result() {
  const std::uint64_t bytes = out_.buffers[result()].bytes;
  Stage& last = out_.stages.back();
  const std::uint64_t tile = bytes / plan().cut.row_parts;
  if (bytes + tile <= target_.lram_for_data() && last.calls.size() > 0)
    last.calls.back().writes = bytes;
}

// A kernel computes all rows that it reads; a further one takes those off that its neighbours have.
void Expander::image_tile(const Plan& plan, std::uint32_t from, std::uint64_t channels,
                          std::uint64_t rows, std::uint64_t rows_read, bool is_segmented,
                          bool loads_weights) {
  const ImageShape& shape = *plan.image;
  const bool strided = shape.stride > 1, alone = shape.channelwise;
  const std::uint64_t computed = strided ? rows_read / 2 : rows_read;
  const bool is_cut = plan.cut.row_parts > 1 && shape.window > 1;
  const bool takes_off =
      is_cut && (!strided || (is_segmented && !alone && shape.stride == 2 && computed > rows));
  // Windows within the data leave a border, which is left behind when the result goes out again.
  // Rows of places go out like that, too.
  const std::uint64_t every = strided ? 2 : 1;
  const bool is_smaller = (!strided || plan.frame > 0) && shape.out_rows < shape.in_rows / every;
  const bool has_border = !takes_off && (is_smaller || plan.is_row);
  const std::uint64_t made_rows = takes_off ? computed : has_border ? computed : rows;
  const std::uint64_t made_columns =
      has_border && !plan.is_row ? shape.in_columns / every : shape.out_columns;
  if (is_segmented) {
    from = segmented(from, alone ? channels : shape.in_channels, rows_read, shape.in_columns,
                     alone ? plan.ways : 1, plan.frames_apart());
  }
  const SliceKernel kernel =
      alone ? (strided ? SliceKernel::depthwise_stride2 : SliceKernel::depthwise)
            : (strided && shape.window > 1 ? SliceKernel::conv2d_stride2 : SliceKernel::conv2d);
  const std::uint64_t row_bytes = made_columns * shape.element_bytes;
  // Those of one call are read out of their border.
  const bool stays_within =
      has_border && plan.ways == 1 && plan.cut == TileCut{} && !is_result_of_model();
  if (stays_within) outside_[operation().result] = out_.buffers[result()].outside = true;
  const std::uint32_t made =
      takes_off || (has_border && !stays_within)
          ? new_buffer(saturating_product({channels, made_rows, row_bytes}), has_border)
          : result();
  const bool apart = plan.frames_apart() && !is_segmented;
  Stage& stage = add(kernel, {{from, !apart && (!alone || plan.ways == 1)}}, made);
  stage.follows = plan.frames_apart() || (alone && is_segmented);
  const std::uint64_t read_bytes = out_.buffers[from].bytes;
  // Without a window a stride leaves out results that are computed all the same.
  const bool at_full_rate = strided && shape.window == 1;
  const std::uint64_t pixels =
      at_full_rate ? rows_read * shape.in_columns : made_rows * made_columns;
  for (const std::uint64_t part : parts_of(channels, plan.ways, 4)) {
    KernelWork work = work_of(kernel, pixels);
    work.in_channels = alone ? 1 : shape.in_channels;
    work.out_channels = part;
    work.window_y = shape.window;
    work.window_x = shape.window_area / shape.window;
    Call& call = stage.calls.emplace_back();
    call.cycles = kernel_cycles(work, target_);
    if (loads_weights) call.constants.push_back(shape.weight_bytes(part));
    call.constants.push_back(part * std::max<std::uint64_t>(4, shape.bias_bytes));
    call.reads = {alone ? read_bytes / channels * part : read_bytes};
    if (apart) call.frame = alone ? plan.frame / channels * part : plan.frame;
    call.writes = saturating_product({part, made_rows, row_bytes});
  }
  if (has_border && !stays_within) {
    Stage& move = add(SliceKernel::convert, {{made, true}}, result());
    move.kind = StageKind::move;
    const std::uint64_t kept =
        saturating_product({channels, rows, shape.out_columns, shape.element_bytes});
    move.calls.push_back({.reads = {kept}, .writes = kept});
  }
  if (!takes_off) return;
  const std::uint64_t kept = saturating_product({channels, rows, shape.out_columns});
  step(SliceKernel::convert, {made}, kept, kept * shape.element_bytes, stage.calls.size(), true,
       result());
}

}  // namespace npuscope::npu::torq
