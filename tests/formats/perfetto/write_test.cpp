// What the profile says and what the trace says then.
#include "npuscope/formats/perfetto/write.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "formats/perfetto/profile_text.hpp"
#include "formats/perfetto/random_profile.hpp"
#include "formats/perfetto/raw_text.hpp"
#include "formats/perfetto/read/read.hpp"
#include "number_meaning.hpp"

namespace npuscope::perfetto::write_test {
namespace {

using test::read;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Written {
  std::string bytes;
  WriteReport report;
};

Written write(std::vector<const Profile*> profiles) {
  Written written;
  written.report = write_trace(profiles, [&](std::string_view bytes) { written.bytes += bytes; });
  return written;
}

Written write(const Profile& profile) { return write(std::vector{&profile}); }

// What a program sees that knows nothing of npuscope's metadata: with those of two profiles in one
// trace the reader does not follow them either.
std::string seen_by_others(const std::string& trace) {
  return trace + std::string("\x0a\x0e\x2a\x0c\x12\x0a\x0a\x08npuscope");
}

void add_span(Profile& profile, UnitId unit, OpId op, SpanKind kind, std::int64_t start,
              std::int64_t duration) {
  profile.spans.unit.push_back(unit);
  profile.spans.op.push_back(op);
  profile.spans.kind.push_back(kind);
  profile.spans.start.push_back(start);
  profile.spans.duration.push_back(duration);
}

UnitId add_unit(Profile& profile, Engine engine, std::string_view name, UnitId parent,
                std::uint32_t lane = 0) {
  Unit unit;
  unit.engine = engine;
  unit.name = profile.strings.intern(name);
  unit.parent = parent;
  unit.lane = lane;
  profile.units.push_back(unit);
  return UnitId(profile.units.size() - 1);
}

OpId add_op(Profile& profile, std::string_view name, std::string_view kind) {
  Op op;
  op.name = profile.strings.intern(name);
  op.kind = profile.strings.intern(kind);
  profile.ops.push_back(op);
  return OpId(profile.ops.size() - 1);
}

// A device with one core and an HVX thread, timed by a 19.2 MHz timer.
Profile small_device() {
  Profile profile;
  profile.clocks.push_back(
      {profile.strings.intern("utimer"), ClockKind::timer, Hertz{19.2e6}, true, 0});
  const UnitId device = add_unit(profile, Engine::device, "device 0", UnitId::none);
  const UnitId core = add_unit(profile, Engine::core, "core 0", device);
  const UnitId hvx = add_unit(profile, Engine::hvx, "HVX", core, 1);
  const OpId op = add_op(profile, "MatMul_0", "conv");
  add_span(profile, hvx, op, SpanKind::sync, 96, 24);
  add_span(profile, hvx, op, SpanKind::op, 120, 48);
  return profile;
}

TEST(PerfettoWrite, WritesTheTrackTreeNamesInternedAndTimesAsDifferences) {
  const Written written = write(small_device());
  std::string text = *test::raw_text(written.bytes);
  // Track ids are large numbers that differ from profile to profile.
  std::vector<std::string> ids;
  for (std::size_t at = text.find("\n    1: "); ids.size() < 3;
       at = text.find("\n    1: ", at + 1)) {
    ids.push_back(text.substr(at + 8, text.find('\n', at + 8) - at - 8));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t at = text.find(ids[i]); at != text.npos; at = text.find(ids[i], at)) {
      text.replace(at, ids[i].size(), std::string(1, char('A' + i)));
    }
  }
  EXPECT_EQ(
      text,
      "1 {\n  60 {\n    1: A\n    2: \"device 0\"\n    15: 2\n    11: 3\n"
      "    14: \"npuscope unit 0\"\n    12: 0\n  }\n}\n"
      "1 {\n  60 {\n    1: B\n    5: A\n    2: \"core 0\"\n    15: 2\n    11: 3\n"
      "    14: \"npuscope unit 1\"\n    12: 1\n"
      "  }\n}\n"
      "1 {\n  60 {\n    1: C\n    5: B\n    2: \"HVX 1\"\n    15: 2\n    11: 3\n"
      "    14: \"npuscope unit 2\"\n    12: 2\n"
      "  }\n}\n"
      // What tracks cannot say of the profile.
      "1 {\n  5 {\n    2 {\n      1: \"npuscope\"\n"
      "      2: \"{\"inferences\":0,\"temperature\":\"unknown\",\"clocks\":[{\"name\":\"utimer\","
      "\"kind\":\"timer\",\"hertz\":19200000,\"offset\":0}],\"base_clock\":0,\"moved_ns\":0,"
      "\"units\":["
      "{\"name\":\"device 0\",\"engine\":\"device\",\"device\":0,\"core\":0,\"lane\":0},\n"
      "{\"name\":\"core 0\",\"engine\":\"core\",\"device\":0,\"core\":0,\"lane\":0,\"parent\":0},\n"
      "{\"name\":\"HVX\",\"engine\":\"hvx\",\"device\":0,\"core\":0,\"lane\":1,\"parent\":1}],"
      "\"numbers\":[]}\"\n"
      "    }\n  }\n}\n"
      // The sequence: state cleared, its default track and clock, that clock's beginning.
      "1 {\n  10: 1\n  13: 1\n  41: 1\n  87: 1\n"
      "  59 {\n    11 {\n      11: C\n    }\n    58: 64\n  }\n"
      "  6 {\n    1 {\n      1: 6\n      2: 5000\n    }\n"
      "    1 {\n      1: 64\n      2: 5000\n      3: 1\n    }\n  }\n}\n"
      // The wait of 24 ticks is 1250 ns.
      "1 {\n  8: 0\n  10: 1\n  13: 2\n"
      "  11 {\n    9: 1\n    3: 1\n    10: 1\n    4 {\n      1: 1\n      17: 1\n    }\n  }\n"
      "  12 {\n    1 {\n      1: 1\n      2: \"conv\"\n    }\n"
      "    2 {\n      1: 1\n      2: \"sync MatMul_0\"\n    }\n"
      "    3 {\n      1: 1\n      2: \"npuscope.span\"\n    }\n"
      "    29 {\n      1: 1\n      2: \"sync\"\n    }\n  }\n}\n"
      "1 {\n  8: 1250\n  10: 1\n  13: 2\n  11 {\n    9: 2\n  }\n}\n"
      "1 {\n  8: 0\n  10: 1\n  13: 2\n"
      "  11 {\n    9: 1\n    3: 1\n    10: 2\n    4 {\n      1: 1\n      17: 2\n    }\n  }\n"
      "  12 {\n    2 {\n      1: 2\n      2: \"MatMul_0\"\n    }\n"
      "    29 {\n      1: 2\n      2: \"op\"\n    }\n  }\n}\n"
      "1 {\n  8: 2500\n  10: 1\n  13: 2\n  11 {\n    9: 2\n  }\n}\n");
  EXPECT_EQ(written.report.bytes, written.bytes.size());
  EXPECT_EQ(written.report.packets, 9u);
  EXPECT_EQ(written.report.tracks, 3u);
}

// trace_processor counts by the boot clock: a clock that nothing relates to it is an import error.
TEST(PerfettoWrite, AMonotonicClockWasRelatedToNoBootClock) {
  Profile profile = small_device();
  profile.clocks[0] = {profile.strings.intern("monotonic"), ClockKind::wall, Hertz{1e9}, true, 0};
  const Written written = write(profile);
  EXPECT_THAT(*test::raw_text(written.bytes),
              HasSubstr("  6 {\n"
                        "    1 {\n      1: 3\n      2: 96\n    }\n"
                        "    1 {\n      1: 64\n      2: 96\n      3: 1\n    }\n"
                        "    1 {\n      1: 6\n      2: 96\n    }\n"
                        "    2: 3\n  }\n"));
  EXPECT_EQ(test::text_of(read(written.bytes)), test::text_of(profile));
}

TEST(PerfettoWrite, ABootClockOfTheProfileIsNotTakenForItsMonotonicOne) {
  Profile profile = small_device();
  profile.clocks[0] = {profile.strings.intern("monotonic"), ClockKind::wall, Hertz{1e9}, true, 0};
  profile.clocks.push_back(
      {profile.strings.intern("boottime"), ClockKind::wall, Hertz{1e9}, true, 50});
  const Written written = write(profile);
  EXPECT_THAT(*test::raw_text(written.bytes), Not(HasSubstr("1: 6\n      2: 96\n")));
  EXPECT_EQ(test::text_of(read(written.bytes)), test::text_of(profile));
}

TEST(PerfettoWrite, IsReadBackAsItWas) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    const Profile profile = test::random_profile({.seed = seed, .spans = 150});
    const Written written = write(profile);
    EXPECT_THAT(written.report.losses.entries, IsEmpty());
    const Profile again = read(written.bytes);
    ASSERT_EQ(test::text_of(again), test::text_of(profile)) << "seed " << seed;
    EXPECT_EQ(again.clocks.size(), 1u);
    for (std::size_t i = 0; i < profile.counters.series.size(); ++i) {
      EXPECT_EQ(again.text(again.counters.series[i].quantity),
                profile.text(profile.counters.series[i].quantity));
    }
  }
}

