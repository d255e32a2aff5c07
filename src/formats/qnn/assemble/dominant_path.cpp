#include "formats/qnn/assemble/dominant_path.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace npuscope::qnn {

namespace {

// A span with what decides about it, in one place: millions are sorted and compared.
struct Contender {
  std::int64_t start;
  std::int64_t end;
  std::int64_t tid;
  std::uint32_t rank;
  std::uint32_t index;

  // Whether it owns what both run in.
  bool beats(const Contender& other) const {
    return std::tie(rank, tid, start, index) <
           std::tie(other.rank, other.tid, other.start, other.index);
  }
};

std::vector<Contender> by_start(std::span<const OwnedSpan> spans) {
  std::vector<Contender> out;
  out.reserve(spans.size());
  for (const OwnedSpan& span : spans) {
    out.push_back({span.start, span.end, span.tid, span.rank, std::uint32_t(out.size())});
  }
  const auto earlier = [](const Contender& a, const Contender& b) {
    return std::tie(a.start, a.index) < std::tie(b.start, b.index);
  };
  if (!std::is_sorted(out.begin(), out.end(), earlier)) std::sort(out.begin(), out.end(), earlier);
  return out;
}

}  // namespace

std::vector<OwnedTime> owners_of(std::span<const OwnedSpan> spans) {
  const std::vector<Contender> contenders = by_start(spans);
  const auto yields_to = [](const Contender& a, const Contender& b) { return b.beats(a); };
  // The running spans; those that have ended leave when they come to the top.
  std::priority_queue<Contender, std::vector<Contender>, decltype(yields_to)> running(yields_to);

  std::vector<OwnedTime> owners;
  const auto own = [&](std::size_t owner, std::int64_t start, std::int64_t end) {
    if (!owners.empty() && owners.back().owner == owner && owners.back().end == start) {
      owners.back().end = end;
    } else {
      owners.push_back({owner, start, end});
    }
  };
  std::size_t next = 0;
  std::int64_t now = contenders.empty() ? 0 : contenders[0].start;
  while (next < contenders.size() || !running.empty()) {
    while (next < contenders.size() && contenders[next].start <= now) {
      running.push(contenders[next++]);
    }
    while (!running.empty() && running.top().end <= now) running.pop();
    const bool idle = running.empty();
    if (idle && next == contenders.size()) break;
    std::int64_t until = idle ? contenders[next].start : running.top().end;
    if (next < contenders.size()) until = std::min(until, contenders[next].start);
    own(idle ? OwnedTime::idle : running.top().index, now, until);
    now = until;
  }
  // Time that only ends in a span of no length is nobody's.
  while (!owners.empty() && owners.back().owner == OwnedTime::idle) owners.pop_back();
  return owners;
}

}  // namespace npuscope::qnn
