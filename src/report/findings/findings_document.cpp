#include "report/findings/findings_document.hpp"

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/try.hpp"
#include "npuscope/profile/unit_path.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/document/shared_sections.hpp"
#include "report/words/reference_page.hpp"

namespace npuscope::report {
namespace {

using analysis::Diagnosis;
using analysis::Evidence;
using analysis::EvidenceQuantity;
using analysis::Finding;

Format format_of(EvidenceQuantity quantity) {
  switch (quantity) {
    case EvidenceQuantity::ticks: return Format::ticks;
    case EvidenceQuantity::seconds: return Format::seconds;
    case EvidenceQuantity::hertz: return Format::hertz;
    case EvidenceQuantity::bytes: return Format::bytes;
    case EvidenceQuantity::share: return Format::share;
    case EvidenceQuantity::count: return Format::count;
    case EvidenceQuantity::number: break;
  }
  return Format::number;
}

std::string unit_name(const Profile& profile, const Evidence& evidence) {
  switch (evidence.quantity) {
    case EvidenceQuantity::ticks: {
      // In JSON a time is in ticks of its clock; the clock's unit says what these are.
      const std::string unit = unit_of(profile, evidence.clock);
      return unit.empty() ? "ticks" : unit;
    }
    case EvidenceQuantity::seconds: return "seconds";
    case EvidenceQuantity::hertz: return "hertz";
    case EvidenceQuantity::bytes: return "bytes";
    case EvidenceQuantity::share: return "share";
    case EvidenceQuantity::count: return "count";
    case EvidenceQuantity::number: break;
  }
  return "number";
}

std::string text_of(const Profile& profile, const Evidence& evidence) {
  Field field{"", "", format_of(evidence.quantity)};
  field.clock = evidence.clock;
  const std::string text = evidence.quantity == EvidenceQuantity::count
                               ? number_text(evidence.value)
                               : value_text(&profile, field, evidence.value);
  const bool plain =
      evidence.quantity == EvidenceQuantity::ticks && !shows_time(profile, evidence.clock);
  const std::string unit = plain ? unit_of(profile, evidence.clock) : "";
  return unit.empty() ? text : text + " " + unit;
}

Value call_share(const Finding& finding) {
  return finding.gain && finding.gain->of_call ? Value(finding.gain->of_call->share) : Value();
}

std::string gain_amount(const Profile& profile, const analysis::Gain& gain) {
  if (!gain.of_wall) return seconds_text(gain.ticks);
  const std::string text = ticks_text(profile, profile.base_clock, gain.ticks);
  return shows_time(profile, profile.base_clock)
             ? text
             : text + " " + unit_of(profile, profile.base_clock);
}

// "up to 10.86 us of a warm call; 30,649 cycles of the cold wall: by longest path: …"
std::string gain_sentence(const Profile& profile, const analysis::Gain& gain) {
  const std::string amount = gain_amount(profile, gain);
  if (!gain.of_call || !gain.of_wall) return fmt::format("up to {}: {}", amount, gain.how);
  return fmt::format("up to {} of a warm call; {} of {}: {}", seconds_text(gain.of_call->seconds),
                     amount, gain.of, gain.how);
}

Section ranking_section(const Diagnosis& diagnosis) {
  Section section{.key = "ranking"};
  section.table.fields = {{"rank", "", Format::count},
                          {"rule"},
                          {"title"},
                          {"weight"},
                          {"gain_share", "", Format::share},
                          {"gain_of"},
                          {"call_gain_share", "", Format::share}};
  for (const Finding& finding : diagnosis.findings) {
    section.table.rows.push_back(
        {section.table.rows.size() + 1, finding.rule, finding.title, name_of(finding.weight),
         finding.gain ? Value(finding.gain->share) : Value(),
         finding.gain ? Value(finding.gain->of) : Value(), call_share(finding)});
  }
  return section;
}

// For programs that show them: text has the numbers.
Section places_section(const Profile& profile, const Finding& finding) {
  Section section{.key = "places"};
  section.table.fields = {{"unit"}, {"begin", "", Format::ticks}, {"end", "", Format::ticks}};
  for (const analysis::EvidencePlace& place : finding.places) {
    section.table.rows.push_back(
        {place.unit == UnitId::none ? Value() : Value(path_of(profile, place.unit)),
         place.time.begin, place.time.end});
  }
  return section;
}

Section finding_section(const Profile& profile, const Finding& finding, std::size_t rank) {
  Section section{.key = "findings", .in_list = true};
  const std::string gain = gain_text(finding);
  section.title = fmt::format("{}  {}{}{}", rank, finding.rule, gain.empty() ? "" : ": ", gain);
  section.facts = {{{"rank"}, rank},
                   {{"rule"}, finding.rule},
                   {{"title", "finding"}, finding.title},
                   {{"weight", finding.gain ? "" : "weight"}, name_of(finding.weight)}};
  if (finding.gain) {
    const analysis::Gain& gained = *finding.gain;
    section.facts.push_back({{"gain_text", "gain"}, gain_sentence(profile, gained)});
    section.facts.push_back({{gained.of_wall ? "gain_ticks" : "gain_seconds"}, gained.ticks});
    section.facts.push_back({{"gain_share"}, gained.share});
    section.facts.push_back({{"gain_of"}, gained.of});
    section.facts.push_back({{"gain_how"}, gained.how});
    section.facts.push_back(
        {{"call_gain_seconds"}, gained.of_call ? Value(gained.of_call->seconds) : Value()});
    section.facts.push_back({{"call_gain_share"}, call_share(finding)});
  } else {
    section.facts.push_back({{"no_gain", "gain"}, "none (" + finding.no_gain + ")"});
  }
  section.facts.push_back({{"advice"}, finding.advice});
  section.table.fields = {{"rule"},
                          {"key"},
                          {"what", "evidence"},
                          {"text", "value"},
                          {"value", "", Format::number},
                          {"unit"},
                          {"of", "of", Format::name, false, true},
                          {"kind", "kind", Format::name, false},
                          {"source", "from", Format::name, false}};
  for (const Evidence& each : finding.evidence) {
    section.table.rows.push_back({finding.rule, each.key, each.what, text_of(profile, each),
                                  each.value, unit_name(profile, each), if_any(each.of),
                                  stable_name(each.kind), each.source});
  }
  section.remarks = {finding.advice};
  if (!finding.places.empty()) section.parts.push_back(places_section(profile, finding));
  return section;
}

// "inference nearest the median of 4, 1.028 ms to 1.035 ms; 1 cold one apart"
std::string samples_text(const Profile& profile, const analysis::RunSet& samples) {
  const auto time = [&](double ticks) { return ticks_text(profile, profile.base_clock, ticks); };
  std::string text =
      fmt::format("the inference nearest the median of {}, {} to {}", samples.walls.count,
                  time(samples.walls.min), time(samples.walls.max));
  if (samples.cold > 0) text += fmt::format("; {} cold apart", samples.cold);
  return text + " (--each shows every one)";
}

Section summary_section(const Profile& profile, const Diagnosis& diagnosis,
                        const FindingsRequest& request) {
  Section section{.key = "summary"};
  if (request.samples != nullptr && request.samples->profiles.size() > 1) {
    section.facts = {{{"samples", "samples"}, samples_text(profile, *request.samples)},
                     {{"sample_count"}, request.samples->walls.count},
                     {{"cold_apart"}, request.samples->cold}};
  }
  const std::size_t tried = diagnosis.findings.size() + diagnosis.quiet.size();
  std::string text =
      fmt::format("{} ({} checked", diagnosis.findings.size(), counted(tried, "rule"));
  if (!diagnosis.untried.empty()) {
    text += fmt::format(", {} skipped: missing data{}", diagnosis.untried.size(),
                        request.with_rest ? "" : "; --all lists them");
  }
  text += ")";
  const Fact facts[] = {{{"", "findings"}, text},
                        {{"wall", "", Format::ticks}, if_positive(diagnosis.wall)},
                        {{"found"}, diagnosis.findings.size()},
                        {{"quiet"}, diagnosis.quiet.size()},
                        {{"untried"}, diagnosis.untried.size()}};
  section.facts.insert(section.facts.end(), std::begin(facts), std::end(facts));
  std::size_t gains = 0;
  for (const Finding& finding : diagnosis.findings) gains += finding.gain.has_value();
  if (gains > 0) {
    section.remarks = {
        "Each gain is an upper bound, of that finding alone; they overlap and do not add up."};
  }
  if (diagnosis.cold && diagnosis.call && diagnosis.call->warm) {
    section.remarks.push_back(
        "Ops were recorded in a cold call: a gain in a warm call is at most the warm time of the "
        "graph "
        "and of the nodes concerned.");
  }
  if (request.is_part) {
    section.remarks.push_back(
        "Units or ops are left out: time that looks idle, exposed or alone may overlap them.");
  }
  return section;
}

Section rest_section(const Diagnosis& diagnosis) {
  Section section{.key = "other_rules", .title = "OTHER RULES"};
  section.table.fields = {
      {"rule", "rule"}, {"outcome", "outcome"}, {"missing", "the profile lacks"}};
  for (const std::string& rule : diagnosis.quiet) {
    section.table.rows.push_back({rule, "does not apply", Value()});
  }
  for (const analysis::UntriedRule& rule : diagnosis.untried) {
    section.table.rows.push_back({rule.rule, "not tried", rule.missing});
  }
  return section;
}

}  // namespace

std::string gain_text(const Finding& finding) {
  if (!finding.gain) return "";
  const analysis::Gain& gain = *finding.gain;
  const std::string own = fmt::format("{} of {}", percent_text(gain.share, 1), gain.of);
  if (!gain.of_call || !gain.of_wall) return "up to " + own;
  return fmt::format("up to {} of a warm call, {}", percent_text(gain.of_call->share, 1), own);
}

Result<Document> make_findings_document(const analysis::Analysis& analysis,
                                        const FindingsRequest& request) {
  const Profile& profile = analysis.profile();
  if (!request.rule.empty()) {
    TRY(analysis::require_finding_rule(request.rule));
  }
  TRY_AS(peaks, find_peaks(profile, request.peaks));
  analysis::DiagnoseOptions options;
  options.peaks = peaks->peaks;
  options.rate = peaks->clock;
  options.only = request.rule;
  options.places = true;
  const Diagnosis diagnosis = analysis.findings(options);
  if (diagnosis.findings.empty() && diagnosis.quiet.empty()) {
    if (!request.rule.empty()) {
      return input_error("{}: {} cannot be tried: the profile lacks {}", files_text(profile),
                         request.rule, diagnosis.untried.front().missing);
    }
    return input_error("{}: no rule applies to it; npuscope show lists what it holds",
                       files_text(profile));
  }
  Document document{.profile = &profile};
  document.scope = scope_of_all(profile);
  if (!document.scope.empty()) document.scope += "; gains are of one";
  document.sections = {summary_section(profile, diagnosis, request), ranking_section(diagnosis)};
  if (diagnosis.call) document.sections.push_back(call_section(*diagnosis.call));
  std::size_t rank = 0;
  for (const Finding& finding : diagnosis.findings) {
    document.sections.push_back(finding_section(profile, finding, ++rank));
  }
  if (request.with_rest) document.sections.push_back(rest_section(diagnosis));
  return document;
}

namespace {

// What docs/rules.md says of a rule.
struct RuleText {
  std::string finds;                     // what it finds, in a line
  std::string computed;                  // from which numbers
  std::string threshold, source, blind;  // from where on it speaks, why, and what it does not see
};

RuleText text_of_rule(const std::string& name) {
  RuleText text;
  const ReferenceEntry* entry = find_entry(ReferencePage::rules, name);
  if (entry == nullptr) return text;
  text.finds = entry->title;
  const std::pair<std::string_view, std::string*> items[] = {
      {"speaks: ", &text.threshold}, {"because: ", &text.source}, {"blind to: ", &text.blind}};
  for (const EntryBlock& block : entry->blocks) {
    if (block.kind == EntryBlock::Kind::text) text.computed = block.text;
    for (const auto& [mark, part] : items) {
      const bool is_it = block.kind == EntryBlock::Kind::item && block.text.starts_with(mark);
      if (is_it) *part = block.text.substr(mark.size());
    }
  }
  return text;
}

}  // namespace

Document rules_document() {
  Document document;
  Section section{.key = "rules"};
  section.table.fields = {{"rule", "rule"}, {"finds", "finds"}, {"computed"},
                          {"threshold"},    {"source"},         {"blind"}};
  for (const std::string& name : analysis::finding_rules()) {
    const RuleText text = text_of_rule(name);
    section.table.rows.push_back(
        {name, text.finds, text.computed, text.threshold, text.source, text.blind});
  }
  section.remarks = {"--explain RULE says how one is computed."};
  document.sections.push_back(std::move(section));
  return document;
}

Result<Document> rule_document(const std::string& name) {
  TRY(analysis::require_finding_rule(name));
  const RuleText text = text_of_rule(name);
  Document document;
  Section section{.key = "rule"};
  section.facts = {{{"rule", "rule"}, name},
                   {{"finds", "finds"}, text.finds},
                   {{"computed", "computed"}, text.computed},
                   {{"threshold", "speaks"}, text.threshold},
                   {{"source", "because"}, text.source},
                   {{"blind", "blind to"}, text.blind}};
  document.sections.push_back(std::move(section));
  return document;
}

}  // namespace npuscope::report
