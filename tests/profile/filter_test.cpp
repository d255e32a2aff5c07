#include <algorithm>
#include <array>

#include "npuscope/profile/filter.hpp"

#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"
#include "number_meaning.hpp"

namespace npuscope::filter_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two units of a core, three ops, a counter, a flow, numbers about everything.
Profile sample() {
  ProfileBuilder made;
  Profile& profile = made.profile;
  const UnitId core = made.unit("Core 0", Engine::core);
  const UnitId hmx = made.unit("HMX", Engine::hmx, core);
  const UnitId hvx = made.unit("HVX", Engine::hvx, core);
  made.span(hmx, "a", 0, 10);
  made.span(hmx, "b", 10, 30);
  made.span(hvx, "c", 20, 40);
  made.span(hvx, "c", 50, 50, SpanKind::instant);
  profile.flows = {{SpanId{0}, SpanId{1}, EdgeKind::flow, {}, {}},
                   {SpanId{1}, SpanId{2}, EdgeKind::flow, {}, {}}};
  profile.edges = {{OpId{0}, OpId{1}, EdgeKind::data}, {OpId{1}, OpId{2}, EdgeKind::data}};
  profile.counters.series = {{hmx, made.text("bytes"), {}, {}}, {hvx, made.text("other"), {}, {}}};
  profile.counters.of = {0, 0, 0, 1};
  profile.counters.time = {0, 5, 25, 60};
  profile.counters.value = {1, 2, 3, 4};
  for (const auto subject :
       {Measure::Subject::unit, Measure::Subject::op, Measure::Subject::span}) {
    for (std::uint32_t id = 0; id < 3; ++id) {
      Measure measure;
      measure.subject = subject;
      measure.subject_id = id;
      measure.value = id;
      measure.meaning = test_support::meaning_of(measure.kind, profile.text(measure.what));
      profile.measures.push_back(measure);
    }
  }
  profile.tensors.resize(1);
  profile.tensors[0].producer = OpId{2};
  profile.tensor_uses = {{0, OpId{1}}, {0, OpId{2}}};
  auto& arguments = profile.spans.arguments;
  arguments.shapes.push_back({{made.text("n"), ArgumentType::integer}});
  arguments.add(0, 1, std::array<std::uint64_t, 1>{7});
  arguments.add(2, 1, std::array<std::uint64_t, 1>{9});
  arguments.resize(4);
  profile.spans.measures.push_back({made.text("path"),
                                    MeasureKind::dominant_path,
                                    Origin::measured,
                                    test_support::meaning_of(MeasureKind::dominant_path, "path"),
                                    ClockId{},
                                    {1, 2, 3, 4}});
  made.phase("early", 0, 0, 5);
  made.phase("late", 0, 30, 60);
  return std::move(made.profile);
}

std::vector<std::string> op_names(const Profile& profile) {
  std::vector<std::string> names;
  for (const OpId op : profile.spans.op) {
    names.emplace_back(profile.text(profile.ops[index_of(op)].name));
  }
  return names;
}

TEST(Filter, AWindowKeepsWhatReachesIntoItWhole) {
  Filter filter;
  filter.window = {{10, 25}};
  const Profile part = filtered(sample(), filter);
  EXPECT_THAT(op_names(part), ElementsAre("b", "c"));
  EXPECT_THAT(part.spans.start, ElementsAre(10, 20));
  EXPECT_THAT(part.spans.duration, ElementsAre(20, 20));
  EXPECT_EQ(part.spans.arguments.count(0), 0u);
  EXPECT_EQ(part.spans.arguments.at(1, 0).integer(), 9);
  EXPECT_THAT(part.spans.measures[0].values, ElementsAre(2, 3));
  EXPECT_EQ(part.notes.back().message,
            "filtered: 2 of 4 spans kept; numbers and checks of the whole run are left out");
}

TEST(Filter, CuttingLeavesNothingOutsideTheWindow) {
  Filter filter;
  filter.window = {{12, 25}};
  filter.cut = true;
  const Profile part = filtered(sample(), filter);
  EXPECT_THAT(part.spans.start, ElementsAre(12, 20));
  EXPECT_THAT(part.spans.duration, ElementsAre(13, 5));
  EXPECT_THAT(part.counters.time, ElementsAre(12));
  EXPECT_EQ(part.notes.back().message,
            "filtered: 2 of 4 spans kept, 2 of them cut at the window: what they moved and counted "
            "is known of the whole only and left out; numbers and checks of the whole run are left "
            "out");
}

