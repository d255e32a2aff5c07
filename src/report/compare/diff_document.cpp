#include "report/compare/diff_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "profile/names.hpp"
#include "report/compare/diff_text.hpp"
#include "report/document/scope.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

Format format_of(MeasuredIn unit) {
  switch (unit) {
    case MeasuredIn::seconds: return Format::seconds;
    case MeasuredIn::bytes: return Format::bytes;
    case MeasuredIn::cycles:
    case MeasuredIn::ticks:
    case MeasuredIn::count: break;
  }
  return Format::number;
}

// The values of an estimate, in the order of estimate_fields().
void add_estimate(const Estimate& estimate, std::vector<Value>& row) {
  const std::string interval = interval_text(estimate.contrast.relative);
  const auto low = [](const auto& range) { return range ? Value(range->low) : Value(); };
  const auto high = [](const auto& range) { return range ? Value(range->high) : Value(); };
  row.insert(row.end(), {estimate.a, estimate.b, estimate.delta(), estimate.relative(),
                         interval.empty() ? Value() : Value(interval),
                         low(estimate.contrast.relative), high(estimate.contrast.relative),
                         low(estimate.contrast.absolute), high(estimate.contrast.absolute),
                         estimate.p, estimate.samples_a.size(), estimate.samples_b.size()});
}

