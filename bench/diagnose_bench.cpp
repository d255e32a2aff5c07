// How fast all rules of findings are tried on 5 million spans, each alone and all together; the
// baseline is the grouping and the nesting that every analysis needs.
#include "large_profile.hpp"
#include "measured.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/findings.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "profile/self_times.hpp"

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
  bench::measure(state, large(), [] { return Analysis(large()).self_times(); });
}

const Profile& one_run() {
  static const Profile profile = bench::large_run(spans);
  return profile;
}

void all_rules_of_one_run(benchmark::State& state) {
  bench::measure(state, one_run(), [] { return Analysis(one_run()).findings(options_for("")); });
}

void rules(benchmark::State& state, const std::string& rule) {
  bench::measure(state, large(), [&] { return Analysis(large()).findings(options_for(rule)); });
}

BENCHMARK(baseline)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(all_rules_of_one_run)->Unit(benchmark::kMillisecond)->UseManualTime();

const bool registered = [] {
  const auto add = [](const char* name, const char* rule) {
    benchmark::RegisterBenchmark(name, rules, rule)->Unit(benchmark::kMillisecond)->UseManualTime();
  };
  add("all_rules", "");
  for (const std::string& rule : finding_rules()) add(rule.c_str(), rule.c_str());
  return true;
}();

}  // namespace
}  // namespace npuscope::analysis
