#include "report/compare/diff_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "profile/names.hpp"
#include "report/compare/cause_text.hpp"
#include "report/compare/diff_text.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// The values of an estimate, in the order of estimate_fields().
void add_estimate(const Estimate& estimate, std::vector<Value>& row) {
  const std::string interval = interval_text(estimate.contrast.relative);
  const auto low = [](const auto& range) { return range ? Value(range->low) : Value(); };
  const auto high = [](const auto& range) { return range ? Value(range->high) : Value(); };
  row.insert(row.end(),
             {estimate.a, estimate.b, estimate.delta(), estimate.relative(), if_any(interval),
              low(estimate.contrast.relative), high(estimate.contrast.relative),
              low(estimate.contrast.absolute), high(estimate.contrast.absolute), estimate.p,
              estimate.samples_a.size(), estimate.samples_b.size()});
}

constexpr std::size_t estimate_width = 12;
void add_estimate_fields(MeasuredIn unit, std::vector<Field>& fields) {
  const Format format = format_in(unit);
  fields.insert(fields.end(), {{"a", "A", format},
                               {"b", "B", format},
                               {"delta", "delta", format},
                               {"change", "change", Format::change},
                               {"change_interval", "95 % interval", Format::name, false, true},
                               {"change_low", "", Format::change},
                               {"change_high", "", Format::change},
                               {"delta_low", "", format},
                               {"delta_high", "", format},
                               {"p", "p", Format::number, false, true},
                               {"samples_a", "", Format::count},
                               {"samples_b", "", Format::count}});
}

Section sides_section(const Diff& diff) {
  Section section{.key = "sides"};
  const auto files = [](const std::vector<const Profile*>& runs) {
    std::vector<std::string> all;
    for (const Profile* run : runs) {
      for (const std::string& file : run->provenance.files) {  // a snapshot has several runs
        if (std::find(all.begin(), all.end(), file) == all.end()) all.push_back(file);
      }
    }
    return all;
  };
  const std::string scope = scope_of_sides(diff), cause = cause_text(diff.comparison);
  section.facts = {{{"a", "A"}, side_text(diff, 0)},
                   {{"b", "B"}, side_text(diff, 1)},
                   {{"scope", "scope"}, if_any(scope)},
                   {{"selection", "selection"}, if_any(diff.selection)},
                   {{"verdict", "verdict"}, verdict_text(diff)},
                   {{"cause", "cause"}, if_any(cause)},
                   {{"files_a", "", Format::names}, files(diff.a)},
                   {{"files_b", "", Format::names}, files(diff.b)},
                   {{"runs_a", "", Format::count}, diff.comparison.runs[0]},
                   {{"runs_b", "", Format::count}, diff.comparison.runs[1]},
                   {{"samples_a", "", Format::count}, diff.comparison.samples[0]},
                   {{"samples_b", "", Format::count}, diff.comparison.samples[1]},
                   {{"cold_apart_a", "", Format::count}, diff.comparison.apart[0]},
                   {{"cold_apart_b", "", Format::count}, diff.comparison.apart[1]}};
  return section;
}

Section cautions_section(const Diff& diff) {
  Section section{.key = "cautions", .title = "CAUTIONS"};
  section.remarks = cautions(diff);
  return section;
}

// Of the timeline: always listed.
bool is_headline(const MetricChange& metric) {
  return metric.name == "wall" || metric.name == "active" || metric.name == "waiting" ||
         metric.name == "idle" || metric.name == "work";
}

// Numbers in one unit: those that changed, and, for machines only, those that did not.
Section numbers_section(const Diff& diff, MeasuredIn unit) {
  Section section{.key = "numbers", .in_list = true}, same{.key = "unchanged"};
  section.title =
      unit == MeasuredIn::count ? "NUMBERS" : fmt::format("NUMBERS in {}", name_of(unit));
  section.table.fields = {{"name", "number"}, {"kind", "kind"}};
  add_estimate_fields(unit, section.table.fields);
  section.table.fields.push_back({"verdict", "verdict"});
  same.table.fields = section.table.fields;
  for (Field& field : same.table.fields) field.label.clear();
  bool any_cold = false;
  for (const MetricChange& metric : diff.comparison.metrics) {
    if (metric.unit != unit) continue;
    std::vector<Value> row{metric.name, stable_name(metric.kind)};
    add_estimate(metric.estimate, row);
    row.push_back(name_of(metric.estimate.verdict));
    const bool is_shown = metric.estimate.verdict != ChangeVerdict::same || is_headline(metric);
    (is_shown ? section : same).table.rows.push_back(std::move(row));
    any_cold = any_cold || (is_shown && (metric.estimate.cold_a || metric.estimate.cold_b));
  }
  const std::size_t unchanged = same.table.rows.size();
  section.facts = {{{"unit", ""}, name_of(unit)},
                   {{"unchanged_count", "unchanged", Format::count}, if_positive(unchanged)}};
  if (any_cold) section.remarks = {"Some are of cold inferences: warm ones are missing."};
  if (section.table.rows.empty() && unchanged == 0) section.title.clear();
  section.parts.push_back(std::move(same));
  return section;
}

