// How fast the questions about memory are answered on 5 million spans. The baseline reads the two
// columns that no answer can do without, bytes and durations, once.
#include <benchmark/benchmark.h>

#include "large_profile.hpp"
#include "npuscope/analysis/bandwidth.hpp"
#include "npuscope/analysis/memory.hpp"
#include "npuscope/analysis/spill.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t spans = 5'000'000;

const Profile& large() {
  static const Profile profile = bench::large_profile(spans);
  return profile;
}

Peaks some_peaks() {
  Peaks peaks;
  peaks.ddr_bytes_per_s = 137e9;
  peaks.macs_per_cycle = {8192, 4096, 128};
  return peaks;
}

void set_rate(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * std::int64_t(large().spans.size()));
}

void baseline(benchmark::State& state) {
  const Spans& rows = large().spans;
  for (auto _ : state) {
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      sum += rows.measures[0].values[row] + rows.duration[row];
    }
    benchmark::DoNotOptimize(sum);
  }
  set_rate(state);
}

void table(benchmark::State& state) {
  for (auto _ : state) {
    const OpTraffic traffic(large());
    MemoryOptions options;
    options.peaks = some_peaks();
    benchmark::DoNotOptimize(analyse_memory(large(), traffic, options));
  }
  set_rate(state);
}

void over_time(benchmark::State& state) {
  const OpTraffic traffic(large());
  for (auto _ : state) benchmark::DoNotOptimize(analyse_bandwidth(large(), traffic, 100));
  set_rate(state);
}

void everything(benchmark::State& state) {
  for (auto _ : state) {
    const OpTraffic traffic(large());
    MemoryOptions options;
    options.peaks = some_peaks();
    benchmark::DoNotOptimize(analyse_memory(large(), traffic, options));
    benchmark::DoNotOptimize(analyse_bandwidth(large(), traffic, 100));
    benchmark::DoNotOptimize(analyse_transfers(large(), traffic));
    benchmark::DoNotOptimize(analyse_spill(large(), traffic));
  }
  set_rate(state);
}

BENCHMARK(baseline)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(table)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(over_time)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(everything)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace npuscope::analysis
