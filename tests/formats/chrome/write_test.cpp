// Profiles as Chrome JSON: what stands in the file, whole.
#include "npuscope/formats/chrome/write.hpp"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "analysis/profile_builder.hpp"
#include "formats/chrome/perfetto_view.hpp"
#include "formats/chrome/trace_text.hpp"
#include "number_meaning.hpp"

namespace npuscope::chrome::write_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Written {
  std::string text;
  Losses losses;
};

Written write(const Profile& profile) {
  Written written;
  written.losses = write_trace(profile, [&](std::string_view piece) { written.text += piece; });
  return written;
}

ProfileBuilder wall_clock() { return ProfileBuilder("trace time", ClockKind::wall, 1e9); }

TEST(WriteChrome, OfAGenericProfileNothingIsLost) {
  ProfileBuilder made = wall_clock();
  Profile& profile = made.profile;
  profile.provenance.format = "Chrome trace";
  const UnitId process = made.unit("python", Engine::process);
  const UnitId thread = made.unit("main", Engine::thread, process);
  for (const UnitId unit : {process, thread}) {
    profile.units[index_of(unit)].process_id = made.text("rank 3");
  }
  profile.units[index_of(thread)].thread_id = made.text("17");
  const SpanId outer = made.span(thread, "step", 1'000, 2'501, SpanKind::slice, "user");
  const SpanId inner = made.span(thread, "mat\"mul", 1'200, 1'201, SpanKind::slice, "kernel");
  made.span(thread, "loaded", 1'300, 1'300, SpanKind::instant);
  made.span(thread, "request", 0, 5'000'000, SpanKind::async, "net");
  profile.flows.push_back({outer, inner, EdgeKind::flow, made.text("launch"), made.text("ac2g")});
  profile.counters.series = {{thread, made.text("memory"), made.text("used"), {}},
                             {thread, made.text("VTCM"), {}, {}}};
  profile.counters.of = {0, 1};
  profile.counters.time = {10, 20};
  profile.counters.value = {1.5, 4096};
  auto& arguments = profile.spans.arguments;
  arguments.shapes.push_back({{made.text("n"), ArgumentType::integer},
                              {made.text("f"), ArgumentType::number},
                              {made.text("list"), ArgumentType::json}});
  arguments.shapes.push_back({{made.text("s"), ArgumentType::text}});
  arguments.add(0, 1,
                std::array<std::uint64_t, 3>{std::uint64_t(-7), std::bit_cast<std::uint64_t>(2.0),
                                             index_of(made.text("[1,{\"a\":null}]"))});
  arguments.add(2, 2, std::array<std::uint64_t, 1>{index_of(made.text("g"))});
  arguments.resize(4);
  const Written written = write(profile);
  EXPECT_EQ(
      written.text,
      R"({"displayTimeUnit":"ns","otherData":{"writer":"npuscope","format":"Chrome trace","clock":"trace time","clock_hertz":1e+09},"traceEvents":[
{"ph":"M","pid":"rank 3","name":"process_name","args":{"name":"python"}},
{"ph":"M","pid":"rank 3","tid":17,"name":"thread_name","args":{"name":"main"}},
{"ph":"X","pid":"rank 3","tid":17,"ts":1,"dur":1.501,"cat":"user","name":"step","args":{"n":-7,"f":2.0,"list":[1,{"a":null}]}},
{"ph":"s","id":1,"pid":"rank 3","tid":17,"ts":1,"cat":"ac2g","name":"launch"},
{"ph":"X","pid":"rank 3","tid":17,"ts":1.2,"dur":0.001,"cat":"kernel","name":"mat\"mul"},
{"ph":"f","bp":"e","id":1,"pid":"rank 3","tid":17,"ts":1.2,"cat":"ac2g","name":"launch"},
{"ph":"i","s":"g","pid":"rank 3","tid":17,"ts":1.3,"name":"loaded"},
{"ph":"b","id":"4","pid":"rank 3","tid":17,"ts":0,"cat":"net","name":"request"},
{"ph":"e","id":"4","pid":"rank 3","tid":17,"ts":5000,"cat":"net","name":"request"},
{"ph":"C","pid":"rank 3","tid":17,"ts":0.01,"name":"memory","args":{"used":1.5}},
{"ph":"C","pid":"rank 3","tid":17,"ts":0.02,"name":"VTCM","args":{"value":4096}}
]}
)");
  EXPECT_THAT(written.losses.entries, IsEmpty());
}