// What the runs are judged by, in one unit.
Section call_change_section(const Diff& diff, MeasuredIn unit) {
  Section section{.key = "call", .in_list = true};
  section.table.fields = {{"name", "number"}, {"source", "which is"}};
  add_estimate_fields(unit, section.table.fields);
  section.table.fields.push_back({"cold", "", Format::truth});
  section.table.fields.push_back({"verdict", "verdict"});
  bool any_cold = false;
  for (const MetricChange& metric : diff.comparison.call) {
    if (metric.unit != unit) continue;
    const bool is_cold = metric.estimate.cold_a || metric.estimate.cold_b;
    std::vector<Value> row{metric.name, if_any(metric.source)};
    add_estimate(metric.estimate, row);
    row.push_back(is_cold);
    row.push_back(name_of(metric.estimate.verdict));
    section.table.rows.push_back(std::move(row));
    any_cold = any_cold || is_cold;
  }
  section.facts = {{{"unit", ""}, name_of(unit)}};
  if (section.table.rows.empty()) return section;
  const bool is_warm = !any_cold && diff.comparison.apart[0] > 0 && diff.comparison.apart[1] > 0;
  section.title =
      fmt::format("{}CALL{}", is_warm ? "WARM " : "",
                  unit == MeasuredIn::count ? " per second" : fmt::format(" in {}", name_of(unit)));
  return section;
}

std::string counts_text(const OpComparison& ops) {
  std::string text;
  for (std::size_t i = 0; i < std::size(ops.counts); ++i) {
    if (ops.counts[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", thousands(ops.counts[i]),
                        name_of(OpChange(i)));
  }
  return text;
}

std::string matching_text(const OpComparison& ops) {
  std::string text;
  for (std::size_t i = 0; i < std::size(ops.matched_by); ++i) {
    if (ops.matched_by[i] == 0) continue;
    text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", thousands(ops.matched_by[i]),
                        name_of(MatchedBy(i)));
  }
  return text.empty() ? "none" : text;
}

// "OPS", "OPS BY LAYER".
std::string title_of(Grouping grouping) {
  std::string word = name_of(grouping);
  for (char& c : word) c = char(c - 'a' + 'A');
  return grouping == Grouping::op ? "OPS" : "OPS BY " + word;
}

// What a row is of, where it is of several parts.
std::string folded_text(const OpComparison& ops) {
  const std::uint64_t rows = ops.row_count();
  if (rows >= ops.parts) return {};
  return fmt::format("{} in {}; --by part lists each", counted(ops.parts, "part"),
                     counted(rows, "row"));
}

