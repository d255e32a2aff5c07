#include <fmt/format.h>

#include "base/text.hpp"
#include "report/document/quantity.hpp"
#include "report/memory/peaks.hpp"
#include "report/show/show.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {

namespace {

// "2.404 ms, 98.5 % of a warm call": of the call alone where it is known, the wall may be a cold
// one.
Value short_gain(const analysis::Finding& finding) {
  if (!finding.gain) return "not stated";
  const analysis::Gain& gain = *finding.gain;
  if (!gain.of_call) return fmt::format("{} of {}", percent_text(gain.share, 1), gain.of);
  return fmt::format("{}, {} of a warm call", seconds_text(gain.of_call->seconds),
                     percent_text(gain.of_call->share, 1));
}

}  // namespace

// Of some units or ops nobody can say what is idle or exposed, and of very many spans it takes
// longer than a page may. All findings are in JSON, the first three in text.
Section first_findings_section(const analysis::Analysis& analysis, bool leaves_out_rows,
                               const PeakText& peaks) {
  constexpr std::size_t max_shown = 3;
  const Profile& profile = analysis.profile();
  Section section{.key = "findings", .title = "FINDINGS"};
  const bool too_many = profile.spans.size() > max_spans_for_findings;
  section.facts = {{{"looked_for"}, !leaves_out_rows && !too_many}};
  if (leaves_out_rows) {
    section.title += "  not checked: units or ops are left out";
    return section;
  }
  if (too_many) {
    section.title += fmt::format("  {} spans: npuscope diagnose looks for them",
                                 thousands(profile.spans.size()));
    return section;
  }
  analysis::DiagnoseOptions asked;
  if (const auto found = find_peaks(profile, peaks)) asked.peaks = found->peaks;
  const analysis::Diagnosis diagnosis = analysis.findings(asked);
  section.table.fields = {{"rule"},       {"title"},   {"weight"},
                          {"gain_share"}, {"gain_of"}, {"call_gain_share"}};
  Section shown;
  shown.table.fields = {{"", "finding"}, {"", "could save at most"}};
  for (const analysis::Finding& finding : diagnosis.findings) {
    const auto& gain = finding.gain;
    section.table.rows.push_back({finding.rule, finding.title, name_of(finding.weight),
                                  gain ? Value(gain->share) : Value(),
                                  gain ? Value(gain->of) : Value(),
                                  gain && gain->of_call ? Value(gain->of_call->share) : Value()});
    if (shown.table.rows.size() == max_shown) continue;
    shown.table.rows.push_back(
        {fmt::format("{}  {}", shown.table.rows.size() + 1, finding.title), short_gain(finding)});
  }
  if (shown.table.rows.empty()) {
    section.title += "  none";
    return section;
  }
  const std::size_t all = diagnosis.findings.size();
  section.title += fmt::format(" ({}{})  npuscope diagnose shows the evidence",
                               all > max_shown ? fmt::format("{} of ", max_shown) : "", all);
  section.parts.push_back(std::move(shown));
  return section;
}

}  // namespace npuscope::report
