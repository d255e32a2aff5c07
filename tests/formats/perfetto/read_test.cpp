// What a trace says and what the profile says then.
#include "formats/perfetto/read/read.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "formats/perfetto/profile_text.hpp"
#include "formats/perfetto/trace_builder.hpp"

namespace npuscope::perfetto::read_test {
namespace {

using test::Message;
using test::message;
using test::read;
using test::read_as_text;
using test::TraceBuilder;

TEST(PerfettoRead, NestsSlicesOfATrack) {
  TraceBuilder trace;
  trace.track(7, "main").begin(100, 7, "outer").begin(110, 7, "inner").end(120, 7).end(150, 7);
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "100 +50 slice on main: outer\n"
            "110 +10 slice on main: inner\n");
}

TEST(PerfettoRead, ReadsATraceWrittenByteByByte) {
  // The same begin and end as bytes: tags, lengths and varints by hand.
  const unsigned char bytes[] = {
      0x0A, 0x10,                          // packet, 16 bytes
      0x40, 0x64,                          // 8 timestamp: 100
      0x5A, 0x0C,                          // 11 track_event, 12 bytes
      0x48, 0x01,                          // 9 type: slice begin
      0x58, 0x05,                          // 11 track_uuid: 5
      0xB2, 0x01, 0x01, 'c',               // 22 categories
      0xBA, 0x01, 0x01, 'n',               // 23 name
      0x0A, 0x0B,                          // packet, 11 bytes
      0x40, 0xC8, 0x01,                    // 8 timestamp: 200
      0x50, 0x03,                          // 10 sequence: 3
      0x5A, 0x04, 0x48, 0x02, 0x58, 0x05,  // 11 track_event: slice end of track 5
  };
  EXPECT_EQ(read_as_text({reinterpret_cast<const char*>(bytes), sizeof bytes}),
            "track n\n"
            "100 +100 slice on n: n [c]\n"
            "note at 0: 1 x tracks have events but no descriptor\n");
}

TEST(PerfettoRead, BuildsTheTreeOfProcessesThreadsAndTracks) {
  TraceBuilder trace;
  trace.thread(21, 10, 11, "worker").track(22, "of worker", 21).track(23, "of process", 20);
  trace.process(20, 10, "app").track(24, "free");
  trace.begin(1, 22, "a").end(2, 22);
  EXPECT_EQ(read_as_text(trace.bytes()),
            "process app pid 10\n"
            "  thread worker pid 10 tid 11\n"
            "    track of worker\n"
            "  track of process\n"
            "track free\n"
            "1 +1 slice on of worker: a\n");
}

TEST(PerfettoRead, MakesAProcessForThreadsThatNameNone) {
  TraceBuilder trace;
  trace.thread(21, 10, 11, "worker").instant(5, 21, "tick");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "process Process 10 pid 10\n"
            "  thread worker pid 10 tid 11\n"
            "5 +0 instant on worker: tick\n");
}

TEST(PerfettoRead, TakesNamesThatComeAfterTheEvents) {
  TraceBuilder trace;
  trace.begin(1, 7, "a").end(2, 7).track(7, "").track(7, "late", 8).track(8, "parent");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track parent\n"
            "  track late\n"
            "1 +1 slice on late: a\n");
}

TEST(PerfettoRead, OrdersChildrenAsTheirParentSays) {
  const auto children = [](int ordering) {
    TraceBuilder trace;
    trace.packet([&](Message& packet) {
      message(packet, 60, [&](Message& track) {
        track.add_uint64(1, 1);
        track.add_string(2, "parent");
        track.add_enum(11, ordering);
      });
    });
    const auto child = [&](std::uint64_t uuid, const char* name, int rank) {
      trace.packet([&](Message& packet) {
        message(packet, 60, [&](Message& track) {
          track.add_uint64(1, uuid);
          track.add_string(2, name);
          track.add_uint64(5, 1);
          track.add_int32(12, rank);
        });
      });
    };
    child(2, "b", 30);
    child(3, "c", 20);
    child(4, "a", 10);
    trace.instant(7, 4, "x").instant(6, 2, "x").instant(5, 3, "x");
    std::string names;
    const Profile profile = read(trace.bytes());
    for (const Unit& unit : profile.units) names += profile.text(unit.name).substr(0, 1);
    return names;
  };
  EXPECT_EQ(children(0), "pbca");
  EXPECT_EQ(children(1), "pabc");
  EXPECT_EQ(children(2), "pcba");
  EXPECT_EQ(children(3), "pacb");
}

