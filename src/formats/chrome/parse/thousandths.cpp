#include "formats/chrome/parse/thousandths.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.hpp"

namespace npuscope::chrome {
namespace {

constexpr int fraction_digits = 3;
// Times of 292 years in nanoseconds fit; beyond, sums of start and duration would not.
constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max() / 2;

// digits * 10^power, collected digit by digit; digits beyond what fits only count.
struct Decimal {
  std::uint64_t digits = 0;
  std::int64_t power = 0;
  bool any = false;

  void add(char digit, bool in_fraction) {
    any = true;
    if (digits > (std::numeric_limits<std::uint64_t>::max() - 9) / 10) {
      if (!in_fraction) ++power;
      return;
    }
    digits = digits * 10 + std::uint64_t(digit - '0');
    if (in_fraction) --power;
  }
};

// digits * 10^(power + 3), rounded.
std::optional<std::int64_t> scaled(Decimal decimal, bool negative) {
  decimal.power += fraction_digits;
  for (; decimal.power > 0 && decimal.digits != 0; --decimal.power) {
    if (decimal.digits > largest / 10) return std::nullopt;
    decimal.digits *= 10;
  }
  std::uint64_t last = 0;
  for (; decimal.power < 0 && (decimal.digits | last) != 0; ++decimal.power) {
    last = decimal.digits % 10;
    decimal.digits /= 10;
  }
  if (decimal.power == 0 && last >= 5) ++decimal.digits;
  if (decimal.digits > largest) return std::nullopt;
  const auto value = std::int64_t(decimal.digits);
  return negative ? -value : value;
}

// What nearly all times look like: few digits, at most three of them behind the point. Negative
// when it looks otherwise.
std::int64_t parse_common(std::string_view text) {
  constexpr std::size_t safe_digits = 15;
  const char* at = text.data();
  const char* const end = at + text.size();
  std::int64_t value = 0;
  for (; at != end && is_digit(*at); ++at) value = value * 10 + (*at - '0');
  if (at == text.data() || at - text.data() > std::ptrdiff_t(safe_digits)) return -1;
  if (at == end) return value * 1000;
  if (*at++ != '.' || end - at > fraction_digits || at == end) return -1;
  int missing = fraction_digits;
  for (; at != end && is_digit(*at); ++at, --missing) value = value * 10 + (*at - '0');
  if (at != end) return -1;
  for (; missing > 0; --missing) value *= 10;
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_thousandths(std::string_view text) {
  constexpr std::size_t longest_common = 19;
  if (text.size() <= longest_common) {
    if (const std::int64_t common = parse_common(text); common >= 0) return common;
  }
  const bool negative = text.starts_with('-');
  const char* at = text.data() + (negative ? 1 : 0);
  const char* const end = text.data() + text.size();
  Decimal decimal;
  for (; at != end && is_digit(*at); ++at) decimal.add(*at, false);
  if (at != end && *at == '.') {
    for (++at; at != end && is_digit(*at); ++at) decimal.add(*at, true);
  }
  if (!decimal.any) return std::nullopt;
  if (at != end && (*at == 'e' || *at == 'E')) {
    if (++at != end && *at == '+') ++at;
    int exponent = 0;
    const auto [exponent_end, error] = std::from_chars(at, end, exponent);
    if (exponent_end == at) return std::nullopt;
    const int largest_exponent = 1'000'000'000;
    if (error != std::errc()) exponent = *at == '-' ? -largest_exponent : largest_exponent;
    at = exponent_end;
    decimal.power += exponent;
  }
  if (at != end) return std::nullopt;
  return scaled(decimal, negative);
}

}  // namespace npuscope::chrome