TEST(WriteChrome, HardwareBecomesProcessesAndThreadsWithWhatTheModelKnows) {
  ProfileBuilder made("cycles", ClockKind::unit_cycles);
  Profile& profile = made.profile;
  const UnitId core = made.unit("Core 0", Engine::core);
  const UnitId hvx = made.unit("HVX", Engine::hvx, core);
  profile.units[index_of(hvx)].lane = 2;
  made.span(hvx, "MatMul", 100, 200, SpanKind::op, "conv");
  made.span(hvx, "MatMul", 200, 250, SpanKind::sync, "conv");
  profile.ops[0].node = made.text("/layer.0/MatMul");
  profile.ops[0].output = Bytes{64};
  profile.spans.processor_cycles = {90, -1};
  profile.spans.measures.push_back(
      {made.text("dominant path"),
       MeasureKind::dominant_path,
       Origin::measured,
       npuscope::test_support::meaning_of(MeasureKind::dominant_path, "dominant path"),
       ClockId{},
       {80, MeasureColumn::missing}});
  made.phase("Graph Execute", 0, 0, 300, 0.5);
  profile.edges.push_back({OpId{0}, OpId{0}, EdgeKind::data});
  const Written written = write(profile);
  EXPECT_EQ(
      written.text,
      R"({"displayTimeUnit":"ns","otherData":{"writer":"npuscope","format":"","clock":"cycles","time":"one tick of the clock is written as one nanosecond"},"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"Core 0"}},
{"ph":"M","pid":1,"tid":3,"name":"thread_name","args":{"name":"HVX 2"}},
{"ph":"M","pid":1,"tid":3,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"M","pid":2,"name":"process_name","args":{"name":"phases"}},
{"ph":"M","pid":2,"tid":1,"name":"thread_name","args":{"name":"phases"}},
{"ph":"X","pid":1,"tid":3,"ts":0.1,"dur":0.1,"cat":"conv","name":"MatMul","args":{"npuscope":{"span":"op","processor cycles":90,"dominant path":80,"node":"/layer.0/MatMul","output bytes":64}}},
{"ph":"X","pid":1,"tid":3,"ts":0.2,"dur":0.05,"cat":"conv","name":"sync MatMul","args":{"npuscope":{"span":"sync","node":"/layer.0/MatMul","output bytes":64}}},
{"ph":"X","pid":2,"tid":1,"ts":0,"dur":0.3,"cat":"phase","name":"Graph Execute","args":{"inference":0,"microseconds":0.5}}
]}
)");
  EXPECT_THAT(
      written.losses.entries,
      ElementsAre(
          Loss{"times whose clock has no known rate: one tick is written as one nanosecond", 3},
          Loss{"units that are hardware: as processes and threads of their names", 2},
          Loss{"phases: as slices of a process of their own", 1},
          Loss{"measures of spans: as arguments", 1}, Loss{"dependencies between ops", 1}));
}