TEST(PerfettoRead, SurvivesTracksThatAreTheirOwnAncestors) {
  TraceBuilder trace;
  trace.track(1, "one", 2).track(2, "two", 1).track(3, "self", 3).track(4, "orphan", 99);
  trace.instant(5, 1, "x");
  const Profile profile = read(trace.bytes());
  EXPECT_EQ(profile.units.size(), 4u);
  EXPECT_EQ(test::text_of_notes(profile),
            "note at 0: 1 x tracks name a parent that the trace does not have\n"
            "note at 0: 2 x tracks are their own ancestors; taken as roots\n");
}

// Sequence 1 defines strings 1 and 2 differently from sequence 2.
TraceBuilder interned_trace(bool clear_between) {
  TraceBuilder trace;
  trace.track(7, "main");
  const auto add = [&](int sequence, std::uint64_t time, int flags, const char* name,
                       const char* category) {
    trace.packet([&](Message& packet) {
      packet.add_uint64(8, time);
      packet.add_uint32(10, std::uint32_t(sequence));
      packet.add_uint32(13, std::uint32_t(flags));
      if (name != nullptr) {
        message(packet, 12, [&](Message& interned) {
          message(interned, 1, [&](Message& entry) {
            entry.add_uint64(1, 1);
            entry.add_string(2, category);
          });
          message(interned, 2, [&](Message& entry) {
            entry.add_uint64(1, 1);
            entry.add_string(2, name);
          });
        });
      }
      message(packet, 11, [&](Message& event) {
        event.add_uint64(3, 1);
        event.add_uint64(10, 1);
        event.add_enum(9, 3);
        event.add_uint64(11, 7);
      });
    });
  };
  add(1, 10, 1, "first", "one");
  add(2, 20, 1, "second", "two");
  add(1, 30, 2, nullptr, nullptr);
  if (clear_between) add(1, 40, 1, "renamed", "one");
  add(1, 50, 2, nullptr, nullptr);
  add(2, 60, 2, nullptr, nullptr);
  return trace;
}

TEST(PerfettoRead, KeepsInternedStringsPerSequence) {
  EXPECT_EQ(read_as_text(interned_trace(false).bytes()),
            "track main\n"
            "10 +0 instant on main: first [one]\n"
            "20 +0 instant on main: second [two]\n"
            "30 +0 instant on main: first [one]\n"
            "50 +0 instant on main: first [one]\n"
            "60 +0 instant on main: second [two]\n");
}

TEST(PerfettoRead, ForgetsInternedStringsWhenStateIsCleared) {
  EXPECT_EQ(read_as_text(interned_trace(true).bytes()),
            "track main\n"
            "10 +0 instant on main: first [one]\n"
            "20 +0 instant on main: second [two]\n"
            "30 +0 instant on main: first [one]\n"
            "40 +0 instant on main: renamed [one]\n"
            "50 +0 instant on main: renamed [one]\n"
            "60 +0 instant on main: second [two]\n");
}

TEST(PerfettoRead, ReadsConcatenatedTraces) {
  const std::string one = interned_trace(false).bytes();
  const Profile profile = read(one + one);
  EXPECT_EQ(profile.spans.size(), 10u);
  EXPECT_TRUE(profile.notes.empty());
}

TEST(PerfettoRead, SkipsAndCountsPacketsWhoseStateIsLost) {
  TraceBuilder trace;
  trace.track(7, "main");
  const auto add = [&](std::uint64_t time, int flags, bool dropped) {
    trace.packet([&](Message& packet) {
      packet.add_uint64(8, time);
      packet.add_uint32(10, 1);
      packet.add_uint32(13, std::uint32_t(flags));
      if (dropped) packet.add_uint32(42, 1);
      message(packet, 11, [&](Message& event) {
        event.add_enum(9, 3);
        event.add_uint64(11, 7);
        event.add_string(23, "x");
      });
    });
  };
  add(10, 2, false);  // nothing was cleared yet: the beginning is missing
  add(20, 1, false);
  add(30, 2, false);
  add(40, 2, true);
  add(50, 2, false);
  add(60, 1, false);
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "20 +0 instant on main: x\n"
            "30 +0 instant on main: x\n"
            "60 +0 instant on main: x\n"
            "note at 13: 3 x packets need earlier packets of their sequence that the trace lacks; "
            "left out\n"
            "note at 67: 1 x times the recorder lost packets; slices around them may be wrong\n");
}