TEST(PerfettoWrite, GivesBackWhatTheDataModelKnowsOfSpansAndOps) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    const Profile profile = test::random_profile({.seed = seed, .spans = 150, .accelerator = true});
    const Written written = write(profile);
    EXPECT_THAT(written.report.losses.entries, IsEmpty());
    const Profile again = read(written.bytes);
    ASSERT_EQ(test::text_of(again), test::text_of(profile)) << "seed " << seed;
    ASSERT_EQ(again.spans.instance, profile.spans.instance);
    ASSERT_EQ(again.spans.processor_cycles, profile.spans.processor_cycles);
    for (std::size_t row = 0; row < profile.spans.size(); ++row) {
      const Op& was = profile.ops[index_of(profile.spans.op[row])];
      const Op& is = again.ops[index_of(again.spans.op[row])];
      ASSERT_EQ(again.text(is.node), profile.text(was.node));
      ASSERT_EQ(again.text(is.operands), profile.text(was.operands));
      ASSERT_EQ(is.output, was.output);
      ASSERT_EQ(is.id, was.id);
    }
  }
}

TEST(PerfettoWrite, WritesTheSameBytesForTheSameProfile) {
  const Profile profile = test::random_profile({.seed = 5});
  EXPECT_EQ(write(profile).bytes, write(profile).bytes);
}

