#include "formats/sigmastar/tile_edges.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace npuscope::sigmastar {
namespace {

constexpr std::uint32_t nowhere = ~std::uint32_t{0};
constexpr std::size_t max_edges = std::size_t{1} << 20;  // two events of a trace each
constexpr std::uint16_t ahead_tile = 0;

// What the engines of one core did for one tile, by place in the layout's order.
struct Tile {
  std::uint32_t inference = 0, layer = 0;
  std::uint16_t number = 0;
  std::array<std::uint32_t, log_engine_count> stages;

  Tile() { stages.fill(nowhere); }
};

struct Occurrence {
  std::uint32_t layer;
  std::uint16_t tile;
  std::uint8_t stage;
  std::uint32_t interval;
};

class EdgeFinder {
 public:
  EdgeFinder(std::span<const CoreLog> cores, const LogLayout& layout)
      : cores_(cores), layout_(layout), stages_(layout.tile_order.size()) {}

  TileEdges run() {
    for (std::uint32_t core = 0; core < cores_.size(); ++core) tiles_.push_back(tiles_of(core));
    for (std::uint32_t core = 0; core < cores_.size(); ++core) link_tiles(core);
    link_layers();
    if (result_.edges.size() > max_edges) return {{}, result_.contradictory, true};
    return std::move(result_);
  }

 private:
  const LogInterval& at(LogPlace place) const {
    return cores_[place.log].intervals[place.interval];
  }

  void link(LogPlace from, LogPlace to, EdgeRule rule) {
    if (from.interval == nowhere || to.interval == nowhere) return;
    if (at(from).end > at(to).begin) {
      ++result_.contradictory;
    } else if (result_.edges.size() <= max_edges) {
      result_.edges.push_back({from, to, rule});
    }
  }

  std::vector<Occurrence> occurrences(std::uint32_t core) const {
    std::array<std::uint8_t, log_engine_count> place;
    place.fill(log_engine_count);
    for (std::size_t i = 0; i < stages_; ++i) {
      place[std::size_t(layout_.tile_order[i])] = std::uint8_t(i);
    }
    std::vector<Occurrence> found;
    const auto& intervals = cores_[core].intervals;
    for (std::uint32_t i = 0; i < intervals.size(); ++i) {
      const std::uint8_t stage = place[std::size_t(intervals[i].engine)];
      if (stage < stages_) found.push_back({intervals[i].layer, intervals[i].tile, stage, i});
    }
    std::sort(found.begin(), found.end(), [](const Occurrence& a, const Occurrence& b) {
      return std::tie(a.layer, a.tile, a.stage, a.interval) <
             std::tie(b.layer, b.tile, b.stage, b.interval);
    });
    return found;
  }

  // An engine works once on a tile of a layer: its n-th time is in the n-th inference.
  std::vector<Tile> tiles_of(std::uint32_t core) const {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, Tile> tiles;
    std::uint32_t inference = 0;
    const Occurrence* before = nullptr;
    const auto found = occurrences(core);
    for (const Occurrence& each : found) {
      const bool again = before != nullptr && before->layer == each.layer &&
                         before->tile == each.tile && before->stage == each.stage;
      inference = again ? inference + 1 : 0;
      before = &each;
      Tile& tile = tiles[{inference, each.layer, each.tile}];
      tile.inference = inference;
      tile.layer = each.layer;
      tile.number = each.tile;
      tile.stages[each.stage] = each.interval;
    }
    std::vector<Tile> sorted;
    for (const auto& [key, tile] : tiles) sorted.push_back(tile);
    return sorted;
  }

  // The first stage of a tile from `from` on that was logged.
  std::size_t present(const Tile& tile, std::size_t from) const {
    while (from < stages_ && tile.stages[from] == nowhere) ++from;
    return from;
  }

  static bool is_same_layer(const Tile& a, const Tile& b) {
    return a.inference == b.inference && a.layer == b.layer;
  }

