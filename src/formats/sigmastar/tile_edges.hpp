// What waits for what in IPU logs whose layout numbers tiles and says how engines hand them on:
//
//   order = load, conv, store; two buffers     layer 4, core 0
//     load 1 ──> conv 1 ──> store 1            tile: an engine takes what the one before it left
//     conv 1 ──> load 3                        buffer: of the two that conv reads, one is free
//     again load 0 ──> conv 1                        ahead: what was loaded before the layer began
//     store 9 of layer 3, each core ──> load 1 layer: it reads what the layers before it wrote
//
// An edge whose source ends after its target begins contradicts the layout and is left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/sigmastar/log.hpp"

namespace npuscope::sigmastar {

enum class EdgeRule : std::uint8_t { tile, buffer, ahead, layer };
const char* name_of(EdgeRule rule);

// An interval of one of the logs.
struct LogPlace {
  std::uint32_t log = 0;
  std::uint32_t interval = 0;
  bool operator==(const LogPlace&) const = default;
};

struct LogEdge {
  LogPlace from, to;
  EdgeRule rule = EdgeRule::tile;
};

struct TileEdges {
  std::vector<LogEdge> edges;       // by rule, layer and tile
  std::uint64_t contradictory = 0;  // left out
  bool too_many = false;            // more than a trace can show: none
};

// Times of the logs must be of one clock. None where the layout does not say how tiles are handed
// on.
TileEdges find_tile_edges(std::span<const CoreLog> cores, const LogLayout& layout);

}  // namespace npuscope::sigmastar
