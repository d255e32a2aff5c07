#include "report/document/document_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "report/document/text_table.hpp"

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
  if (found.kind != ClockKind::wall) return "ticks";
  return found.rate.value == 1e9 ? "ns" : found.rate.value == 1e12 ? "ps" : "ticks";
}

std::string ticks_text(const Profile& profile, ClockId clock, double ticks) {
  if (!shows_time(profile, clock)) return number_text(ticks);
  return seconds_text(ticks / profile.clocks[index_of(clock)].rate.value);
}

namespace {

constexpr double eighths = 8;

// Of a share of `whole` eighths, at least one of what is there.
std::size_t eighths_of(double share, double whole) {
  if (!(share > 0)) return 0;
  return std::size_t(std::clamp(std::round(share * whole), 1.0, whole));
}

}  // namespace

std::string bar_text(double share, std::size_t width) {
  constexpr const char* ends[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::size_t filled = eighths_of(share, double(width) * eighths);
  std::string bar;
  for (std::size_t column = 0; column < filled / 8; ++column) bar += "█";
  return bar + ends[filled % 8];
}

std::string strip_text(const std::vector<double>& shares) {
  constexpr const char* heights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string strip;
  for (const double share : shares) strip += heights[eighths_of(share, eighths)];
  return strip;
}

namespace {

constexpr std::size_t max_bar_width = 20;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string number_as(const Profile* profile, const Field& field, double number) {
  if (!std::isfinite(number)) return {};
  switch (field.format) {
    case Format::ticks:
      return profile == nullptr
                 ? number_text(number)
                 : ticks_text(*profile, field.clock.value_or(profile->base_clock), number);
    case Format::seconds: return seconds_text(number);
    case Format::bytes: return bytes_text(number);
    case Format::bytes_per_second: return fmt::format("{} GB/s", number_text(number / 1e9));
    case Format::hertz: return hertz_text(number);
    case Format::share: return fmt::format("{:.1f} %", 100 * number);
    case Format::change: {
      constexpr double shown = 0.0005;  // "+0.0 %" said nothing of the side
      if (std::abs(number) < shown) return number == 0 ? "0 %" : "0.0 %";
      return fmt::format("{:+.1f} %", 100 * number);
    }
    case Format::bar: return bar_text(number, max_bar_width);
    case Format::exact: return fmt::format("{}", number);
    case Format::count:
    case Format::number:
    case Format::numbers:
    case Format::name:
    case Format::names:
    case Format::truth: break;
  }
  return number_text(number);
}

}  // namespace

std::string value_text(const Profile* profile, const Field& field, const Value& value) {
  struct Print {
    const Profile* profile;
    const Field& field;
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::string>& texts) const { return joined(texts); }
    std::string operator()(bool truth) const { return truth ? "yes" : "no"; }
    std::string operator()(std::int64_t number) const {
      return number_as(profile, field, double(number));
    }
    std::string operator()(const std::vector<std::int64_t>& numbers) const {
      return fmt::format("[{}]", fmt::join(numbers, ", "));
    }
    std::string operator()(double number) const { return number_as(profile, field, number); }
  };
  return std::visit(Print{profile, field}, value.held());
}

bool stands_left(const Field& field) {
  const Format format = field.format;
  if (field.stands_right) return false;
  return format == Format::name || format == Format::names || format == Format::numbers ||
         format == Format::bar;
}

bool shows_none(const Section& section) {
  const auto& fields = section.table.fields;
  const bool says_more =
      std::any_of(section.facts.begin(), section.facts.end(),
                  [](const Fact& fact) { return !fact.field.label.empty() && fact.value.known(); });
  return !section.title.empty() && !says_more && section.table.rows.empty() &&
         std::any_of(fields.begin(), fields.end(),
                     [](const Field& field) { return !field.label.empty(); });
}

std::vector<std::string> wrapped(std::string text, std::size_t width) {
  std::vector<std::string> lines;
  while (columns_of(text) > width) {
    std::size_t cut = text.rfind(' ', width);
    if (cut == std::string::npos || cut == 0) cut = text.find(' ');
    if (cut == std::string::npos) break;
    lines.push_back(shortened(text.substr(0, cut), width));
    text.erase(0, cut + 1);
  }
  lines.push_back(shortened(text, width));
  return lines;
}

}  // namespace npuscope::report