TEST(Filter, NumbersOfACutSpanAreNotThoseOfTheWhole) {
  Profile profile = sample();
  constexpr auto missing = MeasureColumn::missing;
  profile.spans.measures[0].values = {10, 20, 5, 0};  // b: all of it on the path, c: a part
  profile.spans.measures.push_back({profile.strings.intern("bytes"),
                                    MeasureKind::count,
                                    Origin::measured,
                                    test_support::meaning_of(MeasureKind::count, "bytes"),
                                    ClockId{},
                                    {1, 2, 3, 4}});
  Filter filter;
  filter.window = {{12, 35}};
  filter.cut = true;
  const Profile part = filtered(profile, filter);
  EXPECT_THAT(part.spans.duration, ElementsAre(18, 15));
  EXPECT_THAT(part.spans.measures[0].values, ElementsAre(18, missing));
  EXPECT_THAT(part.spans.measures[1].values, ElementsAre(missing, missing));
}

TEST(Filter, ACutPhaseIsTimedByTheShortestPhaseAroundWhatIsLeft) {
  ProfileBuilder made;
  made.phase("execute", 0, 0, 100, 200);
  made.phase("graph", 0, 20, 80, 60);
  Filter filter;
  filter.window = {{30, 50}};
  filter.cut = true;
  const Profile part = filtered(made.profile, filter);
  ASSERT_EQ(part.phases.size(), 2u);
  EXPECT_DOUBLE_EQ(part.phases[0].microseconds, 20);  // not 40: the clock was faster in the graph
  EXPECT_DOUBLE_EQ(part.phases[1].microseconds, 20);
}

TEST(Filter, PhasesAreCutAndNumbersAndChecksOfTheWholeRunGo) {
  Profile profile = sample();
  profile.phases[1].microseconds = 30;
  profile.checks.push_back({"sums", Check::Outcome::passed, ""});
  profile.measures.push_back({});
  Filter filter;
  filter.window = {{20, 40}};
  filter.cut = true;
  const Profile part = filtered(profile, filter);
  ASSERT_EQ(part.phases.size(), 1u);
  EXPECT_EQ(part.phases[0].start, 30);
  EXPECT_EQ(part.phases[0].duration, 10);
  EXPECT_EQ(part.phases[0].microseconds, 10);
  EXPECT_THAT(part.checks, IsEmpty());
  ASSERT_EQ(part.measures.size(), 1u);  // of the span that lies within
  EXPECT_EQ(part.measures[0].subject, Measure::Subject::span);
}

TEST(Filter, AnInstantIsInTheWindowThatBeginsAtIt) {
  Filter filter;
  filter.window = {{50, 51}};
  EXPECT_EQ(filtered(sample(), filter).spans.size(), 1u);
  filter.window = {{40, 50}};
  EXPECT_EQ(filtered(sample(), filter).spans.size(), 0u);
}

TEST(Filter, ASampleHoldsUntilTheNextSoTheLastBeforeTheWindowStays) {
  Filter filter;
  filter.window = {{10, 30}};
  const Profile part = filtered(sample(), filter);
  EXPECT_THAT(part.counters.time, ElementsAre(5, 25));
  ASSERT_EQ(part.counters.series.size(), 1u);
  EXPECT_EQ(part.text(part.counters.series[0].name), "bytes");
}

TEST(Filter, WhatIsOfUnitsAndOpsThatGoGoesWithThem) {
  Filter filter;
  filter.keeps_unit = [](const Profile& profile, UnitId unit) {
    return profile.text(profile.units[index_of(unit)].name) == "HVX";
  };
  const Profile part = filtered(sample(), filter);
  EXPECT_THAT(op_names(part), ElementsAre("c", "c"));
  ASSERT_EQ(part.units.size(), 2u);  // and the core that it is part of
  EXPECT_EQ(part.units[1].parent, UnitId{0});
  EXPECT_THAT(part.spans.unit, ElementsAre(UnitId{1}, UnitId{1}));
  EXPECT_EQ(part.ops.size(), 1u);
  EXPECT_THAT(part.flows, IsEmpty());
  EXPECT_THAT(part.edges, IsEmpty());
  std::vector<double> values;
  for (const Measure& measure : part.measures) values.push_back(measure.value);
  EXPECT_THAT(values, ElementsAre(0, 2, 2, 2));  // units 0 and 2, op 2, span 2
  EXPECT_EQ(part.tensors[0].producer, OpId{0});
  ASSERT_EQ(part.tensor_uses.size(), 1u);
  EXPECT_EQ(part.tensor_uses[0].consumer, OpId{0});
}

