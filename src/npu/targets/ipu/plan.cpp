#include "npu/targets/ipu/plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/arithmetic.hpp"

namespace npuscope::npu::ipu {
namespace {

using sigmastar::ProgramTile;

// Enough that loads, conv, vector and stores of a layer run side by side.
constexpr std::uint64_t tiles_wanted = 4;
constexpr std::uint64_t max_tiles = 0xffff;
constexpr double max_tile_cycles = 1 << 30;
constexpr std::uint64_t max_tile_bytes = 1 << 28;

// The i-th of n parts, as even as whole numbers allow.
Range part_of(Range whole, std::uint64_t i, std::uint64_t n) {
  return {whole.begin + share_of(whole.size(), i, n),
          whole.begin + share_of(whole.size(), i + 1, n)};
}

// A share of a total that is spread over rows and columns: all shares add up to it.
std::uint64_t share_of_grid(std::uint64_t total, Range rows, std::uint64_t all_rows, Range columns,
                            std::uint64_t all_columns) {
  const auto until = [&](std::uint64_t row) {
    return share_of(share_of(total, row, all_rows), columns, all_columns);
  };
  return until(rows.end) - until(rows.begin);
}

// What one tile does, before it is cut to what fits.
struct Amounts {
  std::uint64_t load = 0, store = 0, on_chip = 0;
  double conv_cycles = 0, vector_cycles = 0;
};

class LayerPlanner {
 public:
  LayerPlanner(const Work& work, const Target& target) : work_(work), target_(target) {}

  // `by_columns`: cores divide the columns, not the rows.
  Result<LayerPlan> run(bool by_columns) {
    const std::uint64_t parts = by_columns ? work_.columns : work_.rows;
    for (std::uint32_t core = 0; core < target_.cores; ++core) {
      Range rows{0, work_.rows}, columns{0, work_.columns};
      Range& divided = by_columns ? columns : rows;
      if (parts >= target_.cores) divided = part_of(divided, core, target_.cores);
      tiles_.clear();
      if (parts >= target_.cores || core == 0) plan_core(rows, columns);
      if (!problem_.empty()) return usage_error("{}", problem_);
      plan_.cores.push_back(tiles_);
    }
    return std::move(plan_);
  }

 private:
  std::uint64_t kept_bytes(Range columns) const {
    return share_of(work_.weight_bytes, columns, work_.columns) +
           share_of(work_.resident_bytes, columns, work_.columns);
  }

  void plan_core(Range rows, Range columns) {
    const std::uint64_t kept = kept_bytes(columns);
    const std::uint64_t chunks = std::clamp<std::uint64_t>(
        divide_up(kept, weight_room(target_)), 1, std::max<std::uint64_t>(1, columns.size()));
    room_ = tile_room(target_, std::min(weight_room(target_), divide_up(kept, chunks)));
    const std::uint64_t tiles = count_tiles(rows);
    if (tiles * chunks > max_tiles) return fail(tiles * chunks);
    std::uint64_t input = 0;
    for (const Stream& stream : work_.streams) input += stream.needed(rows, work_.rows);
    const bool weights_outside = (chunks - 1) * input <= (tiles - 1) * kept;
    const Range first_columns = part_of(columns, 0, chunks);
    tiles_.push_back({std::uint32_t(ahead_bytes(first_columns)), 0, 0, 0});
    plan_.load_bytes += tiles_[0].load_bytes;
    const std::uint64_t outer = weights_outside ? chunks : tiles;
    const std::uint64_t inner = weights_outside ? tiles : chunks;
    for (std::uint64_t i = 0; i < outer; ++i) {
      for (std::uint64_t j = 0; j < inner; ++j) {
        const std::uint64_t chunk = weights_outside ? i : j, tile = weights_outside ? j : i;
        const bool loads_kept = weights_outside ? j == 0 : chunks > 1 || i == 0;
        const bool loads_input = weights_outside ? tiles > 1 || i == 0 : j == 0;
        add_tile(part_of(rows, tile, tiles), part_of(columns, chunk, chunks), loads_kept,
                 loads_input, i + j == 0);
      }
    }
  }

  // Constants can be loaded before the layers ahead are done; results cannot.
  std::uint64_t ahead_bytes(Range columns) const {
    const std::uint64_t bytes = share_of(work_.weight_bytes, columns, work_.columns);
    return std::min(bytes, weight_room(target_));
  }

  std::uint64_t count_tiles(Range rows) const {
    const std::uint64_t max = std::min(rows.size(), max_tiles + 1);
    if (max == 0) return 1;
    std::uint64_t tiles =
        std::clamp<std::uint64_t>(divide_up(tile_bytes(work_, rows), room_), 1, max);
    tiles = std::min(max, std::max(tiles, tiles_wanted));
    while (tiles < max && largest_tile(rows, tiles) > room_) {
      tiles = std::min(max, tiles + std::max<std::uint64_t>(1, tiles / 8));
    }
    return tiles;
  }

