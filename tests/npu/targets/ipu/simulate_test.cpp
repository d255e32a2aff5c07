#include "npu/targets/ipu/simulate.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "random_program.hpp"
#include "slow_machine.hpp"

namespace npuscope::npu::ipu::simulate_test {
namespace {

using sigmastar::LogEngine;
using sigmastar::LogInterval;
using sigmastar::ProgramTile;

using Row =
    std::tuple<LogEngine, std::uint32_t, std::uint16_t, std::int64_t, std::int64_t, std::uint32_t>;

std::vector<Row> rows_of(const std::vector<LogInterval>& intervals) {
  std::vector<Row> rows;
  for (const LogInterval& each : intervals) {
    rows.emplace_back(each.engine, each.layer, each.tile, each.begin, each.end, each.bytes);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

sigmastar::Program one_layer(std::vector<ProgramTile> tiles) {
  sigmastar::Program program;
  program.layers.emplace_back();
  program.layers[0].cores = {std::move(tiles)};
  return program;
}

// 8 bytes a cycle for one engine, 10 in all; 10 cycles before the first byte.
Target plain_target() {
  Target target = muffin();
  target.start_cycles = 100;
  target.end_cycles = 50;
  target.dma_issue_cycles = 4;
  target.ddr_latency_cycles = 6;
  target.ddr_bytes_per_s = 10 * target.clock_hz;
  target.ddr_bytes_per_s_per_engine = 8 * target.clock_hz;
  target.record_cycles = 3;
  return target;
}

TEST(IpuSimulation, EnginesOfATileFollowOneAnother) {
  const auto inference =
      simulate(one_layer({{80, 0, 0, 0}, {160, 40, 7, 16}}), plain_target(), false);
  EXPECT_THAT(rows_of(inference.cores[0].intervals),
              testing::ElementsAre(Row{LogEngine::conv, 0, 1, 150, 190, 0},
                                   Row{LogEngine::vector, 0, 1, 190, 197, 0},
                                   Row{LogEngine::dma_load, 0, 0, 100, 120, 80},
                                   Row{LogEngine::dma_load, 0, 1, 120, 150, 160},
                                   Row{LogEngine::dma_store, 0, 1, 197, 209, 16}));
  EXPECT_EQ(inference.cycles, 259);
  EXPECT_EQ(inference.load_bytes, 240u);
  EXPECT_EQ(inference.store_bytes, 16u);
  ASSERT_EQ(inference.cores[0].layers.size(), 1u);
  EXPECT_EQ(inference.cores[0].layers[0].begin, 120);
  EXPECT_EQ(inference.cores[0].layers[0].end, 209);
}

TEST(IpuSimulation, ALoadWaitsForRoomAndRecordsCostTime) {
  const auto program = one_layer({{}, {80, 500, 0, 0}, {80, 500, 0, 0}, {80, 500, 0, 0}});
  const auto plain = simulate(program, plain_target(), false);
  const auto third = [](const Inference& inference) {
    return *std::find_if(inference.cores[0].intervals.begin(), inference.cores[0].intervals.end(),
                         [](const LogInterval& each) {
                           return each.tile == 3 && each.engine == LogEngine::dma_load;
                         });
  };
  EXPECT_EQ(third(plain).begin, 620);  // the first conv's end
  EXPECT_EQ(plain.cycles, 100 + 20 + 1500 + 50);
  const auto logged = simulate(program, plain_target(), true);
  EXPECT_EQ(logged.cycles, plain.cycles + 2 * 6);
}

TEST(IpuSimulation, EnginesShareTheMemory) {
  sigmastar::Program program;
  program.cores = 2;
  program.layers.emplace_back();
  program.layers[0].cores = {{{}, {100, 0, 0, 0}}, {{}, {100, 0, 0, 0}}};
  const auto inference = simulate(program, plain_target(), false);
  EXPECT_EQ(inference.cores[0].intervals[0].end, 130);  // 5 bytes a cycle each
  EXPECT_EQ(inference.cores[1].intervals[0].end, 130);
}

TEST(IpuSimulation, IsTheSlowMachineCycleByCycle) {
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    const auto program = random_ipu_program(random);
    const Target target = random_ipu_target(random);
    const bool logging = i % 2 == 1;
    const auto [slow, cycles] = SlowMachine(program, target, logging).run();
    const auto fast = simulate(program, target, logging);
    ASSERT_EQ(fast.cores.size(), slow.size());
    for (std::size_t core = 0; core < slow.size(); ++core) {
      EXPECT_EQ(rows_of(fast.cores[core].intervals), rows_of(slow[core])) << "program " << i;
    }
    EXPECT_EQ(fast.cycles, cycles) << "program " << i;
  }
}

TEST(IpuSimulation, NoEngineWorksLongerThanTheWallOrTwiceAtOnce) {
  std::mt19937 random(12);
  for (int i = 0; i < 200; ++i) {
    const auto inference = simulate(random_ipu_program(random), random_ipu_target(random), i % 2);
    for (const CoreRun& core : inference.cores) {
      std::array<std::int64_t, sigmastar::log_engine_count> until{};
      for (const LogInterval& each : core.intervals) {  // by begin
        auto& last = until[std::size_t(each.engine)];
        EXPECT_GE(each.begin, last);
        EXPECT_GT(each.end, each.begin);
        EXPECT_LT(each.end, inference.cycles);
        last = each.end;
      }
    }
  }
}

TEST(IpuSimulation, AnEmptyProgramEnds) {
  sigmastar::Program program;
  EXPECT_EQ(simulate(program, plain_target(), true).cycles, 150);
  program.layers.resize(3);
  EXPECT_EQ(simulate(program, plain_target(), true).cycles, 150);
}

}  // namespace
}  // namespace npuscope::npu::ipu::simulate_test
