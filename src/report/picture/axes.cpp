#include "report/picture/axes.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <span>

#include "base/text.hpp"
#include "report/document/document_value.hpp"

namespace npuscope::report {
namespace {

constexpr double rounding = 1e-9, nearly = 1 - rounding;

}  // namespace

double Scale::at(double value) const {
  const auto place = [&](double of) { return logarithmic ? std::log10(of) : of; };
  if (!(high > low)) return first;
  const double inside = std::clamp(value, low, high);
  return first + (last - first) * (place(inside) - place(low)) / (place(high) - place(low));
}

Scale log_scale(double low, double high, double first, double last) {
  constexpr double least = 1e-300, most = 1e300;
  low = std::clamp(low, least, most);
  high = std::clamp(high, low, most);
  const double begin = std::floor(std::log10(low)), end = std::ceil(std::log10(high));
  return {std::pow(10, begin), std::pow(10, std::max(end, begin + 1)), first, last, true};
}

double round_step(double min) {
  const double power = std::pow(10, std::floor(std::log10(min)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= min * nearly) return factor * power;
  }
  return 10 * power;
}

std::vector<double> round_marks(double low, double high, std::size_t max) {
  if (!(high > low) || max < 2) return {};
  const double step = round_step((high - low) / double(max - 1));
  std::vector<double> marks;
  const double last = std::floor(high / step + rounding);
  for (double number = std::ceil(low / step - rounding); number <= last; ++number) {
    marks.push_back(number * step);
  }
  return marks;
}

std::vector<double> log_marks(double low, double high) {
  if (!(low > 0) || !(high >= low)) return {};
  const double begin = std::ceil(std::log10(low * nearly)),
               end = std::floor(std::log10(high / nearly));
  std::vector<double> marks;
  for (double power = begin - 1; power <= end; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10, power);
      const bool is_shown = factor == 1.0 || end - begin < 3;
      if (is_shown && value >= low * nearly && value <= high / nearly) marks.push_back(value);
    }
  }
  return marks;
}

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
