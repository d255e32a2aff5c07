// Small random programs of any shape: layers on one core or both, tiles that lack engines.
#pragma once

#include <random>

#include "formats/sigmastar/program.hpp"
#include "ipu_fixture.hpp"

namespace npuscope::npu::ipu {

inline sigmastar::Program random_ipu_program(std::mt19937& random) {
  const auto number = [&](std::uint32_t max) { return std::uint32_t(random() % (max + 1)); };
  sigmastar::Program program;
  program.cores = 1 + number(1);
  program.target = muffin().toml;
  for (std::uint32_t layer = 0, count = 1 + number(4); layer < count; ++layer) {
    sigmastar::ProgramLayer each;
    each.first_operator = layer;
    for (std::uint32_t core = 0; core < program.cores; ++core) {
      auto& tiles = each.cores.emplace_back();
      if (number(5) == 0) continue;
      tiles.push_back({number(1) * number(300), 0, 0, 0});
      for (std::uint32_t tile = 0, last = 1 + number(6); tile < last; ++tile) {
        const auto some = [&] { return number(3) == 0 ? 0 : 1 + number(200); };
        tiles.push_back({some(), some(), some(), some()});
        if (tiles.back() == sigmastar::ProgramTile{}) tiles.back().conv_cycles = 7;
      }
    }
    program.layers.push_back(each);
  }
  return program;
}

inline Target random_ipu_target(std::mt19937& random) {
  Target target = muffin();
  target.start_cycles = 1 + random() % 20;
  target.end_cycles = 1 + random() % 20;
  target.dma_issue_cycles = 1 + random() % 10;
  target.ddr_latency_cycles = random() % 10;
  target.record_cycles = random() % 5;
  target.ddr_bytes_per_s = target.clock_hz * (1.0 + double(random() % 100) / 7);
  target.ddr_bytes_per_s_per_engine = target.clock_hz * (0.5 + double(random() % 100) / 11);
  return target;
}

}  // namespace npuscope::npu::ipu
