#include <algorithm>

#include "analysis/ops/model_parts.hpp"
#include "report/identities/identities.hpp"

namespace npuscope::report::identities {
namespace {

using namespace analysis;

// On every unit nothing overlaps but what nests.
bool units_only_nest(const Analysis& analysis) {
  return std::ranges::all_of(analysis.units().units,
                             [](const UnitRow& row) { return row.work <= row.busy; });
}

void try_table(const Sample& sample, const OpOptions& options, Tried& tried) {
  const OpTable table = sample.analysis.ops(options);
  const auto work = table.place_of("work"), active = table.place_of("active"),
             span = table.place_of("span");
  const bool only_nest = units_only_nest(sample.analysis);
  std::vector<double> sums(table.columns.size());
  for (const OpRow& row : table.rows) {
    const std::string name = fmt::format("by {}{}: {}", name_of(options.grouping),
                                         options.per_inference ? " per inference" : "", row.name);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (!row.values[i]) continue;
      sums[i] += *row.values[i];
      if (table.columns[i].kind == MeasureKind::count) continue;
      tried.not_negative("op", *row.values[i], name + " " + table.columns[i].name);
    }
    const auto value = [&](const auto& place) {
      return place && row.values[*place] ? *row.values[*place] : 0;
    };
    if (active) {
      tried.at_most("active <= span of an op", value(active), value(span), name);
      tried.at_most("active of an op <= wall", value(active), table.wall, name);
    }
    if (active && only_nest) {
      tried.at_most("work <= active by units of an op", value(work), value(active) * row.units,
                    name);
    }
    if (work && row.instances == 0) tried.near("no work without spans", value(work), 0, name);
    tried.at_most("runs <= instances", double(row.runs), double(row.instances), name);
    const OpDetails& details = row.details;
    if (details.p50) tried.at_most("p50 <= p95 of an op", *details.p50, *details.p95, name);
    if (details.spread.cores > 0) {
      tried.at_most("min <= median of cores", details.spread.min, details.spread.median, name);
      tried.at_most("median <= max of cores", details.spread.median, details.spread.max, name);
    }
  }
  if (table.rows.size() != table.row_count) return;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const OpColumn& column = table.columns[i];
    tried.near("rows add up to the total", sums[i], column.total,
               fmt::format("by {}: {}", name_of(options.grouping), column.name));
    if (column.whole) tried.at_most("total <= whole", column.total, *column.whole, column.name);
  }
}

void try_parts(const Sample& sample, Tried& tried) {
  const OpTable table = sample.analysis.ops(options_of_parts());
  const auto parts = model_parts(sample.profile(), table);
  if (!parts) return;
  double share = 0, value = 0;
  for (const ModelPart& part : parts->parts) {
    tried.not_negative("part of the model", part.value, part.name);
    tried.at_most("share of a part <= 1", part.share, 1, part.name);
    share += part.share;
    value += part.value;
  }
  const OpColumn& column = table.columns[table.ranked_by];
  tried.near("parts of the model are all", share, 1);
  tried.near("parts of the model are the column's whole", value,
             column.whole.value_or(column.total));
  tried.at_most("explained <= 1", parts->explained, 1);
}

}  // namespace

void try_ops(const Sample& sample, Tried& tried) {
  constexpr std::size_t all = ~std::size_t{0};
  for (const Grouping grouping : {Grouping::op, Grouping::part, Grouping::kind, Grouping::name,
                                  Grouping::node, Grouping::unit}) {
    for (const bool per_inference : {false, true}) {
      try_table(sample,
                {.grouping = grouping, .top = all, .details = true, .per_inference = per_inference},
                tried);
    }
  }
  // All work is some op's, or of no op.
  const OpTable table = sample.analysis.ops({.top = all});
  if (const OpColumn* work = table.column("work")) {
    const OpColumn* issue = table.column("issue");
    tried.near("work of ops is work", work->total + (issue != nullptr ? issue->total : 0),
               double(sample.analysis.coarse().work));
  }
  try_parts(sample, tried);
}

}  // namespace npuscope::report::identities
