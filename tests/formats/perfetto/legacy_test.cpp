// Events of the JSON format inside a trace, and the packets that came before track descriptors.
#include <gtest/gtest.h>

#include "formats/perfetto/profile_text.hpp"
#include "formats/perfetto/trace_builder.hpp"

namespace npuscope::perfetto::legacy_test {
namespace {

using test::Message;
using test::message;
using test::read_as_text;
using test::TraceBuilder;

template <class Fill>
void legacy(TraceBuilder& trace, std::uint64_t time, char phase, const char* name, Fill fill) {
  trace.event(time, 7, 0, [&](Message& event) {
    event.add_string(22, "cat");
    event.add_string(23, name);
    message(event, 6, [&](Message& legacy) {
      legacy.add_int32(2, phase);
      fill(legacy);
    });
  });
}
void legacy(TraceBuilder& trace, std::uint64_t time, char phase, const char* name) {
  legacy(trace, time, phase, name, [](Message&) {});
}

TraceBuilder on_a_thread() {
  TraceBuilder trace;
  trace.process(1, 10, "app").thread(7, 10, 11, "main");
  return trace;
}
const std::string thread_text = "process app pid 10\n  thread main pid 10 tid 11\n";

TEST(PerfettoLegacy, PutsOverlappingCompleteEventsOnLanes) {
  TraceBuilder trace = on_a_thread();
  const auto lasting = [](std::int64_t us) {
    return [=](Message& legacy) { legacy.add_int64(3, us); };
  };
  legacy(trace, 1000, 'X', "a", lasting(10));
  legacy(trace, 3000, 'X', "within a", lasting(2));
  legacy(trace, 8000, 'X', "over the end of a", lasting(10));
  legacy(trace, 20000, 'X', "negative", lasting(-5));
  EXPECT_EQ(read_as_text(trace.bytes()),
            thread_text +
                "  thread main lane 1 pid 10 tid 11\n"
                "1000 +10000 slice on main: a [cat]\n"
                "3000 +2000 slice on main: within a [cat]\n"
                "8000 +10000 slice on main lane 1: over the end of a [cat]\n"
                "20000 +0 slice on main: negative [cat]\n"
                "note at 145: 1 x slices end before they begin; given length 0\n"
                "note at 0: 1 x slices overlap without nesting and lie on lanes of their own\n");
}

// A Chrome JSON trace of the same events has the short one beside the thread, with what is in it;
// here the long one went there, and what the thread itself did was another number.
TEST(PerfettoLegacy, TheShorterOfTwoThatOverlapLiesBesideTheThreadAsInChromeJson) {
  TraceBuilder trace = on_a_thread();
  const auto lasting = [](std::int64_t us) {
    return [=](Message& legacy) { legacy.add_int64(3, us); };
  };
  legacy(trace, 1000, 'X', "short", lasting(8));
  legacy(trace, 2000, 'X', "in the short one", lasting(2));
  legacy(trace, 5000, 'X', "long", lasting(90));
  EXPECT_EQ(read_as_text(trace.bytes()),
            thread_text +
                "  thread main lane 1 pid 10 tid 11\n"
                "1000 +8000 slice on main lane 1: short [cat]\n"
                "2000 +2000 slice on main lane 1: in the short one [cat]\n"
                "5000 +90000 slice on main: long [cat]\n"
                "note at 0: 2 x slices overlap without nesting and lie on lanes of their own\n");
}

TEST(PerfettoLegacy, PairsBeginAndEnd) {
  TraceBuilder trace = on_a_thread();
  legacy(trace, 1, 'B', "a");
  legacy(trace, 2, 'I', "now");
  legacy(trace, 5, 'E', "");
  EXPECT_EQ(read_as_text(trace.bytes()), thread_text +
                                             "1 +4 slice on main: a [cat]\n"
                                             "2 +0 instant on main: now [cat]\n");
}

TEST(PerfettoLegacy, PairsAsynchronousEventsByIdAndScope) {
  TraceBuilder trace = on_a_thread();
  const auto id = [](std::uint32_t field, std::uint64_t value, const char* scope = "") {
    return [=](Message& legacy) {
      legacy.add_uint64(field, value);
      if (*scope != 0) legacy.add_string(7, scope);
    };
  };
  legacy(trace, 1, 'b', "one", id(6, 5));
  legacy(trace, 2, 'b', "two", id(11, 5));            // a global id is another
  legacy(trace, 3, 'b', "three", id(6, 5, "scope"));  // and so is one in a scope
  legacy(trace, 4, 'b', "nested in one", id(6, 5));
  legacy(trace, 5, 'n', "moment", id(6, 5));
  legacy(trace, 10, 'e', "", id(6, 5));
  legacy(trace, 20, 'e', "", id(6, 5));
  legacy(trace, 30, 'e', "", id(11, 5));
  legacy(trace, 40, 'e', "", id(6, 5, "scope"));
  legacy(trace, 50, 'e', "", id(6, 5));
  legacy(trace, 60, 'S', "old", id(6, 9));
  legacy(trace, 70, 'F', "old", id(6, 9));
  legacy(trace, 80, 'b', "open", id(6, 77));
  legacy(trace, 90, 'I', "last");
  EXPECT_EQ(read_as_text(trace.bytes()),
            thread_text +
                "1 +19 async on main: one [cat]\n"
                "2 +28 async on main: two [cat]\n"
                "3 +37 async on main: three [cat]\n"
                "4 +6 async on main: nested in one [cat]\n"
                "5 +0 instant on main: moment [cat]\n"
                "60 +10 async on main: old [cat]\n"
                "80 +10 async on main: open [cat]\n"
                "90 +0 instant on main: last [cat]\n"
                "note at 322: 1 x asynchronous ends without a begin were left out\n"
                "note at 0: 1 x asynchronous events have no end; kept until the last time in the "
                "trace\n");
}

TEST(PerfettoLegacy, BindsFlowsToTheSlicesAroundOrAfter) {
  TraceBuilder trace = on_a_thread();
  const auto flow = [](std::uint64_t id, bool enclosing) {
    return [=](Message& legacy) {
      legacy.add_uint64(6, id);
      if (enclosing) legacy.add_bool(12, true);
    };
  };
  legacy(trace, 10, 'B', "producer");  // row 0
  legacy(trace, 12, 's', "arrow", flow(1, false));
  legacy(trace, 13, 's', "other", flow(2, false));
  legacy(trace, 14, 's', "lost", flow(3, false));
  legacy(trace, 20, 'E', "");
  legacy(trace, 25, 'f', "arrow", flow(1, false));  // to the next slice
  legacy(trace, 26, 'f', "lost", flow(3, true));    // no slice around it
  legacy(trace, 30, 'B', "consumer");               // row 1
  legacy(trace, 35, 'f', "other", flow(2, true));   // to the one around it
  legacy(trace, 40, 'E', "");
  EXPECT_EQ(read_as_text(trace.bytes()),
            thread_text +
                "10 +10 slice on main: producer [cat]\n"
                "30 +10 slice on main: consumer [cat]\n"
                "flow 0 -> 1 arrow\n"
                "flow 0 -> 1 other\n"
                "note at 0: 1 x flow events outside of any slice; left out\n");
}

TEST(PerfettoLegacy, ConnectsSlicesByBindId) {
  TraceBuilder trace = on_a_thread();
  const auto bind = [](std::uint64_t id, int direction) {
    return [=](Message& legacy) {
      legacy.add_uint64(8, id);
      legacy.add_enum(13, direction);
      legacy.add_int64(3, 1);
    };
  };
  legacy(trace, 1000, 'X', "out", bind(5, 2));
  legacy(trace, 3000, 'X', "in and out", bind(5, 3));
  legacy(trace, 5000, 'X', "in", bind(5, 1));
  EXPECT_EQ(read_as_text(trace.bytes()), thread_text +
                                             "1000 +1000 slice on main: out [cat]\n"
                                             "3000 +1000 slice on main: in and out [cat]\n"
                                             "5000 +1000 slice on main: in [cat]\n"
                                             "flow 0 -> 1\n"
                                             "flow 1 -> 2\n");
}

TEST(PerfettoLegacy, FlowInEndedAFlow) {
  TraceBuilder trace = on_a_thread();
  const auto bind = [](std::uint64_t id, int direction) {
    return [=](Message& legacy) {
      legacy.add_uint64(8, id);
      legacy.add_enum(13, direction);
      legacy.add_int64(3, 1);
    };
  };
  legacy(trace, 1000, 'X', "out", bind(5, 2));   // row 0
  legacy(trace, 3000, 'X', "in", bind(5, 1));    // row 1
  legacy(trace, 5000, 'X', "in", bind(5, 1));    // row 2: from the one that it went out of
  legacy(trace, 7000, 'X', "both", bind(5, 3));  // row 3 goes on
  legacy(trace, 9000, 'X', "in", bind(5, 1));    // row 4
  const Profile profile = test::read(trace.bytes());
  std::vector<std::string> arrows;
  for (const Flow& flow : profile.flows) {
    arrows.push_back(fmt::format("{} -> {}", index_of(flow.from), index_of(flow.to)));
  }
  EXPECT_EQ(arrows, (std::vector<std::string>{"0 -> 1", "0 -> 2", "0 -> 3", "3 -> 4"}));
}

TEST(PerfettoLegacy, InstantsOfAProcessAreOnItsTrack) {
  TraceBuilder trace = on_a_thread();
  const auto scope = [](int number) {
    return [=](Message& legacy) { legacy.add_enum(14, number); };
  };
  legacy(trace, 1, 'I', "everywhere", scope(1));
  legacy(trace, 2, 'I', "in the process", scope(2));
  legacy(trace, 3, 'I', "in the thread", scope(3));
  EXPECT_EQ(read_as_text(trace.bytes()), thread_text +
                                             "track Default Track\n"
                                             "1 +0 instant on Default Track: everywhere [cat]\n"
                                             "2 +0 instant on app: in the process [cat]\n"
                                             "3 +0 instant on main: in the thread [cat]\n");
}

TEST(PerfettoLegacy, TakesCountersAndNamesFromAnnotations) {
  TraceBuilder trace;
  trace.thread(7, 10, 11, "");
  const auto add = [&](char phase, const char* name, auto... annotations) {
    trace.event(5, 7, 0, [&](Message& event) {
      event.add_string(23, name);
      message(event, 6, [&](Message& legacy) { legacy.add_int32(2, phase); });
      (message(event, 4, annotations), ...);
    });
  };
  const auto text = [](const char* key, const char* value) {
    return [=](Message& annotation) {
      annotation.add_string(10, key);
      annotation.add_string(6, value);
    };
  };
  const auto number = [](const char* key, std::int64_t value) {
    return [=](Message& annotation) {
      annotation.add_string(10, key);
      annotation.add_int64(4, value);
    };
  };
  add('C', "memory", number("used", 5), number("free", 7));
  add('M', "thread_name", text("name", "worker"));
  add('M', "process_name", text("name", "app"));
  add('v', "memory dump");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "process app pid 10\n"
            "  thread worker pid 10 tid 11\n"
            "5 counter memory of worker part used: 5\n"
            "5 counter memory of worker part free: 7\n"
            "note at 150: 1 x legacy events not read: phase v\n");
}

TEST(PerfettoLegacy, TimesEventsByTheOldThreadDescriptor) {
  TraceBuilder trace;
  const auto old_event = [&](std::uint32_t time_field, std::int64_t us, const char* name) {
    trace.packet([&](Message& packet) {
      packet.add_uint32(10, 1);
      message(packet, 11, [&](Message& event) {
        event.add_int64(time_field, us);
        event.add_enum(9, 3);
        event.add_string(23, name);
      });
    });
  };
  old_event(1, 1, "too early");
  trace.packet([](Message& packet) {
    packet.add_uint32(10, 1);
    packet.add_uint32(13, 1);
    message(packet, 44, [](Message& thread) {
      thread.add_int32(1, 10);
      thread.add_int32(2, 11);
      thread.add_string(5, "old");
      thread.add_int64(6, 1000);
    });
  });
  trace.packet([](Message& packet) {
    message(packet, 43, [](Message& process) {
      process.add_int32(1, 10);
      process.add_string(2, "command");
    });
  });
  old_event(1, 5, "a");
  old_event(1, 5, "b");
  old_event(16, 77, "absolute");
  old_event(1, 1, "c");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "process command pid 10\n"
            "  thread old pid 10 tid 11\n"
            "1005000 +0 instant on old: a\n"
            "1010000 +0 instant on old: b\n"
            "77000 +0 instant on old: absolute\n"
            "1011000 +0 instant on old: c\n"
            "note at 0: 1 x events count time from a thread descriptor that the trace lacks; left "
            "out\n");
}

TEST(PerfettoLegacy, FollowsOverridesOfTheThread) {
  TraceBuilder trace;
  trace.packet([](Message& packet) {
    packet.add_uint64(8, 5);
    message(packet, 11, [](Message& event) {
      event.add_string(23, "elsewhere");
      message(event, 6, [](Message& legacy) {
        legacy.add_int32(2, 'I');
        legacy.add_int32(18, 20);
        legacy.add_int32(19, 21);
      });
    });
  });
  EXPECT_EQ(read_as_text(trace.bytes()),
            "process Process 20 pid 20\n"
            "  thread Thread 21 pid 20 tid 21\n"
            "5 +0 instant on Thread 21: elsewhere\n");
}

}  // namespace
}  // namespace npuscope::perfetto::legacy_test
