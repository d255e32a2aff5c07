#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "profile/names.hpp"
#include "report/compare/diff_document.hpp"
#include "report/compare/diff_text.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

Section run_section(const Diff& check) {
  const Comparison& all = check.comparison;
  const bool several = all.runs[1] == 1 && all.samples[1] + all.apart[1] > 1;
  const std::string scope = several ? scope_of_median(all.samples[1], all.apart[1] > 0) : "";
  Section section{.key = "run"};
  section.facts = {{{"runs", "runs"}, side_text(check, 1)},
                   {{"scope", "scope"}, if_any(scope)},
                   {{"selection", "selection"}, if_any(check.selection)},
                   {{"verdict", "verdict"}, verdict_text(check)},
                   {{"run_count", "", Format::count}, all.runs[1]},
                   {{"samples", "", Format::count}, all.samples[1]},
                   {{"cold_apart", "", Format::count}, all.apart[1]},
                   {{"cold", "", Format::truth}, all.cold[1]}};
  return section;
}

std::vector<Value> row_of(const MetricChange& metric) {
  const Estimate& estimate = metric.estimate;
  const auto& samples = estimate.samples_b;
  const auto interval = percentile_interval(samples, estimate.percent);
  const auto [min, max] = std::minmax_element(samples.begin(), samples.end());
  return {metric.name,
          if_any(metric.source),
          stable_name(metric.kind),
          estimate.b,
          interval ? Value(interval->low) : Value(),
          interval ? Value(interval->high) : Value(),
          *min,
          *max,
          samples.size(),
          estimate.cold_b};
}

// Numbers in one unit: what the run is judged by, then the others.
Section values_section(const Diff& check, MeasuredIn unit) {
  Section section{.key = "numbers", .in_list = true};
  const Format format = format_in(unit);
  const bool is_shown = check.empty();
  const auto label = [&](const char* text) { return is_shown ? text : ""; };
  section.facts = {{{"unit", ""}, name_of(unit)}};
  section.table.fields = {{"name", label("number")},
                          {"source", label("which is"), Format::name, false, true},
                          {"kind", label("kind")},
                          {"value", label("value"), format},
                          {"low", label("95 % from"), format, false, true},
                          {"high", label("to"), format, false, true},
                          {"min", label("min"), format},
                          {"max", label("max"), format},
                          {"samples", label("samples"), Format::count},
                          {"cold", "", Format::truth}};
  std::set<std::string_view> known;
  for (const auto* metrics : {&check.comparison.call, &check.comparison.metrics}) {
    for (const MetricChange& metric : *metrics) {
      const bool is_of_unit = metric.unit == unit && !metric.estimate.samples_b.empty();
      if (is_of_unit && known.insert(metric.name).second)
        section.table.rows.push_back(row_of(metric));
    }
  }
  if (is_shown) {
    section.title =
        unit == MeasuredIn::count ? "NUMBERS" : fmt::format("NUMBERS in {}", name_of(unit));
  }
  return section;
}

}  // namespace

Document check_document(const Diff& check) {
  Document document;
  for (const Profile* run : check.b) document.sides.push_back({"run", run});
  document.sections.push_back(run_section(check));
  if (!check.empty()) document.sections.push_back(gates_section(check));
  Section warnings{.key = "cautions", .title = "CAUTIONS"};
  warnings.remarks = cautions(check);
  if (!warnings.remarks.empty()) document.sections.push_back(std::move(warnings));
  for (const MeasuredIn unit : {MeasuredIn::seconds, MeasuredIn::cycles, MeasuredIn::ticks,
                                MeasuredIn::bytes, MeasuredIn::count}) {
    Section section = values_section(check, unit);
    if (!section.table.rows.empty()) document.sections.push_back(std::move(section));
  }
  return document;
}

}  // namespace npuscope::report
