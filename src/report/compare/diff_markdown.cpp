#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/text.hpp"
#include "report/compare/diff_document.hpp"
#include "report/compare/diff_text.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// Names are data: characters that Markdown, HTML or GitHub (mentions, links, issues, emoji) read
// become character references, which stand for themselves only.
std::string as_character_references(std::string_view text) {
  constexpr std::string_view special = "&<>|`*_[]\\~@#$";
  std::string out;
  const std::string shown = printable(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    const bool ends_word = i + 1 == shown.size() || shown[i + 1] == ' ';
    const bool begins_link =
        (c == ':' && !ends_word) || (c == '.' && i >= 3 && shown.compare(i - 3, 3, "www") == 0);
    if (special.find(c) != special.npos || begins_link) {
      out += fmt::format("&#{};", int(c));
    } else {
      out += c;
    }
  }
  return out;
}

// A name in backticks, as code. Within a table neither a backtick nor a bar can stand in code, and
// in the log of a GitHub job ##[ begins a command, wherever it stands.
std::string as_code(std::string_view name) {
  const std::string shown = printable(name);
  const bool is_special =
      shown.find_first_of("`|") != shown.npos || shown.find("##[") != shown.npos;
  if (shown.empty() || is_special) return as_character_references(name);
  return "`" + shown + "`";
}

std::string gate_cell(const Gate& gate) {
  const std::string text = as_code(gate.text);
  return gate.name.empty() ? text : as_character_references(gate.name) + ": " + text;
}

std::string plain(MeasuredIn unit, double value) {  // the unit stands in the table's head
  return unit == MeasuredIn::seconds || unit == MeasuredIn::bytes
             ? amount_text(unit, value)
             : amount_text(MeasuredIn::count, value);
}

std::string change_cell(const Estimate& estimate) {
  const auto relative = estimate.relative();
  std::string cell = relative ? change_text(*relative) : "from zero";
  if (estimate.contrast.relative) {
    cell += " (" + interval_text(estimate.contrast.relative) + ")";
  }
  return cell;
}

void add_gate(const JudgedGate& judged, std::string& out) {
  const char* mark = judged.fails() ? "**" : "";
  out += fmt::format("| {} | {}{}{} | {} |\n", gate_cell(judged.gate), mark,
                     name_of(judged.result.outcome), mark,
                     as_character_references(
                         estimate_text(judged.result.metric.unit, judged.result.metric.estimate) +
                         doubt_text(judged.result)));
}

// Those that failed first, then what has no outcome; those that passed are folded.
void add_gates(const Judgement& judgement, std::string& out) {
  constexpr std::string_view head = "| gate | outcome | measured |\n|---|---|---|\n";
  std::string open, folded;
  std::size_t passed = 0;
  for (const GateOutcome outcome : {GateOutcome::failed, GateOutcome::inconclusive}) {
    for (const JudgedGate& judged : judgement.gates) {
      if (judged.result.outcome == outcome) add_gate(judged, open);
    }
  }
  for (const UnjudgedGate& unjudged : judgement.unjudged) {
    open += fmt::format("| {} | **not judged** | {} |\n", gate_cell(unjudged.gate),
                        as_character_references(unjudged.sentence));
  }
  for (const JudgedGate& judged : judgement.gates) {
    if (judged.result.outcome != GateOutcome::passed) continue;
    add_gate(judged, folded);
    ++passed;
  }
  if (!open.empty()) out += fmt::format("\n{}{}", head, open);
  if (passed == 0) return;
  out += fmt::format("\n<details><summary>{} gate{} passed</summary>\n\n{}{}\n</details>\n",
                     thousands(passed), passed == 1 ? "" : "s", head, folded);
}

// A higher number is worse, but of what is done in a second.
bool is_worse(const MetricChange& metric) {
  const bool is_more = metric.estimate.verdict == ChangeVerdict::more;
  const bool is_rate = metric.name == "throughput";
  return is_rate ? metric.estimate.verdict == ChangeVerdict::less : is_more;
}

