// The text of a trace as it grows, and what of a profile its events are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/text_output.hpp"
#include "formats/chrome/trace_events.hpp"
#include "formats/chrome/write/nanoseconds.hpp"
#include "formats/chrome/write/write_tracks.hpp"

namespace npuscope::chrome {

inline constexpr TraceStyle own_style{
    .events = {R"({"ph":?,"s":?,"bp":?,"id":?,"pid":?,"tid":?,"ts":?,"dur":?,)"
               R"("cat":?,"name":?,"args":?})"},
    .values = {.numbers = JsonNumbers::shortest}};
// Arguments of slices are printed without a JsonWriter.
static_assert(own_style.events.arguments().first.empty() &&
              own_style.events.arguments().last.empty() &&
              own_style.events.arguments().indent == 0);

class EventOutput {
 public:
  // Holds all text.
  explicit EventOutput(const Profile& profile)
      : events(out), json(events.json()), nanoseconds(profile), profile_(profile) {}
  EventOutput(const Profile& profile, const std::function<void(std::string_view)>& sink)
      : out(sink), events(out), json(events.json()), nanoseconds(profile), profile_(profile) {}

  // The tracks that event() is asked for, all of them before the first event; they stay where
  // they are.
  void use_places(const std::vector<Track>& tracks) {
    for (const Track& track : tracks) {
      places_.push_back({TraceId::of_json(track.process), TraceId::of_json(track.thread)});
    }
    if (places_.empty()) places_.push_back({1, {}});
  }

  std::string_view text(StringId id) const { return profile_.text(id); }
  TraceEvent event(TracePhase phase, std::string_view name, std::uint32_t track) const {
    const Place& place = places_[track];
    return {.phase = phase, .name = name, .process = place.process, .thread = place.thread};
  }
  // From `start` to `end` in ticks, so that what touches in ticks still touches.
  void set_times(TraceEvent& event, Interval ticks) const {
    const std::int64_t from = nanoseconds.of(ticks.begin);
    event.time = from;
    event.duration = saturating_subtract(nanoseconds.of(ticks.end), from);
  }

  TextOutput out;
  TraceEvents<own_style> events;
  JsonWriter<TextOutput>& json;  // where the arguments of an event go
  const Nanoseconds nanoseconds;

 private:
  struct Place {
    TraceId process, thread;
  };

  const Profile& profile_;
  std::vector<Place> places_;
};

}  // namespace npuscope::chrome
