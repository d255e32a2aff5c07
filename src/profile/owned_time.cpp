#include "profile/owned_time.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include "npuscope/profile/intervals.hpp"

namespace npuscope {

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

std::vector<CoreOwners> dominant_path_of(const Profile& profile) {
  const Spans& spans = profile.spans;
  std::map<std::uint32_t, std::vector<std::uint32_t>> rows_of_core;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    rows_of_core[profile.units[index_of(spans.unit[row])].core].push_back(row);
  }
  std::vector<CoreOwners> owners;
  for (const auto& [core, rows] : rows_of_core) {
    std::vector<OwnedSpan> owned;
    owned.reserve(rows.size());
    for (const std::uint32_t row : rows) {
      const std::size_t op = index_of(spans.op[row]);
      const Engine engine = op < profile.ops.size() ? profile.ops[op].engine : Engine::none;
      OwnedSpan& span = owned.emplace_back();
      span.start = spans.start[row];
      span.end = saturating_add(spans.start[row], spans.duration[row]);
      span.tid = profile.units[index_of(spans.unit[row])].lane;
      span.rank = engine == Engine::hmx ? 0 : engine == Engine::hvx ? 1 : 2;
    }
    CoreOwners& of_core = owners.emplace_back();
    of_core.core = core;
    of_core.times = owners_of(owned);
    for (OwnedTime& time : of_core.times) {
      if (time.owner != OwnedTime::idle) time.owner = rows[time.owner];
    }
  }
  return owners;
}

}  // namespace npuscope
