#include "formats/qnn/dominant_path.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace npuscope::qnn {

std::vector<OwnedTime> owners_of(std::span<const OwnedSpan> spans) {
  std::vector<std::size_t> by_start(spans.size());
  std::iota(by_start.begin(), by_start.end(), std::size_t{0});
  std::sort(by_start.begin(), by_start.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(spans[a].start, a) < std::tie(spans[b].start, b);
  });
  const auto yields_to = [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t i) {
      return std::tuple(spans[i].rank, spans[i].tid, spans[i].start, i);
    };
    return key(a) > key(b);
  };
  // The running spans; those that have ended leave when they come to the top.
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(yields_to)> running(
      yields_to);

  std::vector<OwnedTime> owners;
  const auto own = [&](std::size_t owner, std::int64_t start, std::int64_t end) {
    if (!owners.empty() && owners.back().owner == owner && owners.back().end == start) {
      owners.back().end = end;
    } else {
      owners.push_back({owner, start, end});
    }
  };
  std::size_t next = 0;
  std::int64_t now = spans.empty() ? 0 : spans[by_start[0]].start;
  while (next < by_start.size() || !running.empty()) {
    while (next < by_start.size() && spans[by_start[next]].start <= now) {
      running.push(by_start[next++]);
    }
    while (!running.empty() && spans[running.top()].end <= now) running.pop();
    const std::size_t owner = running.empty() ? OwnedTime::idle : running.top();
    if (owner == OwnedTime::idle && next == by_start.size()) break;
    std::int64_t until = owner == OwnedTime::idle ? 0 : spans[owner].end;
    if (next < by_start.size()) {
      const std::int64_t start = spans[by_start[next]].start;
      until = owner == OwnedTime::idle ? start : std::min(until, start);
    }
    own(owner, now, until);
    now = until;
  }
  // Time that only ends in a span of no length is nobody's.
  while (!owners.empty() && owners.back().owner == OwnedTime::idle) owners.pop_back();
  return owners;
}

}  // namespace npuscope::qnn