// Numbers of nodes stand beside the ops of their kernels; a summary has numbers and no spans of
// ops.
TEST(Filter, OpsThatNeverRanAsSpansStayByTheirNamesAlone) {
  Profile whole = sample();
  whole.ops.push_back(whole.ops[0]);  // "a" again
  whole.add_measure(Measure::Subject::op, 3, NamedNumber{"node cycles", MeasureKind::work},
                    Origin::measured, whole.base_clock, 7);
  Filter filter;
  filter.keeps_op = [](const Profile& profile, OpId op) {
    return profile.text(profile.ops[index_of(op)].name) == "a";
  };
  const auto number_of = [](const Profile& part) {
    return std::ranges::count_if(part.measures,
                                 [](const Measure& measure) { return measure.value == 7; });
  };
  const Profile by_name = filtered(whole, filter);
  EXPECT_EQ(by_name.ops.size(), 2u);
  EXPECT_EQ(number_of(by_name), 1);
  filter.window = {{0, 5}};
  const Profile in_window = filtered(whole, filter);
  EXPECT_EQ(in_window.ops.size(), 1u);
  EXPECT_EQ(number_of(in_window), 0);
}

TEST(Filter, RelationsBetweenWhatStaysStay) {
  Filter filter;
  filter.keeps_op = [](const Profile& profile, OpId op) {
    return profile.text(profile.ops[index_of(op)].name) != "a";
  };
  const Profile part = filtered(sample(), filter);
  ASSERT_EQ(part.flows.size(), 1u);
  EXPECT_EQ(part.flows[0].from, SpanId{0});
  EXPECT_EQ(part.flows[0].to, SpanId{1});
  ASSERT_EQ(part.edges.size(), 1u);
  EXPECT_EQ(part.edges[0].to, OpId{1});
}

TEST(Filter, ShapesAndPortsOfWhatStaysStay) {
  Profile whole = sample();
  whole.ops[1].shape = whole.tensors[0].shape = whole.strings.intern("[1,64]");
  whole.tensors[0].extents = shape_in("[1,64]", whole.shapes);
  whole.ops[1].attributes =
      whole.strings.intern("{PortType: P2P, PortDescription: 0->1, TransactionId: 6}");
  whole.ops[0].attributes =
      whole.strings.intern("{PortType: P2P, PortDescription: 1->0, TransactionId: 5}");
  read_op_texts(whole);
  Filter filter;
  filter.window = {{10, 25}};
  const Profile part = filtered(whole, filter);
  ASSERT_EQ(part.ops.size(), 2u);
  EXPECT_THAT(part.shapes[part.ops[0].extents], ElementsAre(1, 64));
  EXPECT_THAT(part.shapes[part.tensors[0].extents], ElementsAre(1, 64));
  ASSERT_EQ(part.peer_ports.size(), 1u);
  EXPECT_EQ(part.peer_ports[0].op, OpId{0});
  EXPECT_EQ(part.text(part.peer_ports[0].transaction), "6");
}

TEST(Filter, PhasesKeepWhatTheyArePartOfThoughRowsBeforeItGo) {
  ProfileBuilder made;
  made.phase("early", 0, 0, 5);
  made.phase("call", 0, 30, 60);
  made.phase("inner", 0, 30, 40);
  made.phase("of early", 0, 40, 50);
  made.profile.phases[1].parent = outermost_phase;
  made.profile.phases[2].parent = 1;
  made.profile.phases[3].parent = 0;
  Filter filter;
  filter.window = {20, 70};
  const auto phases = filtered(made.profile, filter).phases;
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(phases[0].parent, outermost_phase);
  EXPECT_EQ(phases[1].parent, 0u);
  EXPECT_EQ(phases[2].parent, outermost_phase);
}

TEST(Filter, PhasesOutsideTheWindowGo) {
  Filter filter;
  filter.window = {{10, 30}};
  EXPECT_THAT(filtered(sample(), filter).phases, IsEmpty());
  filter.window = {{10, 31}};
  EXPECT_EQ(filtered(sample(), filter).phases.size(), 1u);
}

TEST(Filter, OfOneInferenceStayItsSpansPhasesAndNumbers) {
  Profile profile = sample();
  profile.spans.instance.assign(profile.spans.size(), 1);
  profile.spans.instance[2] = 0;
  const std::size_t measures = profile.measures.size();
  profile.measures.push_back({Measure::Subject::op, 0, {}, MeasureKind::work, {}, {}, {}, 1, 0});
  Filter filter;
  filter.instance = 0;
  const Profile part = filtered(profile, filter);
  ASSERT_EQ(part.spans.size(), 1u);
  EXPECT_EQ(part.spans.start[0], profile.spans.start[2]);
  EXPECT_EQ(part.spans.instance[0], 0u);
  EXPECT_LE(part.measures.size(), measures + 1);
  for (const Phase& phase : part.phases) EXPECT_EQ(phase.instance, 0u);
  filter.instance = 7;
  EXPECT_EQ(filtered(profile, filter).spans.size(), 0u);
}

