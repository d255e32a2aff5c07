#include "npu/targets/torq/tiles.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "npu/graph/semantics.hpp"

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
    const Blocks blocks{mode, divide_up(work.pixels, mode.pixels),
                        divide_up(work.out_channels, mode.channels)};
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
  const std::uint64_t columns = parted ? divide_up(work.window_x, 2) : work.window_x;
  const std::uint64_t taps = std::min(columns, window_taps);
  const std::uint64_t split = divide_up(columns, taps);
  const std::uint64_t depth = saturating_product({work.in_channels, work.window_x, work.window_y});
  const std::uint64_t written = divide_up(blocks.mode.pixels, results_a_cycle(work, slices));
  std::vector<Ndl> ndls;
  if (parted) {
    ndls.push_back(
        {NdlKind::dedr, {split, 2, 2, divide_up(work.window_y, 2), work.in_channels, p, o}});
    ndls.push_back({NdlKind::cedr, {2, 4, p, o, work.window_y}});
  } else {
    ndls.push_back({NdlKind::dedr, {split, work.window_y, work.in_channels, p, o}});
    ndls.push_back({NdlKind::cedr, {taps, p, work.in_channels, o, work.window_y, split}});
  }
  const std::uint64_t weights = std::max<std::uint64_t>(1, weights_read / work.element_bytes);
  ndls.push_back({NdlKind::dewr, {divide_up(saturating_product({depth, v}), weights), p, o}});
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
  const std::uint64_t p = divide_up(work.pixels, width), c = work.out_channels;
  const bool pools = work.kernel == SliceKernel::max_pooling;
  const bool parted = pools && work.stride == 2;
  const std::uint64_t columns = parted ? divide_up(work.window_x, 2) : work.window_x;
  const std::uint64_t taps = std::min(columns, window_taps);
  const std::uint64_t split = divide_up(columns, taps);
  const std::uint64_t groups = slices.alu_width / slices.group_width;
  std::vector<Ndl> ndls;
  if (parted) {
    ndls.push_back({NdlKind::dedr, {split, 2, 2, divide_up(work.window_y, 2), p, c}});
    ndls.push_back({NdlKind::cedr, {taps, 4, p, c, work.window_y}});
  } else {
    ndls.push_back({NdlKind::dedr, {split, work.window_y, p, c}});
    ndls.push_back({NdlKind::cedr, {taps, p, c, work.window_y, split}});
  }
  const std::uint64_t written = divide_up(width, results_a_cycle(work, slices));
  ndls.push_back({NdlKind::deqw, {written, p, c}});
  ndls.push_back({NdlKind::acpr, {written, p, c}});
  ndls.push_back(
      {NdlKind::cepr, {work.window_x, work.window_y, p, pools ? c : divide_up(c, groups)}});
  return ndls;
}

// Results in groups: their weights arrive where data do otherwise, once for all data.
std::vector<Ndl> fully_connected(const SliceWork& work, const Target::Slices& slices) {
  const std::uint64_t width = elements_of_group(work, slices);
  const std::uint64_t o = divide_up(work.out_channels, width);
  const std::uint64_t written = divide_up(width, results_a_cycle(work, slices));
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
      divide_up(saturating_product({work.pixels, work.out_channels}), width);
  const std::uint64_t written = divide_up(width, results_a_cycle(work, slices));
  return {{NdlKind::dedr, {work.in_channels, blocks}},
          {NdlKind::deqw, {written, blocks}},
          {NdlKind::cepr, {work.in_channels, blocks}}};
}

std::vector<Ndl> elementwise(const SliceWork& work, const Target::Slices& slices) {
  const std::uint64_t blocks = divide_up(work.pixels, elements_of_group(work, slices));
  return {{NdlKind::dedr, {work.operands, blocks}},
          {NdlKind::deqw, {divide_up(work.pixels, results_a_cycle(work, slices))}},
          {NdlKind::cepr, {work.operands, blocks}}};
}

// Elements that a mover takes a few at a time.
std::vector<Ndl> few_at_a_time(const SliceWork& work, std::uint64_t at_a_time, NdlKind mover,
                               const Target::Slices& slices) {
  return {{NdlKind::dedr, {divide_up(work.pixels, elements_of_group(work, slices))}},
          {mover, {divide_up(work.pixels, at_a_time)}}};
}