  void link_tiles(std::uint32_t core) {
    const auto& tiles = tiles_[core];
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const Tile& tile = tiles[i];
      if (tile.number == ahead_tile) continue;
      for (std::size_t stage = present(tile, 0); stage < stages_;) {
        const std::size_t next = present(tile, stage + 1);
        if (next < stages_) {
          link({core, tile.stages[stage]}, {core, tile.stages[next]}, EdgeRule::tile);
        }
        stage = next;
      }
      link_buffers(core, i);
    }
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (tiles[i].number == ahead_tile) link_ahead(core, i);
    }
  }

  // What was loaded ahead releases each engine's first tile that waits for no other engine but the
  // loading one.
  void link_ahead(std::uint32_t core, std::size_t at) {
    const auto& tiles = tiles_[core];
    std::array<bool, log_engine_count> linked{};
    for (std::size_t i = at + 1; i < tiles.size() && is_same_layer(tiles[at], tiles[i]); ++i) {
      const std::size_t taker = present(tiles[i], tiles[i].stages[0] == nowhere ? 0 : 1);
      if (taker >= stages_ || linked[taker]) continue;
      linked[taker] = true;
      link({core, tiles[at].stages[0]}, {core, tiles[i].stages[taker]}, EdgeRule::ahead);
    }
  }

  void link_buffers(std::uint32_t core, std::size_t i) {
    const auto& tiles = tiles_[core];
    const Tile& tile = tiles[i];
    if (tile.number <= layout_.tile_buffers || i < layout_.tile_buffers) return;
    const Tile& before = tiles[i - layout_.tile_buffers];
    if (!is_same_layer(before, tile) || before.number + layout_.tile_buffers != tile.number) return;
    for (std::size_t stage = present(before, 0); stage < stages_;) {
      const std::size_t next = present(before, stage + 1);
      if (next < stages_) {
        link({core, before.stages[next]}, {core, tile.stages[stage]}, EdgeRule::buffer);
      }
      stage = next;
    }
  }

  // Of a layer of one inference: on each core and engine the first interval that begins a tile, and
  // the last that ends one.
  struct Borders {
    std::map<std::pair<std::uint32_t, std::size_t>, LogPlace> first, last;
  };

  void link_layers() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Borders> layers;  // by inference and layer
    for (std::uint32_t core = 0; core < cores_.size(); ++core) {
      for (const Tile& tile : tiles_[core]) {
        if (tile.number == ahead_tile) continue;
        Borders& borders = layers[{tile.inference, tile.layer}];
        const std::size_t first = present(tile, 0);
        std::size_t last = first;
        for (std::size_t s = first; s < stages_; s = present(tile, s + 1)) last = s;
        borders.first.try_emplace({core, first}, LogPlace{core, tile.stages[first]});
        borders.last[{core, last}] = {core, tile.stages[last]};
      }
    }
    const Borders* before = nullptr;
    std::uint32_t inference = 0;
    for (const auto& [key, borders] : layers) {
      if (before != nullptr && key.first == inference) {
        for (const auto& [unused, from] : before->last) {
          for (const auto& [unused2, to] : borders.first) link(from, to, EdgeRule::layer);
        }
      }
      before = &borders;
      inference = key.first;
    }
  }

  std::span<const CoreLog> cores_;
  const LogLayout& layout_;
  std::size_t stages_;
  std::vector<std::vector<Tile>> tiles_;  // by core
  TileEdges result_;
};

}  // namespace

const char* name_of(EdgeRule rule) {
  constexpr const char* names[] = {"tile", "buffer", "ahead", "layer"};
  return names[std::size_t(rule)];
}

TileEdges find_tile_edges(std::span<const CoreLog> cores, const LogLayout& layout) {
  if (!layout.tile || layout.tile_order.empty()) return {};
  return EdgeFinder(cores, layout).run();
}

}  // namespace npuscope::sigmastar