  std::uint64_t largest_tile(Range rows, std::uint64_t tiles) const {
    std::uint64_t max = 0;
    for (std::uint64_t i = 0; i < tiles; ++i) {
      max = std::max(max, tile_bytes(work_, part_of(rows, i, tiles)));
    }
    return max;
  }

  void add_tile(Range rows, Range columns, bool loads_kept, bool loads_input, bool is_first) {
    Amounts tile;
    if (loads_kept) tile.load += kept_bytes(columns) - (is_first ? ahead_bytes(columns) : 0);
    if (loads_input) {
      for (const Stream& stream : work_.streams) tile.load += stream.needed(rows, work_.rows);
    }
    tile.store = share_of_grid(work_.output_bytes, rows, work_.rows, columns, work_.columns);
    tile.on_chip = tile_bytes(work_, rows);
    for (const ConvWork& conv : work_.convs) {
      const std::uint64_t pixels = share_of(conv.pixels, rows, work_.rows);
      const std::uint64_t width = work_.columns > 1 ? columns.size() : conv.columns;
      tile.conv_cycles += double(pixels) * double(conv.passes) *
                          double(divide_up(width, target_.conv_output_lanes));
    }
    for (const VectorWork& vector : work_.vectors) {
      const std::uint64_t elements =
          share_of_grid(vector.elements, rows, work_.rows, columns, work_.columns);
      tile.vector_cycles += std::ceil(double(elements) * vector.passes / target_.vector_lanes);
    }
    append(tile);
  }

  // A tile of one row that is still too large passes through the chip in pieces.
  void append(const Amounts& tile) {
    if (!problem_.empty()) return;
    const std::uint64_t pieces = std::max<std::uint64_t>(
        {1, divide_up(tile.on_chip, room_), divide_up(tile.load, target_.memory_bytes)});
    const double longest = std::max(tile.conv_cycles, tile.vector_cycles) / double(pieces);
    if (tiles_.size() + pieces > max_tiles || longest > max_tile_cycles / 2 ||
        std::max(tile.load, tile.store) / pieces > max_tile_bytes / 2) {
      return fail(tiles_.size() + pieces);
    }
    for (std::uint64_t i = 0; i < pieces; ++i) {
      const Range piece{i, i + 1};
      ProgramTile cut;
      cut.load_bytes = std::uint32_t(share_of(tile.load, piece, pieces));
      cut.store_bytes = std::uint32_t(share_of(tile.store, piece, pieces));
      cut.conv_cycles = cycles(share_of(std::uint64_t(tile.conv_cycles), piece, pieces),
                               target_.conv_overhead_cycles, work_.convs.size());
      cut.vector_cycles = cycles(share_of(std::uint64_t(tile.vector_cycles), piece, pieces),
                                 target_.vector_overhead_cycles, work_.vectors.size());
      if (cut == ProgramTile{}) continue;
      plan_.load_bytes += cut.load_bytes;
      plan_.store_bytes += cut.store_bytes;
      tiles_.push_back(cut);
    }
  }

  static std::uint32_t cycles(std::uint64_t work, std::uint32_t overhead, std::size_t steps) {
    return work == 0 ? 0 : std::uint32_t(work + overhead * steps);
  }

  void fail(std::uint64_t tiles) {
    if (problem_.empty()) {
      problem_ = fmt::format(
          "needs {} tiles of {} bytes a core, or tiles that take too long: more "
          "than a log can tell; give it smaller sizes or a smaller batch",
          tiles, target_.memory_bytes);
    }
  }

  const Work& work_;
  const Target& target_;
  std::uint64_t room_ = 1;
  std::vector<ProgramTile> tiles_;  // of the core that is planned
  LayerPlan plan_;
  std::string problem_;
};

}  // namespace

std::uint64_t weight_room(const Target& target) { return target.memory_bytes / 4; }

std::uint64_t tile_room(const Target& target, std::uint64_t weight_bytes) {
  return std::max<std::uint64_t>(1, target.memory_bytes / 2 - weight_bytes);
}

std::uint64_t tile_bytes(const Work& work, Range rows) {
  std::uint64_t bytes = share_of(work.output_bytes + work.between_bytes, rows, work.rows);
  for (const Stream& stream : work.streams) bytes += stream.needed(rows, work.rows);
  return bytes;
}

Result<LayerPlan> plan_layer(const Work& work, const Target& target) {
  constexpr std::uint64_t max_rows = 0xffffffff;  // of share_of
  if (std::max(work.rows, work.columns) > max_rows) {
    return usage_error("has {} rows and {} columns; give it smaller sizes or a smaller batch",
                       work.rows, work.columns);
  }
  const bool has_rows = work.rows >= target.cores, has_columns = work.columns >= target.cores;
  if (!has_columns) return LayerPlanner(work, target).run(false);
  auto by_columns = LayerPlanner(work, target).run(true);
  if (!has_rows) return by_columns;
  auto by_rows = LayerPlanner(work, target).run(false);
  if (!by_rows || !by_columns) return by_rows ? std::move(by_rows) : std::move(by_columns);
  return by_columns->load_bytes < by_rows->load_bytes ? std::move(by_columns) : std::move(by_rows);
}

namespace {

constexpr std::size_t max_members = 3;

class Grouping {
 public:
  Grouping(const Lowered& lowered, std::uint64_t batch, const Target& target)
      : lowered_(lowered), batch_(batch), target_(target) {
    readers_.resize(lowered.graph.tensors.size());
    for (const Operator& op : lowered.operators) {
      for (const TensorId id : present(op.inputs)) ++readers_[std::uint32_t(id)];
    }
    for (const TensorId id : lowered.graph.outputs) ++readers_[std::uint32_t(id)];
  }

