#include "analysis/units/clocks.hpp"

#include <algorithm>
#include <map>
#include <tuple>

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

}  // namespace npuscope::analysis