// What the model knows of a row stands between what it knows of its kind and of its op; of each
// there can be nothing, and the commas are right all the same.
TEST(WriteChrome, WhatTheModelKnowsOfKindRowAndOpIsOneObject) {
  const auto extras_of = [](SpanKind kind, bool tells_cycles, std::int64_t cycles, bool has_node) {
    ProfileBuilder made = wall_clock();
    const UnitId unit = made.unit("main", Engine::thread);
    made.span(unit, "named", 0, 1'000, kind);
    made.span(unit, "other", 2'000, 3'000, SpanKind::slice);
    made.profile.ops[1].node = made.text("n1");
    if (has_node) made.profile.ops[0].node = made.text("n0");
    if (tells_cycles) made.profile.spans.processor_cycles = {cycles, -1};
    const auto trace = nlohmann::json::parse(write(made.profile).text);
    for (const auto& event : trace["traceEvents"]) {
      if (event["name"] == "named") return event["args"]["npuscope"].dump();
    }
    return std::string("no event");
  };
  EXPECT_EQ(extras_of(SpanKind::slice, false, 0, false), R"({})");
  EXPECT_EQ(extras_of(SpanKind::slice, true, -1, false), R"({})");
  EXPECT_EQ(extras_of(SpanKind::slice, true, -1, true), R"({"node":"n0"})");
  EXPECT_EQ(extras_of(SpanKind::slice, true, 7, false), R"({"processor cycles":7})");
  EXPECT_EQ(extras_of(SpanKind::slice, true, 7, true), R"({"node":"n0","processor cycles":7})");
  EXPECT_EQ(extras_of(SpanKind::slice, false, 0, true), R"({"node":"n0"})");
  EXPECT_EQ(extras_of(SpanKind::op, false, 0, false), R"({"span":"op"})");
  EXPECT_EQ(extras_of(SpanKind::op, true, -1, false), R"({"span":"op"})");
  EXPECT_EQ(extras_of(SpanKind::op, true, 7, true),
            R"({"node":"n0","processor cycles":7,"span":"op"})");
  EXPECT_EQ(extras_of(SpanKind::instant, false, 0, false), R"({})");
  EXPECT_EQ(extras_of(SpanKind::async, true, 7, true), R"({"node":"n0","processor cycles":7})");
}

// A moment whose scope was among its arguments twice wrote what stood before them in memory.
TEST(WriteChrome, AMomentThatHasNothingButItsScopeHasNoMembers) {
  ProfileBuilder made = wall_clock();
  made.span(made.unit("main", Engine::thread), "moment", 0, 0, SpanKind::instant);
  auto& arguments = made.profile.spans.arguments;
  const StringId key = made.text("s");
  arguments.shapes.push_back({{key, ArgumentType::text}, {key, ArgumentType::text}});
  const std::uint64_t scope = std::uint64_t(made.text("p"));
  arguments.add(0, 1, std::array{scope, scope});
  const std::string text = write(made.profile).text;
  EXPECT_THAT(text, ::testing::HasSubstr(R"("name":"moment","args":{}})"));
  EXPECT_LT(text.size(), 1'000u);
}

// Where one text of a profile is long, how much the texts of each row take is looked at.
TEST(WriteChrome, TextsOfAnyLengthAreWrittenWhole) {
  for (const std::size_t size : {10u, 4'096u, 4'097u, 3'000'000u}) {
    ProfileBuilder made = wall_clock();
    const UnitId unit = made.unit("main", Engine::thread);
    made.span(unit, "first", 0, 1'000, SpanKind::slice);
    made.span(unit, "second", 1'000, 2'000, SpanKind::slice);
    auto& arguments = made.profile.spans.arguments;
    arguments.shapes.push_back({{made.text("t"), ArgumentType::text}});
    const std::string longest(size, '\x01'), quoted = "\"quoted\"";
    const auto text_id = [&](std::string_view text) { return std::uint64_t(made.text(text)); };
    arguments.add(0, 1, std::array{text_id(longest)});
    arguments.add(1, 1, std::array{text_id(quoted)});
    const auto trace = nlohmann::json::parse(write(made.profile).text);
    std::map<std::string, std::string> texts;
    for (const auto& event : trace["traceEvents"]) {
      if (event["ph"] == "X") texts[event["name"]] = event["args"]["t"];
    }
    EXPECT_EQ(texts["first"], longest);
    EXPECT_EQ(texts["second"], quoted);
  }
}

TEST(WriteChrome, PhasesAloneWhoseClockHasNoKnownRateAreCountedAsWrittenInNanoseconds) {
  ProfileBuilder made("cycles", ClockKind::unit_cycles, 0);
  made.phase("Graph Execute", 0, 0, 674'190);
  made.profile.counters.series = {{UnitId::none, made.text("VTCM"), {}, {}}};
  made.profile.counters.of = {0};
  made.profile.counters.time = {10};
  made.profile.counters.value = {4096};
  EXPECT_THAT(
      write(made.profile).losses.entries,
      ElementsAre(
          Loss{"times whose clock has no known rate: one tick is written as one nanosecond", 2},
          Loss{"phases: as slices of a process of their own", 1}));
}

TEST(WriteChrome, CyclesAndPhasesThatAreReadAgainBecomeNoSecondsAndNoOps) {
  ProfileBuilder made("PCYCLE", ClockKind::unit_cycles, 0);
  made.profile.provenance.device = "HTP";
  made.profile.provenance.graph = "chain \"8\"";
  const UnitId core = made.unit("Core 0", Engine::core);
  made.span(made.unit("HVX", Engine::hvx, core), "MatMul", 100, 64'929, SpanKind::op, "conv");
  made.phase("Graph Execute", 2, 50, 674'190, 797.2);
  const std::string text = write(made.profile).text;
  const Profile again = make_profile(test_support::read_text(text));
  const Clock& clock = again.clocks[index_of(again.base_clock)];
  EXPECT_EQ(clock.rate.value, 0);
  EXPECT_EQ(again.text(clock.name), "PCYCLE");
  EXPECT_EQ(again.provenance.device, "HTP");
  EXPECT_EQ(again.provenance.graph, "chain \"8\"");
  EXPECT_THAT(again.spans.start, ElementsAre(100));
  EXPECT_THAT(again.spans.duration, ElementsAre(64'829));
  ASSERT_EQ(again.phases.size(), 1u);
  EXPECT_EQ(again.text(again.phases[0].name), "Graph Execute");
  EXPECT_EQ(again.phases[0].instance, 2u);
  EXPECT_EQ(again.phases[0].start, 50);
  EXPECT_EQ(again.phases[0].duration, 674'140);
  EXPECT_EQ(again.phases[0].microseconds, 797.2);
}

TEST(WriteChrome, PhasesThatAreReadAgainKnowWhatTheyArePartOf) {
  ProfileBuilder made("PCYCLE", ClockKind::unit_cycles, 0);
  made.phase("Execute", 0, 0, 100);
  made.phase("Graph", 0, 0, 100);
  made.phase("Before", 0, -50, -10);
  made.profile.phases[0].parent = 1;
  made.profile.phases[1].parent = outermost_phase;
  const Profile again = make_profile(test_support::read_text(write(made.profile).text));
  ASSERT_EQ(again.phases.size(), 3u);
  EXPECT_EQ(again.text(again.phases[0].name), "Execute");
  EXPECT_EQ(again.phases[0].parent, 1u);
  EXPECT_EQ(again.phases[1].parent, outermost_phase);
  EXPECT_EQ(again.text(again.phases[2].name), "Before");
  EXPECT_EQ(again.phases[2].parent, no_phase);
}

TEST(WriteChrome, WaitsThatAreReadAgainBecomeNoWork) {
  ProfileBuilder made("PCYCLE", ClockKind::unit_cycles, 0);
  const UnitId unit = made.unit("HVX", Engine::hvx);
  made.span(unit, "MatMul", 0, 10, SpanKind::op, "conv");
  made.span(unit, "MatMul", 10, 20, SpanKind::dma_wait, "conv");
  made.span(unit, "MatMul", 20, 30, SpanKind::barrier, "conv");
  const Profile again = make_profile(test_support::read_text(write(made.profile).text));
  EXPECT_THAT(again.spans.kind, ElementsAre(SpanKind::op, SpanKind::dma_wait, SpanKind::barrier));
}

TEST(WriteChrome, TicksOfAKnownRateBecomeNanosecondsThatStillTouch) {
  ProfileBuilder made("UTIMER", ClockKind::timer, 19.2e6);
  const UnitId unit = made.unit("HVX 0", Engine::hvx);
  made.span(unit, "a", 0, 1);
  made.span(unit, "b", 1, 3);
  made.span(unit, "c", 7'997'466'082'575, 7'997'466'082'576);
  const auto json = nlohmann::json::parse(write(made.profile).text);
  std::vector<std::pair<double, double>> times;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] == "X") times.push_back({event["ts"], event["dur"]});
  }
  EXPECT_THAT(times, ElementsAre(std::pair(0.0, 0.052), std::pair(0.052, 0.104),
                                 std::pair(416534691800.781, 0.052)));
}

TEST(WriteChrome, OfSlicesThatBeginTogetherTheLongerComesFirst) {
  ProfileBuilder made = wall_clock();
  const UnitId unit = made.unit("t", Engine::thread);
  made.span(unit, "inner", 0, 10, SpanKind::slice);
  made.span(unit, "outer", 0, 20, SpanKind::slice);
  made.span(unit, "later", 20, 30, SpanKind::slice);
  const auto json = nlohmann::json::parse(write(made.profile).text);
  std::vector<std::string> names;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] == "X") names.push_back(event["name"]);
  }
  EXPECT_THAT(names, ElementsAre("outer", "inner", "later"));
}

struct Slice {
  std::int64_t begin, end;
};

// Every pair, the obvious way.
std::size_t overlaps(const std::vector<Slice>& slices) {
  std::size_t count = 0;
  for (const Slice& a : slices) {
    for (const Slice& b : slices) count += a.begin < b.begin && b.begin < a.end && a.end < b.end;
  }
  return count;
}

TEST(WriteChrome, NothingOverlapsOnATrackHoweverTheProfileDoes) {
  std::mt19937 random(3);
  ProfileBuilder made = wall_clock();
  const UnitId units[] = {made.unit("a", Engine::dma), made.unit("b", Engine::dma)};
  for (int i = 0; i < 800; ++i) {
    const std::int64_t begin = random() % 1'000;
    made.span(units[i % 2], "t", begin, begin + random() % 600, SpanKind::transfer);
  }
  const Written written = write(made.profile);
  std::map<std::pair<int, int>, std::vector<Slice>> tracks;
  const auto json = nlohmann::json::parse(written.text);
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const auto begin = std::int64_t(std::lround(double(event["ts"]) * 1000));
    const auto duration = std::int64_t(std::lround(double(event["dur"]) * 1000));
    tracks[{event["pid"], event["tid"]}].push_back({begin, begin + duration});
  }
  EXPECT_GT(tracks.size(), 64u);  // beyond the lanes in which nesting is looked for
  for (const auto& [track, slices] : tracks) EXPECT_EQ(overlaps(slices), 0u);
}

// Flows hold on to their own slice, not to one nested in it or following it.
TEST(WriteChrome, FlowsLeaveAndArriveWhereTheirSliceIsTheInnermost) {
  ProfileBuilder made = wall_clock();
  const UnitId unit = made.unit("t", Engine::thread);
  const SpanId outer = made.span(unit, "outer", 0, 100, SpanKind::slice);
  made.span(unit, "first", 0, 40, SpanKind::slice);
  made.span(unit, "last", 60, 100, SpanKind::slice);
  const SpanId next = made.span(unit, "next", 100, 120, SpanKind::slice);
  const SpanId other = made.span(unit, "other", 130, 130, SpanKind::slice);
  // into the middle of a slice that began before the producer ended
  const UnitId second = made.unit("second", Engine::thread);
  const SpanId whole = made.span(second, "whole", -10, 200, SpanKind::slice);
  made.profile.flows = {{next, whole, EdgeKind::flow, {}, {}},
                        {outer, next, EdgeKind::flow, {}, {}},
                        {next, outer, EdgeKind::flow, {}, {}},
                        {next, other, EdgeKind::flow, {}, {}},
                        {other, next, EdgeKind::flow, {}, {}}};
  const Written written = write(made.profile);
  std::vector<std::string> ends;
  const auto json = nlohmann::json::parse(written.text);
  for (const auto& event : json["traceEvents"]) {
    const std::string phase = event["ph"];
    if (phase != "s" && phase != "f") continue;
    ends.push_back(phase + event["id"].dump() + " " + event["ts"].dump());
  }
  // In the lines behind their slices first; then those that have to look for a moment.
  EXPECT_THAT(ends, ElementsAre("s3 0.1", "f3 0.13", "s1 0.1", "f1 0.199", "s2 0.04", "f2 0.1"));
  EXPECT_THAT(
      written.losses.entries,
      ElementsAre(
          Loss{"flows that end before they begin", 2},
          Loss{"flows into slices under way, or of slices that begin with one inside: viewers may "
               "differ",
               2}));
}

std::uint64_t lost(const Written& written, std::string_view what) {
  for (const Loss& loss : written.losses.entries) {
    if (loss.what.starts_with(what)) return loss.count;
  }
  return 0;
}

// Perfetto takes the slice that began last on the thread, even where it has ended.
TEST(WriteChrome, ArrowsJoinedOtherSlicesInPerfetto) {
  std::mt19937 random(11);
  const auto below = [&](std::uint32_t limit) { return std::int64_t(random() % limit); };
  std::size_t checked = 0;
  for (const double rate : {1e9, 19.2e6, 3.1e9}) {
    for (int round = 0; round < 200; ++round) {
      ProfileBuilder made("clock", ClockKind::timer, rate);
      const UnitId units[] = {made.unit("a", Engine::thread), made.unit("b", Engine::thread)};
      for (int i = 0; i < 40; ++i) {
        const std::int64_t start = below(60), length = below(3) == 0 ? 0 : below(20);
        const bool instant = below(8) == 0;
        made.span(units[below(2)], std::to_string(i), start, start + (instant ? 0 : length),
                  instant ? SpanKind::instant : SpanKind::slice);
      }
      std::multiset<std::string> wanted;
      for (int i = 0; i < 30; ++i) {
        const auto from = std::uint32_t(below(40)), to = std::uint32_t(below(40));
        if (from == to) continue;
        made.profile.flows.push_back({SpanId(from), SpanId(to), EdgeKind::flow, {}, {}});
        wanted.insert(std::to_string(from) + " -> " + std::to_string(to));
      }
      const Written written = write(made.profile);
      const auto json = nlohmann::json::parse(written.text);
      const auto view = test::as_perfetto_sees(json["traceEvents"], test::to_nanoseconds);
      std::size_t wrong = view.lost;
      for (const auto& arrow : view.arrows) {
        const auto found = wanted.find(arrow.from->at("name").get<std::string>() + " -> " +
                                       arrow.to->at("name").get<std::string>());
        if (found == wanted.end()) {
          ++wrong;
        } else {
          wanted.erase(found);
          ++checked;
        }
      }
      const std::uint64_t told = lost(written, "flows into slices under way");
      ASSERT_LE(wrong, told) << "rate " << rate << " round " << round;
      ASSERT_LE(wanted.size(), told + lost(written, "flows that end before they begin"));
    }
  }
  EXPECT_GT(checked, 3000u);
}

// Perfetto takes one that begins just when another of no length does for its child.
TEST(WriteChrome, SlicesOfNoLengthNestedInEachOther) {
  ProfileBuilder made("clock", ClockKind::timer, 3e9);  // a nanosecond is three ticks
  const UnitId unit = made.unit("t", Engine::thread);
  made.span(unit, "around", 0, 3000, SpanKind::slice);
  made.span(unit, "a", 300, 300, SpanKind::slice);
  made.span(unit, "b", 300, 301, SpanKind::slice);
  made.span(unit, "c", 301, 301, SpanKind::slice);
  made.span(unit, "d", 900, 900, SpanKind::slice);
  const auto json = nlohmann::json::parse(write(made.profile).text);
  const auto view = test::as_perfetto_sees(json["traceEvents"], test::to_nanoseconds);
  std::map<std::string, std::size_t> depth;
  for (const auto& [event, at] : view.depth) depth[event->at("name")] = at;
  EXPECT_EQ(depth, (std::map<std::string, std::size_t>{
                       {"around", 0}, {"a", 0}, {"b", 1}, {"c", 0}, {"d", 1}}));
}

// A track of a trace is no thread of a core that has several.
TEST(WriteChrome, TracksOfTracesGotNumbers) {
  ProfileBuilder made = wall_clock();
  const UnitId host = made.unit("Host", Engine::other);
  const UnitId hal = made.unit("HAL", Engine::other, host);
  const UnitId core = made.unit("Core 0", Engine::core);
  const UnitId hvx = made.unit("HVX", Engine::hvx, core);
  made.profile.units[index_of(hvx)].lane = 2;
  made.span(hal, "a", 0, 1, SpanKind::slice);
  made.span(hvx, "b", 0, 1);
  std::vector<std::string> names;
  const auto json = nlohmann::json::parse(write(made.profile).text);
  for (const auto& event : json["traceEvents"]) {
    if (event["name"] == "thread_name") names.push_back(event["args"]["name"]);
  }
  EXPECT_THAT(names, ElementsAre("HAL", "HVX 2"));
}

TEST(WriteChrome, HostileNamesTimesAndIdsMakeValidJson) {
  ProfileBuilder made = wall_clock();
  const UnitId unit = made.unit("\xff\"</script>\n", Engine::thread);
  made.profile.units[0].parent = unit;
  made.profile.units[0].process_id = made.text("1e5\"");
  made.profile.units[0].thread_id = made.text("007");
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  made.span(unit, "a\x01\xc3(", 0, 0, SpanKind::slice);
  made.profile.spans.start[0] = min;
  made.profile.spans.duration[0] = std::numeric_limits<std::int64_t>::max();
  made.span(UnitId{9}, "", 5, 4, SpanKind::op);
  made.profile.counters.series.push_back({UnitId{7}, {}, {}, {}});
  made.profile.counters.of = {0, 5};
  made.profile.counters.time = {0, 0};
  made.profile.counters.value = {std::numeric_limits<double>::quiet_NaN(), 1};
  made.profile.flows.push_back({SpanId{77}, SpanId{0}, EdgeKind::flow, {}, {}});
  const Written written = write(made.profile);
  const auto json = nlohmann::json::parse(written.text);
  EXPECT_EQ(json["traceEvents"][0]["pid"], "1e5\"");
  EXPECT_THAT(written.losses.entries, ElementsAre(Loss{"numbers that are not finite", 1}));
}

TEST(WriteChrome, AnEmptyProfileIsAnEmptyTrace) {
  EXPECT_TRUE(nlohmann::json::parse(write(Profile{}).text)["traceEvents"].empty());
}

}  // namespace
}  // namespace npuscope::chrome::write_test
