// What the user says of the runs that he adds: --tag key=value.
//
//   const auto tags = Labels::parse({"build=123", "device=pixel-7"});
//   tags->device        // "pixel-7": a column of runs
//   tags->tags          // {{"build", "123"}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::fleet {

struct Labels {
  std::optional<std::string> device, soc, sdk, model;  // columns of runs
  std::optional<std::int64_t> time;                    // seconds since 1970-01-01 UTC
  std::vector<std::pair<std::string, std::string>> tags;

  // Usage errors for what is no tag, and for a key that runs has as a column which is not the
  // user's to set.
  static Result<Labels> parse(const std::vector<std::string>& texts);
};

// The number that a tag's value is: an integer or decimal fraction, no exponent, so that a commit
// such as 12e5 stays a text.
std::optional<double> number_of_value(std::string_view value);

// "2026-11-26", "2026-11-26T10:00:00", with Z or without: UTC; or seconds since 1970-01-01.
std::optional<std::int64_t> time_of(std::string_view text);
// "2026-11-26T10:00:00Z"; the plain number where that is in none of the years 0 to 9999, as in a
// store that another program wrote.
std::string time_text(std::int64_t seconds);

// A name that SQL takes without quotes.
bool is_name(std::string_view text);

}  // namespace npuscope::fleet
