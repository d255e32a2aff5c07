// A fleet whose truth is known: the reference NPU as many devices, builds and runs, seeded.
//
//   const SyntheticFleet fleet(600);
//   fleet.fill(store);
//   fleet.throttled     // {"d05", "d17", "d33"}: their cores run at 1.05 instead of 1.45 GHz
//   fleet.regressed     // "t23": takes 1.3 of its cycles from build 17 on
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fleet/small_fleet.hpp"
#include "flow/generated_run.hpp"
#include "npu/targets/nsp/simulate/random_program.hpp"

namespace npuscope::fleet {

struct SyntheticFleet {
  static constexpr std::size_t devices = 40, builds = 30, first_regressed_build = 17;

  explicit SyntheticFleet(std::size_t runs) : runs(runs) {
    good = generated_program({.seed = 11, .cores = 1, .tasks = 30, .shape = Shape::fork_join});
    bad = good;
    const auto costliest =
        std::max_element(bad.tasks.begin(), bad.tasks.end(),
                         [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
    costliest->cycles = costliest->cycles * 13 / 10;
    regressed = fmt::format("t{}", costliest - bad.tasks.begin());
  }

  // Resolves what one cycle more makes.
  static npu::nsp::Target target() {
    npu::nsp::Target target = npu::nsp::realistic_target();
    target.timer_hz = 1e9;
    return target;
  }

  static std::string device(std::size_t number) { return fmt::format("d{:02}", number); }

  // Builds one after the other, devices in turns that do not follow the builds.
  void fill(Store& store) const {
    Batch batch;
    for (std::size_t i = 0; i < runs; ++i) {
      const std::size_t build = i * builds / runs, number = i * 7 % devices;
      add_one(i + 1, build, device(number), batch);
    }
    const auto added = store.add(batch);
    ASSERT_TRUE(added) << added.error().message;
    ASSERT_EQ(added->runs, runs);
  }

  void add_one(std::uint64_t seed, std::size_t build, const std::string& of, Batch& batch) const {
    npu::nsp::SimulationOptions options;
    options.inferences = options.samples = options.set_size = 1;
    options.seed = seed;
    options.core_hz = throttled.contains(of) ? 1.05e9 : 1.45e9;
    npu::nsp::Target with = target();
    if (of == slow_memory) {
      with.ddr_bytes_per_s *= 0.4;
      with.ddr_bytes_per_s_per_core *= 0.4;
    }
    qaic::Program program = build >= first_regressed_build ? bad : good;
    if (of == other_graph) {
      program = generated_program({.seed = 12, .cores = 1, .tasks = 60, .shape = Shape::chain});
    }
    const GeneratedRun run = device_run(std::move(program), options, with);
    Profile profile = run.profiles.at(0);
    profile.provenance.files = {fmt::format("run{}.bin", seed)};
    const auto labels =
        Labels::parse({"device=" + of, fmt::format("build={}", build), "model=synthetic"});
    add_facts(profile, {content(seed), std::int64_t(seed), *labels, false}, batch);
  }

  std::size_t runs;
  qaic::Program good, bad;
  std::string regressed;
  std::set<std::string> throttled{device(5), device(17), device(33)};
  std::string slow_memory = {}, other_graph = {};
};

}  // namespace npuscope::fleet