TEST(PerfettoRead, TakesTheDefaultTrackOfTheSequence) {
  TraceBuilder trace;
  trace.track(7, "by default");
  trace.packet([](Message& packet) {
    packet.add_uint32(10, 1);
    packet.add_uint32(13, 1);
    message(packet, 59, [](Message& defaults) {
      message(defaults, 11, [](Message& event) { event.add_uint64(11, 7); });
    });
  });
  trace.packet([](Message& packet) {
    packet.add_uint64(8, 5);
    packet.add_uint32(10, 1);
    message(packet, 11, [](Message& event) {
      event.add_enum(9, 3);
      event.add_string(23, "x");
    });
  });
  trace.packet([](Message& packet) {  // another sequence has none
    packet.add_uint64(8, 6);
    packet.add_uint32(10, 2);
    message(packet, 11, [](Message& event) {
      event.add_enum(9, 3);
      event.add_string(23, "y");
    });
  });
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track by default\n"
            "track Default Track\n"
            "5 +0 instant on by default: x\n"
            "6 +0 instant on Default Track: y\n");
}

TEST(PerfettoRead, TypesDebugAnnotations) {
  TraceBuilder trace;
  trace.track(7, "main");
  trace.packet([](Message& packet) {
    packet.add_uint64(8, 5);
    packet.add_uint32(10, 1);
    packet.add_uint32(13, 1);
    message(packet, 12, [](Message& interned) {
      message(interned, 3, [](Message& entry) {
        entry.add_uint64(1, 4);
        entry.add_string(2, "interned");
      });
      message(interned, 29, [](Message& entry) {
        entry.add_uint64(1, 9);
        entry.add_bytes(2, "shared text");
      });
      message(interned, 4, [](Message& entry) {
        entry.add_uint64(1, 2);
        entry.add_string(2, "file.cc");
        entry.add_string(3, "run");
        entry.add_uint32(4, 42);
      });
    });
    message(packet, 11, [](Message& event) {
      event.add_enum(9, 3);
      event.add_uint64(11, 7);
      event.add_string(23, "x");
      event.add_uint64(34, 2);
      event.add_uint64(52, 77);
      const auto add = [&](const char* name, auto fill) {
        message(event, 4, [&](Message& annotation) {
          annotation.add_string(10, name);
          fill(annotation);
        });
      };
      add("b", [](Message& a) { a.add_bool(2, true); });
      add("u", [](Message& a) { a.add_uint64(3, 18446744073709551615u); });
      add("small", [](Message& a) { a.add_uint64(3, 3); });
      add("i", [](Message& a) { a.add_int64(4, -7); });
      add("d", [](Message& a) { a.add_double(5, 0.5); });
      add("s", [](Message& a) { a.add_string(6, "text"); });
      add("p", [](Message& a) { a.add_uint64(7, 4096); });
      add("j", [](Message& a) { a.add_string(9, "{\"k\": [1]}"); });
      add("number", [](Message& a) { a.add_string(9, "1.5"); });
      add("no json", [](Message& a) { a.add_string(9, "{k:"); });
      add("nothing", [](Message&) {});
      message(event, 4, [](Message& a) {
        a.add_uint64(1, 4);
        a.add_uint64(17, 9);
      });
    });
  });
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "5 +0 instant on main: x b=true u=18446744073709551615u small=3 i=-7 d=0.5 s=\"text\" "
            "p=4096 j={\"k\": [1]} number=1.5 no json=\"{k:\" nothing=null "
            "interned=\"shared text\" source_file=\"file.cc\" source_function=\"run\" "
            "source_line=42 correlation_id=77\n");
}