// `pixels` indices, each of a run of `out_channels` elements.
std::vector<Ndl> gather(const SliceWork& work, const Target::Slices& slices) {
  return {
      {NdlKind::dewr, {divide_up(work.pixels, slices.gathered_elements)}},
      {NdlKind::dedr, {work.pixels, divide_up(work.out_channels, elements_of_group(work, slices))}},
      {NdlKind::deqw, {work.pixels, divide_up(work.out_channels, results_a_cycle(work, slices))}}};
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
    if (__builtin_add_overflow(sum, product, &sum)) sum = std::numeric_limits<std::uint64_t>::max();
  }
  return *std::ranges::max_element(cycles);
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

namespace {

class Planner {
 public:
  Planner(const SliceOperation& operation, const Target& target, Resident resident,
          std::uint64_t lram_bytes)
      : operation_(operation), target_(target), resident_(resident), lram_(lram_bytes) {}

  std::optional<TilePlan> run() const {
    std::optional<TilePlan> best;
    std::pair<double, std::uint64_t> min{std::numeric_limits<double>::infinity(), 0};
    for (std::uint64_t parts = 1;; parts *= 2) {
      const std::uint64_t channels = channels_of(parts);
      for (const bool channels_inner : {false, true}) {
        if (!fits({1, channels}, channels_inner)) continue;
        const TilePlan plan =
            plan_of(for_all_slices({max_rows(channels, channels_inner), channels}), channels_inner);
        const std::pair cost{cycles(plan), traffic(plan)};
        if (cost >= min) continue;
        min = cost;
        best = plan;
      }
      if (channels == 1) return best;
    }
  }

  // Channels that the ALU takes together; cutting finer only wastes it.
  std::uint64_t granule() const {
    const Target::Slices& slices = target_.slices;
    return operation_.kernel == SliceKernel::fully_connected
               ? std::max<std::uint64_t>(1, slices.group_width / operation_.element_bytes)
               : slices.alu_width / slices.group_width;
  }

  std::uint64_t channels_of(std::uint64_t parts) const {
    const std::uint64_t even = divide_up(operation_.out_channels, parts);
    if (even < granule()) return even;
    return std::min(divide_up(even, granule()) * granule(), operation_.out_channels);
  }

  std::uint64_t streamed() const { return operation_.operands - (resident_.input ? 1 : 0); }

  // Two stages, each with a tile for every slice. What the tiles of a stage share counts once for
  // each stage: weights while rows run through, data while channels do.
  bool fits(TileSize tile, bool channels_inner) const {
    const std::uint64_t stages = 2, tiles = stages * target_.slices.count;
    const bool weights_stay = !channels_inner && tile.rows < operation_.rows;
    const bool data_stay =
        channels_inner && tile.channels < operation_.out_channels && !operation_.channelwise;
    std::uint64_t bytes = operation_.shared_bytes;
    const auto add = [&](std::uint64_t count, std::uint64_t size) {
      const std::uint64_t more = saturating_product({count, size});
      bytes = more > ~bytes ? ~std::uint64_t{0} : bytes + more;
    };
    add(weights_stay ? stages : tiles, weight_bytes(operation_, tile));
    add(saturating_product({data_stay ? stages : tiles, streamed()}),
        input_bytes(operation_, tile));
    if (!resident_.output) add(tiles, output_bytes(operation_, tile));
    return bytes <= lram_;
  }

  // What comes in for one repeat; results go out once whatever the cut.
  std::uint64_t traffic(const TilePlan& plan) const {
    const std::uint64_t weights = weight_bytes(operation_, {1, operation_.out_channels});
    const bool one_channel_part = plan.channel_parts == 1 || operation_.channelwise;
    const std::uint64_t data = saturating_product(
        {streamed(), plan.row_parts,
         input_bytes(operation_, {plan.size.rows, operation_.channelwise ? operation_.out_channels
                                                                         : plan.size.channels})});
    const bool data_again = !plan.channels_inner && !one_channel_part && plan.row_parts > 1;
    const bool weights_again = plan.channels_inner && plan.channel_parts > 1;
    const std::uint64_t all_data = saturating_product({data, data_again ? plan.channel_parts : 1});
    const std::uint64_t all_weights =
        saturating_product({weights, weights_again ? plan.row_parts : 1});
    return all_data > ~all_weights ? ~std::uint64_t{0} : all_data + all_weights;
  }

