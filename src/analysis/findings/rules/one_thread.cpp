#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {
namespace one_thread {

constexpr double min_share = 0.05;

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{"a timeline of units"};
  const double threads = context.hvx_threads();
  const auto active = context.kinds().place_of("active");
  if (threads < 2 || !active) return DoesNotApply{};
  std::vector<const OpRow*> rows;
  for (const OpRow& row : context.kinds().rows) {
    const bool only_hvx = row.engines.size() == 1 && row.engines.front() == Engine::hvx;
    if (!only_hvx || row.units != 1) continue;
    if (row.values[*active].value_or(0) < min_share * context.wall()) continue;
    rows.push_back(&row);
  }
  if (rows.empty()) return DoesNotApply{};
  Finding finding;
  const auto longer = [&](const OpRow* a, const OpRow* b) {
    return a->values[*active] < b->values[*active];
  };
  const OpRow& longest = **std::max_element(rows.begin(), rows.end(), longer);
  finding.title =
      fmt::format("{} runs on one of {:.0f} HVX threads for {} of the wall", longest.name, threads,
                  percent(*longest.values[*active] / context.wall()));
  if (rows.size() > 1) finding.title += fmt::format("; so do {} more", rows.size() - 1);
  finding.weight = Weight::medium;
  finding.evidence = {count_evidence("hvx_threads", "HVX threads of a core", threads,
                                     "units: UNITS, show: NUMBERS OF THE RUN")};
  std::vector<bool> ops(context.profile().ops.size(), false);
  for (const OpRow* row : rows) {
    const double time = *row->values[*active];
    finding.evidence.push_back(ticks_evidence("active", "active, on one thread", time,
                                              MeasureKind::active, "ops --by kind", row->name));
    finding.evidence.push_back(share_evidence("active_share_of_wall", "share of wall",
                                              time / context.wall(), MeasureKind::active,
                                              "ops --by kind", row->name));
    for (std::size_t op = 0; op < ops.size(); ++op) {
      if (context.profile().ops[op].kind == row->label) ops[op] = true;
    }
  }
  finding.places = places_of_ops(context, ops);
  finding.advice =
      "Compilers slice most vector kernels over the threads; one that is not sliced has a shape "
      "too small or an order that it must keep. Give it a dimension to slice, or a custom op that "
      "declares how it may be tiled.";
  return trial_of(std::move(finding), factors_of(ops, 1 / threads),
                  "they are spread evenly over these threads");
}

}  // namespace one_thread

const Rule one_thread_rule{
    {"one-thread-op", "vector kernels that are not sliced over the HVX threads",
     "Kinds of kernel that only HVX runs and of which all executions are on one thread, by their "
     "active time. Gain: the wall's longest path with each taking its time divided by the threads.",
     "5 % of the wall each; two threads or more in a core",
     "the tiling check of Qualcomm HTP users (a tiled op shows as several instances); the share is "
     "npuscope's own",
     "Whether the kernel can be sliced. A kind whose executions are on different threads, one at a "
     "time, is not seen."},
    one_thread::apply};

}  // namespace npuscope::analysis