TEST(PerfettoRead, KeepsNestedAnnotationsAsJson) {
  TraceBuilder trace;
  trace.track(7, "main");
  trace.event(5, 7, 3, [](Message& event) {
    event.add_string(23, "x");
    message(event, 4, [](Message& annotation) {
      annotation.add_string(10, "dict");
      message(annotation, 11, [](Message& entry) {
        entry.add_string(10, "a \"quoted\" key");
        entry.add_int64(4, -1);
      });
      message(annotation, 11, [](Message& entry) {
        entry.add_string(10, "list");
        message(entry, 12, [](Message& element) { element.add_bool(2, false); });
        message(entry, 12, [](Message& element) { element.add_double(5, 2.5); });
        entry.add_message(12, std::string());
      });
    });
    message(event, 4, [](Message& annotation) {
      annotation.add_string(10, "old");
      message(annotation, 8, [](Message& nested) {
        nested.add_enum(1, 1);
        nested.add_string(2, "k");
        message(nested, 3, [](Message& value) {
          value.add_enum(1, 2);
          message(value, 4, [](Message& leaf) { leaf.add_int64(5, 3); });
          message(value, 4, [](Message& leaf) { leaf.add_string(8, "t"); });
        });
      });
    });
  });
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "5 +0 instant on main: x dict={\"a \\\"quoted\\\" key\":-1,\"list\":[false,2.5,null]} "
            "old={\"k\":[3,\"t\"]}\n");
}

TEST(PerfettoRead, ANestedAnnotationWithAValueAndEntriesGaveInvalidJson) {
  TraceBuilder trace;
  trace.track(7, "main");
  trace.event(5, 7, 3, [](Message& event) {
    event.add_string(23, "x");
    message(event, 4, [](Message& annotation) {
      annotation.add_string(10, "dict");
      message(annotation, 11, [](Message& entry) {
        entry.add_string(10, "value first");
        entry.add_int64(4, 1);
        message(entry, 11, [](Message& inner) { inner.add_string(10, "k"); });
        message(entry, 12, [](Message& inner) { inner.add_int64(4, 2); });
      });
      message(annotation, 11, [](Message& entry) {
        entry.add_string(10, "entries first");
        message(entry, 11, [](Message& inner) {
          inner.add_string(10, "k");
          inner.add_int64(4, 3);
        });
        entry.add_int64(4, 4);
      });
    });
    message(event, 4, [](Message& annotation) {
      annotation.add_string(10, "list");
      message(annotation, 12, [](Message& element) {
        element.add_int64(4, 5);
        message(element, 12, [](Message& inner) { inner.add_int64(4, 6); });
      });
    });
  });
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "5 +0 instant on main: x dict={\"value first\":1,\"entries first\":{\"k\":3}} "
            "list=[5]\n");
}

TEST(PerfettoRead, JoinsTheArgumentsOfBeginAndEnd) {
  const auto with = [](const char* key, std::int64_t value) {
    return [=](Message& event) {
      message(event, 4, [&](Message& annotation) {
        annotation.add_string(10, key);
        annotation.add_int64(4, value);
      });
    };
  };
  TraceBuilder trace;
  trace.track(7, "main");
  trace.event(1, 7, 1, with("at begin", 1)).event(2, 7, 2, with("at end", 2));
  trace.event(3, 7, 1, [](Message&) {}).event(4, 7, 2, with("only at end", 3));
  trace.event(5, 7, 1, [](Message&) {}).event(6, 7, 2, [](Message&) {});
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "1 +1 slice on main:  at begin=1 at end=2\n"
            "3 +1 slice on main:  only at end=3\n"
            "5 +1 slice on main: \n");
}

TEST(PerfettoRead, JoinsTheArgumentsOfManyBeginsAndEnds) {
  const auto with = [](const char* key, std::int64_t value) {
    return [=](Message& event) {
      message(event, 4, [&](Message& annotation) {
        annotation.add_string(10, key);
        annotation.add_int64(4, value);
      });
    };
  };
  TraceBuilder trace;
  trace.track(7, "main");
  std::string expected = "track main\n";
  for (int i = 0; i < 3000; ++i) {
    trace.event(2 * i, 7, 1, with("a", i));
    i % 3 == 0 ? trace.event(2 * i + 1, 7, 2, with("b", 7 * i))
               : trace.event(2 * i + 1, 7, 2, [](Message&) {});
    expected += fmt::format("{} +1 slice on main:  a={}", 2 * i, i);
    expected += i % 3 == 0 ? fmt::format(" b={}\n", 7 * i) : "\n";
  }
  EXPECT_EQ(read_as_text(trace.bytes()), expected);
}