  // What takes longer, the transfers of a repeat or its tiles on the slices: the fewest bytes may
  // be those of tiles that leave half of the ALU unused.
  double cycles(const TilePlan& plan) const {
    const auto rounds =
        double(divide_up(plan.row_parts * plan.channel_parts, target_.slices.count));
    const std::uint64_t tile = kernel_cycles(ndls_of(work_of(operation_, plan.size), target_));
    return std::max(double(traffic(plan)) / target_.dma_rate(Direction::in), rounds * double(tile));
  }

  std::uint64_t max_rows(std::uint64_t channels, bool channels_inner) const {
    std::uint64_t fitting = 1, beyond = operation_.rows + 1;
    if (fits({operation_.rows, channels}, channels_inner)) return operation_.rows;
    while (fitting + 1 < beyond) {
      const std::uint64_t middle = fitting + (beyond - fitting) / 2;
      (fits({middle, channels}, channels_inner) ? fitting : beyond) = middle;
    }
    return fitting;
  }

  // An operation that fits whole is cut all the same, so that every slice has its part.
  TileSize for_all_slices(TileSize tile) const {
    const std::uint64_t slices = target_.slices.count;
    if (plan_of(tile, false).tiles >= slices) return tile;
    if (operation_.rows >= slices) {
      tile.rows = std::min(tile.rows, divide_up(operation_.rows, slices));
    } else if (operation_.out_channels > granule()) {
      tile.channels = std::min(tile.channels, channels_of(slices));
    }
    return tile;
  }

  TilePlan plan_of(TileSize tile, bool channels_inner) const {
    TilePlan plan{tile, channels_inner, divide_up(operation_.rows, tile.rows),
                  divide_up(operation_.out_channels, tile.channels), 0};
    plan.tiles = saturating_product({operation_.repeats, plan.row_parts, plan.channel_parts});
    return plan;
  }

  const SliceOperation& operation_;
  const Target& target_;
  Resident resident_;
  std::uint64_t lram_;
};

}  // namespace

SliceWork work_of(const SliceOperation& operation, TileSize tile) {
  SliceWork work{.kernel = operation.kernel};
  work.pixels = saturating_product({tile.rows, operation.row_pixels});
  work.out_channels = tile.channels;
  work.in_channels = operation.in_channels;
  work.window_x = operation.window_x;
  work.window_y = operation.window_y;
  work.stride = operation.stride;
  work.operands = operation.operands;
  work.element_bytes = operation.element_bytes;
  return work;
}

std::uint64_t input_bytes(const SliceOperation& operation, TileSize tile) {
  const std::uint64_t needed =
      saturating_product({tile.rows - 1, operation.stride}) + operation.window_y;
  const std::uint64_t rows = std::min(needed, operation.input_rows);
  const std::uint64_t channels = operation.channelwise ? tile.channels : operation.in_channels;
  return saturating_product({rows, operation.input_row_bytes, channels});
}

std::uint64_t weight_bytes(const SliceOperation& operation, TileSize tile) {
  return saturating_product({operation.weight_bytes, tile.channels});
}

std::uint64_t output_bytes(const SliceOperation& operation, TileSize tile) {
  return saturating_product(
      {tile.rows, operation.row_pixels, tile.channels, operation.output_element_bytes});
}

TilePart TilePlan::part(std::uint64_t index) const {
  const std::uint64_t in_repeat = row_parts * channel_parts, rest = index % in_repeat;
  if (channels_inner) return {index / in_repeat, rest / channel_parts, rest % channel_parts};
  return {index / in_repeat, rest % row_parts, rest / row_parts};
}

TileSize TilePlan::at(const SliceOperation& operation, std::uint64_t row_part,
                      std::uint64_t channel_part) const {
  return {std::min(size.rows, operation.rows - row_part * size.rows),
          std::min(size.channels, operation.out_channels - channel_part * size.channels)};
}

std::optional<TilePlan> plan_tiles(const SliceOperation& operation, const Target& target,
                                   Resident resident, std::uint64_t lram_bytes) {
  if (operation.rows == 0 || operation.out_channels == 0) return std::nullopt;
  return Planner(operation, target, resident, lram_bytes).run();
}

}  // namespace npuscope::npu::torq
