#include "analysis/units/core_clock.hpp"

#include <map>

#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {

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
