#include "npuscope/report/show.hpp"

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
  page.coarse = analyse_coarse(profile, by_unit, own);
  if (page.coarse.wall > 0) page.rate = rate_during(profile, page.coarse.timeline);
  page.structure_only = is_structure_only(profile);
  page.phases = analyse_phases(profile);
  page.ops = analyse_ops(profile, by_unit, own, {Grouping::label, options.top});
  page.kinds = analyse_ops(profile, by_unit, own, {Grouping::kind, options.top});
  if (!kinds_differ(page.ops, page.kinds)) page.kinds = {};
  page.units = analyse_units(profile, by_unit, own);
  page.unit_numbers = analyse_unit_numbers(profile);
  page.numbers = analyse_numbers(profile);
  page.counters = analyse_counters(profile);
  // Of some units or ops nobody can say what is idle or exposed.
  if (options.leaves_out_rows) {
    page.diagnosis.emplace();
  } else if (profile.spans.size() <= most_spans_for_findings) {
    DiagnoseOptions asked;
    if (const auto peaks = find_peaks(profile, {})) asked.peaks = peaks->peaks;
    asked.known = {&by_unit, &own, &page.coarse, &page.units};
    page.diagnosis = diagnose(profile, asked);
  }
  return page;
}

}  // namespace npuscope::report
