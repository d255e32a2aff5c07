#include <fmt/format.h>

#include "base/text.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "report/document/names.hpp"
#include "report/document/quantity.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {
namespace {

std::string inferences_of(const Provenance& from) {
  constexpr const char* temperatures[] = {"", "cold", "warm", "the first cold, then warm"};
  std::string text;
  const auto add = [&](const std::string& part, const char* separator) {
    if (!part.empty()) text += (text.empty() ? "" : separator) + part;
  };
  if (from.inferences > 0) add(thousands(from.inferences), "");
  add(temperatures[std::size_t(from.temperature)], ", ");
  if (!from.instrumentation.empty()) add("instrumented: " + from.instrumentation, "; ");
  return text;
}

std::string clock_text(const analysis::Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const std::size_t base = index_of(profile.base_clock);
  if (profile.spans.size() == 0 || base >= profile.clocks.size()) return {};
  const Clock& clock = profile.clocks[base];
  const std::string unit = unit_of(profile, profile.base_clock);
  const std::string text = fmt::format("{} ({})", profile.text(clock.name), unit);
  const auto rate = analysis::clock_rate_during(profile, analysis.timeline_extent());
  if (clock.rate.value > 0) {
    return unit == "ns" ? text : text + ", " + hertz_text(clock.rate.value);
  }
  if (!rate) return text + ", rate unknown: no times in seconds";
  if (rate->origin == Origin::derived) {
    return text +
           fmt::format(", {} ({})", hertz_text(rate->rate.value), derived_rate_text(rate->error));
  }
  return text + fmt::format(", {} during this phase", hertz_text(rate->rate.value));
}

}  // namespace

Section about_section(const analysis::Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const Provenance& from = profile.provenance;
  const auto text = [](const std::string& value) { return value.empty() ? Value() : Value(value); };
  const std::string format = from.format.empty() ? "unknown" : from.format;
  Section section{.key = "about"};
  section.facts = {
      {{"", "files", Format::names}, from.files.size() > 1 ? Value(from.files) : Value()},
      {{"", "format"}, format + (from.version.empty() ? "" : ", " + from.version)},
      {{"version"}, text(from.version)},
      {{"device", "device"}, text(from.device)},
      {{"graph", "graph"}, text(from.graph)},
      {{"", "inferences"}, text(inferences_of(from))},
      {{"inferences"}, from.inferences > 0 ? Value(from.inferences) : Value()},
      {{"temperature"}, stable_name(from.temperature)},
      {{"instrumentation"}, text(from.instrumentation)},
      {{"", "clock"}, text(clock_text(analysis))}};
  std::string held;
  const auto holds = [&](const char* key, std::uint64_t count, const char* one, const char* many) {
    section.facts.push_back({{key}, count});
    if (count == 0) return;
    held +=
        fmt::format("{}{} {}", held.empty() ? "" : ", ", thousands(count), count == 1 ? one : many);
  };
  holds("spans", profile.spans.size(), "span", "spans");
  holds("ops", profile.ops.size(), "op", "ops");
  holds("units", profile.units.size(), "unit", "units");
  holds("phases", profile.phases.size(), "phase", "phases");
  holds("counter_samples", profile.counters.size(), "counter sample", "counter samples");
  holds("flows", profile.flows.size(), "flow", "flows");
  holds("edges", profile.edges.size(), "dependency", "dependencies");
  holds("tensors", profile.tensors.size(), "tensor", "tensors");
  holds("measures", profile.measures.size(), "number", "numbers");
  section.facts.push_back({{"", "holds"}, held.empty() ? "nothing" : held});
  return section;
}

}  // namespace npuscope::report