  std::vector<OperatorGroup> run() {
    for (std::size_t i = 0; i < lowered_.operators.size(); ++i) {
      const Operator& op = lowered_.operators[i];
      if (op.is_alias()) continue;
      const Work work = work_of(lowered_, op, batch_, target_);
      if (groups_.empty() || !join(groups_.back(), i, work)) groups_.push_back({i, 1, work});
    }
    return std::move(groups_);
  }

 private:
  static bool is_convolution(const Operator& op) {
    return op.type == "CONV_2D" || op.type == "DEPTHWISE_CONV_2D";
  }
  static bool is_elementwise(const Operator& op) {
    return op.op_class == OpClass::elementwise && op.type != "Fix2Float";
  }

  std::uint64_t elements(TensorId id) const { return lowered_.graph[id].elements(); }

  // Of 1 x 1, without strides, pads or groups.
  bool is_pointwise(const Operator& op) const {
    if (op.type != "CONV_2D" || op.node == NodeId::none) return false;
    const Node& node = lowered_.graph[op.node];
    if (matrix_product(lowered_.graph, node).kernel_area != 1) return false;
    const Shape& in = lowered_.graph[op.inputs[0]].shape;
    const Shape& out = lowered_.graph[op.outputs[0]].shape;
    return node.int_attribute("group", 1) == 1 &&
           std::equal(in.begin() + 2, in.end(), out.begin() + 2, out.end());
  }

  bool can_follow(const Operator& before, const Operator& op) const {
    const TensorId between = before.outputs[0];
    if (before.outputs.size() != 1 || op.outputs.size() != 1 ||
        readers_[std::uint32_t(between)] != 1 ||
        std::ranges::find(op.inputs, between) == op.inputs.end()) {
      return false;
    }
    if (is_pointwise(op)) return is_convolution(before) && op.inputs[0] == between;
    return is_elementwise(op) && elements(op.outputs[0]) == elements(between);
  }

  bool join(OperatorGroup& group, std::size_t at, const Work& work) const {
    const Operator& op = lowered_.operators[at];
    const Operator& before = lowered_.operators[at - 1];
    if (group.count == max_members || group.first + group.count != at) return false;
    if (!is_convolution(before) && !is_elementwise(before) && before.type != "FULLY_CONNECTED") {
      return false;
    }
    // Divided by columns it would be on more cores.
    if (group.work.rows < target_.cores && group.work.columns >= target_.cores) return false;
    if (!can_follow(before, op) || work.resident_bytes > 0) return false;
    const Work joined = joined_work(group.work, work, before.outputs[0]);
    const std::uint64_t kept = joined.weight_bytes + joined.resident_bytes;
    if (kept > weight_room(target_) || tile_bytes(joined, {0, 1}) > tile_room(target_, kept)) {
      return false;
    }
    group.work = joined;
    ++group.count;
    return true;
  }

  static Work joined_work(Work group, const Work& member, TensorId between) {
    group.between_bytes += group.output_bytes;
    group.output_bytes = member.output_bytes;
    group.columns = 1;
    group.weight_bytes += member.weight_bytes;
    group.multiply_accumulates += member.multiply_accumulates;
    group.convs.insert(group.convs.end(), member.convs.begin(), member.convs.end());
    group.vectors.insert(group.vectors.end(), member.vectors.begin(), member.vectors.end());
    for (const Stream& stream : member.streams) {
      const bool is_there = std::ranges::any_of(
          group.streams, [&](const Stream& each) { return each.tensor == stream.tensor; });
      if (stream.tensor != between && !is_there) group.streams.push_back(stream);
    }
    return group;
  }

  const Lowered& lowered_;
  std::uint64_t batch_;
  const Target& target_;
  std::vector<std::uint32_t> readers_;  // by tensor
  std::vector<OperatorGroup> groups_;
};

}  // namespace

std::vector<OperatorGroup> group_operators(const Lowered& lowered, std::uint64_t batch,
                                           const Target& target) {
  return Grouping(lowered, batch, target).run();
}

}  // namespace npuscope::npu::ipu
