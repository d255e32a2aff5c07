// npuscope timeline on a profile of 5 million spans, beside the least that any answer needs: one
// look at the spans of each unit in order.
#include <benchmark/benchmark.h>

#include "large_profile.hpp"
#include "npuscope/analysis/timeline_cells.hpp"

namespace npuscope::bench {
namespace {

using analysis::RowsBy;

constexpr std::size_t spans = 5'000'000;

const Profile& profile() {
  static const Profile made = large_profile(spans);
  return made;
}

void sort_by_unit_and_own_durations(benchmark::State& state) {
  for (auto run : state) {
    const SpansByUnit by_unit(profile());
    benchmark::DoNotOptimize(analysis::own_durations(profile(), by_unit));
  }
  state.SetItemsProcessed(std::int64_t(state.iterations()) * std::int64_t(spans));
}
BENCHMARK(sort_by_unit_and_own_durations)->Unit(benchmark::kMillisecond)->UseRealTime();

// Everything that the command does after opening: the rows by argument 0 in the argument's columns,
// with letters for kinds.
void timeline(benchmark::State& state) {
  const auto by = RowsBy(state.range(0));
  const auto columns = std::size_t(state.range(1));
  for (auto run : state) {
    const SpansByUnit by_unit(profile());
    const auto own = analysis::own_durations(profile(), by_unit);
    const auto rows = analysis::analyse_timeline_rows(profile(), by_unit, own, {.by = by});
    benchmark::DoNotOptimize(analysis::paint_timeline(profile(), by_unit, rows,
                                                      {.columns = columns, .fill = RowsBy::kind}));
  }
  state.SetItemsProcessed(std::int64_t(state.iterations()) * std::int64_t(spans));
}
BENCHMARK(timeline)
    ->ArgNames({"by", "columns"})
    ->Args({int(RowsBy::unit), 100})
    ->Args({int(RowsBy::engine), 100})
    ->Args({int(RowsBy::op), 100})
    ->Args({int(RowsBy::unit), 1800})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace npuscope::bench
