// How fast all rules of findings are tried on 5 million spans, each alone and all together; the
// baseline is the grouping and the nesting that every analysis needs.
#include <benchmark/benchmark.h>

#include "large_profile.hpp"
#include "npuscope/analysis/findings.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t spans = 5'000'000;

const Profile& large() {
  static const Profile profile = bench::large_profile(spans);
  return profile;
}

DiagnoseOptions options_for(const std::string& rule) {
  DiagnoseOptions options;
  options.peaks.ddr_bytes_per_s = 137e9;
  options.only = rule;
  return options;
}

void baseline(benchmark::State& state) {
  for (auto _ : state) {
    const SpansByUnit by_unit(large());
    benchmark::DoNotOptimize(own_durations(large(), by_unit));
  }
}

void all_rules(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(diagnose(large(), options_for("")));
}

void one_rule(benchmark::State& state, const std::string& rule) {
  for (auto _ : state) benchmark::DoNotOptimize(diagnose(large(), options_for(rule)));
}

BENCHMARK(baseline)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(all_rules)->Unit(benchmark::kMillisecond)->UseRealTime();

const bool registered = [] {
  for (const RuleText& rule : finding_rules()) {
    benchmark::RegisterBenchmark(rule.name, one_rule, rule.name)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  return true;
}();

}  // namespace
}  // namespace npuscope::analysis
