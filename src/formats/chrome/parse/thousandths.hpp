// A time as it stands in a trace, exactly, in thousandths of its unit.
//
//   parse_thousandths("1682725898237042.25")   // 1682725898237042250
//   parse_thousandths("2.13333e+06")           // 2133330000
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace npuscope::chrome {

// Any decimal number with an optional exponent; further digits are rounded to nearest, halves away
// from zero. Nothing when it is no number or does not fit.
std::optional<std::int64_t> parse_thousandths(std::string_view text);

}  // namespace npuscope::chrome
