// A profile of hardware, written and read back: what becomes of it, and of damage to what the trace
// says of it beside the events.
#include <array>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "formats/perfetto/about.hpp"
#include "formats/perfetto/profile_text.hpp"
#include "formats/perfetto/read/read.hpp"
#include "npuscope/formats/perfetto/write.hpp"
#include "number_meaning.hpp"

namespace npuscope::perfetto::own_trace_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string write(const Profile& profile) {
  const Profile* profiles[] = {&profile};
  std::string bytes;
  write_trace(profiles, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

void add_span(Profile& profile, UnitId unit, OpId op, SpanKind kind, std::int64_t start,
              std::int64_t duration) {
  profile.spans.unit.push_back(unit);
  profile.spans.op.push_back(op);
  profile.spans.kind.push_back(kind);
  profile.spans.start.push_back(start);
  profile.spans.duration.push_back(duration);
}

Phase phase(Profile& profile, const char* name, std::int64_t start, std::int64_t duration,
            std::uint32_t parent) {
  Phase made;
  made.name = profile.strings.intern(name);
  made.instance = 2;
  made.start = start;
  made.duration = duration;
  made.parent = parent;
  return made;
}

// Phases, overlapping spans, numbers and a clock of unknown rate.
Profile device() {
  Profile profile;
  StringPool& strings = profile.strings;
  profile.provenance.device = "htp-v75";
  profile.provenance.graph = "bert";
  profile.provenance.inferences = 3;
  profile.provenance.temperature = Provenance::Temperature::cold_then_warm;
  profile.clocks.push_back({strings.intern("utimer"), ClockKind::timer, Hertz{19.2e6}, true, 7});
  profile.clocks.push_back({strings.intern("core"), ClockKind::unit_cycles, Hertz{0}});
  profile.base_clock = ClockId(1);
  profile.units.push_back({0, 3, Engine::core, 0, strings.intern("Core 3"), UnitId::none, {}, {}});
  profile.units.push_back({0, 3, Engine::dma, 1, strings.intern("DMA"), UnitId(0), {}, {}});
  Op op;
  op.name = strings.intern("MatMul_0");
  op.engine = Engine::hmx;
  op.core = 3;
  op.group = 1;
  op.position = 4;
  op.once_per_inference = true;
  profile.ops.push_back(op);
  add_span(profile, UnitId(1), OpId(0), SpanKind::op, -20, 100);
  add_span(profile, UnitId(1), OpId(0), SpanKind::dma_wait, 50, 100);  // overlaps
  add_span(profile, UnitId::none, OpId(0), SpanKind::async, 60, 5);
  profile.spans.measures.push_back(
      {strings.intern("dominant path"),
       MeasureKind::dominant_path,
       Origin::derived,
       test_support::meaning_of(MeasureKind::dominant_path, "dominant path"),
       ClockId(1),
       {9, MeasureColumn::missing, 4}});
  profile.measures.push_back({Measure::Subject::span, 1, strings.intern("stall"), MeasureKind::work,
                              Origin::counter, test_support::meaning_of(MeasureKind::work, "stall"),
                              ClockId(0), 2.5});
  profile.measures.push_back(
      {Measure::Subject::phase, 1, strings.intern("stall"), MeasureKind::work, Origin::counter,
       test_support::meaning_of(MeasureKind::work, "stall"), ClockId(0), 7.5});
  // A part comes before the whole, and both take the same time.
  profile.phases.push_back(phase(profile, "Execute", -30, 200, 1));
  profile.phases.push_back(phase(profile, "Graph", -30, 200, outermost_phase));
  profile.phases.push_back(phase(profile, "After", 170, 10, no_phase));
  profile.phases[0].microseconds = 0.25;
  profile.phases[2].unit = UnitId(1);
  profile.counters.series.push_back({UnitId(1), strings.intern("queue"), {}, {}});
  profile.counters.of.push_back(0);
  profile.counters.time.push_back(55);
  profile.counters.value.push_back(2);
  return profile;
}

TEST(PerfettoOwnTrace, GivesBackClocksAndTimesInTicks) {
  const Profile again = test::read(write(device()));
  ASSERT_THAT(again.clocks, SizeIs(2));
  EXPECT_EQ(again.base_clock, ClockId(1));
  EXPECT_EQ(again.text(again.clocks[1].name), "core");
  EXPECT_EQ(again.clocks[1].kind, ClockKind::unit_cycles);
  EXPECT_EQ(again.clocks[1].rate.value, 0);
  EXPECT_EQ(again.clocks[0].rate.value, 19.2e6);
  EXPECT_EQ(again.clocks[0].offset, 7);
  EXPECT_THAT(again.spans.start, ElementsAre(-20, 50, 60));
  EXPECT_THAT(again.spans.duration, ElementsAre(100, 100, 5));
  EXPECT_THAT(again.counters.time, ElementsAre(55));
  ASSERT_THAT(again.notes, SizeIs(1));
  EXPECT_THAT(again.notes[0].message, HasSubstr("times are its ticks"));
}

TEST(PerfettoOwnTrace, GivesBackTheTicksOfAClockOfKnownRate) {
  Profile profile = device();
  profile.base_clock = ClockId(0);
  for (std::int64_t& start : profile.spans.start) start += 123'456'789'012'345;
  for (Phase& each : profile.phases) each.start += 123'456'789'012'345;
  for (std::int64_t& time : profile.counters.time) time += 123'456'789'012'345;
  const Profile again = test::read(write(profile));
  EXPECT_EQ(again.spans.start, profile.spans.start);
  EXPECT_EQ(again.spans.duration, profile.spans.duration);
  EXPECT_EQ(again.clocks[0].kind, ClockKind::timer);
  EXPECT_THAT(again.notes, SizeIs(0));
}

TEST(PerfettoOwnTrace, SaysThatAFinerClockWasRounded) {
  Profile profile = device();
  profile.clocks[1].rate = Hertz{1.4e9};
  const Profile again = test::read(write(profile));
  EXPECT_EQ(again.clocks[1].rate.value, 1.4e9);
  EXPECT_NEAR(double(again.spans.start[1]), 50, 1);
  ASSERT_THAT(again.notes, SizeIs(1));
  EXPECT_THAT(again.notes[0].message, HasSubstr("finer than nanoseconds"));
}

TEST(PerfettoOwnTrace, GivesBackUnitsOpsAndWhatLiesBesideThem) {
  const Profile again = test::read(write(device()));
  ASSERT_THAT(again.units, SizeIs(2));
  EXPECT_EQ(again.text(again.units[1].name), "DMA");
  EXPECT_EQ(again.units[1].engine, Engine::dma);
  EXPECT_EQ(again.units[1].core, 3u);
  EXPECT_EQ(again.units[1].lane, 1u);
  EXPECT_EQ(again.units[1].parent, UnitId(0));
  EXPECT_THAT(again.spans.unit, ElementsAre(UnitId(1), UnitId(1), UnitId::none));
  EXPECT_THAT(again.spans.kind, ElementsAre(SpanKind::op, SpanKind::dma_wait, SpanKind::async));
  EXPECT_EQ(again.counters.series[0].unit, UnitId(1));
  ASSERT_THAT(again.ops, SizeIs(1));
  EXPECT_EQ(again.ops[0].engine, Engine::hmx);
  EXPECT_EQ(again.ops[0].core, 3u);
  EXPECT_EQ(again.ops[0].group, 1u);
  EXPECT_EQ(again.ops[0].position, 4u);
  EXPECT_TRUE(again.ops[0].once_per_inference);
  EXPECT_EQ(again.provenance.device, "htp-v75");
  EXPECT_EQ(again.provenance.graph, "bert");
  EXPECT_EQ(again.provenance.inferences, 3u);
  EXPECT_EQ(again.provenance.temperature, Provenance::Temperature::cold_then_warm);
}

TEST(PerfettoOwnTrace, GivesBackNumbersWithTheirMeaning) {
  const Profile again = test::read(write(device()));
  ASSERT_THAT(again.spans.measures, SizeIs(1));
  const MeasureColumn& column = again.spans.measures[0];
  EXPECT_EQ(again.text(column.what), "dominant path");
  EXPECT_EQ(column.kind, MeasureKind::dominant_path);
  EXPECT_EQ(column.origin, Origin::derived);
  EXPECT_EQ(column.clock, ClockId(1));
  EXPECT_THAT(column.values, ElementsAre(9, MeasureColumn::missing, 4));
  ASSERT_THAT(again.measures, SizeIs(2));
  const auto measure_of = [&](Measure::Subject subject) {
    return *std::find_if(again.measures.begin(), again.measures.end(),
                         [&](const Measure& measure) { return measure.subject == subject; });
  };
  EXPECT_EQ(measure_of(Measure::Subject::span).value, 2.5);
  EXPECT_EQ(measure_of(Measure::Subject::span).subject_id, 1u);
  EXPECT_EQ(measure_of(Measure::Subject::phase).value, 7.5);
  EXPECT_EQ(measure_of(Measure::Subject::phase).subject_id, 1u);
  EXPECT_EQ(measure_of(Measure::Subject::phase).kind, MeasureKind::work);
}

// Names say nothing here: "stall" is what its reader said, not what the word would tell.
TEST(PerfettoOwnTrace, GivesBackWhatReadersSaidOfNumbersNotWhatNamesTell) {
  Profile profile = device();
  const Meaning column{NumberQuantity::share, NumberRole::utilization, Statistic::p95, false};
  const Meaning stall{NumberQuantity::macs, NumberRole::pmu_event, Statistic::none, true};
  profile.spans.measures[0].meaning = column;
  for (Measure& measure : profile.measures) {
    measure.meaning = stall;
    measure.event = 0x12345;
  }
  const Profile again = test::read(write(profile));
  ASSERT_THAT(again.spans.measures, SizeIs(1));
  EXPECT_EQ(again.spans.measures[0].meaning, column);
  ASSERT_THAT(again.measures, SizeIs(2));
  for (const Measure& measure : again.measures) {
    EXPECT_EQ(measure.meaning, stall);
    EXPECT_EQ(measure.event, 0x12345u);
  }
}

// So many spans that their words are read part by part, one after the other on one unit.
Profile many_spans() {
  constexpr std::uint32_t spans = 140'000, ops = 3'000;
  constexpr SpanKind kinds[] = {SpanKind::op, SpanKind::transfer, SpanKind::sync};
  Profile profile = device();
  profile.measures.clear();
  profile.phases.clear();
  profile.spans = {};
  profile.ops.clear();
  StringPool& strings = profile.strings;
  for (std::uint32_t i = 0; i < ops; ++i) {
    Op op;
    op.name = strings.intern(fmt::format("op {}", i / 2));  // two ops of each name
    op.kind = strings.intern(i % 3 == 0 ? "Conv" : "Add");
    op.node = strings.intern(fmt::format("node {}", i));
    op.id = i;
    profile.ops.push_back(op);
  }
  MeasureColumn column{strings.intern("macs"),
                       MeasureKind::count,
                       Origin::derived,
                       test_support::meaning_of(MeasureKind::count, "macs"),
                       ClockId(0),
                       {}};
  for (std::uint32_t i = 0; i < spans; ++i) {
    add_span(profile, UnitId(1), OpId(i * 7 % ops), kinds[i % 3], 10 * i, 9);
    profile.spans.instance.push_back(i / 60'000);
    profile.spans.processor_cycles.push_back(i % 5 == 0 ? -1 : std::int64_t(i));
    column.values.push_back(i % 4 == 0 ? MeasureColumn::missing : std::int64_t(i * 3));
    if (i % 1'000 != 0) continue;
    profile.measures.push_back(
        {Measure::Subject::span, i, strings.intern("stall"), MeasureKind::work, Origin::counter,
         test_support::meaning_of(MeasureKind::work, "stall"), ClockId(0), double(i)});
  }
  profile.spans.measures.push_back(std::move(column));
  return profile;
}

TEST(PerfettoOwnTrace, GivesBackWhatManySpansAre) {
  const Profile made = many_spans();
  const Profile again = test::read(write(made));
  ASSERT_EQ(again.spans.size(), made.spans.size());
  ASSERT_THAT(again.spans.measures, SizeIs(1));
  EXPECT_EQ(again.spans.kind, made.spans.kind);
  EXPECT_EQ(again.spans.instance, made.spans.instance);
  EXPECT_EQ(again.spans.processor_cycles, made.spans.processor_cycles);
  EXPECT_EQ(again.spans.measures[0].values, made.spans.measures[0].values);
  EXPECT_EQ(again.ops.size(), made.ops.size());
  for (std::size_t row = 0; row < made.spans.size(); ++row) {
    const Op& op = again.ops[index_of(again.spans.op[row])];
    const Op& was = made.ops[index_of(made.spans.op[row])];
    ASSERT_EQ(again.text(op.name), made.text(was.name)) << row;
    ASSERT_EQ(again.text(op.kind), made.text(was.kind)) << row;
    ASSERT_EQ(again.text(op.node), made.text(was.node)) << row;
    ASSERT_EQ(op.id, was.id) << row;
  }
  ASSERT_EQ(again.measures.size(), made.measures.size());
  for (std::size_t i = 0; i < made.measures.size(); ++i) {
    ASSERT_EQ(again.measures[i].subject_id, made.measures[i].subject_id);
    ASSERT_EQ(again.measures[i].value, made.measures[i].value);
  }
}

TEST(PerfettoOwnTrace, OfBeforeNumbersSaidWhatTheyAreAreReadByName) {
  StringPool strings;
  const auto about = parse_about(
      R"({"clocks":[],"base_clock":0,"units":[],"numbers":[
          {"name":"ddr read bytes","of":"spans","kind":"count","origin":"measured","clock":0},
          {"name":"pmu 0x70","of":"some","kind":"count","origin":"counter","clock":0}]})",
      strings);
  ASSERT_TRUE(about);
  ASSERT_THAT(about->numbers, SizeIs(2));
  EXPECT_EQ(about->numbers[0].meaning,
            (Meaning{NumberQuantity::bytes, NumberRole::ddr_read, Statistic::none, true}));
  EXPECT_EQ(about->numbers[1].meaning.role, NumberRole::pmu_event);
  EXPECT_EQ(about->numbers[1].event, 0x70u);
}

TEST(PerfettoOwnTrace, ANumberThatHasTheNameOfAnArgumentStaysOne) {
  Profile profile = device();
  Arguments& arguments = profile.spans.arguments;
  arguments.shapes.push_back({{profile.strings.intern("dominant path"), ArgumentType::integer}});
  arguments.add(0, 1, std::array<std::uint64_t, 1>{77});
  arguments.resize(3);
  const Profile again = test::read(write(profile));
  EXPECT_THAT(again.spans.measures, SizeIs(0));
  EXPECT_EQ(again.spans.arguments.count(0), 2u);
}

TEST(PerfettoOwnTrace, GivesBackPhasesInTheirOrderAndWhatTheyArePartOf) {
  const Profile again = test::read(write(device()));
  ASSERT_THAT(again.phases, SizeIs(3));
  const auto name = [&](std::size_t i) { return again.text(again.phases[i].name); };
  EXPECT_EQ(name(0), "Execute");
  EXPECT_EQ(name(1), "Graph");
  EXPECT_EQ(name(2), "After");
  EXPECT_EQ(again.phases[0].parent, 1u);
  EXPECT_EQ(again.phases[1].parent, outermost_phase);
  EXPECT_EQ(again.phases[2].parent, no_phase);
  EXPECT_EQ(again.phases[0].start, -30);
  EXPECT_EQ(again.phases[0].duration, 200);
  EXPECT_EQ(again.phases[0].instance, 2u);
  EXPECT_EQ(again.phases[0].microseconds, 0.25);
  EXPECT_EQ(again.phases[2].unit, UnitId(1));
}

// Another trace behind it counts by another clock: nothing is taken for what it is not.
TEST(PerfettoOwnTrace, PutTogetherWithAnotherIsATraceLikeAny) {
  Profile other = device();
  other.provenance.graph = "another";
  const Profile both = test::read(write(device()) + write(other));
  EXPECT_EQ(both.spans.size(), 2 * (3 + 3u));
  EXPECT_THAT(both.phases, SizeIs(0));
  EXPECT_EQ(both.text(both.clocks[index_of(both.base_clock)].name), "boottime");
  EXPECT_EQ(both.provenance.graph, "");
}

TEST(PerfettoOwnTrace, RingsOfParentsAndWrongWordsAreRefused) {
  const auto about = [](const std::string& units) {
    StringPool strings;
    return parse_about(R"({"clocks":[],"base_clock":0,"units":[)" + units + R"(],"numbers":[]})",
                       strings)
        .has_value();
  };
  EXPECT_TRUE(about(R"({"engine":"hvx"},{"engine":"dma","parent":0})"));
  EXPECT_FALSE(about(R"({"engine":"hvx","parent":0})"));
  EXPECT_FALSE(about(R"({"engine":"hvx","parent":1},{"engine":"hvx","parent":0})"));
  EXPECT_FALSE(about(R"({"engine":"hvx","parent":7})"));
  EXPECT_FALSE(about(R"({"engine":"abacus"})"));
  EXPECT_FALSE(about("7"));
  EXPECT_FALSE(about("{"));
}

TEST(PerfettoOwnTrace, ADescriptionNamesAUnitOrNone) {
  EXPECT_EQ(place_in("npuscope unit 12")->unit, 12u);
  EXPECT_EQ(place_in("npuscope unit none")->kind, TrackPlace::Kind::no_unit);
  EXPECT_EQ(place_in("npuscope phases")->kind, TrackPlace::Kind::phases);
  for (const char* other : {"", "npuscope unit ", "npuscope unit -1", "npuscope unit 1x",
                            "npuscope unit 99999999999", "scheduler"}) {
    EXPECT_FALSE(place_in(other)) << other;
  }
}

// Every byte wrong in turn: whatever is still restored refers only to what exists.
TEST(PerfettoOwnTrace, DamageLeavesNoIdBeyondItsTable) {
  const std::string good = write(device());
  std::string trace = good;
  for (std::size_t at = 0; at < trace.size(); ++at) {
    for (const char flip : {char(0x01), char(0x10), char(0x80)}) {
      trace[at] = char(trace[at] ^ flip);
      auto source = open_byte_source(trace, "test.pftrace");
      ASSERT_TRUE(source);
      const auto profile = read_profile(**source);
      trace[at] = good[at];
      if (!profile) continue;
      for (const UnitId unit : profile->spans.unit) {
        ASSERT_TRUE(unit == UnitId::none || index_of(unit) < profile->units.size()) << at;
      }
      for (const OpId op : profile->spans.op) {
        ASSERT_TRUE(op == OpId::none || index_of(op) < profile->ops.size()) << at;
      }
      for (const Phase& each : profile->phases) {
        ASSERT_TRUE(each.parent >= outermost_phase || each.parent < profile->phases.size()) << at;
      }
      ASSERT_LT(index_of(profile->base_clock), profile->clocks.size()) << at;
    }
  }
}

}  // namespace
}  // namespace npuscope::perfetto::own_trace_test
