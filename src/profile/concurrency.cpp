#include <algorithm>
#include <limits>

#include "base/parallel.hpp"
#include "base/per_thread.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/sort_by_time.hpp"
#include "profile/windows.hpp"

namespace npuscope {
namespace {

struct Offsets {
  std::vector<std::uint64_t> begins, ends;
};

// How long each number of sets held within the window, from none on. Begins and ends are sorted
// apart, as offsets in the window, and then told one after the other. Which comes next is as random
// as can be: a processor must not have to guess it.
std::vector<std::int64_t> time_at_in(std::span<const IntervalSet* const> sets, Interval window,
                                     Offsets& offsets) {
  auto& [begins, ends] = offsets;
  begins.clear();
  ends.clear();
  const auto offset = [&](std::int64_t time) {
    return std::uint64_t(time) - std::uint64_t(window.begin);
  };
  for (const IntervalSet* set : sets) {
    take_within(*set, window, [&](std::int64_t begin, std::int64_t end) {
      begins.push_back(offset(begin));
      ends.push_back(offset(end));
    });
  }
  const auto order = [](std::uint64_t time) {
    return std::int64_t(time ^ std::uint64_t{1} << 63);  // as unsigned
  };
  sort_by_time(begins, order);
  sort_by_time(ends, order);
  begins.push_back(std::numeric_limits<std::uint64_t>::max());
  std::vector<std::uint64_t> time_at(sets.size() + 1, 0);
  std::uint64_t now = 0;
  for (std::size_t begun = 0, ended = 0; ended < ends.size();) {
    const bool ends_next = ends[ended] <= begins[begun];
    const std::uint64_t next = ends_next ? ends[ended] : begins[begun];
    time_at[begun - ended] += next - now;
    now = next;
    ended += ends_next;
    begun += !ends_next;
  }
  time_at[0] += offset(window.end) - now;
  constexpr auto max = std::uint64_t(std::numeric_limits<std::int64_t>::max());
  std::vector<std::int64_t> of_window;
  for (const std::uint64_t time : time_at) of_window.push_back(std::int64_t(std::min(time, max)));
  return of_window;
}

}  // namespace

Concurrency concurrency_of(std::span<const IntervalSet* const> sets) {
  Concurrency concurrency;
  const std::vector<Interval> windows = windows_of(sets);
  std::vector<std::vector<std::int64_t>> of_windows(windows.size());
  PerThread<Offsets> offsets;
  parallel_for(windows.size(), [&](std::size_t i) {
    of_windows[i] = time_at_in(sets, windows[i], offsets.mine());
  });
  auto& time_at = concurrency.time_at;
  for (const std::vector<std::int64_t>& of_window : of_windows) {
    for (std::size_t count = 0; count < of_window.size(); ++count) {
      if (of_window[count] <= 0) continue;
      if (time_at.size() <= count) time_at.resize(count + 1, 0);
      time_at[count] = saturating_add(time_at[count], of_window[count]);
    }
  }
  return concurrency;
}

}  // namespace npuscope
