#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/findings/findings_document.hpp"
#include "report/show/show_text.hpp"

namespace npuscope::report {

// The first of them; npuscope diagnose has the evidence.
void PageText::print_findings() {
  constexpr std::size_t max_shown = 3;
  if (!page_.diagnosis) {
    heading(fmt::format("FINDINGS  {} spans: npuscope diagnose looks for them",
                        thousands(profile_.spans.size())));
    return;
  }
  const auto& findings = page_.diagnosis->findings;
  if (findings.empty()) return;
  const std::size_t shown = std::min(max_shown, findings.size());
  heading(fmt::format("FINDINGS ({})  npuscope diagnose has the evidence",
                      more(shown, findings.size())));
  TextTable rows({{"finding", Align::left}, {"gain", Align::left}, {"rule", Align::left, false}});
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string gain = gain_text(findings[i]);
    rows.add({findings[i].title, gain.empty() ? "not stated" : gain, findings[i].rule});
  }
  table(rows);
}

}  // namespace npuscope::report