TEST(Filter, AWarmInferenceWasCalledCold) {
  using Temperature = Provenance::Temperature;
  Profile profile = sample();
  profile.provenance.temperature = Temperature::cold_then_warm;
  profile.spans.instance.assign(profile.spans.size(), 1);
  profile.spans.instance[2] = 0;
  Filter filter;
  filter.instance = 0;
  EXPECT_EQ(filtered(profile, filter).provenance.temperature, Temperature::cold);
  filter.instance = 1;
  EXPECT_EQ(filtered(profile, filter).provenance.temperature, Temperature::warm);
  profile.provenance.temperature = Temperature::unknown;
  EXPECT_EQ(filtered(profile, filter).provenance.temperature, Temperature::unknown);
}

TEST(Filter, SpansThatDoNotSayTheirInferenceAreOfNone) {
  Filter filter;
  filter.instance = 0;
  Profile profile = sample();
  profile.spans.instance.clear();
  EXPECT_EQ(filtered(profile, filter).spans.size(), 0u);
}

// inner 10 to 90 stands before outer 0 to 100.
Profile child_before_parent() {
  ProfileBuilder made;
  const UnitId thread = made.unit("thread", Engine::thread);
  made.span(thread, "wait", 15, 95, SpanKind::wait);
  made.span(thread, "inner", 10, 98, SpanKind::slice);
  made.span(thread, "outer", 0, 100, SpanKind::slice);
  made.phase("part", 0, 10, 90);
  made.phase("whole", 0, 0, 100);
  return std::move(made.profile);
}

TEST(Filter, WhatEnclosesAnotherStandsBeforeItWhereTheCutMakesThemEqual) {
  Filter filter;
  filter.window = {{20, 80}};
  filter.cut = true;
  const Profile part = filtered(child_before_parent(), filter);
  EXPECT_THAT(part.spans.duration, ElementsAre(60, 60, 60));
  EXPECT_THAT(op_names(part), ElementsAre("outer", "inner", "wait"));
  EXPECT_EQ(part.text(part.phases[0].name), "whole");
  EXPECT_EQ(part.text(part.phases[1].name), "part");
}

TEST(Filter, WhatIsLeftOutTookItsTimeFromWhatEnclosesIt) {
  Filter filter;
  filter.keeps_op = [](const Profile& all, OpId op) {
    return all.text(all.ops[index_of(op)].name) == "outer";
  };
  const Profile whole = filtered(child_before_parent(), filter);
  EXPECT_THAT(whole.spans.own, ElementsAre(12));
  filter.window = {{20, 99}};
  filter.cut = true;
  EXPECT_THAT(filtered(child_before_parent(), filter).spans.own, ElementsAre(1));
  filter.keeps_op = [](const Profile& all, OpId op) {
    return all.text(all.ops[index_of(op)].name) == "inner";
  };
  const Profile inner = filtered(child_before_parent(), filter);
  EXPECT_THAT(inner.spans.own, ElementsAre(3));
  ASSERT_EQ(inner.spans.held_up.size(), 1u);
  EXPECT_EQ(inner.spans.held_up[0].begin, 20);
  EXPECT_EQ(inner.spans.held_up[0].end, 95);
}

TEST(Filter, WithoutConditionsTheProfileIsAsItWas) {
  const Profile part = filtered(sample(), {});
  EXPECT_EQ(part.spans.size(), 4u);
  EXPECT_THAT(part.notes, IsEmpty());
}

TEST(Filter, AForgedProfileIsCutLikeAnyOther) {
  Profile forged = sample();
  forged.units[0].parent = UnitId{0};
  forged.spans.unit[0] = UnitId{900};
  forged.spans.op[1] = OpId{900};
  forged.spans.start[2] = std::numeric_limits<std::int64_t>::max();
  forged.spans.duration[2] = std::numeric_limits<std::int64_t>::max();
  forged.counters.of[0] = 77;
  forged.flows.push_back({SpanId{900}, SpanId::none, EdgeKind::flow, {}, {}});
  forged.tensor_uses.push_back({900, OpId{900}});
  Filter filter;
  filter.window = {{0, std::numeric_limits<std::int64_t>::max()}};
  filter.cut = true;
  const Profile part = filtered(forged, filter);
  EXPECT_EQ(part.spans.size(), 3u);
  EXPECT_EQ(part.spans.unit[0], UnitId::none);
  EXPECT_EQ(part.spans.op[1], OpId::none);
}

}  // namespace
}  // namespace npuscope::filter_test