TEST(PerfettoRead, JoinsSeveralCategories) {
  TraceBuilder trace;
  trace.track(7, "main").event(1, 7, 3, [](Message& event) {
    event.add_string(22, "a");
    event.add_string(22, "b");
    event.add_string(23, "x");
  });
  EXPECT_EQ(read_as_text(trace.bytes()), "track main\n1 +0 instant on main: x [a,b]\n");
}

TEST(PerfettoRead, ReadsCountersPlainIncrementalScaledAndDouble) {
  TraceBuilder trace;
  trace.process(1, 10, "app");
  const auto counter = [&](std::uint64_t uuid, const char* name, auto fill) {
    trace.packet([&](Message& packet) {
      message(packet, 60, [&](Message& track) {
        track.add_uint64(1, uuid);
        track.add_uint64(5, 1);
        track.add_string(2, name);
        message(track, 8, fill);
      });
    });
  };
  counter(2, "plain", [](Message& c) { c.add_enum(3, 3); });
  counter(3, "incremental", [](Message& c) {
    c.add_bool(5, true);
    c.add_int64(4, 100);
    c.add_string(6, "pages");
  });
  const auto add = [&](std::uint64_t time, std::uint64_t uuid, std::int64_t value) {
    trace.event(time, uuid, 4, [&](Message& event) { event.add_int64(30, value); });
  };
  add(1, 2, 5);
  add(2, 3, 7);
  add(3, 3, -2);
  trace.event(4, 2, 4, [](Message& event) { event.add_double(44, 0.25); });
  // Beside a slice: one value by the event's own list of tracks, one double.
  trace.event(5, 1, 1, [](Message& event) {
    event.add_string(23, "slice");
    event.add_uint64(31, 2);
    event.add_int64(12, 11);
    event.add_uint64(45, 2);
    event.add_double(46, 1.5);
  });
  trace.end(6, 1);
  const Profile profile = read(trace.bytes());
  EXPECT_EQ(test::text_of(profile),
            "process app pid 10\n"
            "5 +1 slice on app: slice\n"
            "1 counter plain of app: 5\n"
            "2 counter incremental of app: 700\n"
            "3 counter incremental of app: 500\n"
            "4 counter plain of app: 0.25\n"
            "5 counter plain of app: 11\n"
            "5 counter plain of app: 1.5\n");
  EXPECT_EQ(profile.text(profile.counters.series[0].quantity), "bytes");
  EXPECT_EQ(profile.text(profile.counters.series[1].quantity), "pages");
}

TEST(PerfettoRead, ConnectsFlowsInTheOrderOfTime) {
  TraceBuilder trace;
  trace.track(1, "a").track(2, "b");
  const auto with = [](std::uint32_t field, std::uint64_t id) {
    return [=](Message& event) { event.add_fixed64(field, id); };
  };
  trace.event(10, 1, 1, with(47, 5)).end(11, 1);  // row 0
  trace.event(30, 1, 1, with(48, 5)).end(31, 1);  // row 1 ends it
  trace.event(20, 2, 1, with(47, 5)).end(21, 2);  // row 2, between both in time
  trace.event(40, 2, 1, with(47, 5)).end(41, 2);  // row 3 begins another
  trace.event(50, 1, 1, [](Message& event) { event.add_uint64(42, 5); }).end(51, 1);  // old form
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track a\n"
            "track b\n"
            "10 +1 slice on a: \n"
            "30 +1 slice on a: \n"
            "20 +1 slice on b: \n"
            "40 +1 slice on b: \n"
            "50 +1 slice on a: \n"
            "flow 0 -> 2\n"
            "flow 2 -> 1\n"
            "flow 3 -> 4\n");
}

TEST(PerfettoRead, SortsEventsThatComeLate) {
  // Two sequences write one track, one block each: the end of `a` is in the second block.
  TraceBuilder trace;
  trace.track(7, "shared").begin(10, 7, "a").begin(40, 7, "c").end(50, 7);
  trace.begin(20, 7, "b").end(25, 7).end(30, 7);
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track shared\n"
            "10 +20 slice on shared: a\n"
            "40 +10 slice on shared: c\n"
            "20 +5 slice on shared: b\n"
            "note at 59: 3 x events came after later ones of their track and were sorted in\n");
}

