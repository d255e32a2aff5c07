// npuscope ops, units and show on a profile of five million spans.
#include "large_profile.hpp"
#include "measured.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "profile/self_times.hpp"
#include "report/ops/ops_document.hpp"
#include "report/show/show.hpp"
#include "report/units/units_document.hpp"

namespace npuscope {
namespace {

using analysis::Grouping;

const Profile& profile() {
  static const Profile large = bench::large_profile(5'000'000);
  return large;
}

// What both commands begin with.
void self_times_of_all(benchmark::State& state) {
  bench::measure(state, profile(), [] { return analysis::Analysis(profile()).self_times(); });
}

void ops(benchmark::State& state, Grouping grouping) {
  bench::measure(state, profile(), [&] {
    return report::ops_document(analysis::Analysis(profile()), {.grouping = grouping});
  });
}

void units(benchmark::State& state) {
  bench::measure(state, profile(),
                 [] { return report::units_document(analysis::Analysis(profile()), {}); });
}

void show(benchmark::State& state) {
  bench::measure(state, profile(),
                 [] { return report::first_page(analysis::Analysis(profile()), {}); });
}

BENCHMARK(self_times_of_all)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(ops, default, Grouping::op)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(ops, by_op, Grouping::part)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(ops, by_kind, Grouping::kind)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_CAPTURE(ops, by_core, Grouping::core)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(units)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(show)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace npuscope
