#include "report/document/concurrency_histogram.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npuscope/profile/intervals.hpp"

namespace npuscope::report {

std::vector<LevelsAtOnce> concurrency_histogram(const std::vector<std::int64_t>& time_at) {
  constexpr std::size_t single = 4;  // beyond, twice as many together each time
  std::vector<LevelsAtOnce> levels;
  for (std::size_t first = 0, last = 0; first < time_at.size(); first = last + 1) {
    last = std::min(first < single ? first : 2 * first - 1, time_at.size() - 1);
    std::int64_t time = 0;
    for (std::size_t k = first; k <= last; ++k) time = saturating_add(time, time_at[k]);
    if (time <= 0) continue;
    levels.push_back({first == 0      ? "none"
                      : first == last ? fmt::format("{}", first)
                                      : fmt::format("{} to {}", first, last),
                      time});
  }
  return levels;
}

}  // namespace npuscope::report