TEST(PerfettoRead, NotesWhatIsUnmatchedAndKeepsWhatIsUnclosed) {
  TraceBuilder trace;
  trace.track(7, "main")
      .end(5, 7)
      .begin(10, 7, "open")
      .begin(20, 7, "open too")
      .instant(70, 7, "x");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "10 +60 slice on main: open\n"
            "20 +50 slice on main: open too\n"
            "70 +0 instant on main: x\n"
            "note at 0: 1 x slice ends without a begin were left out\n"
            "note at 0: 2 x slices have no end; kept until the last time in the trace\n");
}

TEST(PerfettoRead, AnEndWithANameClosedTheInnermostSliceOfAnyName) {
  TraceBuilder trace;
  const auto end = [&](std::uint64_t time, const char* name, const char* category = "") {
    trace.event(time, 7, 2, [&](Message& event) {
      event.add_string(23, name);
      if (*category != 0) event.add_string(22, category);
    });
  };
  trace.track(7, "main");
  trace.begin(10, 7, "outer").begin(11, 7, "inner").begin(12, 7, "inmost");
  end(20, "inner");      // inmost ends with it: its own end comes later
  end(21, "inmost");     // that is none
  end(22, "elsewhere");  // and so is this
  end(30, "outer");
  trace.begin(40, 7, "a").begin(41, 7, "b");
  end(50, "a");
  end(50, "b");  // at the same moment it still can
  trace.begin(60, 7, "c");
  end(61, "c", "of a category that c is not of");
  trace.end(62, 7).begin(70, 7, "");
  end(71, "named later");
  EXPECT_EQ(
      read_as_text(trace.bytes()),
      "track main\n"
      "10 +20 slice on main: outer\n"
      "11 +9 slice on main: inner\n"
      "12 +8 slice on main: inmost\n"
      "40 +10 slice on main: a\n"
      "41 +9 slice on main: b\n"
      "60 +2 slice on main: c\n"
      "70 +1 slice on main: \n"
      "note at 0: 3 x slice ends without a begin were left out\n"
      "note at 0: 1 x slices outlast one around them that an end with a name closed; cut there\n");
}

TEST(PerfettoRead, ArrowsLedFromTheSliceWhoseIdCameFirstEvenIfItBeganLater) {
  TraceBuilder trace;
  trace.track(1, "a").track(2, "b");
  trace.begin(50, 1, "long");                                                            // row 0
  trace.event(100, 2, 1, [](Message& event) { event.add_fixed64(47, 5); }).end(200, 2);  // row 1
  trace.event(400, 1, 2, [](Message& event) { event.add_fixed64(47, 5); });
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track a\n"
            "track b\n"
            "50 +350 slice on a: long\n"
            "100 +100 slice on b: \n"
            "flow 0 -> 1\n");
}

TEST(PerfettoRead, ProcessesAndThreadsWithoutANameWereAllProcessZero) {
  TraceBuilder trace;
  trace.process(1, 10, "").thread(2, 10, 11, "").thread(3, 20, 21, "");
  trace.instant(5, 2, "x");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "process Process 10 pid 10\n"
            "  thread Thread 11 pid 10 tid 11\n"
            "process Process 20 pid 20\n"
            "  thread Thread 21 pid 20 tid 21\n"
            "5 +0 instant on Thread 11: x\n");
}

TEST(PerfettoRead, NamesProcessesAndThreadsOfChromeByTheirType) {
  TraceBuilder trace;
  const auto add = [&](std::uint64_t uuid, std::uint32_t part, std::uint32_t kind, int type,
                       const char* name) {
    trace.packet([&](Message& packet) {
      message(packet, 60, [&](Message& track) {
        track.add_uint64(1, uuid);
        message(track, part, [&](Message& described) {
          described.add_int32(1, 10);
          if (part == 4) described.add_int64(2, std::int64_t(uuid));
          if (part == 4) described.add_string(5, name);
        });
        message(track, kind, [&](Message& chrome) { chrome.add_enum(1, type); });
      });
    });
  };
  add(1, 3, 6, 2, "");
  add(2, 4, 7, 4, "");
  add(3, 4, 7, 4, "a name of its own");
  EXPECT_EQ(read_as_text(trace.bytes() + TraceBuilder().instant(1, 2, "x").bytes()),
            "process Renderer pid 10\n"
            "  thread ThreadPoolForegroundWorker& pid 10 tid 2\n"
            "  thread a name of its own pid 10 tid 3\n"
            "1 +0 instant on ThreadPoolForegroundWorker&: x\n");
}

