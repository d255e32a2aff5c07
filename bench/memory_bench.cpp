// How fast the questions about memory are answered on 5 million spans.
#include "large_profile.hpp"
#include "measured.hpp"
#include "npuscope/analysis/analysis.hpp"
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

MemoryOptions options() {
  MemoryOptions with;
  with.peaks = some_peaks();
  return with;
}

void table(benchmark::State& state) {
  bench::measure(state, large(), [] { return Analysis(large()).memory(options()); });
}

void over_time(benchmark::State& state) {
  bench::measure(state, large(), [&] { return Analysis(large()).bandwidth(100); });
}

void everything(benchmark::State& state) {
  bench::measure(state, large(), [] {
    const Analysis analysis(large());
    benchmark::DoNotOptimize(analysis.memory(options()));
    benchmark::DoNotOptimize(analysis.bandwidth(100));
    benchmark::DoNotOptimize(analysis.transfers());
    return analysis.spill();
  });
}

BENCHMARK(table)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(over_time)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(everything)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace npuscope::analysis
