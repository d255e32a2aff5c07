#include "report/compare/judgement.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "report/compare/diff_text.hpp"

namespace npuscope::report {

using namespace analysis;
using analysis::name_of;

namespace {

std::string joined_by_and(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
  return text;
}

// "2 more samples a side", "3 more samples of A and 5 of B".
std::string missing_text(const GateResult& result) {
  const auto samples = [](std::uint64_t count) { return counted(count, "more sample"); };
  const std::uint64_t a = result.more_a.value_or(0), b = result.more_b.value_or(0);
  if (result.metric.estimate.samples_a.empty()) return samples(b);
  if (a == b) return samples(a) + " a side";
  if (a == 0 || b == 0) return fmt::format("{} of {}", samples(a + b), a == 0 ? "B" : "A");
  return fmt::format("{} of A and {} of B", samples(a), thousands(b));
}

const char* form_of(const Gate& gate) { return gate.is_requirement ? "require" : "fail_if"; }

const char* name_of(Inconclusive inconclusive) {
  constexpr const char* names[] = {"fail", "warn", "pass"};
  return names[std::size_t(inconclusive)];
}

}  // namespace

std::string doubt_text(const GateResult& result) {
  std::string text;
  switch (result.doubt) {
    case GateDoubt::none: return {};
    case GateDoubt::temperature:
      text = fmt::format("{} is of cold inferences, {} of warm ones",
                         result.metric.estimate.cold_a ? "A" : "B",
                         result.metric.estimate.cold_a ? "B" : "A");
      break;
    case GateDoubt::cold:
      text = "all inferences are cold, warm ones may keep the limit or not";
      break;
    case GateDoubt::too_few:
      text = fmt::format("needs {} {}", result.has_noise_rule ? "about" : "at least",
                         missing_text(result));
      break;
    case GateDoubt::within_noise:
      text = result.more_b
                 ? fmt::format("the limit is within the noise, about {} would tell",
                               missing_text(result))
                 : fmt::format("the limit is within the noise, more than {} samples would not tell",
                               thousands(max_samples));
      break;
  }
  if (!result.warm_instead.empty()) {
    text += fmt::format("; {} {} warm samples", joined_by_and(result.warm_instead),
                        result.warm_instead.size() == 1 ? "has" : "have");
  }
  return "; " + text;
}

std::string gate_name(const Gate& gate) {
  return gate.name.empty() ? fmt::format("'{}'", gate.text)
                           : fmt::format("{} ('{}')", gate.name, gate.text);
}

std::string gate_sentence(const JudgedGate& judged) {
  const GateResult& result = judged.result;
  std::string text =
      fmt::format("gate {} {}: {}{}", gate_name(judged.gate), name_of(result.outcome),
                  estimate_text(result.metric.unit, result.metric.estimate), doubt_text(result));
  const bool is_explained = !judged.gate.reason.empty() && result.outcome != GateOutcome::passed;
  if (is_explained) text += fmt::format("; reason: {}", judged.gate.reason);
  return text;
}

bool JudgedGate::fails() const {
  return result.outcome == GateOutcome::failed ||
         (result.outcome == GateOutcome::inconclusive && inconclusive == Inconclusive::fail);
}

bool any_gate_failed(const Judgement& judgement) {
  return std::any_of(judgement.gates.begin(), judgement.gates.end(),
                     [](const JudgedGate& judged) { return judged.fails(); });
}

std::string gates_text(const Judgement& judgement) {
  const std::size_t all = judgement.gates.size() + judgement.unjudged.size();
  if (all == 0) return {};
  const auto count = [&](GateOutcome outcome) {
    return std::count_if(
        judgement.gates.begin(), judgement.gates.end(),
        [&](const JudgedGate& judged) { return judged.result.outcome == outcome; });
  };
  const std::pair<std::size_t, const char*> parts[] = {
      {std::size_t(count(GateOutcome::failed)), "failed"},
      {std::size_t(count(GateOutcome::inconclusive)), "inconclusive"},
      {judgement.unjudged.size(), "not judged"}};
  std::string text;
  for (const auto& [number, what] : parts) {
    if (number == 0) continue;
    text += text.empty() ? fmt::format("{} of {} gate{} {}", number, all, all == 1 ? "" : "s", what)
                         : fmt::format(", {} {}", number, what);
  }
  if (text.empty()) text = all == 1 ? "the gate passed" : fmt::format("{} gates passed", all);
  return text + "; ";
}

Section gates_section(const Judgement& judgement) {
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
                          {"reason", ""},
                          {"name", ""},
                          {"form", ""},
                          {"if_inconclusive", ""},
                          {"purpose", ""}};
  bool any_without = false;
  for (const JudgedGate& judged : judgement.gates) {
    const GateResult& result = judged.result;
    section.remarks.push_back(gate_sentence(judged));
    section.table.rows.push_back(
        {judged.gate.text,
         name_of(result.outcome),
         result.metric.name,
         name_of(result.metric.unit),
         judged.gate.threshold,
         result.measured,
         result.interval ? Value(result.interval->low) : Value(),
         result.interval ? Value(result.interval->high) : Value(),
         result.p,
         result.has_noise_rule,
         result.doubt == GateDoubt::none ? Value() : Value(name_of(result.doubt)),
         result.more_a,
         result.more_b,
         if_any(result.metric.source),
         result.metric.estimate.samples_a.size(),
         result.metric.estimate.samples_b.size(),
         result.metric.estimate.cold_a || result.metric.estimate.cold_b,
         Value(),
         if_any(judged.gate.name),
         form_of(judged.gate),
         name_of(judged.inconclusive),
         if_any(judged.gate.reason)});
    using Statistic = Gate::Statistic;
    const bool is_extreme =
        judged.gate.statistic == Statistic::min || judged.gate.statistic == Statistic::max;
    any_without =
        any_without || (!result.has_noise_rule && result.outcome != GateOutcome::inconclusive &&
                        !result.metric.repeats && !is_extreme);
  }
  for (const UnjudgedGate& unjudged : judgement.unjudged) {
    section.remarks.push_back(unjudged.sentence);
    std::vector<Value> row(section.table.fields.size());
    row[0] = unjudged.gate.text;
    row[1] = "not judged";
    const std::size_t said = row.size() - 5;  // reason, name, form, if_inconclusive, purpose
    row[said] = unjudged.sentence;
    row[said + 1] = if_any(unjudged.gate.name);
    row[said + 2] = form_of(unjudged.gate);
    row[said + 4] = if_any(unjudged.gate.reason);
    section.table.rows.push_back(std::move(row));
  }
  if (any_without) {
    section.remarks.push_back(
        "A percentage of samples that are not all above zero has no noise rule: the plain number "
        "decides.");
  }
  return section;
}