TEST(PerfettoWrite, PutsWhatOverlapsOnTracksOfItsOwn) {
  Profile profile;
  profile.clocks.push_back({profile.strings.intern("boottime"), ClockKind::wall, Hertz{1e9}});
  const UnitId dma = add_unit(profile, Engine::dma, "DMA 0", UnitId::none);
  const OpId op = add_op(profile, "copy", "");
  add_span(profile, dma, op, SpanKind::slice, 0, 10);
  add_span(profile, dma, op, SpanKind::slice, 5, 10);
  add_span(profile, dma, op, SpanKind::slice, 6, 4);
  add_span(profile, dma, op, SpanKind::slice, 10, 10);
  const Written written = write(profile);
  EXPECT_THAT(written.report.losses.entries,
              ElementsAre(Loss{"spans that overlap on one unit: on further tracks beside it", 1},
                          Loss{"units that are hardware: as tracks of their names", 1}));
  EXPECT_EQ(test::read_as_text(seen_by_others(written.bytes)),
            "track DMA 0\n"
            "track DMA 0 (2)\n"
            "0 +10 slice on DMA 0: copy\n"
            "6 +4 slice on DMA 0: copy\n"
            "10 +10 slice on DMA 0: copy\n"
            "5 +10 slice on DMA 0 (2): copy\n");
}

