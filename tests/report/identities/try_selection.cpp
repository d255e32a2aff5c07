#include <algorithm>

#include "npuscope/profile/unit_path.hpp"
#include "report/identities/identities.hpp"
#include "report/selection.hpp"

namespace npuscope::report::identities {
namespace {

using namespace analysis;

const OpRow* row_named(const OpTable& table, const OpRow& like) {
  const auto found = std::ranges::find_if(
      table.rows, [&](const OpRow& row) { return row.name == like.name && row.has_name; });
  return found == table.rows.end() ? nullptr : &*found;
}

// Several columns may have one name: of each core's clock.
const std::optional<double>* value_in(const OpTable& table, const OpRow& row,
                                      const OpColumn& like) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const OpColumn& column = table.columns[i];
    const bool is_it = column.name == like.name && column.kind == like.kind &&
                       column.origin == like.origin && column.clock == like.clock;
    if (is_it) return &row.values[i];
  }
  return nullptr;
}

// `only_spans`: of numbers that the files say of ops a window keeps none.
void try_row(const OpTable& whole, const OpRow& row, const OpTable& part, const std::string& what,
             bool only_spans, Tried& tried) {
  const OpRow* same = row_named(part, row);
  const std::string name = fmt::format("{}, {}", what, row.name);
  tried.holds("a selected op has a row", same != nullptr, name);
  if (same == nullptr) return;
  tried.equal("instances of a selected op", std::int64_t(row.instances),
              std::int64_t(same->instances), name);
  tried.equal("runs of a selected op", std::int64_t(row.runs), std::int64_t(same->runs), name);
  tried.equal("units of a selected op", row.units, same->units, name);
  for (std::size_t i = 0; i < whole.columns.size(); ++i) {
    if (!row.values[i] || (only_spans && !whole.columns[i].of_base_clock)) continue;
    const std::optional<double>* value = value_in(part, *same, whole.columns[i]);
    const std::string detail = name + ", " + whole.columns[i].name;
    if (value == nullptr || !*value) {
      tried.near("a number of a selected op", *row.values[i], 0, detail);
      continue;
    }
    const bool is_cut =
        only_spans && whole.columns[i].name == "async";  // those that reach out of it
    if (is_cut) {
      tried.at_most("async of a window", **value, *row.values[i], detail);
    } else {
      tried.near("a number of a selected op", *row.values[i], **value, detail);
    }
  }
}

void try_op(const Sample& sample, const OpOptions& options, Tried& tried) {
  constexpr std::size_t tried_rows = 4, max_spans = 30'000;
  if (sample.profile().spans.size() > max_spans) return;
  const OpTable whole = sample.analysis.ops(options);
  std::size_t rows = 0;
  for (const OpRow& row : whole.rows) {
    if (!row.has_name || row.layers > 1) continue;
    if (++rows > tried_rows) break;
    Selection selection;
    selection.op = exactly(row.name);
    const auto part = select(sample.profile(), selection, {});
    tried.holds("an op is selected by its name", part.has_value(),
                row.name + (part ? "" : ": " + part.error().message));
    if (!part) continue;
    const Analysis of_part(part->profile);
    try_row(whole, row, of_part.ops(options), std::string("by ") + name_of(options.grouping), false,
            tried);
  }
}

