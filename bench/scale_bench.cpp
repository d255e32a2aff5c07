// What questions cost by the number of spans, 10^4 to 10^8: scripts/performance runs each alone, so
// that the peak memory of the process is that of one question. `profile` reads the columns, no
// more.
#include <map>

#include "large_profile.hpp"
#include "measured.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/findings.hpp"
#include "npuscope/analysis/timeline_cells.hpp"
#include "npuscope/query/database.hpp"
#include "report/ops/ops_document.hpp"
#include "report/path/path_document.hpp"
#include "report/show/show.hpp"
#include "report/units/units_document.hpp"

namespace npuscope {
namespace {

constexpr std::int64_t min_spans = 10'000, max_spans = 100'000'000;

// The one that is asked about; of one run where all spans are one inference.
const Profile& profile_of(std::int64_t spans, bool one_run) {
  static std::map<std::pair<std::int64_t, bool>, Profile> kept;
  const std::pair key{spans, one_run};
  if (!kept.contains(key)) {
    kept.clear();
    kept.emplace(key, one_run ? bench::large_run(std::size_t(spans))
                              : bench::large_profile(std::size_t(spans)));
  }
  return kept.at(key);
}

template <class Question>  // of a profile
void add(const char* name, bool one_run, const Question& question) {
  const auto run = [=](benchmark::State& state) {
    const Profile& profile = profile_of(state.range(0), one_run);
    bench::measure(state, profile, [&] { return question(profile); });
  };
  benchmark::RegisterBenchmark(name, run)
      ->RangeMultiplier(10)
      ->Range(min_spans, max_spans)
      ->Unit(benchmark::kMillisecond)
      ->UseManualTime();
}

struct CountedRows : query::RowSink {
  std::uint64_t rows = 0;
  void columns(const std::vector<std::string>&) override {}
  bool row(std::span<const query::Cell>) override {
    ++rows;
    return true;
  }
};

std::uint64_t group_by_unit(const Profile& profile) {
  const query::NamedProfile named{"a", &profile};
  auto database = query::Database::open({&named, 1}, {});
  CountedRows rows;
  const auto done =
      database->run("SELECT unit, count(*), sum(duration) FROM spans GROUP BY unit", rows);
  return done ? rows.rows : 0;
}

auto timeline_of_units(const Profile& profile) {
  const analysis::Analysis of(profile);
  const auto rows = of.timeline({.by = analysis::RowsBy::unit});
  return of.cells(rows, {.columns = 100, .fill = analysis::RowsBy::kind});
}

const bool registered = [] {
  using analysis::Analysis;
  constexpr bool inferences = false, one_run = true;
  add("profile", inferences, [](const Profile& profile) { return bench::plain_pass(profile); });
  add("show", inferences,
      [](const Profile& profile) { return report::first_page(Analysis(profile), {}); });
  add("ops", inferences,
      [](const Profile& profile) { return report::ops_document(Analysis(profile), {}); });
  add("units", inferences,
      [](const Profile& profile) { return report::units_document(Analysis(profile), {}); });
  add("timeline", inferences, timeline_of_units);
  add("diagnose", inferences,
      [](const Profile& profile) { return Analysis(profile).findings({}); });
  add("query, GROUP BY unit", inferences, group_by_unit);
  add("path, one inference", one_run,
      [](const Profile& profile) { return report::path_document(Analysis(profile), {}); });
  add("diagnose, one inference", one_run,
      [](const Profile& profile) { return Analysis(profile).findings({}); });
  return true;
}();

}  // namespace
}  // namespace npuscope