void add_numbers(const Diff& diff, std::string& out) {
  constexpr std::size_t max = 20;
  std::size_t shown = 0, changed = 0;
  std::vector<const MetricChange*> metrics;
  for (const auto* of : {&diff.comparison.call, &diff.comparison.metrics}) {
    for (const MetricChange& metric : *of) metrics.push_back(&metric);
  }
  std::stable_partition(metrics.begin(), metrics.end(),
                        [](const MetricChange* metric) { return is_worse(*metric); });
  for (const MetricChange* each : metrics) {
    const MetricChange& metric = *each;
    if (metric.estimate.verdict == ChangeVerdict::same) continue;
    if (++changed > max) continue;
    if (shown++ == 0) {
      out += "\n| number | A | B | change | |\n|---|--:|--:|--:|---|\n";
    }
    out += fmt::format("| {} | {} | {} | {} | {} |\n", as_code(metric.name),
                       amount_text(metric.unit, metric.estimate.a),
                       amount_text(metric.unit, metric.estimate.b), change_cell(metric.estimate),
                       name_of(metric.estimate.verdict));
  }
  if (changed == 0) out += "\nNo number changed.\n";
  if (changed > max) out += fmt::format("\n{} more numbers changed.\n", changed - max);
}

void add_ops(const Diff& diff, std::string& out) {
  const OpComparison& ops = diff.comparison.ops;
  std::uint64_t changed = 0, shown = 0;
  for (const OpChange change :
       {OpChange::slower, OpChange::faster, OpChange::added, OpChange::removed}) {
    changed += ops.counts[std::size_t(change)];
  }
  std::string rows;
  for (const OpDifference& row : ops.rows) {
    if (row.change == OpChange::same || row.change == OpChange::unclear) continue;
    ++shown;
    const bool only_b = row.change == OpChange::added;
    const std::string& name = only_b ? row.name_b : row.name_a;
    rows += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} |\n", name_of(row.change),
        name.empty() ? "(no op)" : as_code(name), as_code(only_b ? row.kind_b : row.kind_a),
        ops.known ? plain(ops.unit, row.estimate.a) : "",
        ops.known ? plain(ops.unit, row.estimate.b) : "",
        ops.known ? change_cell(row.estimate) : "", as_character_references(explanation(row)));
  }
  if (changed == 0) return;
  out += fmt::format(
      "\n<details><summary>{} of {} changed ops{}</summary>\n\n"
      "| change | {} | kernel | A | B | change | note |\n|---|---|---|--:|--:|--:|---|\n{}\n"
      "</details>\n",
      thousands(shown), thousands(changed),
      ops.known
          ? fmt::format(", by {} in {}", as_character_references(ops.column), name_of(ops.unit))
          : "",
      name_of(ops.grouping == Grouping::part ? Grouping::op : ops.grouping), rows);
}

}  // namespace

std::string diff_markdown(const Diff& diff) {
  const bool failed = any_gate_failed(diff);
  const bool has_gates = !diff.empty();
  const bool is_open = std::any_of(diff.gates.begin(), diff.gates.end(), [](const auto& judged) {
    return judged.result.outcome == GateOutcome::inconclusive;
  });
  std::string out = fmt::format("**{}**: {}\n",
                                failed       ? "Failed"
                                : !has_gates ? (diff.is_alone() ? "Measured" : "Compared")
                                : !diff.unjudged.empty() ? "Not judged"
                                : is_open                ? "Inconclusive"
                                                         : "Passed",
                                as_character_references(verdict_text(diff)));
  if (diff.is_alone()) {
    out += fmt::format("\nRuns: {}  \n", as_character_references(side_text(diff, 1)));
  } else {
    out += fmt::format("\nA: {}  \nB: {}\n", as_character_references(side_text(diff, 0)),
                       as_character_references(side_text(diff, 1)));
  }
  if (!diff.selection.empty())
    out += fmt::format("Selection: {}\n", as_character_references(diff.selection));
  add_gates(diff, out);
  if (!diff.is_alone()) {
    add_numbers(diff, out);
    add_ops(diff, out);
  }
  const std::vector<std::string> warnings = cautions(diff);
  if (!warnings.empty()) out += "\n";
  for (const std::string& warning : warnings)
    out += fmt::format("- {}\n", as_character_references(warning));
  return out;
}

}  // namespace npuscope::report
