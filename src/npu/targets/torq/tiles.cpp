#include "npu/targets/torq/tiles.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "npu/graph/operators/products.hpp"
#include "npu/targets/torq/ndl.hpp"

namespace npuscope::npu::torq {
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
    const std::uint64_t even = parts_of(operation_.out_channels, parts);
    if (even < granule()) return even;
    return std::min(parts_of(even, granule()) * granule(), operation_.out_channels);
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
    const auto rounds = double(parts_of(plan.row_parts * plan.channel_parts, target_.slices.count));
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
      tile.rows = std::min(tile.rows, parts_of(operation_.rows, slices));
    } else if (operation_.out_channels > granule()) {
      tile.channels = std::min(tile.channels, channels_of(slices));
    }
    return tile;
  }

  TilePlan plan_of(TileSize tile, bool channels_inner) const {
    TilePlan plan{tile, channels_inner, parts_of(operation_.rows, tile.rows),
                  parts_of(operation_.out_channels, tile.channels), 0};
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
