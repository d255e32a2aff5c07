#include "npuscope/report/show.hpp"

#include <functional>

#include "npuscope/base/parallel.hpp"
#include "npuscope/report/peaks.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {
namespace {

// Kernels say something of their own when several operators share one.
bool kinds_differ(const analysis::OpTable& ops, const analysis::OpTable& kinds) {
  return kinds.row_count > 1 && kinds.row_count != ops.row_count;
}

}  // namespace

Page make_page(const Profile& profile, const PageOptions& options) {
  using namespace analysis;
  Page page;
  page.profile = &profile;
  page.top = options.top;
  page.selection = options.selection;
  page.leaves_out_rows = options.leaves_out_rows;
  const SpansByUnit by_unit(profile);
  const auto own = own_durations(profile, by_unit);
  // Questions that have nothing to do with each other.
  const std::function<void()> questions[] = {
      [&] { page.coarse = analyse_coarse(profile, by_unit, own); },
      [&] {
        page.ops = analyse_ops(profile, by_unit, own, {Grouping::label, options.top});
      },
      [&] {
        page.kinds = analyse_ops(profile, by_unit, own, {Grouping::kind, options.top});
      },
      [&] {
        const std::vector<UnitBusy> busy = busy_of_units(profile, by_unit, own);
        page.units = analyse_units(profile, busy);
        page.overlap = analyse_overlap(busy);
      }};
  parallel_for(std::size(questions), [&](std::size_t i) { questions[i](); });
  if (!kinds_differ(page.ops, page.kinds)) page.kinds = {};
  if (page.coarse.wall > 0) page.rate = clock_rate_during(profile, page.coarse.timeline);
  page.structure_only = is_structure_only(profile);
  page.call = analyse_call(profile);
  if (options.selection.empty()) page.throughput = analyse_latency(profile).throughput;
  page.phases = analyse_phases(profile);
  page.unit_numbers = analyse_unit_numbers(profile);
  page.pmu = analyse_pmu(profile);
  page.clocks = analyse_clocks(profile);
  page.peers = analyse_peers(profile);
  page.numbers = analyse_numbers(profile);
  page.counters = analyse_counters(profile);
  // Of some units or ops nobody can say what is idle or exposed.
  if (options.leaves_out_rows) {
    page.diagnosis.emplace();
  } else if (profile.spans.size() <= most_spans_for_findings) {
    DiagnoseOptions asked;
    if (const auto peaks = find_peaks(profile, {})) asked.peaks = peaks->peaks;
    asked.known = {&by_unit, &own, &page.coarse, &page.units, &page.overlap};
    page.diagnosis = diagnose(profile, asked);
  }
  return page;
}

}  // namespace npuscope::report
