// The critical path of millions of spans, against what it cannot do without: grouping them by unit.
#include <benchmark/benchmark.h>

#include "large_profile.hpp"
#include "npuscope/analysis/path.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope {
namespace {

constexpr std::size_t spans = 5'000'000;

// As one run: every op repeats 500 times, which is the most work that its edges make.
const Profile& one_run() {
  static const Profile profile = [] {
    Profile made = bench::large_profile(spans);
    made.spans.instance.clear();
    return made;
  }();
  return profile;
}

void count(benchmark::State& state) {
  state.SetItemsProcessed(std::int64_t(state.iterations()) * std::int64_t(spans));
}

void BM_BaselineSpansByUnit(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(SpansByUnit(one_run()));
  count(state);
}
BENCHMARK(BM_BaselineSpansByUnit)->Unit(benchmark::kMillisecond);

void BM_PathOfOneInference(benchmark::State& state) {
  const Profile profile = bench::large_profile(spans);
  for (auto _ : state) {
    const auto analysis = analysis::PathAnalysis::create(profile, std::nullopt);
    benchmark::DoNotOptimize(analysis->observed());
    benchmark::DoNotOptimize(analysis->executions());
  }
  count(state);
}
BENCHMARK(BM_PathOfOneInference)->Unit(benchmark::kMillisecond);

void BM_PathOfAllSpans(benchmark::State& state) {
  for (auto _ : state) {
    const auto analysis = analysis::PathAnalysis::create(one_run(), std::nullopt);
    benchmark::DoNotOptimize(analysis->observed());
    benchmark::DoNotOptimize(analysis->executions());
  }
  count(state);
}
BENCHMARK(BM_PathOfAllSpans)->Unit(benchmark::kMillisecond);

void BM_WhatIfOfAllSpans(benchmark::State& state) {
  const auto analysis = analysis::PathAnalysis::create(one_run(), std::nullopt);
  analysis::Scaling scaling;
  scaling.of_op.assign(one_run().ops.size() + 1, 1);
  for (std::size_t op = 0; op < one_run().ops.size(); op += 3) scaling.of_op[op] = 0.5;
  for (auto _ : state) benchmark::DoNotOptimize(analysis->wall_if(scaling));
  count(state);
}
BENCHMARK(BM_WhatIfOfAllSpans)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npuscope
