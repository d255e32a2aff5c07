// The slow and obvious twin of the reader of Perfetto traces: all events decoded one by one without
// the reader's code, sorted by time, and paired with a stack for each track; and random traces.
//
//   Choices choices(7u);
//   const std::string trace = random_trace(choices, 20);
//   pairs_of(profile) == pair_slowly(trace)
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "choices.hpp"
#include "formats/perfetto/trace_builder.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto::test {

using npuscope::test::Choices;

struct Event {
  std::int64_t time = 0;
  std::uint64_t track = 0;
  std::uint64_t type = 0;
  std::string name;
};

inline std::vector<Event> events_of(std::string_view trace) {
  std::vector<Event> events;
  protozero::pbf_reader packets(trace.data(), trace.size());
  while (packets.next(1)) {
    Event event;
    protozero::pbf_reader packet = packets.get_message();
    while (packet.next()) {
      if (packet.tag() == 8) {
        event.time = packet.get_int64();
      } else if (packet.tag() == 11) {
        protozero::pbf_reader track_event = packet.get_message();
        while (track_event.next()) {
          switch (track_event.tag()) {
            case 9: event.type = track_event.get_uint64(); break;
            case 11: event.track = track_event.get_uint64(); break;
            case 23: event.name = track_event.get_string(); break;
            default: track_event.skip();
          }
        }
      } else {
        packet.skip();
      }
    }
    if (event.type != 0) events.push_back(event);
  }
  return events;
}

using Slice = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;

struct Paired {
  std::vector<Slice> slices;  // track, name, start, end
  std::uint64_t unmatched = 0;
  std::uint64_t unclosed = 0;
  bool operator==(const Paired&) const = default;
};

inline Paired pair_slowly(std::string_view trace) {
  Paired paired;
  std::vector<Event> events = events_of(trace);
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  std::map<std::uint64_t, std::vector<Event>> open;
  std::int64_t last = 0;
  const auto close = [&](std::vector<Event>& stack, std::int64_t time) {
    const Event begin = stack.back();
    stack.pop_back();
    paired.slices.emplace_back("track " + std::to_string(begin.track), begin.name, begin.time,
                               time);
  };
  for (const Event& event : events) {
    last = std::max(last, event.time);
    std::vector<Event>& stack = open[event.track];
    if (event.type == 1) {
      stack.push_back(event);
    } else if (stack.empty()) {
      ++paired.unmatched;
    } else {
      close(stack, event.time);
    }
  }
  for (auto& [track, stack] : open) {
    for (; !stack.empty(); ++paired.unclosed) close(stack, last);
  }
  std::sort(paired.slices.begin(), paired.slices.end());
  return paired;
}

// Ends with names, after Perfetto's rules: an end closes the innermost open slice of its name; what
// is open inside it may end at the same moment, or else ends with it.
inline std::vector<Slice> pair_names_slowly(std::string_view trace) {
  struct Open {
    Event begin;
    std::int64_t end = -1;
  };
  std::vector<Slice> slices;
  std::map<std::uint64_t, std::vector<Open>> stacks;
  const auto close = [&](const Open& open, std::int64_t time) {
    slices.emplace_back("track " + std::to_string(open.begin.track), open.begin.name,
                        open.begin.time, time);
  };
  const auto leave = [&](std::vector<Open>& stack, std::int64_t time) {
    for (std::size_t i = 0; i < stack.size(); ++i) {  // the outermost that ended takes all with it
      if (stack[i].end < 0 || stack[i].end >= time) continue;
      for (std::size_t inner = i + 1; inner < stack.size(); ++inner) {
        if (stack[inner].end < 0) close(stack[inner], stack[i].end);
      }
      stack.resize(i);
    }
  };
  std::int64_t last = 0;
  for (const Event& event : events_of(trace)) {
    last = std::max(last, event.time);
    std::vector<Open>& stack = stacks[event.track];
    leave(stack, event.time);
    if (event.type == 1) {
      while (!stack.empty() && stack.back().end >= 0) stack.pop_back();
      stack.push_back({event});
      continue;
    }
    const auto meant = std::find_if(stack.rbegin(), stack.rend(), [&](const Open& open) {
      return open.end < 0 && (event.name.empty() || open.begin.name == event.name);
    });
    if (meant == stack.rend()) continue;
    close(*meant, event.time);
    meant->end = event.time;
    if (meant == stack.rbegin()) stack.pop_back();
  }
  for (auto& [track, stack] : stacks) {
    leave(stack, std::numeric_limits<std::int64_t>::max());
    for (const Open& open : stack) close(open, last);
  }
  std::sort(slices.begin(), slices.end());
  return slices;
}

inline Paired pairs_of(const Profile& profile) {
  Paired paired;
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    paired.slices.emplace_back(profile.text(profile.units[index_of(spans.unit[row])].name),
                               profile.text(profile.ops[index_of(spans.op[row])].name),
                               spans.start[row], spans.start[row] + spans.duration[row]);
  }
  for (const Note& note : profile.notes) {
    if (note.message.starts_with("slice ends without")) paired.unmatched = note.count;
    if (note.message.starts_with("slices have no end")) paired.unclosed = note.count;
  }
  std::sort(paired.slices.begin(), paired.slices.end());
  return paired;
}

// Begins and ends on a few tracks; times repeat often; `late` of a hundred events come late.
inline std::string random_trace(Choices& choices, std::uint32_t late) {
  TraceBuilder trace;
  for (std::uint32_t track = 1; track <= 3; ++track) {
    trace.track(track, "track " + std::to_string(track));
  }
  std::uint32_t now = 100;
  const std::uint32_t events = choices.below(60);
  for (std::uint32_t i = 0; i < events; ++i) {
    now += choices.below(3);
    const std::uint32_t time = choices.below(100) < late ? now - choices.below(40) : now;
    const std::uint32_t track = 1 + choices.below(3);
    if (choices.below(2) == 0) {
      trace.begin(time, track, "slice " + std::to_string(i));
    } else {
      trace.end(time, track);
    }
  }
  // One packet at least, so that there is something to read.
  return trace.track(9, "end").bytes();
}

// The same with ends of which most have a name, in the order of time.
inline std::string random_trace_with_names(Choices& choices) {
  TraceBuilder trace;
  trace.track(1, "track 1").track(2, "track 2");
  std::uint32_t now = 100;
  for (std::uint32_t i = choices.below(40); i > 0; --i) {
    now += choices.below(2);
    const std::uint32_t track = 1 + choices.below(2);
    const std::string name(1, char('a' + choices.below(3)));
    if (choices.below(2) == 0) {
      trace.begin(now, track, name);
    } else {
      trace.event(now, track, 2, [&](test::Message& event) {
        if (choices.below(4) > 0) event.add_string(23, name);
      });
    }
  }
  return trace.bytes();
}

}  // namespace npuscope::perfetto::test
