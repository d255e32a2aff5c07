// npuscope timeline on a profile of 5 million spans.
#include "large_profile.hpp"
#include "measured.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/timeline_cells.hpp"

namespace npuscope::bench {
namespace {

using analysis::RowsBy;

constexpr std::size_t spans = 5'000'000;

const Profile& profile() {
  static const Profile made = large_profile(spans);
  return made;
}

// Everything that the command does after opening: the rows by argument 0 in the argument's columns,
// with letters for kinds.
void timeline(benchmark::State& state) {
  const auto by = RowsBy(state.range(0));
  const auto columns = std::size_t(state.range(1));
  measure(state, profile(), [&] {
    const analysis::Analysis analysis(profile());
    const auto rows = analysis.timeline({.by = by});
    return analysis.cells(rows, {.columns = columns, .fill = RowsBy::kind});
  });
}
BENCHMARK(timeline)
    ->ArgNames({"by", "columns"})
    ->Args({int(RowsBy::unit), 100})
    ->Args({int(RowsBy::engine), 100})
    ->Args({int(RowsBy::op), 100})
    ->Args({int(RowsBy::unit), 1800})
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

}  // namespace
}  // namespace npuscope::bench
