#include "npu/targets/torq/kernels.hpp"

#include <algorithm>
#include <array>

#include "base/arithmetic.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::torq {
namespace {

constexpr std::uint64_t window_taps = 3;  // neighbours of a row that one go of data serves

constexpr std::array<KernelNames, slice_kernel_count> kernel_names = {
    {{"conv2d", "conv2d"},
     {"conv2dStride2", "conv2d"},
     {"DepthwiseConv2d", "depthwise_conv2d"},
     {"DepthwiseConv2dStride2", "depthwise_conv2d"},
     {"segmentation-hw", "segmentation"},
     {"MaxPool2D", "maxpool2d"},
     {"maxpool2d", "maxpool2d"},
     {"avgpool2d", "avg_pool2d"},
     {"fc", "fully_connected"},
     {"fc-fast", "fully_connected"},
     {"matmul-fast", "matmul"},
     {"add", "add"},
     {"sub", "add"},
     {"mul", "mul"},
     {"fma", "fma"},
     {"clamp", "act"},
     {"abs", "act"},
     {"negate", "act"},
     {"convert", "convert"},
     {"GREATER", "elementwisebinary"},
     {"ASR", "elementwiseshift"},
     {"select", "select"},
     {"table", "table"},
     {"broadcast", "broadcast"},
     {"reduce_max", "reduce"},
     {"reduce_sum", "reduce"},
     {"reduce_mean", "reduce_mean"},
     {"transpose-block", "transpose"},
     {"transpose-generalized", "transpose"},
     {"f2f", "act"},
     {"Fill", "fill"},
     {"gather", "gather"}}};

struct Widths {
  std::uint64_t block;    // pixels, or columns, that the ALU takes at once
  std::uint64_t group;    // channels, or rows
  std::uint64_t results;  // a cycle
};

Widths widths_of(const KernelWork& work, const Target::Slices& slices) {
  const auto at_least_one = [](std::uint64_t value) { return std::max<std::uint64_t>(1, value); };
  return {at_least_one(slices.group_width / work.element_bytes),
          slices.alu_width / slices.group_width,
          at_least_one(slices.act_width / work.element_bytes)};
}

// Channels are taken in groups; fewer than one has are taken one by one.
struct Blocks {
  std::uint64_t count;    // of pixels and channels
  std::uint64_t results;  // cycles that one's take
};

Blocks blocks_of(const KernelWork& work, const Widths& widths) {
  const bool alone = work.out_channels < widths.group;
  const std::uint64_t channels = divide_up(work.out_channels, alone ? 1 : widths.group);
  return {saturating_product({channels, divide_up(work.pixels, widths.block)}),
          divide_up(widths.block, widths.results) * (alone ? 1 : widths.group)};
}

std::uint64_t convolution(const KernelWork& work, const Widths& widths) {
  const Blocks blocks = blocks_of(work, widths);
  const std::uint64_t products =
      saturating_product({work.in_channels, work.window_x, work.window_y});
  return saturating_product({blocks.count, std::max(products, blocks.results)});
}

// Channels of data arrive one by one, rows of a window in goes of three; with a stride of two from
// each of the four parts.
std::uint64_t depthwise(const KernelWork& work, const Widths& widths) {
  const Blocks blocks = blocks_of(work, widths);
  const bool parted = work.kernel == SliceKernel::depthwise_stride2;
  const std::uint64_t channels = std::min(work.out_channels, widths.group);
  const std::uint64_t goes =
      parted ? 4 * divide_up(work.window_y, 2) * divide_up(divide_up(work.window_x, 2), window_taps)
             : work.window_y * divide_up(work.window_x, window_taps);
  const bool alone = channels < widths.group;
  const std::uint64_t reads =
      alone ? work.window_x * work.window_y : saturating_product({goes, channels});
  return saturating_product({blocks.count, std::max(reads, blocks.results)});
}

std::uint64_t max_pool(const KernelWork& work, const Widths& widths) {
  const std::uint64_t blocks =
      saturating_product({work.out_channels, divide_up(work.pixels, widths.block)});
  // A padded window takes its taps of a row together, in each of four parts, row by row.
  const std::uint64_t reads = work.kernel == SliceKernel::max_pool
                                  ? work.window_x * work.window_y
                                  : divide_up(work.window_x, 2) * 4 * work.window_y;
  return saturating_product({blocks, std::max(reads, divide_up(widths.block, widths.results))});
}

}  // namespace

KernelNames names_of(SliceKernel kernel) { return kernel_names[std::size_t(kernel)]; }

std::uint64_t kernel_cycles(const KernelWork& work, const Target& target) {
  const Widths widths = widths_of(work, target.slices);
  switch (work.kernel) {
    case SliceKernel::conv2d:
    case SliceKernel::conv2d_stride2: return convolution(work, widths);
    case SliceKernel::depthwise:
    case SliceKernel::depthwise_stride2: return depthwise(work, widths);
    case SliceKernel::max_pool:
    case SliceKernel::max_pool_padded: return max_pool(work, widths);
    case SliceKernel::segmentation: {
      const std::uint64_t whole = divide_up(work.pixels, widths.results);
      const bool even = work.row_bytes % target.slices.segment_bytes == 0;
      return even ? whole : std::uint64_t(double(whole) * target.slices.uneven_segments);
    }
    case SliceKernel::average_pool:
    case SliceKernel::fc:
      return saturating_product({work.in_channels, divide_up(work.out_channels, widths.block)});
    case SliceKernel::reduce_mean: {  // 32-bit floats as fast as those of 16
      const std::uint64_t block =
          target.slices.group_width / std::min<std::uint64_t>(2, work.element_bytes);
      return saturating_product(
          {work.in_channels, divide_up(work.pixels, std::max<std::uint64_t>(1, block))});
    }
    case SliceKernel::fc_fast:
    case SliceKernel::matmul_fast:
      return saturating_product({divide_up(work.pixels, widths.group), work.in_channels,
                                 divide_up(work.out_channels, widths.block)});
    default: break;
  }
  return std::max<std::uint64_t>(
      1,
      std::uint64_t(double(work.pixels) /
                    target.elements_a_cycle(names_of(work.kernel).operation, work.element_bytes)));
}

std::uint64_t code_bytes(SliceKernel kernel, const Target& target) {
  return target.code_bytes(names_of(kernel).operation);
}

}  // namespace npuscope::npu::torq
