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

void add_gates(const Diff& diff, std::string& out) {
  if (diff.gates.empty() && diff.unjudged.empty()) return;
  out += "\n| gate | outcome | measured |\n|---|---|---|\n";
  for (const JudgedGate& judged : diff.gates) {
    const bool failed = judged.result.outcome == GateOutcome::failed ||
                        (judged.result.outcome == GateOutcome::inconclusive &&
                         diff.inconclusive == Inconclusive::fail);
    out += fmt::format("| {} | {}{}{} | {} |\n", as_character_references(judged.gate.text),
                       failed ? "**" : "", name_of(judged.result.outcome), failed ? "**" : "",
                       as_character_references(
                           estimate_text(judged.result.metric.unit, judged.result.metric.estimate) +
                           doubt_text(judged.result)));
  }
  for (const UnjudgedGate& unjudged : diff.unjudged) {
    out += fmt::format("| {} | **not judged** | {} |\n", as_character_references(unjudged.text),
                       as_character_references(unjudged.sentence));
  }
}

void add_numbers(const Diff& diff, std::string& out) {
  constexpr std::size_t max = 20;
  std::size_t shown = 0, changed = 0;
  std::vector<const MetricChange*> metrics;
  for (const auto* of : {&diff.comparison.call, &diff.comparison.metrics}) {
    for (const MetricChange& metric : *of) metrics.push_back(&metric);
  }
  for (const MetricChange* each : metrics) {
    const MetricChange& metric = *each;
    if (metric.estimate.verdict == ChangeVerdict::same) continue;
    if (++changed > max) continue;
    if (shown++ == 0) {
      out += "\n| number | A | B | change | |\n|---|--:|--:|--:|---|\n";
    }
    out += fmt::format("| {} | {} | {} | {} | {} |\n", as_character_references(metric.name),
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
    const std::string_view name = only_b ? row.name_b : row.name_a;
    rows += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", name_of(row.change),
                        as_character_references(name.empty() ? "(no op)" : name),
                        as_character_references(only_b ? row.kind_b : row.kind_a),
                        ops.known ? plain(ops.unit, row.estimate.a) : "",
                        ops.known ? plain(ops.unit, row.estimate.b) : "",
                        ops.known ? change_cell(row.estimate) : "",
                        as_character_references(explanation(row)));
  }
  if (changed == 0) return;
  out += fmt::format(
      "\n<details><summary>{} of {} changed ops{}</summary>\n\n"
      "| change | op | kernel | A | B | change | note |\n|---|---|---|--:|--:|--:|---|\n{}\n"
      "</details>\n",
      thousands(shown), thousands(changed),
      ops.known
          ? fmt::format(", by {} in {}", as_character_references(ops.column), name_of(ops.unit))
          : "",
      rows);
}

}  // namespace

std::string diff_markdown(const Diff& diff) {
  const bool failed = any_gate_failed(diff);
  const bool has_gates = !diff.gates.empty() || !diff.unjudged.empty();
  const bool is_open = std::any_of(diff.gates.begin(), diff.gates.end(), [](const auto& judged) {
    return judged.result.outcome == GateOutcome::inconclusive;
  });
  std::string out = fmt::format("**{}**: {}\n",
                                failed                   ? "Failed"
                                : !has_gates             ? "Compared"
                                : !diff.unjudged.empty() ? "Not judged"
                                : is_open                ? "Inconclusive"
                                                         : "Passed",
                                as_character_references(verdict_text(diff)));
  out += fmt::format("\nA: {}  \nB: {}\n", as_character_references(side_text(diff, 0)),
                     as_character_references(side_text(diff, 1)));
  if (!diff.selection.empty())
    out += fmt::format("Selection: {}\n", as_character_references(diff.selection));
  add_gates(diff, out);
  add_numbers(diff, out);
  add_ops(diff, out);
  const std::vector<std::string> warnings = cautions(diff);
  if (!warnings.empty()) out += "\n";
  for (const std::string& warning : warnings)
    out += fmt::format("- {}\n", as_character_references(warning));
  return out;
}

}  // namespace npuscope::report