Section ops_section(const OpComparison& ops) {
  Section section{.key = "ops"};
  section.title = title_of(ops.grouping);
  if (ops.known) section.title += fmt::format(", by {}, in {}", ops.column, name_of(ops.unit));
  const std::string folded = folded_text(ops);
  std::string shares;
  if (ops.matched_share_a && ops.matched_share_b) {
    shares = fmt::format("{:.1f} % of A, {:.1f} % of B", 100 * *ops.matched_share_a,
                         100 * *ops.matched_share_b);
  }
  section.facts = {{{"by", ""}, name_of(ops.grouping)},
                   {{"column", ""}, ops.known ? Value(ops.column) : Value()},
                   {{"kind", ""}, ops.known ? Value(stable_name(ops.kind)) : Value()},
                   {{"unit", ""}, ops.known ? Value(name_of(ops.unit)) : Value()},
                   {{"rows_by_change", "rows"}, counts_text(ops)},
                   {{"folded", "folded"}, if_any(folded)},
                   {{"part_count", "", Format::count}, ops.parts},
                   {{"matched_by", "matched"}, matching_text(ops)},
                   {{"matched_time", "matched time"}, if_any(shares)},
                   {{"matched_share_a", "", Format::share}, ops.matched_share_a},
                   {{"matched_share_b", "", Format::share}, ops.matched_share_b},
                   {{"same_structure", "", Format::truth}, ops.same_structure}};
  section.table.fields = {
      {"change_of", "change"},
      {"name", name_of(ops.grouping == Grouping::part ? Grouping::op : ops.grouping)},
      {"kernel", "kernel", Format::name, true, true}};
  add_estimate_fields(ops.unit, section.table.fields);
  const Format format = format_in(ops.unit);
  for (const Field& field :
       std::initializer_list<Field>{{"layers", "layers", Format::count, false, true},
                                    {"layer_delta_min", "min of layers", format, false, true},
                                    {"layer_delta_max", "max of layers", format, false, true},
                                    {"parts", "", Format::count},
                                    {"parts_only_a", "", Format::count},
                                    {"parts_only_b", "", Format::count},
                                    {"ops_a", "", Format::count},
                                    {"ops_b", "", Format::count},
                                    {"name_b", ""},
                                    {"kernel_b", ""},
                                    {"matched", ""},
                                    {"note", "note", Format::name, false, true}}) {
    section.table.fields.push_back(field);
  }
  for (const OpDifference& row : ops.rows) {
    const bool only_b = row.change == OpChange::added;
    const std::string& name = only_b ? row.name_b : row.name_a;
    const std::string& kind = only_b ? row.kind_b : row.kind_a;
    std::vector<Value> values{name_of(row.change), name.empty() ? "(no op)" : name,
                              ops.grouping == Grouping::kind ? Value() : Value(kind)};
    if (ops.known) {
      add_estimate(row.estimate, values);
    } else {
      values.resize(values.size() + estimate_width);
    }
    const std::string note = explanation(row);
    const bool is_pair = !only_b && row.change != OpChange::removed;
    const auto& deltas = row.layer_deltas;
    values.insert(values.end(),
                  {row.layers > 1 ? Value(row.layers) : Value(),
                   deltas ? Value(deltas->min) : Value(), deltas ? Value(deltas->max) : Value(),
                   row.parts, row.parts_only_a, row.parts_only_b, row.ops_a, row.ops_b, row.name_b,
                   row.kind_b, is_pair ? Value(name_of(row.by)) : Value(), if_any(note)});
    section.table.rows.push_back(std::move(values));
  }
  section.table.row_count = ops.rows.empty() ? 0 : ops.row_count();
  const auto noisy = std::find_if(ops.rows.begin(), ops.rows.end(), [](const OpDifference& row) {
    return row.estimate.has_noise_rule();
  });
  if (noisy != ops.rows.end() && ops.row_count() > 20) {
    section.remarks = {
        "Of many ops some differ by chance: about one in twenty, more with less than four "
        "samples."};
  }
  if (!ops.known) {
    section.remarks = {"The ops have no time on both sides, so only what they are is compared."};
  }
  return section;
}

}  // namespace

Document diff_document(const Diff& diff) {
  Document document;
  for (const Profile* run : diff.a) document.sides.push_back({"a", run});
  for (const Profile* run : diff.b) document.sides.push_back({"b", run});
  document.sections.push_back(sides_section(diff));
  if (!diff.empty()) document.sections.push_back(gates_section(diff));
  if (Section section = cautions_section(diff); !section.remarks.empty()) {
    document.sections.push_back(std::move(section));
  }
  constexpr MeasuredIn units[] = {MeasuredIn::cycles, MeasuredIn::ticks, MeasuredIn::seconds,
                                  MeasuredIn::bytes, MeasuredIn::count};
  for (const MeasuredIn unit : units) {
    Section section = call_change_section(diff, unit);
    if (!section.title.empty()) document.sections.push_back(std::move(section));
  }
  for (const MeasuredIn unit : units) {
    Section section = numbers_section(diff, unit);
    if (!section.title.empty()) document.sections.push_back(std::move(section));
  }
  if (diff.comparison.ops.row_count() > 0) {
    document.sections.push_back(ops_section(diff.comparison.ops));
  }
  return document;
}

}  // namespace npuscope::report
