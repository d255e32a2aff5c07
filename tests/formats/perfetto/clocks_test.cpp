// Which moment of the trace a timestamp is.
#include <gtest/gtest.h>

#include "formats/perfetto/profile_text.hpp"
#include "formats/perfetto/trace_builder.hpp"

namespace npuscope::perfetto::clocks_test {
namespace {

using test::Message;
using test::message;
using test::read_as_text;
using test::TraceBuilder;

struct Reading {
  std::uint32_t clock = 0;
  std::uint64_t time = 0;
  bool incremental = false;
  std::uint64_t unit_ns = 1;
};

void snapshot(TraceBuilder& trace, std::uint32_t sequence, std::vector<Reading> readings,
              std::uint32_t primary = 0) {
  trace.packet([&](Message& packet) {
    packet.add_uint32(10, sequence);
    message(packet, 6, [&](Message& snapshot) {
      for (const Reading& reading : readings) {
        message(snapshot, 1, [&](Message& clock) {
          clock.add_uint32(1, reading.clock);
          clock.add_uint64(2, reading.time);
          if (reading.incremental) clock.add_bool(3, true);
          if (reading.unit_ns != 1) clock.add_uint64(4, reading.unit_ns);
        });
      }
      if (primary != 0) snapshot.add_uint32(2, primary);
    });
  });
}

void instant(TraceBuilder& trace, std::uint32_t sequence, std::uint32_t clock, std::uint64_t time,
             const char* name) {
  trace.packet([&](Message& packet) {
    packet.add_uint64(8, time);
    packet.add_uint32(10, sequence);
    if (clock != 0) packet.add_uint32(58, clock);
    message(packet, 11, [&](Message& event) {
      event.add_enum(9, 3);
      event.add_uint64(11, 7);
      event.add_string(23, name);
    });
  });
}

TEST(PerfettoClocks, TranslatesThroughTheLastSnapshotBefore) {
  TraceBuilder trace;
  trace.track(7, "main");
  snapshot(trace, 1, {{6, 1000}, {3, 100}});
  instant(trace, 1, 3, 150, "after the first");
  instant(trace, 1, 3, 50, "before the first");
  snapshot(trace, 1, {{6, 2000}, {3, 1050}});  // monotonic stood still for a while
  instant(trace, 1, 3, 1060, "after the second");
  instant(trace, 1, 3, 160, "between both");
  instant(trace, 1, 6, 2500, "by the trace's own");
  instant(trace, 1, 0, 2600, "by default");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "1050 +0 instant on main: after the first\n"
            "950 +0 instant on main: before the first\n"
            "2010 +0 instant on main: after the second\n"
            "1060 +0 instant on main: between both\n"
            "2500 +0 instant on main: by the trace's own\n"
            "2600 +0 instant on main: by default\n");
}

TEST(PerfettoClocks, FindsARouteOverOtherClocks) {
  TraceBuilder trace;
  trace.track(7, "main");
  snapshot(trace, 1, {{200, 10}, {3, 100}});
  snapshot(trace, 1, {{3, 500}, {6, 5000}});
  instant(trace, 1, 200, 11, "two steps away");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "4601 +0 instant on main: two steps away\n");
}

TEST(PerfettoClocks, CountsIncrementalClocksPerSequence) {
  TraceBuilder trace;
  trace.track(7, "main");
  snapshot(trace, 1, {{6, 1000}, {64, 0, true}});
  snapshot(trace, 2, {{6, 5000}, {64, 7, true, 1000}});  // microseconds
  instant(trace, 1, 64, 10, "a");
  instant(trace, 2, 64, 3, "b");
  instant(trace, 1, 64, 10, "c");
  instant(trace, 2, 64, 0, "d");
  instant(trace, 1, 64, 0, "e");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "1010 +0 instant on main: a\n"
            "8000 +0 instant on main: b\n"
            "1020 +0 instant on main: c\n"
            "8000 +0 instant on main: d\n"
            "1020 +0 instant on main: e\n");
}

