// A value of a document as text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "npuscope/profile/profile.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// Numbers with their units as the page shows them.
//
//   ticks_text(profile, cycles, 64829)   "64,829"
//   seconds_text(86.1e-6)                "86.10 us"
//   bytes_text(671744)                   "656.0 KiB"
//   percent_text(1, 3)                   "33.3 %"

std::string seconds_text(double seconds);  // four significant digits
std::string bytes_text(double bytes);
std::string percent_text(double part, double whole);  // "" where the whole is not above 0
std::string number_text(double value);  // whole numbers with thousands, others to four digits
std::string hertz_text(double hertz);
// Of a clock that was not read: "derived from whole microseconds, a lower bound; rounding 1.1 %".
std::string derived_rate_text(double error);

// A clock whose ticks are shown as time: it counts time, and its rate is known. Cycles stay cycles.
bool shows_time(const Profile& profile, ClockId clock);
// "cycles", "ticks", "ns", "ps"; what the numbers of ticks_text() are in when it shows no time.
std::string unit_of(const Profile& profile, ClockId clock);
std::string ticks_text(const Profile& profile, ClockId clock, double ticks);

// Shares as pictures of one line.
//
//   bar_text(0.519, 20)                 "██████████▍"
//   strip_text({0, 0.2, 1, 0.5})        " ▂█▄"

// In eighths of a column, at least the thinnest for a share above 0, at most `width` columns.
std::string bar_text(double share, std::size_t width);

// A column for each share, in eighths of its height; a blank for 0.
std::string strip_text(const std::vector<double>& shares);

// Empty for what is not known; `profile` may be null, then ticks are plain numbers.
std::string value_text(const Profile* profile, const Field& field, const Value& value);

// Texts and lists stand to the left in their column.
bool stands_left(const Field& field);

// Whether text says "none" where the section's table would stand: it has columns, but no rows,
// and no facts above say why.
bool shows_none(const Section& section);

// Broken at blanks into lines of at most `width` columns; a longer word is shortened.
std::vector<std::string> wrapped(std::string text, std::size_t width);

}  // namespace npuscope::report
