#include "fleet/tags.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "fleet/schema.hpp"

namespace npuscope::fleet {
namespace {

constexpr std::size_t max_name = 64;
constexpr std::size_t max_value = 1'000;

bool is_column_of_runs(std::string_view name) {
  const auto& columns = schema_of("runs").columns;
  return name == "run" || std::ranges::find(columns, name, &Column::name) != columns.end();
}

// The years 0 to 9999, in seconds since 1970.
constexpr std::int64_t begin_of_years = -62'167'219'200, end_of_years = 253'402'300'800;

std::optional<int> take_digits(std::string_view& text, std::size_t count, char before) {
  if (before != 0) {
    if (!text.starts_with(before)) return std::nullopt;
    text.remove_prefix(1);
  }
  if (text.size() < count) return std::nullopt;
  const std::string_view digits = text.substr(0, count);
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  text.remove_prefix(count);
  return parse_number<int>(digits);
}

std::optional<std::int64_t> calendar_time(std::string_view text) {
  using namespace std::chrono;
  const auto year_number = take_digits(text, 4, 0), month_number = take_digits(text, 2, '-'),
             day_number = take_digits(text, 2, '-');
  if (!year_number || !month_number || !day_number) return std::nullopt;
  const year_month_day date{year(*year_number), month(unsigned(*month_number)),
                            day(unsigned(*day_number))};
  if (!date.ok()) return std::nullopt;
  std::int64_t seconds = sys_seconds(sys_days(date)).time_since_epoch().count();
  if (text.starts_with('T') || text.starts_with(' ')) {
    text.remove_prefix(1);
    const auto hours = take_digits(text, 2, 0), minutes = take_digits(text, 2, ':'),
               rest = take_digits(text, 2, ':');
    if (!hours || !minutes || !rest) return std::nullopt;
    if (*hours > 23 || *minutes > 59 || *rest > 60) return std::nullopt;
    seconds += 3600 * *hours + 60 * *minutes + *rest;
  }
  if (text == "Z") text.remove_prefix(1);
  return text.empty() ? std::optional(seconds) : std::nullopt;
}

Status set_label(Labels& labels, const std::string& key, std::string value) {
  if (key == "device") {
    labels.device = std::move(value);
  } else if (key == "soc") {
    labels.soc = std::move(value);
  } else if (key == "sdk") {
    labels.sdk = std::move(value);
  } else if (key == "model") {
    labels.model = std::move(value);
  } else if (key == "time") {
    labels.time = time_of(value);
    if (!labels.time) {
      return usage_error(
          "--tag time={}: not a time; write 2026-11-26, 2026-11-26T10:00:00Z or seconds since "
          "1970-01-01",
          value);
    }
  } else if (is_column_of_runs(key)) {
    return usage_error(
        "--tag {}: runs has a column of that name, which the files decide; choose another name",
        key);
  } else {
    labels.tags.emplace_back(key, std::move(value));
  }
  return {};
}

}  // namespace

bool is_name(std::string_view text) {
  const auto is_word = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  return !text.empty() && text.size() <= max_name && !is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), is_word);
}

std::optional<double> number_of_value(std::string_view value) {
  const bool is_plain = std::all_of(value.begin(), value.end(),
                                    [](char c) { return is_digit(c) || c == '.' || c == '-'; });
  if (!is_plain || value.empty() || !is_digit(value.back())) return std::nullopt;
  const auto number = parse_number<double>(value);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::int64_t> time_of(std::string_view text) {
  if (const auto date = calendar_time(text)) return date;
  const auto seconds = parse_number<std::int64_t>(text);
  return seconds && *seconds >= 0 && *seconds < end_of_years ? seconds : std::nullopt;
}

std::string time_text(std::int64_t seconds) {
  using namespace std::chrono;
  if (seconds < begin_of_years || seconds >= end_of_years) return fmt::format("{}", seconds);
  const sys_seconds time{std::chrono::seconds(seconds)};
  const auto midnight = floor<days>(time);
  const year_month_day date{midnight};
  const hh_mm_ss clock{time - midnight};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int(date.year()),
                     unsigned(date.month()), unsigned(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

Result<Labels> Labels::parse(const std::vector<std::string>& texts) {
  Labels labels;
  std::vector<std::string> seen;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (equals == text.npos || equals + 1 == text.size()) {
      return usage_error("--tag {}: not key=value, as in build=123", text);
    }
    if (!is_name(key)) {
      return usage_error("--tag {}: a key has letters, digits and _, no digit first, at most {}",
                         text, max_name);
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      return usage_error("--tag {}: the key '{}' is given twice", text, key);
    }
    std::string value = valid_utf8(std::string_view(text).substr(equals + 1));
    if (value.size() > max_value) {
      return usage_error("--tag {}: its value is longer than {} bytes", key, max_value);
    }
    seen.push_back(key);
    TRY(set_label(labels, key, std::move(value)));
  }
  return labels;
}

}  // namespace npuscope::fleet