TEST(PerfettoWrite, LosesNoSliceOfOverlappingRandomProfiles) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Profile profile = test::random_profile({.seed = seed, .overlap = true});
    const Profile again = read(write(profile).bytes);
    EXPECT_TRUE(again.notes.empty());
    const auto slices = [](const Profile& of) {
      std::vector<std::tuple<std::int64_t, std::int64_t, std::string>> all;
      for (std::size_t row = 0; row < of.spans.size(); ++row) {
        all.emplace_back(of.spans.start[row], of.spans.duration[row],
                         of.text(of.ops[index_of(of.spans.op[row])].name));
      }
      std::sort(all.begin(), all.end());
      return all;
    };
    EXPECT_EQ(slices(again), slices(profile));
    EXPECT_EQ(again.flows.size(), profile.flows.size());
  }
}

TEST(PerfettoWrite, SaysWhatATraceCannotHold) {
  Profile profile = small_device();
  profile.clocks[0].rate = Hertz{0};
  profile.edges.push_back({OpId(0), OpId(0), EdgeKind::data});
  profile.tensors.resize(2);
  profile.checks.resize(3);
  profile.notes.resize(4);
  profile.measures.push_back({});
  profile.flows.push_back({SpanId(1), SpanId(0), EdgeKind::flow, {}, {}});
  profile.flows.push_back({SpanId(1), SpanId(77), EdgeKind::flow, {}, {}});
  profile.counters.series.push_back(
      {UnitId(0), profile.strings.intern("vtcm"), profile.strings.intern("used"), {}});
  profile.counters.of.push_back(0);
  profile.counters.time.push_back(5);
  profile.counters.value.push_back(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(
      write(profile).report.losses.entries,
      ElementsAre(
          Loss{"counter samples that are not finite", 1},
          Loss{"counters of several values: one track for each", 1},
          Loss{"flows that end before they begin", 1}, Loss{"flows of spans that are not there", 1},
          Loss{"units that are hardware: as tracks of their names", 3},
          Loss{"times whose clock has no known rate: one tick is written as one nanosecond", 3},
          Loss{"numbers about the run, units and ops", 1}, Loss{"dependencies between ops", 1},
          Loss{"tensors", 2}, Loss{"checks", 3}, Loss{"notes", 4}));
}

TEST(PerfettoWrite, PhasesAloneWhoseClockHasNoKnownRateAreCountedAsWrittenInNanoseconds) {
  Profile profile;
  profile.clocks.push_back({profile.strings.intern("cycles"), ClockKind::unit_cycles, Hertz{0}});
  Phase phase;
  phase.name = profile.strings.intern("Graph Execute");
  phase.duration = 674'190;
  profile.phases.push_back(phase);
  EXPECT_THAT(
      write(profile).report.losses.entries,
      ::testing::Contains(
          Loss{"times whose clock has no known rate: one tick is written as one nanosecond", 1}));
}

TEST(PerfettoWrite, MovesTimesBeforeZero) {
  Profile profile = small_device();
  profile.clocks[0].rate = Hertz{1e9};
  for (std::int64_t& start : profile.spans.start) start -= 1000;
  const Written written = write(profile);
  EXPECT_THAT(written.report.losses.entries,
              ElementsAre(Loss{"times before 0: all times are moved by 904 ns", 1},
                          Loss{"units that are hardware: as tracks of their names", 3}));
  EXPECT_THAT(read(seen_by_others(written.bytes)).spans.start, ElementsAre(0, 24));
  EXPECT_THAT(read(written.bytes).spans.start, ElementsAre(-904, -880));
}

TEST(PerfettoWrite, HoldsPhasesMeasuresAndWhatIsKnownOfOps) {
  Profile profile = small_device();
  profile.clocks[0].rate = Hertz{1e9};
  profile.ops[0].shape = profile.strings.intern("[1,8]");
  profile.ops[0].output = Bytes{64};
  profile.spans.instance = {3, 3};
  profile.spans.processor_cycles = {-1, 500};
  MeasureColumn column;
  column.what = profile.strings.intern("dominant path");
  column.values = {MeasureColumn::missing, 9};
  column.meaning = test_support::meaning_of(column.kind, profile.text(column.what));
  profile.spans.measures.push_back(column);
  Measure measure;
  measure.subject = Measure::Subject::span;
  measure.subject_id = 1;
  measure.what = profile.strings.intern("pmu 0x3f");
  measure.value = 12;
  measure.meaning = test_support::meaning_of(measure.kind, profile.text(measure.what));
  profile.measures.push_back(measure);
  Phase phase;
  phase.name = profile.strings.intern("Graph Execute");
  phase.start = 90;
  phase.duration = 100;
  phase.microseconds = 0.1;
  profile.phases.push_back(phase);
  const Written written = write(profile);
  EXPECT_THAT(written.report.losses.entries,
              ElementsAre(Loss{"units that are hardware: as tracks of their names", 3},
                          Loss{"measures of spans and phases: as annotations", 2},
                          Loss{"phases: as slices of a track of their own", 1}));
  const Profile again = read(seen_by_others(written.bytes));
  EXPECT_EQ(test::text_of(again),
            "track phases\n"
            "track device 0\n"
            "  track core 0\n"
            "    track HVX 1\n"
            "90 +100 slice on phases: Graph Execute npuscope.phase=0 npuscope.microseconds=0.1\n"
            "96 +24 sync on HVX 1: MatMul_0 [conv]\n"
            "120 +48 op on HVX 1: MatMul_0 [conv] dominant path=9 pmu 0x3f=12.0\n");
  EXPECT_THAT(again.spans.instance, ElementsAre(0, 3, 3));
  EXPECT_THAT(again.spans.processor_cycles, ElementsAre(-1, -1, 500));
  ASSERT_EQ(again.ops.size(), 2u);
  EXPECT_EQ(again.text(again.ops[1].shape), "[1,8]");
  EXPECT_EQ(again.ops[1].output, Bytes{64});
}

TEST(PerfettoWrite, ShapesOperandsAndPortsAreNumbersAgain) {
  Profile profile = small_device();
  Op& op = profile.ops[0];
  op.kind = profile.strings.intern("aicconvolutiond32");
  op.shape = profile.strings.intern("Dest [1 x 8]");
  op.attributes = profile.strings.intern("{PortDescription: 0->1, TransactionId: 6}");
  op.operands = profile.strings.intern("out TCM Dest y float16 <1 x 8> 0KB");
  const Profile again = read(write(profile).bytes);
  ASSERT_EQ(again.peer_ports.size(), 1u);
  const PeerPort& port = again.peer_ports[0];
  EXPECT_EQ(again.text(port.to), "1");
  const Op& restored = again.ops[index_of(port.op)];
  EXPECT_THAT(again.shapes[restored.extents], ElementsAre(1, 8));
  EXPECT_EQ(restored.product, ProductKind::matrices);
  ASSERT_EQ(again.operand_lists[restored.operand_list].size(), 1u);
  EXPECT_EQ(again.operand_lists[restored.operand_list][0].bits, 16);
}

TEST(PerfettoWrite, PutsSeveralProfilesSideBySide) {
  Profile one = test::random_profile({.seed = 1, .spans = 20, .processes = 1});
  one.provenance.graph = "first";
  Profile two = test::random_profile({.seed = 2, .spans = 20, .processes = 1});
  two.provenance.files = {"some/where/second.json"};
  const Profile both = read(write({&one, &two}).bytes);
  EXPECT_TRUE(both.notes.empty());
  EXPECT_EQ(both.spans.size(), one.spans.size() + two.spans.size());
  EXPECT_EQ(both.units.size(), one.units.size() + two.units.size() + 2);
  EXPECT_EQ(both.text(both.units[0].name), "profile 1: first");
  EXPECT_EQ(both.text(both.units[one.units.size() + 1].name), "profile 2: second.json");
  // Two traces that were written apart can be put together as well.
  EXPECT_EQ(read(write(one).bytes + write(two).bytes).spans.size(), both.spans.size());
}

TEST(PerfettoWrite, SaysOfSeveralProfilesWhoseTimesNothingRelates) {
  const Profile device = small_device();
  const Profile host = test::random_profile({.seed = 1, .spans = 20});
  const auto unrelated = [](std::vector<const Profile*> profiles) {
    for (const Loss& loss : write(profiles).report.losses.entries) {
      if (loss.what.starts_with("profiles whose clock has no known relation")) return loss.count;
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(unrelated({&device}), 0u);
  EXPECT_EQ(unrelated({&host, &host}), 0u);  // both by the time since boot
  EXPECT_EQ(unrelated({&host, &device, &host}), 1u);
  EXPECT_EQ(unrelated({&device, &device, &host}), 2u);
}

TEST(PerfettoWrite, CountsOpsThatNothingExecutes) {
  Profile profile = small_device();
  add_op(profile, "weights", "constant");
  EXPECT_THAT(write(profile).report.losses.entries,
              ::testing::Contains(Loss{"ops without a span", 1}));
}

TEST(PerfettoWrite, KeepsProcessesWhoseIdsAreNoNumbersOrTaken) {
  Profile profile;
  const auto add = [&](Engine engine, const char* name, const char* pid, const char* tid,
                       UnitId parent) {
    const UnitId unit = add_unit(profile, engine, name, parent);
    profile.units.back().process_id = profile.strings.intern(pid);
    profile.units.back().thread_id = profile.strings.intern(tid);
    return unit;
  };
  const UnitId rank = add(Engine::process, "", "rank 3", "", UnitId::none);
  add(Engine::thread, "", "rank 3", "stream 7", rank);
  const UnitId zero = add(Engine::process, "zero", "0", "", UnitId::none);
  add(Engine::thread, "t", "0", "5", zero);
  add(Engine::process, "one", "4", "", UnitId::none);
  add(Engine::process, "other", "4", "", UnitId::none);
  EXPECT_EQ(test::read_as_text(seen_by_others(write(profile).bytes)),
            "track process rank 3\n"
            "  track thread stream 7\n"
            "track zero\n"
            "  track t\n"
            "process one pid 4\n"
            "track other\n");
}

TEST(PerfettoWrite, SurvivesForgedProfiles) {
  Profile profile = small_device();
  profile.units[0].parent = UnitId(2);  // a ring
  profile.base_clock = ClockId(9);
  profile.spans.unit[0] = UnitId(1000);
  profile.spans.op[1] = OpId::none;
  profile.spans.start[0] = std::numeric_limits<std::int64_t>::min();
  profile.spans.duration[0] = std::numeric_limits<std::int64_t>::max();
  profile.spans.duration[1] = -5;
  const Written written = write(profile);
  EXPECT_THAT(test::read_as_text(seen_by_others(written.bytes)),
              HasSubstr("sync on no unit: MatMul_0"));
  EXPECT_EQ(read(written.bytes).spans.size(), 2u);
}

TEST(PerfettoWrite, LeavesNoFileWhenItCannotWrite) {
  const auto path =
      std::filesystem::temp_directory_path() / "npuscope-no-such-folder" / "x.pftrace";
  const Profile profile = small_device();
  const Profile* profiles[] = {&profile};
  const auto report = write_trace(profiles, path);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::output);
}

TEST(PerfettoWrite, WritesAFile) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("npuscope_write_{}.pftrace", ::getpid());
  const Profile profile = test::random_profile({.seed = 3});
  const Profile* profiles[] = {&profile};
  const auto report = write_trace(profiles, path);
  ASSERT_TRUE(report);
  EXPECT_EQ(std::filesystem::file_size(path), report->bytes);
  const auto again = read_profile(**open_byte_source(path));
  ASSERT_TRUE(again);
  EXPECT_EQ(test::text_of(*again), test::text_of(profile));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace npuscope::perfetto::write_test
