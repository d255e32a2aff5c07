// Maximum pooling and global means.
#include <algorithm>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {
namespace {

bool has_pads(const Node& node) {
  const auto pads = node.ints_attribute("pads");
  return std::ranges::any_of(pads, [](std::int64_t each) { return each != 0; }) ||
         node.string_attribute("auto_pad", "").starts_with("SAME");
}

}  // namespace

// Before convolutions alone the compiler leaves out the scales around it, and slices compare bytes.
bool Expander::is_pooled_in_float(std::size_t index) const {
  const Operation& operation = lowering_.operations[index];
  if (!operation.is_int8 || operation.form != Form::max_pooling || !plans_[index].image ||
      plans_[index].image->stride > 1)
    return false;
  const auto readers = readers_.find(operation.result);
  return readers == readers_.end() ||
         !std::ranges::all_of(readers->second, [&](std::size_t reader) {
           return lowering_.operations[reader].form == Form::convolution;
         });
}

void Expander::max_pooling_of_bytes(const ImageShape& shape) {
  const std::uint64_t bytes = out_.buffers[data()].bytes / shape.out_channels;
  const std::uint64_t pixels = shape.out_rows * shape.out_columns;
  const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
  const std::uint64_t each =
      std::clamp<std::uint64_t>(room / (bytes + pixels), 1, shape.out_channels);
  for (std::uint64_t first = 0; first < shape.out_channels && out_.stages.size() < max_tasks;
       first += each) {
    max_pooling_of_channels(shape, std::min(each, shape.out_channels - first), bytes);
  }
}

void Expander::max_pooling_of_channels(const ImageShape& shape, std::uint64_t channels,
                                       std::uint64_t bytes) {
  const bool is_whole = channels == shape.out_channels;
  const std::uint64_t pixels = shape.out_rows * shape.out_columns;
  Stage& stage = add(SliceKernel::max_pool,
                     {{is_whole ? data() : new_buffer(channels * bytes, true), false}}, result());
  for (const std::uint64_t part : parts_of(channels, target_.slices.count, 4)) {
    KernelWork work = work_of(SliceKernel::max_pool, pixels);
    work.out_channels = part;
    work.window_y = shape.window;
    work.window_x = shape.window_area / shape.window;
    stage.calls.push_back(
        {.cycles = kernel_cycles(work, target_), .reads = {part * bytes}, .writes = part * pixels});
  }
}

// In int8 without a stride slices compare 32-bit floats that the host made.
void Expander::max_pooling_in_float(const ImageShape& shape) {
  host();
  size_ = 4;
  const std::uint64_t pixels = shape.out_rows * shape.out_columns;
  const std::uint64_t bytes = pixels * size_;  // of a channel
  const std::uint64_t room = target_.lram_for_data() - 2 * target_.slices.program_bytes;
  const std::uint64_t each = std::clamp<std::uint64_t>(room / (2 * bytes), 1, shape.out_channels);
  for (std::uint64_t first = 0; first < shape.out_channels && out_.stages.size() < max_tasks;
       first += each) {
    const std::uint64_t channels = std::min(each, shape.out_channels - first);
    Stage& stage = add(SliceKernel::max_pool, {{new_buffer(channels * bytes, true), false}},
                       new_buffer(channels * bytes, true));
    for (const std::uint64_t part : parts_of(channels, target_.slices.count, 4)) {
      KernelWork work = work_of(SliceKernel::max_pool, pixels);
      work.out_channels = part;
      work.window_y = shape.window;
      work.window_x = shape.window_area / shape.window;
      stage.calls.push_back({.cycles = kernel_cycles(work, target_),
                             .constants = constants_of(SliceKernel::max_pool),
                             .reads = {part * bytes},
                             .writes = part * bytes});
    }
  }
  size_ = 0;
  host();
}

