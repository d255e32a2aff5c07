#include "npu/targets/torq/ndl.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "npu/graph/operators/products.hpp"

namespace npuscope::npu::torq {
namespace {

constexpr std::uint64_t weights_read = 32;  // 1-byte weights that arrive in one go (wram_seg_width)
constexpr std::uint64_t window_taps = 3;    // neighbours of a row that one go of data serves

// How the ALU is divided: pixels of one channel beside each other, and channels.
struct AluMode {
  std::uint64_t pixels = 0;
  std::uint64_t channels = 0;
};

struct Blocks {
  AluMode mode;
  std::uint64_t of_pixels = 0;
  std::uint64_t of_channels = 0;
};

// 64x4, 32x8 or 16x16 of 1-byte elements: the one with the fewest blocks, the first of equal ones.
// With fewer channels than groups the compiler takes them one by one.
Blocks blocks_of(const SliceWork& work, const Target::Slices& slices) {
  const std::uint64_t groups = slices.alu_width / slices.group_width;
  Blocks best;
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t divided = 1; divided <= groups; divided *= 2) {
    const std::uint64_t width = slices.group_width / divided / work.element_bytes;
    if (width == 0) break;
    const AluMode mode{width, work.out_channels >= groups ? groups * divided : 1};
    const Blocks blocks{mode, parts_of(work.pixels, mode.pixels),
                        parts_of(work.out_channels, mode.channels)};
    const std::uint64_t count = saturating_product({blocks.of_pixels, blocks.of_channels});
    if (count >= fewest) continue;
    fewest = count;
    best = blocks;
  }
  return best;
}

std::uint64_t results_a_cycle(const SliceWork& work, const Target::Slices& slices) {
  return std::max<std::uint64_t>(1, slices.act_width / work.element_bytes);
}

std::uint64_t elements_of_group(const SliceWork& work, const Target::Slices& slices) {
  return std::max<std::uint64_t>(1, slices.group_width / work.element_bytes);
}

// Of a window with a stride of 2 the data lie in four parts, by even and odd rows and columns.
std::vector<Ndl> convolution(SliceWork work, const Target::Slices& slices) {
  if (work.stride > 2) {  // the window's elements are laid out beside each other first
    work.in_channels = saturating_product({work.in_channels, work.window_x, work.window_y});
    work.window_x = work.window_y = work.stride = 1;
  }
  const Blocks blocks = blocks_of(work, slices);
  const std::uint64_t p = blocks.of_pixels, o = blocks.of_channels, v = blocks.mode.channels;
  const bool parted = work.stride == 2 && (work.window_x > 1 || work.window_y > 1);
  const std::uint64_t columns = parted ? parts_of(work.window_x, 2) : work.window_x;
  const std::uint64_t taps = std::min(columns, window_taps);
  const std::uint64_t split = parts_of(columns, taps);
  const std::uint64_t depth = saturating_product({work.in_channels, work.window_x, work.window_y});
  const std::uint64_t written = parts_of(blocks.mode.pixels, results_a_cycle(work, slices));
  std::vector<Ndl> ndls;
  if (parted) {
    ndls.push_back(
        {NdlKind::dedr, {split, 2, 2, parts_of(work.window_y, 2), work.in_channels, p, o}});
    ndls.push_back({NdlKind::cedr, {2, 4, p, o, work.window_y}});
  } else {
    ndls.push_back({NdlKind::dedr, {split, work.window_y, work.in_channels, p, o}});
    ndls.push_back({NdlKind::cedr, {taps, p, work.in_channels, o, work.window_y, split}});
  }
  const std::uint64_t weights = std::max<std::uint64_t>(1, weights_read / work.element_bytes);
  ndls.push_back({NdlKind::dewr, {parts_of(saturating_product({depth, v}), weights), p, o}});
  ndls.push_back({NdlKind::cewr, {depth, p, o}});
  ndls.push_back({NdlKind::debr, {v, p, o}});
  ndls.push_back({NdlKind::acbw, {v, p, o}});
  ndls.push_back({NdlKind::deqw, {written, v, p, o}});
  ndls.push_back({NdlKind::acpr, {written, v, p, o}});
  ndls.push_back({NdlKind::cepr, {depth, p, o}});
  return ndls;
}

// A channel of the result needs one channel of data: these arrive one by one.
std::vector<Ndl> channel_by_channel(const SliceWork& work, const Target::Slices& slices) {
  const std::uint64_t width = elements_of_group(work, slices);
  const std::uint64_t p = parts_of(work.pixels, width), c = work.out_channels;
  const bool pools = work.kernel == SliceKernel::max_pooling;
  const bool parted = pools && work.stride == 2;
  const std::uint64_t columns = parted ? parts_of(work.window_x, 2) : work.window_x;
  const std::uint64_t taps = std::min(columns, window_taps);
  const std::uint64_t split = parts_of(columns, taps);
  const std::uint64_t groups = slices.alu_width / slices.group_width;
  std::vector<Ndl> ndls;
  if (parted) {
    ndls.push_back({NdlKind::dedr, {split, 2, 2, parts_of(work.window_y, 2), p, c}});
    ndls.push_back({NdlKind::cedr, {taps, 4, p, c, work.window_y}});
  } else {
    ndls.push_back({NdlKind::dedr, {split, work.window_y, p, c}});
    ndls.push_back({NdlKind::cedr, {taps, p, c, work.window_y, split}});
  }
  const std::uint64_t written = parts_of(width, results_a_cycle(work, slices));
  ndls.push_back({NdlKind::deqw, {written, p, c}});
  ndls.push_back({NdlKind::acpr, {written, p, c}});
  ndls.push_back(
      {NdlKind::cepr, {work.window_x, work.window_y, p, pools ? c : parts_of(c, groups)}});
  return ndls;
}

// Results in groups: their weights arrive where data do otherwise, once for all data.
std::vector<Ndl> fully_connected(const SliceWork& work, const Target::Slices& slices) {
  const std::uint64_t width = elements_of_group(work, slices);
  const std::uint64_t o = parts_of(work.out_channels, width);
  const std::uint64_t written = parts_of(width, results_a_cycle(work, slices));
  return {{NdlKind::dedr, {work.in_channels, o, work.pixels}},
          {NdlKind::cedr, {work.in_channels, o, work.pixels}},
          {NdlKind::deqw, {written, o, work.pixels}},
          {NdlKind::acpr, {written, o, work.pixels}},
          {NdlKind::cepr, {work.in_channels, o, work.pixels}}};
}

// Rows of results, each over `in_channels` elements.
std::vector<Ndl> reduction(const SliceWork& work, const Target::Slices& slices) {
  const std::uint64_t width = elements_of_group(work, slices);
  const std::uint64_t blocks =
      parts_of(saturating_product({work.pixels, work.out_channels}), width);
  const std::uint64_t written = parts_of(width, results_a_cycle(work, slices));
  return {{NdlKind::dedr, {work.in_channels, blocks}},
          {NdlKind::deqw, {written, blocks}},
          {NdlKind::cepr, {work.in_channels, blocks}}};
}

std::vector<Ndl> elementwise(const SliceWork& work, const Target::Slices& slices) {
  const std::uint64_t blocks = parts_of(work.pixels, elements_of_group(work, slices));
  return {{NdlKind::dedr, {work.operands, blocks}},
          {NdlKind::deqw, {parts_of(work.pixels, results_a_cycle(work, slices))}},
          {NdlKind::cepr, {work.operands, blocks}}};
}

// Elements that a mover takes a few at a time.
std::vector<Ndl> few_at_a_time(const SliceWork& work, std::uint64_t at_a_time, NdlKind mover,
                               const Target::Slices& slices) {
  return {{NdlKind::dedr, {parts_of(work.pixels, elements_of_group(work, slices))}},
          {mover, {parts_of(work.pixels, at_a_time)}}};
}

// `pixels` indices, each of a run of `out_channels` elements.
std::vector<Ndl> gather(const SliceWork& work, const Target::Slices& slices) {
  return {
      {NdlKind::dewr, {parts_of(work.pixels, slices.gathered_elements)}},
      {NdlKind::dedr, {work.pixels, parts_of(work.out_channels, elements_of_group(work, slices))}},
      {NdlKind::deqw, {work.pixels, parts_of(work.out_channels, results_a_cycle(work, slices))}}};
}

}  // namespace

