#include "report/timeline/timeline_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/text.hpp"
#include "report/document/quantity.hpp"
#include "report/picture/scale.hpp"

namespace npuscope::report {
namespace {

struct AxisUnit {
  std::string name;
  double size = 1;  // in ticks
};

// The smallest first.
std::vector<AxisUnit> units_of(const Profile& profile) {
  const ClockId clock = profile.base_clock;
  if (shows_time(profile, clock)) {
    const double rate = profile.clocks[index_of(clock)].rate.value;
    return {{"ns", rate * 1e-9}, {"us", rate * 1e-6}, {"ms", rate * 1e-3}, {"s", rate}};
  }
  const std::string name = unit_of(profile, clock);
  return {{name, 1}, {"thousand " + name, 1e3}, {"million " + name, 1e6}, {"billion " + name, 1e9}};
}

int decimals_of(double step) { return std::max(0, int(std::ceil(-std::log10(step) - 1e-9))); }

// The largest unit in which the largest time is at least one and the step needs few decimals. Ticks
// stay what they are as long as they are short.
AxisUnit choose_unit(const std::vector<AxisUnit>& units, double largest, double step, bool time) {
  const int max_decimals = time ? 2 : 0;
  constexpr double longest_ticks = 1e6;
  AxisUnit chosen = units.front();
  for (const AxisUnit& unit : units) {
    if (!time && largest < longest_ticks) break;
    if (largest >= unit.size && decimals_of(step / unit.size) <= max_decimals) chosen = unit;
  }
  return chosen;
}

std::string mark_text(double value, int decimals) {
  if (decimals > 0 || !(std::abs(value) < 9e18)) return fmt::format("{:.{}f}", value, decimals);
  const double whole = std::round(value);
  return (whole < 0 ? "-" : "") + thousands(std::uint64_t(std::abs(whole)));
}

}  // namespace

TimelineAxis make_axis(const Profile& profile, Interval window, std::int64_t origin,
                       std::size_t max) {
  const double begin = double(saturating_subtract(window.begin, origin));
  const double end = double(saturating_subtract(window.end, origin));
  const auto units = units_of(profile);
  TimelineAxis axis{units.front().name, {}};
  if (!(end > begin) || max < 2) return axis;
  const bool time = shows_time(profile, profile.base_clock);
  // Round in the units that people read: a clock of 19.2 MHz has no round number of ticks in a us.
  const double base = units.front().size;
  double step = std::max(round_step((end - begin) / base / double(max)) * base, 1.0);
  const auto marks = [&] { return std::floor(end / step) - std::ceil(begin / step) + 1; };
  while (marks() > double(max)) step = round_step(step / base * 1.5) * base;
  const AxisUnit unit = choose_unit(units, std::max(std::abs(begin), std::abs(end)), step, time);
  axis.unit = unit.name;
  const int decimals = decimals_of(step / unit.size);
  const double first = std::ceil(begin / step - 1e-9);
  for (std::size_t i = 0; i < max; ++i) {
    const double at = (first + double(i)) * step;
    if (at > end * (1 + 1e-12) && at > end) break;
    const auto offset = std::int64_t(std::clamp(std::round(at), -9.2e18, 9.2e18));
    const std::int64_t ticks = saturating_add(origin, offset);
    if (ticks < window.begin || ticks > window.end) continue;
    axis.marks.push_back({ticks, mark_text(at / unit.size, decimals)});
  }
  return axis;
}

}  // namespace npuscope::report
