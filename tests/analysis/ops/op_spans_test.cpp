// Spans in groups, against the rows of the profile one by one.
#include "analysis/ops/op_spans.hpp"

#include <gtest/gtest.h>

#include <random>

#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::uint32_t ops = 7, units = 3;

// Some of no op or unit that exists, some longer than what is kept of a length, some of no
// inference.
Profile random_profile(std::mt19937& random) {
  Profile profile;
  profile.clocks.push_back({profile.strings.intern("cycles"), ClockKind::unit_cycles});
  profile.units.resize(units);
  profile.ops.resize(ops);
  for (int i = 0; i < 400; ++i) {
    Spans& spans = profile.spans;
    spans.unit.push_back(random() % 9 == 0 ? UnitId::none : UnitId(random() % units));
    spans.op.push_back(random() % 9 == 0 ? OpId(ops + random() % 2) : OpId(random() % ops));
    spans.kind.push_back(random() % 4 == 0 ? SpanKind::sync : SpanKind::op);
    spans.start.push_back(std::int64_t(random() % 1'000));
    const std::int64_t duration = std::int64_t(random() % 100) - 5;
    spans.duration.push_back(random() % 20 == 0 ? duration << 40 : duration);
    spans.instance.push_back(random() % 9 == 0 ? every_instance : 5 + random() % 3);
  }
  return profile;
}

void expect_row(const Analysis& analysis, const OpSpansInGroups& groups, const KeptOpSpan& kept,
                std::uint32_t row) {
  const Spans& spans = analysis.profile().spans;
  OpSpan span;
  groups.unpack(kept, span);
  EXPECT_EQ(span.row, row);
  EXPECT_EQ(groups.interval(kept), interval_of(spans, row));
  EXPECT_EQ(span.own, analysis.self_times()[row]);
  EXPECT_EQ(span.op, spans.op[row]);
  EXPECT_EQ(span.unit, spans.unit[row]);
  EXPECT_EQ(span.kind, spans.kind[row]);
  const bool is_of_one = spans.instance[row] != every_instance;
  EXPECT_EQ(span.inference, is_of_one ? spans.instance[row] - 5 : Inferences::none);
}

void expect_all_by_op(const Analysis& analysis, const OpSpansInGroups& by_op) {
  const Spans& spans = analysis.profile().spans;
  std::size_t all = 0;
  for (std::uint32_t op = 0; op <= ops; ++op) {
    std::size_t place = 0;
    for (std::uint32_t row = 0; row < spans.size(); ++row) {
      if (std::min(index_of(spans.op[row]), ops) != op) continue;
      ASSERT_LT(place, by_op.of(op).size());
      expect_row(analysis, by_op, by_op.of(op)[place++], row);
    }
    EXPECT_EQ(place, by_op.of(op).size());
    all += place;
  }
  EXPECT_EQ(all, spans.size());
}

TEST(OpSpans, AreThoseOfEachOpInTheProfilesOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    const Analysis analysis(random_profile(random));
    expect_all_by_op(analysis, *analysis.spans_by_op());
  }
}

// More inferences than are told apart elsewhere are so here, as runs of an op must be.
TEST(OpSpans, KeepTheInstancesOfTooManyInferences) {
  Profile profile;
  profile.units.resize(1);
  profile.ops.resize(1);
  constexpr std::uint32_t too_many = 65'537;
  for (std::uint32_t i = 0; i < too_many; ++i) {
    profile.spans.unit.push_back(UnitId(0));
    profile.spans.op.push_back(OpId(0));
    profile.spans.kind.push_back(SpanKind::op);
    profile.spans.start.push_back(i);
    profile.spans.duration.push_back(1);
    profile.spans.instance.push_back(i);
  }
  const Analysis analysis(std::move(profile));
  ASSERT_EQ(analysis.inferences().count(), 1u);
  const auto held = analysis.spans_by_op();
  const OpSpansInGroups& by_op = *held;
  for (const KeptOpSpan& kept : by_op.of(0)) ASSERT_EQ(by_op.instance(kept), kept.row);
}

TEST(OpSpans, AreThoseOfEachGroupOfUnits) {
  std::mt19937 random(2);
  const Analysis analysis(random_profile(random));
  const std::vector<std::uint32_t> group_of_unit = {1, 0, 1, 2};  // the last of units that are none
  const OpSpansInGroups groups(analysis, group_of_unit, 3);
  const Spans& spans = analysis.profile().spans;
  for (std::uint32_t group = 0; group < 3; ++group) {
    std::size_t place = 0;
    for (std::uint32_t row = 0; row < spans.size(); ++row) {
      if (group_of_unit[std::min(index_of(spans.unit[row]), units)] != group) continue;
      ASSERT_LT(place, groups.of(group).size());
      expect_row(analysis, groups, groups.of(group)[place++], row);
    }
    EXPECT_EQ(place, groups.of(group).size());
  }
}

}  // namespace
}  // namespace npuscope::analysis