TEST(PerfettoClocks, CountsOnWithPacketsThatAreNoEvents) {
  TraceBuilder trace;
  trace.track(7, "main");
  snapshot(trace, 1, {{6, 1000}, {64, 0, true}});
  trace.packet([](Message& packet) {  // a descriptor, timed by the same clock
    packet.add_uint64(8, 5);
    packet.add_uint32(10, 1);
    packet.add_uint32(58, 64);
    message(packet, 60, [](Message& track) {
      track.add_uint64(1, 7);
      track.add_string(2, "renamed");
    });
  });
  instant(trace, 1, 64, 1, "x");
  EXPECT_EQ(read_as_text(trace.bytes()), "track main\n1006 +0 instant on main: x\n");
}

TEST(PerfettoClocks, TakesTheDefaultClockOfTheSequence) {
  TraceBuilder trace;
  trace.track(7, "main");
  snapshot(trace, 1, {{6, 1000}, {64, 0, true}});
  trace.packet([](Message& packet) {
    packet.add_uint32(10, 1);
    packet.add_uint32(13, 1);
    message(packet, 59, [](Message& defaults) { defaults.add_uint32(58, 64); });
  });
  instant(trace, 1, 0, 30, "x");
  EXPECT_EQ(read_as_text(trace.bytes()), "track main\n1030 +0 instant on main: x\n");
}

TEST(PerfettoClocks, CountsTimeInWhatTheTraceSays) {
  TraceBuilder trace;
  trace.track(7, "main");
  snapshot(trace, 1, {{6, 1000}, {3, 100}}, 3);
  instant(trace, 1, 3, 150, "monotonic");
  instant(trace, 1, 6, 1200, "boottime");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "150 +0 instant on main: monotonic\n"
            "300 +0 instant on main: boottime\n");
  const Profile profile = test::read(trace.bytes());
  ASSERT_EQ(profile.clocks.size(), 2u);
  EXPECT_EQ(profile.text(profile.clocks[0].name), "monotonic");
  EXPECT_EQ(profile.text(profile.clocks[1].name), "boottime");
  EXPECT_TRUE(profile.clocks[1].offset_known);
  EXPECT_EQ(profile.clocks[1].offset, -900);
}

TEST(PerfettoClocks, LeavesOutWhatNothingRelates) {
  TraceBuilder trace;
  trace.track(7, "main");
  instant(trace, 1, 0, 100, "fine");
  instant(trace, 1, 200, 5, "of an unknown clock");
  instant(trace, 1, 70, 5, "of a sequence's unknown clock");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "100 +0 instant on main: fine\n"
            "note at 32: 2 x events are timed by a clock that no clock snapshot relates to the "
            "trace's; left out\n");
}

TEST(PerfettoClocks, TakesTheOnlyClockOfATraceWithoutSnapshots) {
  TraceBuilder trace;
  trace.track(7, "main");
  instant(trace, 1, 3, 100, "a");
  instant(trace, 1, 3, 110, "b");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "100 +0 instant on main: a\n"
            "110 +0 instant on main: b\n"
            "note at 13: 1 x no clock snapshot: the clock of the first event is taken as the "
            "trace's\n");
}

TEST(PerfettoClocks, SurvivesStepsThatAddUpBeyondAllTime) {
  TraceBuilder trace;
  trace.track(7, "main");
  snapshot(trace, 1, {{6, 1000}, {64, (std::uint64_t{1} << 62) - 10, true}});
  for (int i = 0; i < 20; ++i) instant(trace, 1, 64, std::uint64_t{1} << 39, "x");
  for (int i = 0; i < 5; ++i) instant(trace, 1, 64, std::uint64_t{1} << 62, "far");
  const Profile profile = test::read(trace.bytes());
  EXPECT_EQ(profile.spans.size() + profile.notes.at(0).count +
                (profile.notes.size() > 1 ? profile.notes[1].count : 0),
            25u);
}

}  // namespace
}  // namespace npuscope::perfetto::clocks_test
