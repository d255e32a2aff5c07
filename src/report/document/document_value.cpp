#include "report/document/document_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/document/bars.hpp"
#include "report/document/quantity.hpp"
#include "report/document/text_table.hpp"

namespace npuscope::report {
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
    case Format::change: return number == 0 ? "0 %" : fmt::format("{:+.1f} %", 100 * number);
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