TEST(PerfettoRead, TwoProcessesOfOneNameSharedAPath) {
  TraceBuilder trace;
  trace.process(1, 10, "python").process(2, 20, "python").process(3, 30, "other");
  const Profile profile = read(trace.instant(1, 1, "x").bytes());
  ASSERT_EQ(profile.units.size(), 3u);
  EXPECT_EQ(profile.units[0].lane, 0u);
  EXPECT_EQ(profile.units[1].lane, 1u);
  EXPECT_EQ(profile.units[2].lane, 0u);
  EXPECT_EQ(profile.text(profile.units[1].name), "python");
}

// The first counts, unless a track says that it is never merged with its siblings.
TEST(PerfettoRead, TracksTookTheNameOfTheLastDescriptor) {
  TraceBuilder trace;
  const auto alone = [&](std::uint64_t uuid, const char* name) {
    trace.packet([&](Message& packet) {
      message(packet, 60, [&](Message& track) {
        track.add_uint64(1, uuid);
        track.add_string(2, name);
        track.add_enum(15, 2);
      });
    });
  };
  trace.track(1, "before").instant(1, 1, "x").track(1, "after");
  alone(2, "before");
  trace.instant(2, 2, "y");
  alone(2, "after");
  trace.instant(3, 3, "of its event").instant(4, 3, "later");
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track before\n"
            "track after\n"
            "track of its event\n"
            "1 +0 instant on before: x\n"
            "2 +0 instant on after: y\n"
            "3 +0 instant on of its event: of its event\n"
            "4 +0 instant on of its event: later\n"
            "note at 0: 1 x tracks have events but no descriptor\n");
}

// The thread that a sequence describes writes what names no track; a track of 0 is the default one.
TEST(PerfettoRead, EventsWithoutATrackAreOfTheThreadThatWrites) {
  TraceBuilder trace;
  const auto put = [&](std::uint64_t time, bool clears, auto fill) {
    trace.packet([&](Message& packet) {
      packet.add_uint64(8, time);
      packet.add_uint32(10, 1);
      if (clears) packet.add_bool(41, true);
      fill(packet);
    });
  };
  put(0, true, [](Message& packet) {
    message(packet, 60, [](Message& track) {
      track.add_uint64(1, 7);
      message(track, 4, [](Message& thread) {
        thread.add_int32(1, 10);
        thread.add_int64(2, 11);
        thread.add_string(5, "main");
      });
    });
  });
  const auto event = [](const char* name, bool default_track) {
    return [=](Message& packet) {
      message(packet, 11, [&](Message& instant) {
        instant.add_enum(9, 3);
        instant.add_string(23, name);
        if (default_track) instant.add_uint64(11, 0);
      });
    };
  };
  put(1, false, event("a", false));
  put(2, true, event("b", false));
  put(3, false, event("c", true));
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track Default Track\n"
            "process Process 10 pid 10\n"
            "  thread main pid 10 tid 11\n"
            "1 +0 instant on main: a\n"
            "2 +0 instant on main: b\n"
            "3 +0 instant on Default Track: c\n");
}

TEST(PerfettoRead, ReadsWhatAThreadUsed) {
  TraceBuilder trace;
  trace.thread(7, 10, 11, "main");
  trace.event(1, 7, 1, [](Message& event) {
    event.add_string(23, "a");
    event.add_int64(17, 10);
    event.add_int64(20, 200);
  });
  trace.event(5, 7, 2, [](Message& event) { event.add_int64(2, 3); });
  const Profile profile = read(trace.bytes());
  const Counters& counters = profile.counters;
  ASSERT_EQ(counters.size(), 3u);
  EXPECT_EQ(profile.text(counters.series[0].name), "thread_time");
  EXPECT_EQ(profile.text(counters.series[1].name), "thread_instruction_count");
  EXPECT_EQ(counters.value[0], 10'000);
  EXPECT_EQ(counters.value[1], 200);
  EXPECT_EQ(counters.value[2], 3'000);  // counted from 0, as no descriptor says from where
}

TEST(PerfettoRead, ReadsCompressedPackets) {
  TraceBuilder inner;
  inner.track(7, "main").begin(1, 7, "zipped").end(2, 7);
  TraceBuilder trace;
  trace.packet(
      [&](Message& packet) { packet.add_bytes(50, test::zlib_compressed(inner.bytes())); });
  trace.packet(
      [&](Message& packet) { packet.add_bytes(133, test::zstd_compressed(inner.bytes())); });
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "1 +1 slice on main: zipped\n"
            "1 +1 slice on main: zipped\n"
            "note at 58: 1 x events came after later ones of their track and were sorted in\n");
}

TEST(PerfettoRead, CountsPacketsOfOtherKindsByKind) {
  TraceBuilder trace;
  trace.track(7, "main").instant(1, 7, "x");
  for (int i = 0; i < 3; ++i) {
    trace.packet([](Message& packet) { packet.add_bytes(1, "ftrace"); });
  }
  trace.packet([](Message& packet) { packet.add_bytes(600, "future"); });
  trace.packet([](Message& packet) { packet.add_bytes(36, "synchronization marker"); });
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track main\n"
            "1 +0 instant on main: x\n"
            "note at 29: 3 x packets not read: ftrace_events (1)\n"
            "note at 59: 1 x packets not read: 600\n");
}

