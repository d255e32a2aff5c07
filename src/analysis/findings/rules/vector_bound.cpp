#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/stated_use.hpp"
#include "base/sort_rows.hpp"

namespace npuscope::analysis {
namespace vector_bound {

constexpr double busy = 0.5;
constexpr std::size_t kernels_named = 3;

Finding made(double hvx, double hmx, const char* of) {
  Finding finding;
  finding.title =
      fmt::format("HVX is busy for {}, HMX for {} of {}", percent(hvx), percent(hmx), of);
  finding.weight = Weight::medium;
  finding.advice =
      "Faster matrix products gain nothing as long as the vector kernels take longer. Look at what "
      "these are: conversions of layout go when neighbours agree on one, chains of elementwise ops "
      "become one pass when they are fused, narrower types do more in an instruction, and what a "
      "matrix product can do (a reduction, a transpose by the identity) leaves the vector units.";
  return finding;
}

bool runs_on_hvx(const OpRow& row) {
  return !row.engines.empty() && row.engines.front() == Engine::hvx;
}

// The kernels that the vector units are busy with, the longest first.
void name_kernels(FindingContext& context, Finding& finding) {
  const OpTable& kinds = context.kinds();
  const auto active = kinds.place_of("active");
  if (!active) return;
  std::vector<const OpRow*> rows;
  for (const OpRow& row : kinds.rows) {
    if (runs_on_hvx(row) && row.values[*active].value_or(0) > 0) rows.push_back(&row);
  }
  sort_rows(rows.begin(), rows.end(), [&](const OpRow* a, const OpRow* b) {
    return *a->values[*active] > *b->values[*active];
  });
  if (rows.size() > kernels_named) rows.resize(kernels_named);
  for (const OpRow* row : rows) {
    finding.evidence.push_back(share_evidence("active_share_of_wall", "active, of the wall",
                                              *row->values[*active] / context.wall(),
                                              MeasureKind::active, "ops --by kind", row->name));
  }
}

std::vector<bool> ops_on_hvx(FindingContext& context) {
  const Profile& profile = context.profile();
  std::vector<StringId> labels;
  for (const OpRow& row : context.kinds().rows) {
    if (runs_on_hvx(row)) labels.push_back(row.label);
  }
  std::sort(labels.begin(), labels.end());
  std::vector<bool> ops(profile.ops.size(), false);
  for (std::size_t op = 0; op < ops.size(); ++op) {
    ops[op] = std::binary_search(labels.begin(), labels.end(), profile.ops[op].kind);
  }
  return ops;
}

RuleOutcome of_timeline(FindingContext& context) {
  const double hvx = context.domain_share(Engine::hvx), hmx = context.domain_share(Engine::hmx);
  if (hmx == 0 || hvx < busy || hvx <= hmx) return DoesNotApply{};
  // The first page draws the time in which any unit of a class works, and names that share.
  Finding finding =
      made(context.active_share(Engine::hvx), context.active_share(Engine::hmx), "the wall");
  const char* hardware = "units: HARDWARE";
  finding.evidence = {share_evidence("hvx_domain_share_of_wall", "HVX, the busiest, of the wall",
                                     hvx, MeasureKind::domain, hardware),
                      share_evidence("hmx_domain_share_of_wall", "HMX, the busiest, of the wall",
                                     hmx, MeasureKind::domain, hardware)};
  name_kernels(context, finding);
  const std::vector<bool> ops = ops_on_hvx(context);
  finding.places = places_of_ops(context, ops);
  return trial_of(std::move(finding), factors_of(ops, std::max(0.5, hmx / hvx)),
                  "kernels on HVX take half their time, or as much as HMX works");
}

RuleOutcome of_summary(FindingContext& context) {
  const auto hmx = stated_use(context, Engine::hmx), hvx = stated_use(context, Engine::hvx);
  if (!hmx || !hvx) return Missing{"a timeline of units, or their utilisation"};
  if (hmx->share == 0 || hvx->share < busy || hvx->share <= hmx->share) return DoesNotApply{};
  Finding finding = made(hvx->share, hmx->share, "their time");
  const char* source = "units: REPORTED BY THE FILES";
  finding.evidence = {share_evidence("hvx_stated_use", "HVX, the busiest thread, of its time",
                                     hvx->share, MeasureKind::unit_busy, source, hvx->unit),
                      share_evidence("hmx_stated_use", "HMX, the busiest, of its time", hmx->share,
                                     MeasureKind::unit_busy, source, hmx->unit)};
  finding.no_gain = "a summary does not say what runs at the same time";
  return finding;
}

RuleOutcome apply(FindingContext& context) {
  return context.has_timeline() ? of_timeline(context) : of_summary(context);
}

}  // namespace vector_bound

const Rule vector_bound_rule{
    {"vector-bound", "vector units busier than the matrix units",
     "The busiest HVX thread's share of the wall against the busiest HMX's (domain, what units: "
     "HARDWARE shows); of a summary without a timeline the utilisation that it states. Gain: the "
     "wall's longest path with the kernels on HVX taking half their time, or the share that HMX "
     "has "
     "where that is more.",
     "the busiest HVX thread at 50 % of the wall or more, and above the busiest HMX; both work",
     "the rule of Qualcomm HTP users: a product whose HVX domain exceeds its HMX domain is bound "
     "by HVX; 50 %: users' rule for compute bound on Cloud AI 100",
     "Graphs without matrix work, where the vector units decide anyway. Utilisation that counts "
     "waits as busy (uncounted-waits)."},
    vector_bound::apply};

}  // namespace npuscope::analysis
