#include "report/show/show.hpp"

#include <functional>

#include "analysis/units/unit_numbers.hpp"
#include "base/parallel.hpp"
#include "report/document/provenance.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::report {
namespace {

// Kernels say something of their own when several operators share one.
bool kinds_differ(const analysis::OpTable& ops, const analysis::OpTable& kinds) {
  return kinds.row_count > 1 && kinds.row_count != ops.row_count;
}

}  // namespace

Page make_page(const analysis::Analysis& analysis, const PageOptions& options) {
  using namespace analysis;
  const Profile& profile = analysis.profile();
  Page page;
  page.profile = &profile;
  page.top = options.top;
  page.selection = options.selection;
  page.leaves_out_rows = options.leaves_out_rows;
  // Questions that have nothing to do with each other.
  const std::function<void()> questions[] = {
      [&] { page.coarse = analysis.coarse(); },
      [&] {
        page.ops = analysis.ops({Grouping::label, options.top});
      },
      [&] {
        page.kinds = analysis.ops({Grouping::kind, options.top});
      },
      [&] {
        page.units = analysis.units();
        page.overlap = analysis.overlap();
      }};
  parallel_for(std::size(questions), [&](std::size_t i) { questions[i](); });
  if (!kinds_differ(page.ops, page.kinds)) page.kinds = {};
  if (page.coarse.wall > 0) page.rate = clock_rate_during(profile, page.coarse.timeline);
  page.structure_only = is_structure_only(profile);
  page.call = analysis.call();
  if (options.selection.empty()) page.throughput = analyse_latency(profile).throughput;
  page.phases = analysis.phases();
  page.unit_numbers = analysis.unit_numbers();
  page.pmu = analyse_pmu(profile);
  page.clocks = analyse_clocks(profile);
  page.peers = analyse_peers(profile);
  page.numbers = analysis.numbers();
  page.counters = analyse_counters(profile);
  // Of some units or ops nobody can say what is idle or exposed.
  if (options.leaves_out_rows) {
    page.diagnosis.emplace();
  } else if (profile.spans.size() <= max_spans_for_findings) {
    DiagnoseOptions asked;
    if (const auto peaks = find_peaks(profile, {})) asked.peaks = peaks->peaks;
    page.diagnosis = analysis.findings(asked);
  }
  return page;
}

}  // namespace npuscope::report
