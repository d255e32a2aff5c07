// The rules of simulate.hpp taken cycle by cycle, slowly and obviously.
#pragma once

#include <array>
#include <set>
#include <tuple>
#include <vector>

#include "npu/targets/ipu/simulate.hpp"

namespace npuscope::npu::ipu {

class SlowMachine {
 public:
  SlowMachine(const sigmastar::Program& program, const Target& target, bool logging)
      : program_(program), target_(target), logging_(logging) {
    for (std::uint32_t core = 0; core < program.cores; ++core) {
      for (std::size_t stage = 0; stage < 4; ++stage) {
        Engine engine;
        for (std::uint32_t layer = 0; layer < program.layers.size(); ++layer) {
          const auto& tiles = program.layers[layer].cores[core];
          for (std::uint32_t tile = 0; tile < tiles.size(); ++tile) {
            if (amount({core, layer, tile}, stage) > 0) engine.queue.push_back({core, layer, tile});
          }
        }
        engines_.push_back(engine);
      }
    }
  }

  // Intervals by core, and the end of the inference.
  std::pair<std::vector<std::vector<sigmastar::LogInterval>>, std::int64_t> run() {
    std::vector<std::vector<sigmastar::LogInterval>> intervals(program_.cores);
    std::int64_t now = target_.start_cycles, last = now;
    const auto rate_all = std::uint64_t(target_.ddr_bytes_per_s / target_.clock_hz * 65536);
    const auto rate_one =
        std::uint64_t(target_.ddr_bytes_per_s_per_engine / target_.clock_hz * 65536);
    while (true) {
      bool busy = false;
      std::uint64_t moving = 0;
      for (std::size_t i = 0; i < engines_.size(); ++i) {
        Engine& engine = engines_[i];
        if (engine.is_free() && !engine.queue.empty() && may_begin(engine.queue.front(), i % 4)) {
          begin(engine, i % 4, now);
        }
        busy = busy || !engine.is_free() || !engine.queue.empty();
        moving += engine.wait == 0 && engine.left > 0;
      }
      if (!busy) return {intervals, last + target_.end_cycles};
      const std::uint64_t rate = moving == 0 ? 0 : std::min(rate_one, rate_all / moving);
      ++now;
      for (std::size_t i = 0; i < engines_.size(); ++i) {
        Engine& engine = engines_[i];
        if (engine.is_free()) continue;
        if (engine.wait > 0) {
          --engine.wait;
        } else if (engine.left > 0) {
          engine.left -= std::min(engine.left, rate);
        }
        if (engine.wait > 0 || engine.left > 0) continue;
        if (!engine.is_logging) {
          const Tile tile = engine.queue.front();
          engine.queue.erase(engine.queue.begin());
          done_.insert({tile, i % 4});
          const std::uint64_t bytes = i % 4 == 0 || i % 4 == 3 ? amount(tile, i % 4) : 0;
          intervals[tile.core].push_back({engine.begin, now, tile.layer, engine_names[i % 4],
                                          std::uint16_t(tile.tile), std::uint32_t(bytes)});
          last = std::max(last, now);
          engine.is_logging = logging_;
          engine.wait = logging_ ? 2 * std::int64_t{target_.record_cycles} : 0;
          engine.is_working = engine.wait > 0;
        } else {
          engine.is_working = false;
        }
      }
    }
  }

 private:
  struct Tile {
    std::uint32_t core, layer, tile;
    auto operator<=>(const Tile&) const = default;
  };
  struct Engine {
    std::vector<Tile> queue;
    bool is_working = false, is_logging = false;
    std::int64_t wait = 0, begin = 0;
    std::uint64_t left = 0;
    bool is_free() const { return !is_working; }
  };
  static constexpr std::array engine_names{sigmastar::LogEngine::dma_load,
                                           sigmastar::LogEngine::conv, sigmastar::LogEngine::vector,
                                           sigmastar::LogEngine::dma_store};

  std::uint64_t amount(Tile tile, std::size_t stage) const {
    const auto& tiles = program_.layers[tile.layer].cores[tile.core];
    if (tile.tile >= tiles.size()) return 0;
    const auto& each = tiles[tile.tile];
    return std::array{each.load_bytes, each.conv_cycles, each.vector_cycles,
                      each.store_bytes}[stage];
  }
  bool ended(Tile tile, std::size_t stage) const {
    return amount(tile, stage) == 0 || done_.contains({tile, stage});
  }

  bool may_begin(Tile tile, std::size_t stage) const {
    if (tile.tile == 0) return true;
    for (std::uint32_t core = 0; core < program_.cores; ++core) {
      for (std::uint32_t layer = 0; layer < tile.layer; ++layer) {
        for (std::uint32_t t = 0; t < program_.layers[layer].cores[core].size(); ++t) {
          for (std::size_t s = 0; s < 4; ++s) {
            if (!ended({core, layer, t}, s)) return false;
          }
        }
      }
    }
    for (std::size_t s = 0; s < stage; ++s) {
      if (!ended(tile, s)) return false;
    }
    if (stage > 0 && !ended({tile.core, tile.layer, 0}, 0)) return false;
    if (tile.tile <= 2) return true;
    const Tile before{tile.core, tile.layer, tile.tile - 2};
    if (amount(before, stage) == 0) return true;
    for (std::size_t s = stage + 1; s < 4; ++s) {
      if (amount(before, s) > 0) return ended(before, s);
    }
    return true;
  }

  void begin(Engine& engine, std::size_t stage, std::int64_t now) {
    engine.is_working = true;
    engine.is_logging = false;
    engine.begin = now;
    const std::uint64_t work = amount(engine.queue.front(), stage);
    const bool moves = stage == 0 || stage == 3;
    engine.wait =
        moves ? target_.dma_issue_cycles + target_.ddr_latency_cycles : std::int64_t(work);
    engine.left = moves ? work << 16 : 0;
  }

  const sigmastar::Program& program_;
  const Target& target_;
  bool logging_;
  std::vector<Engine> engines_;  // by core, then stage
  std::set<std::pair<Tile, std::size_t>> done_;
};

}  // namespace npuscope::npu::ipu
