// What Perfetto (trace_processor v58) makes of the slices and arrows of a Chrome trace, written
// down from its rules and not from the code under test:
//
//   order   by time; at one moment ends (E), then slices by their length, the longest first, then
//   all
//           else; what is still equal in the order of the file. A slice of no length is of "all
//           else".
//   stack   each thread has one. A slice that begins takes off it what has ended by then, but two
//           slices of no length at one moment stay on each other. Nothing else takes slices off.
//   arrows  s and f take the top of their thread's stack, also where it has ended. One of which the
//           second slice begins first is turned around.
//
//   const PerfettoView view = as_perfetto_sees(json["traceEvents"], to_nanoseconds);
//   view.arrows[0].from->at("name"); view.depth.at(&event)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace npuscope::test {

inline double to_nanoseconds(double microseconds) {
  return double(std::llround(microseconds * 1000.0));
}

struct PerfettoArrow {
  std::string id;
  const nlohmann::json* from = nullptr;
  const nlohmann::json* to = nullptr;
};

struct PerfettoView {
  std::vector<PerfettoArrow> arrows;
  std::map<const nlohmann::json*, std::size_t> depth;  // of each slice
  std::size_t lost = 0;                                // ends of arrows without a slice
};

class PerfettoImporter {
 public:
  explicit PerfettoImporter(double (*read)(double)) : read_(read) {}

  PerfettoView run(const std::vector<const nlohmann::json*>& events) {
    std::vector<Event> timed;
    for (const nlohmann::json* event : events) {
      if (event->contains("ts")) timed.push_back(timed_event(*event));
    }
    std::stable_sort(timed.begin(), timed.end(), [](const Event& a, const Event& b) {
      return std::tie(a.time, a.key) < std::tie(b.time, b.key);
    });
    for (const Event& event : timed) take(event);
    return std::move(view_);
  }

 private:
  struct Event {
    std::int64_t time = 0;
    std::int64_t duration = 0;
    std::int64_t key = 0;
    const nlohmann::json* json = nullptr;
  };

  std::int64_t nanoseconds(const nlohmann::json& number) const {
    return std::int64_t(read_(number.get<double>()));
  }
  Event timed_event(const nlohmann::json& json) const {
    constexpr auto last = std::numeric_limits<std::int64_t>::max();
    Event event{nanoseconds(json["ts"]), 0, last, &json};
    if (json["ph"] == "X") event.duration = nanoseconds(json["dur"]);
    if (json["ph"] == "X") event.key = last - event.duration;
    if (json["ph"] == "E") event.key = std::numeric_limits<std::int64_t>::min();
    return event;
  }
  static std::string track_of(const nlohmann::json& json) {
    return json["pid"].dump() + " " + json.value("tid", nlohmann::json()).dump();
  }

  void take(const Event& event) {
    const std::string phase = (*event.json)["ph"];
    std::vector<Event>& stack = stacks_[track_of(*event.json)];
    if (phase == "X" || phase == "i") {
      while (!stack.empty()) {
        const std::int64_t end = stack.back().time + stack.back().duration;
        const bool both_empty = stack.back().duration == 0 && event.duration == 0;
        if (end > event.time || (end == event.time && both_empty)) break;
        stack.pop_back();
      }
      view_.depth[event.json] = stack.size();
      stack.push_back(event);
    }
    if (phase != "s" && phase != "f") return;
    if (stack.empty()) {
      ++view_.lost;
      return;
    }
    const std::string id = (*event.json)["id"].dump();
    if (phase == "s") {
      sources_.emplace(id, stack.back());
      return;
    }
    const auto source = sources_.find(id);
    if (source == sources_.end()) {
      ++view_.lost;
      return;
    }
    const bool turned = source->second.time > stack.back().time;
    view_.arrows.push_back({id, turned ? stack.back().json : source->second.json,
                            turned ? source->second.json : stack.back().json});
  }

  double (*read_)(double);
  std::map<std::string, std::vector<Event>> stacks_;
  std::map<std::string, Event> sources_;
  PerfettoView view_;
};

template <class Events>
PerfettoView as_perfetto_sees(const Events& events, double (*read)(double)) {
  std::vector<const nlohmann::json*> pointers;
  for (const nlohmann::json& event : events) pointers.push_back(&event);
  return PerfettoImporter(read).run(pointers);
}

}  // namespace npuscope::test