constexpr std::size_t estimate_width = 12;
void add_estimate_fields(MeasuredIn unit, std::vector<Field>& fields) {
  const Format format = format_of(unit);
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

// Of files of several inferences: a side's numbers are of one.
std::string scope_of_sides(const Diff& diff) {
  const Comparison& all = diff.comparison;
  std::string of_side[2];
  for (const int side : {0, 1}) {
    const bool several = all.runs[side] == 1 && all.samples[side] + all.apart[side] > 1;
    if (!several) continue;
    of_side[side] = scope_of_median(all.samples[side], all.apart[side] > 0);
  }
  if (of_side[0] == of_side[1]) return of_side[0];
  const auto named = [](const std::string& scope) { return scope.empty() ? "all of it" : scope; };
  return fmt::format("A {}; B {}", named(of_side[0]), named(of_side[1]));
}

Section sides_section(const Diff& diff) {
  Section section{.key = "sides"};
  const auto files = [](const std::vector<const Profile*>& runs) {
    std::vector<std::string> all;
    for (const Profile* run : runs) {
      const auto& of = run->provenance.files;
      all.insert(all.end(), of.begin(), of.end());
    }
    return all;
  };
  const std::string scope = scope_of_sides(diff);
  section.facts = {
      {{"a", "A"}, side_text(diff, 0)},
      {{"b", "B"}, side_text(diff, 1)},
      {{"scope", "scope"}, scope.empty() ? Value() : Value(scope)},
      {{"selection", "selection"}, diff.selection.empty() ? Value() : Value(diff.selection)},
      {{"verdict", "verdict"}, verdict_text(diff)},
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

Section gates_section(const Diff& diff) {
  Section section{.key = "gates", .title = "GATES"};
  section.table.fields = {{"gate", ""},
                          {"outcome", ""},
                          {"metric", ""},
                          {"unit", ""},
                          {"threshold", "", Format::number},
                          {"measured", "", Format::number},
                          {"low", "", Format::number},
                          {"high", "", Format::number},
                          {"p", "", Format::number},
                          {"has_noise_rule", "", Format::truth},
                          {"doubt", ""},
                          {"more_samples_a", "", Format::count},
                          {"more_samples_b", "", Format::count},
                          {"source", ""},
                          {"samples_a", "", Format::count},
                          {"samples_b", "", Format::count},
                          {"cold", "", Format::truth},
                          {"reason", ""}};
  bool any_without = false;
  const auto text_or_none = [](const std::string& text) {
    return text.empty() ? Value() : Value(text);
  };
  for (const JudgedGate& judged : diff.gates) {
    const GateResult& result = judged.result;
    section.remarks.push_back(gate_sentence(judged));
    section.table.rows.push_back(
        {judged.gate.text, name_of(result.outcome), result.metric.name, name_of(result.metric.unit),
         judged.gate.threshold, result.measured,
         result.interval ? Value(result.interval->low) : Value(),
         result.interval ? Value(result.interval->high) : Value(), result.p, result.has_noise_rule,
         result.doubt == GateDoubt::none ? Value() : Value(name_of(result.doubt)), result.more_a,
         result.more_b, text_or_none(result.metric.source), result.metric.estimate.samples_a.size(),
         result.metric.estimate.samples_b.size(),
         result.metric.estimate.cold_a || result.metric.estimate.cold_b, Value()});
    any_without =
        any_without || (!result.has_noise_rule && result.outcome != GateOutcome::inconclusive &&
                        !result.metric.repeats);
  }
  for (const UnjudgedGate& unjudged : diff.unjudged) {
    section.remarks.push_back(unjudged.sentence);
    std::vector<Value> row(section.table.fields.size());
    row[0] = unjudged.text;
    row[1] = "not judged";
    row.back() = unjudged.sentence;
    section.table.rows.push_back(std::move(row));
  }
  if (any_without) {
    section.remarks.push_back(
        "A percentage of samples that are not all above zero has no noise rule: the plain number "
        "decides.");
  }
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
                   {{"unchanged_count", "unchanged", Format::count},
                    unchanged > 0 ? Value(unchanged) : Value()}};
  if (any_cold) section.remarks = {"Some are of cold inferences: there are no others."};
  if (section.table.rows.empty() && unchanged == 0) section.title.clear();
  section.parts.push_back(std::move(same));
  return section;
}

// What the runs are judged by, in one unit.
Section call_section(const Diff& diff, MeasuredIn unit) {
  Section section{.key = "call", .in_list = true};
  section.table.fields = {{"name", "number"}, {"source", "which is"}};
  add_estimate_fields(unit, section.table.fields);
  section.table.fields.push_back({"cold", "", Format::truth});
  section.table.fields.push_back({"verdict", "verdict"});
  bool any_cold = false;
  for (const MetricChange& metric : diff.comparison.call) {
    if (metric.unit != unit) continue;
    const bool is_cold = metric.estimate.cold_a || metric.estimate.cold_b;
    std::vector<Value> row{metric.name, metric.source.empty() ? Value() : Value(metric.source)};
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

Section ops_section(const OpComparison& ops) {
  Section section{.key = "ops"};
  section.title =
      ops.known ? fmt::format("OPS by {}, in {}", ops.column, name_of(ops.unit)) : "OPS";
  std::string shares;
  if (ops.matched_share_a && ops.matched_share_b) {
    shares = fmt::format("{:.1f} % of A, {:.1f} % of B", 100 * *ops.matched_share_a,
                         100 * *ops.matched_share_b);
  }
  section.facts = {{{"column", ""}, ops.known ? Value(ops.column) : Value()},
                   {{"kind", ""}, ops.known ? Value(stable_name(ops.kind)) : Value()},
                   {{"unit", ""}, ops.known ? Value(name_of(ops.unit)) : Value()},
                   {{"rows_by_change", "rows"}, counts_text(ops)},
                   {{"matched_by", "matched"}, matching_text(ops)},
                   {{"matched_time", "matched time"}, shares.empty() ? Value() : Value(shares)},
                   {{"matched_share_a", "", Format::share}, ops.matched_share_a},
                   {{"matched_share_b", "", Format::share}, ops.matched_share_b},
                   {{"same_structure", "", Format::truth}, ops.same_structure}};
  section.table.fields = {{"change_of", "change"}, {"name", "op"}, {"kernel", "kernel"}};
  add_estimate_fields(ops.unit, section.table.fields);
  for (const Field& field :
       std::initializer_list<Field>{{"ops_a", "", Format::count},
                                    {"ops_b", "", Format::count},
                                    {"name_b", ""},
                                    {"kernel_b", ""},
                                    {"matched", ""},
                                    {"note", "note", Format::name, false, true}}) {
    section.table.fields.push_back(field);
  }
  for (const OpDifference& row : ops.rows) {
    const bool only_b = row.change == OpChange::added;
    const std::string_view name = only_b ? row.name_b : row.name_a;
    std::vector<Value> values{name_of(row.change), name.empty() ? "(no op)" : name,
                              only_b ? row.kind_b : row.kind_a};
    if (ops.known) {
      add_estimate(row.estimate, values);
    } else {
      values.resize(values.size() + estimate_width);
    }
    const std::string note = explanation(row);
    const bool is_pair = !only_b && row.change != OpChange::removed;
    values.insert(values.end(), {row.ops_a, row.ops_b, row.name_b, row.kind_b,
                                 is_pair ? Value(name_of(row.by)) : Value(),
                                 note.empty() ? Value() : Value(note)});
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
  document.sections.push_back(sides_section(diff));
  if (!diff.gates.empty() || !diff.unjudged.empty())
    document.sections.push_back(gates_section(diff));
  if (Section section = cautions_section(diff); !section.remarks.empty()) {
    document.sections.push_back(std::move(section));
  }
  constexpr MeasuredIn units[] = {MeasuredIn::cycles, MeasuredIn::ticks, MeasuredIn::seconds,
                                  MeasuredIn::bytes, MeasuredIn::count};
  for (const MeasuredIn unit : units) {
    Section section = call_section(diff, unit);
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
