// Rules about work on few units: one core, one thread, uneven cores.
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
  if (!context.has_timeline()) return Missing{context.no_timeline()};
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

const Rule one_core_rule{"one-core-op", one_core::apply};

namespace one_thread {

constexpr double min_share = 0.05;

bool is_on_one_thread(const OpRow& row) {
  return row.engines.size() == 1 && row.engines.front() == Engine::hvx && row.units == 1;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  const double threads = context.hvx_threads();
  if (threads < 2 || std::ranges::none_of(context.kinds().rows, is_on_one_thread)) {
    return DoesNotApply{};
  }
  const auto active = context.active_kinds().place_of("active");
  if (!active) return DoesNotApply{};
  std::vector<const OpRow*> rows;
  for (const OpRow& row : context.active_kinds().rows) {
    if (!is_on_one_thread(row)) continue;
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
  if (rows.size() > 1) {
    finding.title +=
        fmt::format("; so do{} {} more", rows.size() == 2 ? "es" : "", rows.size() - 1);
  }
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

const Rule one_thread_rule{"one-thread-op", one_thread::apply};

namespace imbalance {

constexpr double min_excess = 0.15;
constexpr double min_gain = 0.01;

// How much longer the most active part is active than all are on average.
double active_excess(FindingContext& context, const std::string& parts) {
  const auto grouping = parts == "devices" ? UnitGrouping::device : UnitGrouping::core;
  const auto rows = context.analysis().unit_groups(grouping);
  double max = 0, sum = 0;
  for (const UnitGroupRow& row : rows) {
    max = std::max(max, double(row.active));
    sum += double(row.active);
  }
  return rows.empty() ? 0 : max - sum / double(rows.size());
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  const ImbalanceRow* worst = nullptr;
  for (const ImbalanceRow& row : context.analysis().imbalance()) {
    if (row.what != "work" || (row.parts != "cores" && row.parts != "devices")) continue;
    if (worst == nullptr || row.excess().value_or(0) > worst->excess().value_or(0)) worst = &row;
  }
  if (worst == nullptr || worst->excess().value_or(0) <= min_excess) return DoesNotApply{};
  const double gained = active_excess(context, worst->parts);
  if (gained < min_gain * context.wall()) return DoesNotApply{};
  Finding finding;
  finding.title = fmt::format("The most loaded of {} {} has {} more work than the mean",
                              worst->members, worst->parts, percent(*worst->excess()));
  finding.weight = Weight::high;
  const char* source = "units: IMBALANCE";
  finding.evidence = {
      count_evidence("members", worst->parts, worst->members, source),
      share_evidence("excess_of_mean", "work of the most loaded above the mean", *worst->excess(),
                     MeasureKind::work, source, worst->most_loaded),
      ticks_evidence("most_work", "its work", worst->max, MeasureKind::work, source,
                     worst->most_loaded),
      ticks_evidence("mean_work", "the mean work", worst->mean, MeasureKind::work, source),
      ticks_evidence("least_work", "the min work", worst->min, MeasureKind::work, source,
                     worst->least_loaded)};
  finding.gain =
      context.gain_of_wall(gained, "the longest active time of one of them, less the mean of all");
  finding.advice = context.words(
      {.usual = "Look at ops and output bytes in npuscope units, IMBALANCE: where the compiler "
                "gave out unequal shares, another split helps (a dimension that the number of "
                "cores divides, other slices of experts or heads); where shares are equal and "
                "times are not, look for the ops that are slow on that core.",
       .sigmastar_ipu =
           "Each core takes half of a layer's rows, images or output channels: a layer whose "
           "sizes do not halve leaves one core waiting. Look at ops and output bytes in "
           "npuscope units, IMBALANCE, and choose even sizes or an even batch; where shares "
           "are equal and times are not, look for the ops that are slow on that core."});
  return finding;
}

}  // namespace imbalance

const Rule imbalance_rule{"imbalance", imbalance::apply};

}  // namespace npuscope::analysis