TEST(PerfettoRead, HoldsStatesUntilTheNext) {
  TraceBuilder trace;
  trace.track(7, "power");
  trace.event(10, 7, 5, [](Message& event) { event.add_string(23, "idle"); });
  trace.event(30, 7, 5, [](Message& event) { event.add_string(23, "busy"); });
  trace.event(35, 7, 5, [](Message&) {});
  EXPECT_EQ(read_as_text(trace.bytes()),
            "track power\n"
            "10 +20 slice on power: idle\n"
            "30 +5 slice on power: busy\n");
}

TEST(PerfettoRead, RecognisesTracesByContent) {
  TraceBuilder trace;
  trace.track(7, "main").begin(1, 7, "x");
  EXPECT_TRUE(looks_like(trace.bytes()));
  EXPECT_TRUE(looks_like(std::string_view(trace.bytes()).substr(0, 9)));
  trace.begin(2, 7, "y").begin(3, 7, "z");
  EXPECT_TRUE(looks_like(trace.bytes() + "\xff\xff damage"));
  EXPECT_FALSE(looks_like(""));
  EXPECT_FALSE(looks_like("\n"));
  EXPECT_FALSE(looks_like("\n{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 1, \"dur\": 2}]}\n"));
  EXPECT_FALSE(looks_like("\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"));
  EXPECT_FALSE(looks_like("\nname,start,duration\nMatMul,1,2\n"));
  // An XSpace, another protobuf whose field 1 repeats: a plane with id 1 and a name.
  EXPECT_FALSE(looks_like(std::string_view("\x0A\x0A\x08\x01\x12\x06/host:\x0A\x00", 14)));
}

TEST(PerfettoRead, ATraceOfOtherDataWasNoTrace) {
  TraceBuilder trace;
  for (int i = 0; i < 5; ++i) {
    trace.packet([&](Message& packet) {
      message(packet, 1, [&](Message& bundle) {  // ftrace_events
        bundle.add_uint32(1, 0);
        message(bundle, 2, [&](Message& event) { event.add_uint64(1, 1000u * unsigned(i)); });
      });
    });
  }
  EXPECT_FALSE(looks_like(trace.bytes()));
  EXPECT_TRUE(may_be(trace.bytes()));
  EXPECT_TRUE(may_be(std::string_view(trace.bytes()).substr(0, 21)));
  EXPECT_EQ(read_as_text(trace.bytes()),
            "note at 0: 1 x no track events: what the trace recorded, npuscope does not read\n"
            "note at 0: 5 x packets not read: ftrace_events (1)\n");
  EXPECT_FALSE(may_be(""));
  EXPECT_FALSE(may_be("\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"));
  EXPECT_FALSE(may_be("\nname,start,duration\nMatMul,1,2\n"));
  EXPECT_FALSE(may_be(std::string_view("\x0A\x0A\x08\x01\x12\x06/host:\x0A\x00", 14)));
}

TEST(PerfettoRead, SaysWhenNothingIsATrace) {
  EXPECT_EQ(read_as_text("no trace at all, not one packet"),
            "test.pftrace: no packet of a Perfetto trace in its 31 bytes; check that it is a trace "
            "in protobuf form, recorded to its end\n");
}

}  // namespace
}  // namespace npuscope::perfetto::read_test
