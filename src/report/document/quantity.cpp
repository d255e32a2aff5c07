#include "report/document/quantity.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"

namespace npuscope::report {
namespace {

// Four significant digits, no exponent where people expect none.
std::string digits(double value) {
  const double size = std::abs(value);
  if (!(size < 1e15)) return fmt::format("{:.4g}", value);
  if (size >= 999.95) return fmt::format("{:.0f}", value);
  if (size >= 99.995) return fmt::format("{:.1f}", value);
  if (size >= 9.9995) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

}  // namespace

std::string seconds_text(double seconds) {
  const double size = std::abs(seconds);
  if (seconds == 0) return "0";
  if (size < 999.95e-9) return fmt::format("{} ns", digits(seconds * 1e9));
  if (size < 999.95e-6) return fmt::format("{} us", digits(seconds * 1e6));
  if (size < 999.95e-3) return fmt::format("{} ms", digits(seconds * 1e3));
  return fmt::format("{} s", digits(seconds));
}

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes)
                   : fmt::format("{} {}", digits(bytes), units[unit]);
}

std::string percent_text(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "";
}

std::string number_text(double value) {
  const bool whole = std::floor(value) == value && std::abs(value) < 9e18;
  if (!whole && !(std::abs(value) >= 999.95 && std::abs(value) < 9e18)) return digits(value);
  value = std::round(value);
  return (value < 0 ? "-" : "") + thousands(std::uint64_t(std::abs(value)));
}

std::string hertz_text(double hertz) {
  if (hertz >= 999.5e6) return fmt::format("{} GHz", digits(hertz / 1e9));
  return fmt::format("{} MHz", digits(hertz / 1e6));
}

std::string derived_rate_text(double error) {
  return fmt::format("derived from whole microseconds, a lower bound; rounding {}",
                     percent_text(error, 1));
}

bool shows_time(const Profile& profile, ClockId clock) {
  if (index_of(clock) >= profile.clocks.size()) return false;
  const Clock& found = profile.clocks[index_of(clock)];
  return found.kind != ClockKind::unit_cycles && found.rate.value > 0;
}

std::string unit_of(const Profile& profile, ClockId clock) {
  if (index_of(clock) >= profile.clocks.size()) return "ticks";
  const Clock& found = profile.clocks[index_of(clock)];
  if (found.kind == ClockKind::unit_cycles) return "cycles";
  return found.kind == ClockKind::wall && found.rate.value == 1e9 ? "ns" : "ticks";
}

std::string ticks_text(const Profile& profile, ClockId clock, double ticks) {
  if (!shows_time(profile, clock)) return number_text(ticks);
  return seconds_text(ticks / profile.clocks[index_of(clock)].rate.value);
}

}  // namespace npuscope::report
