#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {
namespace one_core {

constexpr double min_share = 0.01;
constexpr std::size_t max_named = 5;

// One core fetches what all of them share: that is how multicast works.
bool only_moves(FindingContext& context, StringId kind) {
  const std::string_view name = context.profile().text(kind);
  for (const OpRow& row : context.kinds().rows) {
    if (row.name != name || row.engines.empty()) continue;
    return std::all_of(row.engines.begin(), row.engines.end(),
                       [](Engine engine) { return domain_of(engine) == Domain::movement; });
  }
  return false;
}

// Of those ops: by the name that a table has for them.
std::vector<bool> ops_named(const Profile& profile, const std::vector<const OneCoreOp*>& named) {
  std::vector<std::string_view> names;
  for (const OneCoreOp* op : named) names.push_back(op->name);
  std::sort(names.begin(), names.end());
  std::vector<bool> ops;
  for (const Op& op : profile.ops) {
    const std::string_view name = profile.text(op.label());
    ops.push_back(std::binary_search(names.begin(), names.end(), name));
  }
  return ops;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{"a timeline of units"};
  const std::uint32_t cores = context.kinds().cores;
  if (cores < 2) return DoesNotApply{};
  const std::vector<OneCoreOp> all = context.analysis().one_core_ops();
  std::vector<const OneCoreOp*> ops;
  double active = 0;
  for (const OneCoreOp& op : all) {
    if (only_moves(context, op.kind)) continue;
    ops.push_back(&op);
    active += op.active;
  }
  if (ops.empty() || active < min_share * context.wall()) return DoesNotApply{};
  Finding finding;
  finding.title =
      fmt::format("{} op{} on one of {} cores for {} of the wall", ops.size(),
                  ops.size() == 1 ? " runs" : "s run", cores, percent(active / context.wall()));
  finding.weight = active >= 0.1 * context.wall() ? Weight::high : Weight::medium;
  const char* source = "units: OPS ON ONE CORE ONLY";
  finding.evidence = {count_evidence("cores", "cores at work", cores, "units: UNITS"),
                      count_evidence("one_core_ops", "such ops", double(ops.size()), source),
                      share_evidence("active_share_of_wall", "their active times, of the wall",
                                     active / context.wall(), MeasureKind::active, source)};
  for (std::size_t i = 0; i < std::min(ops.size(), max_named); ++i) {
    finding.evidence.push_back(ticks_evidence("active", "active, on " + ops[i]->core,
                                              ops[i]->active, MeasureKind::active, source,
                                              ops[i]->name));
  }
  const std::vector<bool> named = ops_named(context.profile(), ops);
  finding.places = places_of_ops(context, named);
  finding.advice = context.words(
      {.usual = "Compilers balance most ops; one that stays on a single core has a shape or a "
                "kernel that they do not split. Give it a dimension to split (batch, heads, "
                "rows), or report it to the vendor: the others wait for it.",
       .sigmastar_ipu =
           "Both cores share most layers; one that stays on a single core has no rows, "
           "images or output channels to halve, or a kernel that is not divided. Give it an "
           "even number of them (an even batch, even sizes), or report it to the vendor: the "
           "other core waits for it."});
  return trial_of(std::move(finding), factors_of(named, 1.0 / cores),
                  "they are spread evenly over all cores");
}

}  // namespace one_core

const Rule one_core_rule{
    {"one-core-op", "ops that one core runs while others could",
     "The ops on one core only of npuscope units, without those that only move data. Gain: the "
     "wall's longest path with each of them taking its time divided by the cores.",
     "together 1 % of the wall; each 0.5 %, or its kernel runs on all cores elsewhere",
     "the vendor's notebook on Cloud AI 100: an op on one core with a high count; shares are "
     "npuscope's own",
     "Whether the op can be split at all. Active times of ops that overlap are added."},
    one_core::apply};

}  // namespace npuscope::analysis
