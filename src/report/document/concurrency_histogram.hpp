// How long so many were at work at once, with levels together as there get more of them: 0, 1, 2,
// 3, 4 to 7, 8 to 15, …
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace npuscope::report {

struct LevelsAtOnce {
  std::string label;  // "none", "3", "4 to 7"
  std::int64_t time = 0;
};

// Of the time at each number from 0 on; without those that there was no time at.
std::vector<LevelsAtOnce> concurrency_histogram(const std::vector<std::int64_t>& time_at);

}  // namespace npuscope::report
