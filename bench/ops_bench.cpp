// npuscope ops and units on a profile of five million spans, beside the plain sum of a column.
#include <benchmark/benchmark.h>

#include <numeric>

#include "large_profile.hpp"
#include "npuscope/report/ops_document.hpp"
#include "npuscope/report/units_document.hpp"

namespace npuscope {
namespace {

using analysis::Grouping;

const Profile& profile() {
  static const Profile large = bench::large_profile(5'000'000);
  return large;
}

void rate(benchmark::State& state) {
  state.SetItemsProcessed(std::int64_t(state.iterations()) * std::int64_t(profile().spans.size()));
}

void sum_of_durations(benchmark::State& state) {
  const auto& durations = profile().spans.duration;
  for (auto _ : state) {
    benchmark::DoNotOptimize(std::accumulate(durations.begin(), durations.end(), std::int64_t{0}));
  }
  rate(state);
}

// What both commands begin with.
void own_durations_of_all(benchmark::State& state) {
  for (auto _ : state) {
    const SpansByUnit by_unit(profile());
    benchmark::DoNotOptimize(analysis::own_durations(profile(), by_unit));
  }
  rate(state);
}

void ops(benchmark::State& state, Grouping grouping) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(report::ops_document(profile(), {.grouping = grouping}));
  }
  rate(state);
}

void units(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(report::units_document(profile(), {}));
  rate(state);
}

BENCHMARK(sum_of_durations)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(own_durations_of_all)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(ops, by_op, Grouping::label)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(ops, by_kind, Grouping::kind)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(ops, by_core, Grouping::core)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(units)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace npuscope
