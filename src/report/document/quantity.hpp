// Numbers with their units as the page shows them.
//
//   ticks_text(profile, cycles, 64829)   "64,829"
//   seconds_text(86.1e-6)                "86.10 us"
//   bytes_text(671744)                   "656.0 KiB"
//   percent_text(1, 3)                   "33.3 %"
#pragma once

#include <string>

#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

std::string seconds_text(double seconds);  // four significant digits
std::string bytes_text(double bytes);
std::string percent_text(double part, double whole);  // "" where the whole is not above 0
std::string number_text(double value);  // whole numbers with thousands, others to four digits
std::string hertz_text(double hertz);
// Of a clock that was not read: "derived from whole microseconds, a lower bound; rounding 1.1 %".
std::string derived_rate_text(double error);

// A clock whose ticks are shown as time: it counts time, and its rate is known. Cycles stay cycles.
bool shows_time(const Profile& profile, ClockId clock);
// "cycles", "ticks", "ns"; what the numbers of ticks_text() are in when it shows no time.
std::string unit_of(const Profile& profile, ClockId clock);
std::string ticks_text(const Profile& profile, ClockId clock, double ticks);

}  // namespace npuscope::report
