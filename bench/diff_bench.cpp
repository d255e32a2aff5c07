// npuscope diff of two profiles of 5 million spans, beside what any question about one of them
// costs at least: sorting its spans by unit and taking nested time out (the baseline).
#include <benchmark/benchmark.h>

#include "large_profile.hpp"
#include "npuscope/analysis/compare.hpp"

namespace npuscope::bench {
namespace {

constexpr std::size_t span_count = 5'000'000;

const Profile& profile() {
  static const Profile made = large_profile(span_count);
  return made;
}

void baseline(benchmark::State& state) {
  for (auto _ : state) {
    const SpansByUnit by_unit(profile());
    benchmark::DoNotOptimize(analysis::own_durations(profile(), by_unit));
  }
}

void samples(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(analysis::RunSamples(profile()));
}

void match(benchmark::State& state) {
  const analysis::OpGroups groups(profile());
  for (auto _ : state) benchmark::DoNotOptimize(analysis::match_ops(groups, groups));
}

void diff(benchmark::State& state) {
  for (auto _ : state) {
    const analysis::RunSamples a(profile()), b(profile());
    const auto comparer = analysis::Comparer::make({&a, 1}, {&b, 1});
    benchmark::DoNotOptimize(comparer->compare({}));
  }
}

BENCHMARK(baseline)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(samples)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(match)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(diff)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace npuscope::bench