// Without pads, windows that reach over an odd number of rows take one more; it is left behind when
// the result goes out again.
void Expander::max_pooling(const Plan& plan) {
  const ImageShape& shape = *plan.image;
  if (is_pooled_in_float(at_)) return max_pooling_in_float(shape);
  if (operation().is_int8 && shape.stride == 1) return max_pooling_of_bytes(shape);
  const bool is_whole = !has_pads(node()) && shape.stride == 2;
  const auto reached = [&](std::uint64_t in, std::uint64_t made, std::uint64_t window) {
    return is_whole ? std::min(in, (made - 1) * 2 + window) : in;
  };
  const std::uint64_t read_rows = reached(shape.in_rows, shape.out_rows, shape.window);
  const std::uint64_t read_columns =
      reached(shape.in_columns, shape.out_columns, shape.window_area / shape.window);
  const bool uneven = is_whole && (read_rows % 2 != 0 || read_columns % 2 != 0);
  const std::uint64_t rows = uneven ? round_up(read_rows, 2) : read_rows;
  const std::uint64_t columns = uneven ? round_up(read_columns, 2) : read_columns;
  const std::uint64_t made_rows = uneven ? rows / 2 : shape.out_rows;
  const std::uint64_t made_columns = uneven ? columns / 2 : shape.out_columns;
  const std::uint64_t parts = plan.cut.channel_parts, each = shape.channels({1, parts});
  for (std::uint64_t first = 0; first < shape.out_channels && out_.stages.size() < max_tasks;
       first += each) {
    const std::uint64_t channels = std::min(each, shape.out_channels - first);
    const auto bytes_of = [&](std::uint64_t high, std::uint64_t wide) {
      return saturating_product({channels, high, wide, shape.element_bytes});
    };
    std::uint32_t from = parts == 1 ? data() : new_buffer(bytes_of(read_rows, read_columns), true);
    if (uneven) {
      const std::uint64_t bytes = bytes_of(rows, columns);
      step(SliceKernel::fill, {}, bytes / shape.element_bytes, bytes, plan.ways);
    }
    if (shape.stride > 1) from = segmented(from, channels, rows, columns, plan.ways, uneven);
    const SliceKernel kernel =
        has_pads(node()) ? SliceKernel::max_pool_padded : SliceKernel::max_pool;
    const std::uint64_t made_bytes = bytes_of(made_rows, made_columns);
    const bool is_copied = uneven || (is_whole && out_.buffers[result()].outside);
    const std::uint32_t made = is_copied ? new_buffer(made_bytes) : result();
    Stage& stage = add(kernel, {{from, plan.ways == 1}}, made);
    stage.follows = shape.stride > 1;
    for (const std::uint64_t part : parts_of(channels, plan.ways, 1)) {
      KernelWork work = work_of(kernel, made_rows * made_columns);
      work.out_channels = part;
      work.window_y = shape.window;
      work.window_x = shape.window_area / shape.window;
      stage.calls.push_back({.cycles = kernel_cycles(work, target_),
                             .constants = constants_of(kernel),
                             .reads = {out_.buffers[from].bytes / channels * part},
                             .writes = made_bytes / channels * part});
    }
    if (!is_copied) continue;
    const std::uint32_t copied = uneven ? new_buffer(made_bytes, true) : result();
    step(SliceKernel::convert, {made}, made_bytes / shape.element_bytes, made_bytes, plan.ways,
         true, copied);
    if (!uneven) continue;
    Stage& move = add(SliceKernel::convert, {{copied, true}}, result());
    move.kind = StageKind::move;
    const std::uint64_t kept = bytes_of(shape.out_rows, shape.out_columns);
    move.calls.push_back({.reads = {kept}, .writes = kept});
  }
}

// Channels last, then each channel's sum, then back; as many channels at a time as fit LRAM.
void Expander::global_average() {
  const std::uint64_t channels = std::max<std::uint64_t>(1, result_elements());
  const std::uint64_t pixels = graph_[node().inputs[0]].elements() / channels;
  const std::uint64_t size = element_bytes();
  const std::uint64_t room = target_.lram_for_data() - target_.slices.program_bytes;
  const std::uint64_t tiles = std::min(
      channels,
      std::max<std::uint64_t>(1, divide_up(saturating_product({2, channels, pixels, size}), room)));
  for (std::uint64_t i = 0; i < tiles && out_.stages.size() < max_tasks; ++i) {
    const std::uint64_t part = channels / tiles + (i < channels % tiles);
    const std::uint64_t bytes = saturating_product({part, pixels, size});
    const std::uint32_t from = tiles == 1 ? data() : new_buffer(bytes, true);
    const std::uint32_t turned = step(SliceKernel::transpose, {from}, part * pixels, bytes, 1);
    if (pixels % 2 != 0) out_.stages.back().calls.front().cycles *= 2;  // no pairs of elements
    const std::uint32_t means = new_buffer(part * size);
    KernelWork work = work_of(SliceKernel::average_pool, pixels);
    work.in_channels = pixels;
    work.out_channels = part;
    Stage& stage = add(SliceKernel::average_pool, {{turned, true}}, means);
    stage.calls.push_back({.cycles = kernel_cycles(work, target_),
                           .constants = operation().is_int8
                                            ? std::vector<std::uint64_t>{1, part * 8}
                                            : std::vector<std::uint64_t>{2, 4},
                           .reads = {bytes},
                           .writes = part * size});
    step(SliceKernel::transpose, {means}, part, part * size, 1, false, result());
  }
}

}  // namespace npuscope::npu::torq
