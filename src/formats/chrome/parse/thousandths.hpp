// A time as it stands in a trace, exactly, in thousandths of its unit.
//
//   parse_thousandths("1682725898237042.25")   // 1682725898237042250
//   parse_thousandths("2.13333e+06")           // 2133330000
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/chrome/parse/decimal.hpp"

namespace npuscope::chrome {

// Any decimal number with an optional exponent; further digits are rounded to nearest, halves away
// from zero. Nothing when it is no number or does not fit.
std::optional<std::int64_t> parse_thousandths(std::string_view text);

inline constexpr unsigned thousandths_digits = 3;

// Of what nearly all times look like: few digits, at most three of them after the point. Nothing
// where it looks otherwise.
inline std::optional<std::int64_t> thousandths_of(const Decimal& decimal) {
  constexpr unsigned few = 15;
  if (!decimal.any() || decimal.before > few || decimal.after > thousandths_digits) return {};
  return decimal.integer() * std::int64_t(powers_of_ten[thousandths_digits - decimal.after]);
}

}  // namespace npuscope::chrome
