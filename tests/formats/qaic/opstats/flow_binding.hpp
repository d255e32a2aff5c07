// Which slices the arrows of a trace join, found as Perfetto and chrome://tracing find them: the
// tails (`s`) and the heads with bp "e" belong to the slice that is open on their track at their
// time, a head without bp to the next slice that begins there. What an arrow says of itself (its
// args) plays no part.
//
//   const auto arrows = bind_flows(trace.events, nanoseconds_cut);
//   arrows[0].to->at("name")     // null when no slice is open there
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace npuscope::test {

// How a viewer takes a number of microseconds.
using TimeReading = double (*)(double);
inline double nanoseconds_cut(double us) { return std::trunc(us * 1000.0); }
inline double nanoseconds_rounded(double us) { return double(std::llround(us * 1000.0)); }
inline double as_double(double us) { return us; }

struct BoundFlow {
  long id = 0;
  const nlohmann::json* tail = nullptr;  // the event that leaves
  const nlohmann::json* head = nullptr;  // the event that arrives
  const nlohmann::json* from = nullptr;  // the slices they bind to
  const nlohmann::json* to = nullptr;
};

class FlowBinder {
 public:
  FlowBinder(const std::vector<nlohmann::json>& events, TimeReading read) : read_(read) {
    for (const auto& event : events) {
      if (event["ph"] == "X") tracks_[track_of(event)].push_back(&event);
    }
    for (auto& [key, slices] : tracks_) {
      std::stable_sort(slices.begin(), slices.end(),
                       [this](const auto* a, const auto* b) { return time_of(*a) < time_of(*b); });
    }
  }

  // The tracks hold no nested slices, so only the last one that has begun can be open.
  const nlohmann::json* slice_of(const nlohmann::json& end) const {
    const auto track = tracks_.find(track_of(end));
    if (track == tracks_.end()) return nullptr;
    const auto& slices = track->second;
    const double time = time_of(end);
    const bool to_next = end["ph"] == "f" && end.value("bp", "") != "e";
    const auto later = std::find_if(
        std::partition_point(slices.begin(), slices.end(),
                             [&](const auto* slice) { return time_of(*slice) < time; }),
        slices.end(), [&](const auto* slice) { return to_next || time_of(*slice) > time; });
    if (to_next) return later == slices.end() ? nullptr : *later;
    if (later == slices.begin()) return nullptr;
    const nlohmann::json* last = *std::prev(later);
    const double open_until = time_of(*last) + read_((*last)["dur"].get<double>());
    return time < open_until ? last : nullptr;
  }

 private:
  static std::pair<long, long> track_of(const nlohmann::json& event) {
    return {event["pid"], event["tid"]};
  }
  double time_of(const nlohmann::json& event) const { return read_(event["ts"].get<double>()); }

  TimeReading read_;
  std::map<std::pair<long, long>, std::vector<const nlohmann::json*>> tracks_;
};

// In order of their ids; every one of which is expected to leave once and arrive once.
inline std::vector<BoundFlow> bind_flows(const std::vector<nlohmann::json>& events,
                                         TimeReading read) {
  const FlowBinder binder(events, read);
  std::map<long, BoundFlow> flows;
  for (const auto& event : events) {
    if (event["ph"] != "s" && event["ph"] != "f") continue;
    BoundFlow& flow = flows[event["id"]];
    flow.id = event["id"];
    const bool leaves = event["ph"] == "s";
    (leaves ? flow.tail : flow.head) = &event;
    (leaves ? flow.from : flow.to) = binder.slice_of(event);
  }
  std::vector<BoundFlow> all;
  for (const auto& [id, flow] : flows) all.push_back(flow);
  return all;
}

}  // namespace npuscope::test
