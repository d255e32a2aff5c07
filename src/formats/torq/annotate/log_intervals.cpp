#include "formats/torq/annotate/log_intervals.hpp"

#include <algorithm>
#include <unordered_map>

namespace npuscope::torq {
namespace {

struct Key {
  std::int64_t invocation = 0;
  std::int32_t action = 0;
  StringId dispatch{}, type{};
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = std::uint64_t(key.invocation) * 0x9E3779B97F4A7C15u;
    hash ^= (std::uint64_t(std::uint32_t(key.action)) << 32 | std::uint32_t(key.type)) +
            std::uint64_t(key.dispatch) * 0xC2B2AE3D27D4EB4Fu;
    hash *= 0xD6E8FEB86659FD93u;
    return std::size_t(hash ^ hash >> 32);
  }
};

constexpr std::uint32_t none = ~std::uint32_t{0};

struct Begun {
  LogInterval interval;
  std::uint32_t before = none;  // open when this one began
  bool ended = false;
};

}  // namespace

std::vector<LogInterval> pair_events(const RuntimeLog& log, CountedNotes& notes) {
  std::vector<Begun> begun;
  std::unordered_map<Key, std::uint32_t, KeyHash> open;
  std::uint64_t without_begin = 0;
  for (const LogEvent& event : log.events) {
    const LogInterval interval{event.time_us,  event.time_us, event.invocation, event.action,
                               event.dispatch, event.type,    event.location};
    if (event.edge == LogEdge::instant) {
      begun.push_back({interval, none, true});
      continue;
    }
    const Key key{event.invocation, event.action, event.dispatch, event.type};
    if (event.edge == LogEdge::begin) {
      const auto index = std::uint32_t(begun.size());
      const auto [place, is_first] = open.try_emplace(key, index);
      begun.push_back({interval, is_first ? none : place->second, false});
      place->second = index;
      continue;
    }
    const auto place = open.find(key);
    if (place == open.end()) {
      ++without_begin;
      continue;
    }
    Begun& pair = begun[place->second];
    pair.interval.end_us = event.time_us;
    pair.ended = true;
    if (pair.before == none) {
      open.erase(place);
    } else {
      place->second = pair.before;
    }
  }
  std::vector<LogInterval> intervals;
  intervals.reserve(begun.size());
  std::uint64_t without_end = 0, reversed = 0;
  for (const Begun& each : begun) {
    if (!each.ended) {
      ++without_end;
    } else if (each.interval.end_us < each.interval.begin_us) {
      ++reversed;
    } else {
      intervals.push_back(each.interval);
    }
  }
  const auto note = [&](std::uint64_t count, std::string_view what) {
    if (count > 0) notes.add(Severity::warning, 0, what, count);
  };
  note(without_begin, "ends without a begin; left out");
  note(without_end, "begins without an end; left out");
  note(reversed, "ends before their begins; left out");
  return intervals;
}

}  // namespace npuscope::torq