std::string_view name_of(NdlKind kind) {
  constexpr std::string_view names[] = {"DEDR", "CEDW", "CEDR", "DEWR", "CEWW", "CEWR",
                                        "DEBR", "ACBW", "DEQW", "ACPR", "CEPR"};
  return names[std::size_t(kind)];
}

std::string_view name_of(SliceKernel kernel) {
  constexpr std::string_view names[] = {
      "conv2d", "depthwise_conv2d", "fully_connected", "matmul", "maxpool2d", "elementwise",
      "table",  "reduce",           "transpose",       "gather"};
  return names[std::size_t(kernel)];
}

std::uint64_t kernel_cycles(const std::vector<Ndl>& ndls) {
  std::array<std::uint64_t, std::size_t(NdlKind::cepr) + 1> cycles{};
  for (const Ndl& ndl : ndls) {
    std::uint64_t product = 1;
    for (const std::uint64_t count : ndl.counts) product = saturating_product({product, count});
    std::uint64_t& sum = cycles[std::size_t(ndl.kind)];
    if (!is_memory_ndl(ndl.kind)) sum = 0;
    if (__builtin_add_overflow(sum, product, &sum)) {
      sum = std::numeric_limits<std::uint64_t>::max();
    }
  }
  return *std::max_element(cycles.begin(), cycles.end());
}

std::vector<Ndl> ndls_of(const SliceWork& work, const Target& target) {
  const Target::Slices& slices = target.slices;
  switch (work.kernel) {
    case SliceKernel::convolution:
    case SliceKernel::matrix_product: return convolution(work, slices);
    case SliceKernel::depthwise:
    case SliceKernel::max_pooling: return channel_by_channel(work, slices);
    case SliceKernel::fully_connected: return fully_connected(work, slices);
    case SliceKernel::reduction: return reduction(work, slices);
    case SliceKernel::elementwise: return elementwise(work, slices);
    case SliceKernel::table:
      return few_at_a_time(work, slices.table_lookups, NdlKind::acpr, slices);
    case SliceKernel::transpose:
      return few_at_a_time(work, slices.moved_elements, NdlKind::deqw, slices);
    case SliceKernel::gather: return gather(work, slices);
  }
  return {};
}

}  // namespace npuscope::npu::torq
