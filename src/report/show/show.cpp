#include "report/show/show.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/near_names.hpp"
#include "base/text.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/document/shared_sections.hpp"
#include "report/ops/ops_document.hpp"
#include "report/show/show_sections.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

class FullPage {
 public:
  FullPage(const Analysis& analysis, const ShowRequest& request)
      : analysis_(analysis),
        request_(request),
        top_(request.top == 0 ? ~std::size_t{0} : request.top) {}

  Result<Document> make();

 private:
  void add(Section section);
  void add_ops(Grouping grouping, const char* key);
  void add_units();
  bool wants(std::initializer_list<const char*> keys) const;

  const Analysis& analysis_;
  const ShowRequest& request_;
  std::size_t top_;
  Document document_;
  std::vector<std::string> known_;
};

// Whether any of these sections is asked for: what nobody wants to see is not worked out.
bool FullPage::wants(std::initializer_list<const char*> keys) const {
  if (request_.sections.empty()) return true;
  return std::any_of(keys.begin(), keys.end(), [&](const char* key) {
    return std::find(request_.sections.begin(), request_.sections.end(), key) !=
           request_.sections.end();
  });
}

void FullPage::add(Section section) {
  if (section.key.empty()) return;
  known_.push_back(section.key);
  if (wants({section.key.c_str()})) document_.sections.push_back(std::move(section));
}

// As `npuscope ops` has them.
void FullPage::add_ops(Grouping grouping, const char* key) {
  if (!wants({key})) return known_.push_back(key);
  OpsRequest request;
  request.grouping = grouping;
  request.top = request_.top;
  request.peaks = request_.peaks;
  auto ops = ops_document(analysis_, request);
  if (!ops || ops->sections.empty() || ops->sections.front().table.rows.empty()) return;
  Section section = std::move(ops->sections.front());
  section.key = key;
  if (grouping != Grouping::op) section.remarks.clear();  // as those of the table before
  add(std::move(section));
}

void FullPage::add_units() {
  auto units = units_document(analysis_, {.by = UnitsBy::unit, .top = request_.top});
  if (!units) return;
  for (Section& section : units->sections) {
    if (section.key == "wall") continue;  // this page has its own
    add(std::move(section));
  }
}

Result<Document> FullPage::make() {
  const Profile& profile = analysis_.profile();
  document_.profile = &profile;
  document_.scope = scope_of_all(profile);
  add(about_section(analysis_));
  if (!request_.is_part) add(latency_section(latency_of(analysis_)));
  if (!request_.is_part) add(tokens_section(analysis_));
  if (!request_.is_part) add(estimate_section(analysis_));
  if (analysis_.call()) add(call_section(*analysis_.call()));
  add(wall_section(analysis_, request_.leaves_out_rows));
  if (!request_.is_part) add(throughput_section(profile, request_.peaks));
  add(phases_section(analysis_, top_));
  if (wants({"findings"})) {
    add(first_findings_section(analysis_, request_.leaves_out_rows, request_.peaks));
  } else {
    known_.push_back("findings");
  }
  add(model_parts_section(analysis_));
  add_ops(Grouping::op, "ops");
  if (wants({"op_windows"})) add(op_windows_section(analysis_, request_.top, request_.peaks));
  add_ops(Grouping::kind, "kinds");
  add_units();
  add(unit_numbers_section(analysis_, top_));
  add(traffic_section(analysis_));
  add(run_numbers_section(analysis_, top_));
  add(part_numbers_section(analysis_, top_));
  add(counters_section(profile, top_));
  add(checks_section(profile));
  add(notes_section(profile, top_));
  for (const std::string& key : request_.sections) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string names;
    for (const std::string& name : known_) names += (names.empty() ? "" : ", ") + name;
    return usage_error("--section={}: this profile has no such section{}; it has {}", key,
                       did_you_mean(names, key), names);
  }
  return std::move(document_);
}

}  // namespace

Result<Document> show_document(const Analysis& analysis, const ShowRequest& request) {
  return FullPage(analysis, request).make();
}

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

std::string findings_title(std::size_t shown, std::size_t all) {
  return fmt::format("FINDINGS ({}{})  npuscope diagnose shows the evidence",
                     all > shown ? fmt::format("{} of ", shown) : "", all);
}

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
  section.title = findings_title(max_shown, diagnosis.findings.size());
  section.parts.push_back(std::move(shown));
  return section;
}

}  // namespace npuscope::report
