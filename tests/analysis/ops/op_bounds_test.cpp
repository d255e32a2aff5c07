#include "analysis/ops/op_bounds.hpp"

#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::op_bounds_test {
namespace {

using npuscope::test_support::ProfileBuilder;

// Two engines; an op that mostly waits, one that mostly moves, one of halves.
Profile four_ops() {
  ProfileBuilder made;
  const UnitId hvx = made.unit("HVX 0", Engine::hvx), dma = made.unit("DMA 0", Engine::dma);
  made.span(dma, "b", 0, 70, SpanKind::op, "copy");
  made.span(hvx, "b", 70, 100, SpanKind::op, "add");
  made.span(hvx, "c", 100, 150, SpanKind::op, "add");
  made.span(dma, "c", 150, 200, SpanKind::op, "copy");
  made.span(hvx, "a", 200, 230, SpanKind::op, "mul");
  made.span(hvx, "a", 230, 290, SpanKind::dma_wait, "mul");
  const UnitId compute = made.unit("compute", Engine::compute);
  made.span(compute, "d", 290, 360, SpanKind::sync, "add");
  made.span(compute, "d", 360, 390, SpanKind::op, "add");
  return std::move(made.profile);
}

std::string bound_of(const Profile& profile, const std::string& name) {
  const Analysis analysis(profile);
  const OpTable table = analysis.ops({.grouping = Grouping::op, .top = 10});
  const std::vector<OpBound> bounds = op_bounds(analysis, table, Grouping::op, {});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].name == name) {
      return std::string(name_of(bounds[i])) + " by " + source_of(bounds[i].kind);
    }
  }
  return "no row";
}

TEST(OpBounds, OpsDidNotSayWhatBoundsThem) {
  const Profile profile = four_ops();
  EXPECT_EQ(bound_of(profile, "a"), "DMA by movement");
  EXPECT_EQ(bound_of(profile, "b"), "DMA by movement");
  EXPECT_EQ(bound_of(profile, "c"), " by ");
  EXPECT_EQ(bound_of(profile, "d"), "waiting by waits");
}

// One resource that its unit is busy with for all of the time is what the roofline names.
TEST(OpBounds, AreThoseOfTheRooflineWhereItHasAVerdict) {
  ProfileBuilder made;
  const UnitId hvx = made.unit("HVX 0", Engine::hvx);
  made.span(hvx, "a", 0, 100, SpanKind::op, "mul");
  EXPECT_EQ(bound_of(made.profile, "a"), "HVX by roofline");
}

TEST(OpBounds, RowsCouldNotBeListedInOrderOfExecution) {
  const Profile profile = four_ops();
  const OpTable table = Analysis(profile).ops(
      {.grouping = Grouping::node, .top = 10, .details = true, .sort = "start"});
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_TRUE(table.sort_is_known);
  EXPECT_EQ(table.rows[0].name, "b");
  EXPECT_EQ(table.rows[0].details.start, 0);
  EXPECT_EQ(table.rows[1].name, "c");
  EXPECT_EQ(table.rows[1].details.start, 100);
  EXPECT_EQ(table.rows[2].details.start, 200);
  const OpTable units = Analysis(profile).ops(
      {.grouping = Grouping::unit, .top = 10, .details = true, .sort = "start"});
  EXPECT_FALSE(units.sort_is_known);
}

}  // namespace
}  // namespace npuscope::analysis::op_bounds_test
