#include "formats/chrome/parse/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.hpp"

namespace npuscope::chrome {
namespace {

// Times of 292 years in nanoseconds fit; beyond, sums of start and duration would not.
constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max() / 2;

// digits * 10^power, collected digit by digit; digits beyond what fits only count.
struct LongDecimal {
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
std::optional<std::int64_t> scaled(LongDecimal decimal, bool negative) {
  decimal.power += thousandths_digits;
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

}  // namespace

std::optional<std::int64_t> parse_thousandths(std::string_view text) {
  const bool negative = text.starts_with('-');
  const char* at = text.data() + (negative ? 1 : 0);
  const char* const end = text.data() + text.size();
  LongDecimal decimal;
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