namespace {

using analysis::GateOutcome;

// What the runner reads as its own stands as a percent code; a title ends at a comma or colon.
std::string as_data(std::string_view text, bool is_title) {
  std::string out;
  for (const char c : printable(text)) {
    const bool is_special = c == '%' || (is_title && (c == ':' || c == ','));
    out += is_special ? fmt::format("%{:02X}", int(c)) : std::string(1, c);
  }
  return out;
}

std::string annotation(const char* level, std::string_view title, std::string_view message) {
  return fmt::format("::{} title={}::{}", level, as_data(title, true), as_data(message, false));
}

}  // namespace

std::vector<std::string> github_annotations(const Judgement& judgement) {
  const auto title_of = [](const analysis::Gate& gate) {
    return gate.name.empty() ? gate.text : gate.name;
  };
  std::vector<std::string> lines;
  for (const GateOutcome outcome : {GateOutcome::failed, GateOutcome::inconclusive}) {
    for (const JudgedGate& judged : judgement.gates) {
      if (judged.result.outcome != outcome) continue;
      const bool is_passed_over = !judged.fails() && judged.inconclusive == Inconclusive::pass;
      if (is_passed_over) continue;
      lines.push_back(annotation(judged.fails() ? "error" : "warning", title_of(judged.gate),
                                 gate_sentence(judged)));
    }
  }
  for (const UnjudgedGate& unjudged : judgement.unjudged) {
    lines.push_back(annotation("error", title_of(unjudged.gate), unjudged.sentence));
  }
  return lines;
}

}  // namespace npuscope::report
