#include "report/compare/diff_github.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace npuscope::report {
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