void try_window(const Sample& sample, Tried& tried) {
  const Interval timeline = sample.analysis.timeline_extent();
  if (length_of(timeline) <= 0) return;
  Selection selection;
  selection.from = "0";
  selection.until = fmt::format("{}ticks", length_of(timeline) + 1);  // instants at its end, too
  const auto part = select(sample.profile(), selection, {});
  tried.holds("a window of everything is selected", part.has_value(),
              part ? "" : part.error().message);
  if (!part) return;
  const Analysis of_part(part->profile);
  const Coarse &whole = sample.analysis.coarse(), &same = of_part.coarse();
  tried.equal("wall in a window of everything", whole.wall, same.wall);
  tried.equal("active in a window of everything", whole.active, same.active);
  tried.equal("work in a window of everything", whole.work, same.work);
  for (std::size_t i = 0; i < part_count; ++i) {
    tried.equal("parts in a window of everything", whole.parts[i], same.parts[i], name_of(Part(i)));
  }
  const OpOptions options{.grouping = Grouping::name, .top = 1'000};
  const OpTable ops = sample.analysis.ops(options), in_window = of_part.ops(options);
  for (const OpRow& row : ops.rows) {
    if (!row.has_name || row.instances == 0) continue;
    try_row(ops, row, in_window, "in a window of everything", true, tried);
  }
  const UnitTable &units = sample.analysis.units(), &kept = of_part.units();
  tried.equal("units in a window of everything", std::int64_t(units.units.size()),
              std::int64_t(kept.units.size()));
  for (std::size_t i = 0; i < std::min(units.units.size(), kept.units.size()); ++i) {
    tried.equal("busy in a window of everything", units.units[i].busy, kept.units[i].busy);
    tried.equal("waiting in a window of everything", units.units[i].waiting, kept.units[i].waiting);
    tried.equal("work in a window of everything", units.units[i].work, kept.units[i].work);
  }
}

// Busy, waits and work of a unit alone.
void try_unit(const Sample& sample, Tried& tried) {
  constexpr std::size_t tried_units = 6;
  const Profile& profile = sample.profile();
  std::map<std::string, std::size_t> paths;
  for (std::uint32_t i = 0; i < profile.units.size(); ++i) paths[path_of(profile, UnitId(i))] += 1;
  std::size_t units = 0;
  for (const UnitRow& row : sample.analysis.units().units) {
    const std::string path = path_of(profile, row.unit);
    if (paths[path] != 1 || ++units > tried_units) continue;
    Selection selection;
    selection.unit = exactly(path);
    const auto part = select(profile, selection, {});
    tried.holds("a unit is selected by its name", part.has_value(),
                part ? path : part.error().message);
    if (!part) continue;
    const Analysis of_part(part->profile);
    const auto& rows = of_part.units().units;
    tried.equal("a unit alone is one", std::int64_t(rows.size()), 1, path);
    if (rows.size() != 1) continue;
    tried.equal("busy of a unit alone", row.busy, rows[0].busy, path);
    tried.equal("waiting of a unit alone", row.waiting, rows[0].waiting, path);
    tried.equal("work of a unit alone", row.work, rows[0].work, path);
    tried.equal("spans of a unit alone", std::int64_t(row.spans), std::int64_t(rows[0].spans),
                path);
  }
}

// Inferences one by one are what their rows say, and together at most all.
void try_inferences(const Sample& sample, Tried& tried) {
  constexpr std::size_t tried_inferences = 8;
  const auto& extents = sample.analysis.inference_extents();
  if (extents.size() > tried_inferences) return;
  std::int64_t work = 0;
  for (const auto& [inference, extent] : extents) {
    Selection selection;
    selection.inference = inference;
    const auto part = select(sample.profile(), selection, {});
    if (!part) continue;  // nothing of it has times
    const std::string name = std::to_string(inference);
    const Analysis of_part(part->profile);
    tried.equal("wall of an inference alone", of_part.coarse().wall, length_of(extent), name);
    work += of_part.coarse().work;
    const auto path = sample.analysis.path(inference);
    const auto alone = of_part.path(inference);
    if (path && alone) {
      tried.equal("path of an inference alone", path->observed().work, alone->observed().work,
                  name);
    }
  }
  tried.at_most("work of inferences <= work", double(work), double(sample.analysis.coarse().work));
}

}  // namespace

void try_selection(const Sample& sample, Tried& tried) {
  for (const Grouping grouping : {Grouping::name, Grouping::op, Grouping::kind}) {
    for (const bool per_inference : {false, true}) {
      try_op(sample,
             {.grouping = grouping,
              .top = 12,
              .owners_as_written = true,
              .per_inference = per_inference},
             tried);
    }
  }
  try_window(sample, tried);
  try_unit(sample, tried);
  try_inferences(sample, tried);
}

}  // namespace npuscope::report::identities
