#include "analysis/units/core_clock.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {

std::vector<InferenceClock> analyse_clocks(const Profile& profile) {
  const Spans& spans = profile.spans;
  const std::size_t base = index_of(profile.base_clock);
  if (base >= profile.clocks.size() || spans.processor_cycles.size() != spans.size()) return {};
  const Clock& clock = profile.clocks[base];
  if (clock.kind == ClockKind::unit_cycles || !(clock.rate.value > 0)) return {};
  struct Most {
    std::int64_t ticks = 0, cycles = 0;
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // inference, device, core
  std::map<Key, Most> cores;
  const bool has_instance = spans.instance.size() == spans.size();
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::inference || spans.processor_cycles[row] < 0) continue;
    const std::size_t unit = index_of(spans.unit[row]);
    if (unit >= profile.units.size()) continue;
    const Unit& of = profile.units[unit];
    Most& max = cores[{has_instance ? spans.instance[row] : every_instance, of.device, of.core}];
    max.ticks = std::max(max.ticks, spans.duration[row]);
    max.cycles = std::max(max.cycles, spans.processor_cycles[row]);
  }
  std::vector<InferenceClock> clocks;
  for (const auto& [key, max] : cores) {
    if (max.ticks <= 0 || max.cycles <= 0) continue;
    const double hertz = double(max.cycles) / double(max.ticks) * clock.rate.value;
    if (clocks.empty() || clocks.back().inference != std::get<0>(key)) {
      clocks.push_back({std::get<0>(key), 0, hertz, hertz});
    }
    InferenceClock& last = clocks.back();
    last.cores += 1;
    last.min_hertz = std::min(last.min_hertz, hertz);
    last.max_hertz = std::max(last.max_hertz, hertz);
  }
  return clocks;
}

// Of the phase that takes longest and was timed in most inferences.
PhaseClock clock_of_phases(const Profile& profile) {
  std::map<StringId, std::map<std::uint32_t, std::pair<double, double>>> timed;  // ticks, seconds
  for (const Phase& phase : profile.phases) {
    if (!(phase.microseconds > 0) || phase.duration <= 0) continue;
    auto& [ticks, seconds] = timed[phase.name][phase.instance];
    ticks += double(phase.duration);
    seconds += phase.microseconds * 1e-6;
  }
  PhaseClock clock;
  double longest = 0;
  for (const auto& [name, inferences] : timed) {
    // Its name tells the phase of the graph itself.
    if (profile.text(name).find("Graph Execute") == std::string_view::npos) continue;
    double sum = 0;
    PhaseClock found{std::string(profile.text(name)), {}};
    for (const auto& [instance, each] : inferences) {
      sum += each.second;
      found.hertz.push_back({instance, each.first / each.second});
    }
    if (sum <= longest) continue;
    longest = sum;
    clock = std::move(found);
  }
  return clock;
}

std::optional<double> clock_of_units(const UnitNumbers& numbers) {
  std::vector<double> hertz;
  for (const UnitNumber& number : numbers.numbers) {
    const NumberRole role = numbers.columns[number.column].meaning.role;
    if (role == NumberRole::effective_frequency && number.value > 0) {
      hertz.push_back(number.value);
    }
  }
  if (hertz.empty()) return std::nullopt;
  return median_of(std::move(hertz));
}

}  // namespace npuscope::analysis
