#include "base/parallel.hpp"

#include <algorithm>

namespace npuscope {

std::vector<RowRange> ranges_of(std::size_t rows, std::size_t min) {
  constexpr std::size_t max = 16;
  const std::size_t count = std::clamp<std::size_t>(rows / std::max<std::size_t>(min, 1), 1, max);
  std::vector<RowRange> ranges;
  for (std::size_t i = 0; i < count; ++i) {
    ranges.push_back({rows * i / count, rows * (i + 1) / count});
  }
  return ranges;
}

}  // namespace npuscope

#ifndef __SANITIZE_THREAD__

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace npuscope {

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  // Some bodies take far longer than others: in small lots, no thread is left with many of them
  // while others have nothing to do.
  constexpr std::size_t max_tasks = 1'024;
  const tbb::blocked_range<std::size_t> all(0, count, count / max_tasks + 1);
  tbb::parallel_for(
      all,
      [&](const tbb::blocked_range<std::size_t>& some) {
        for (std::size_t i = some.begin(); i < some.end(); ++i) body(i);
      },
      tbb::simple_partitioner());
}

void isolated(const std::function<void()>& work) { tbb::this_task_arena::isolate(work); }

std::size_t workers() { return std::size_t(tbb::this_task_arena::max_concurrency()); }

}  // namespace npuscope

#else

// The thread sanitizer does not see how the uninstrumented oneTBB library orders its tasks and
// would report every one of them; plain threads it understands.
#include <atomic>
#include <thread>
#include <vector>

namespace npuscope {

void isolated(const std::function<void()>& work) { work(); }

std::size_t workers() { return 4; }

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < std::min(count, workers()); ++i) helpers.emplace_back(work);
  work();
}

}  // namespace npuscope

#endif
