// What runs at the same time: which classes of hardware, and how many units.
//
//   const Overlap& overlap = analysis.overlap();
//   overlap.of(Engine::hmx, Engine::dma)   // time in which both work
//   overlap.active(Engine::hmx)            // time in which any HMX works
//   analysis.concurrency().time_at[2]      // time in which exactly two units work
//
// An op counts for the class that it uses. Waits are no work.
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

struct Overlap {
  static constexpr std::size_t classes = std::size_t(Engine::other) + 1;

  std::vector<Engine> engines;  // that work at all
  std::int64_t both[classes][classes] = {};
  std::int64_t several = 0;     // two classes or more at once
  std::int64_t hidden_dma = 0;  // DMA (not its issue) while HVX or HMX works

  std::int64_t of(Engine a, Engine b) const { return both[std::size_t(a)][std::size_t(b)]; }
  std::int64_t active(Engine engine) const { return of(engine, engine); }
};

}  // namespace npuscope::analysis
