// So many spans that several threads look at them: what the order of their rows must not change.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "npuscope/analysis/path.hpp"

namespace npuscope::analysis::path_large_test {
namespace {

constexpr std::uint32_t spans = 200'000, units = 7, ops = 300;

struct Row {
  UnitId unit;
  OpId op;
  SpanKind kind;
  std::int64_t start, duration;
};

// Ops that repeat and feed one another; no two executions begin or end at one time.
std::vector<Row> random_rows() {
  std::mt19937_64 random(5);
  std::vector<std::int64_t> free_at(units, 0);
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < spans; ++i) {
    const std::uint32_t unit = random() % units;
    const std::int64_t start = free_at[unit] + std::int64_t(random() % 40) * 1'000;
    const std::int64_t duration = std::int64_t(1 + random() % 300) * 1'000;
    const SpanKind kind = random() % 9 == 0 ? SpanKind::sync : SpanKind::op;
    rows.push_back({UnitId{unit}, OpId{i % ops}, kind, start + unit, duration});
    free_at[unit] = start + duration;
  }
  return rows;
}

Profile profile_of(const std::vector<Row>& rows) {
  Profile profile;
  profile.clocks.push_back({profile.strings.intern("cycles"), ClockKind::unit_cycles, {}, true, 0});
  profile.units.resize(units);
  for (Unit& unit : profile.units) unit.engine = Engine::hvx;
  profile.ops.resize(ops);
  for (std::uint32_t op = 0; op < ops; ++op) {
    for (const std::uint32_t distance : {1u, 16u}) {
      if (op >= distance) profile.edges.push_back({OpId{op - distance}, OpId{op}, EdgeKind::data});
    }
  }
  for (const Row& row : rows) {
    profile.spans.unit.push_back(row.unit);
    profile.spans.op.push_back(row.op);
    profile.spans.kind.push_back(row.kind);
    profile.spans.start.push_back(row.start);
    profile.spans.duration.push_back(row.duration);
  }
  return profile;
}

TEST(PathOfManySpans, AddsUpAndIsTheSameInEveryOrderOfRows) {
  const std::vector<Row> rows = random_rows();
  std::vector<std::uint32_t> order(spans);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(6));
  std::vector<Row> shuffled;
  for (const std::uint32_t row : order) shuffled.push_back(rows[row]);

  const Profile one = profile_of(rows), other = profile_of(shuffled);
  const auto paths = PathAnalysis::create(one, std::nullopt);
  const auto others = PathAnalysis::create(other, std::nullopt);
  ASSERT_TRUE(paths.has_value() && others.has_value());
  const CriticalPath path = paths->observed(), other_path = others->observed();
  EXPECT_EQ(path.lead + path.work + path.gaps + path.tail, path.wall);
  EXPECT_EQ(paths->wall_if({}), double(path.wall));
  EXPECT_EQ(paths->basis().cyclic_constraints, 0u);
  EXPECT_EQ(paths->basis().constraints[std::size_t(Reason::data)],
            others->basis().constraints[std::size_t(Reason::data)]);
  ASSERT_EQ(path.steps.size(), other_path.steps.size());
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    ASSERT_EQ(path.steps[i].row, order[other_path.steps[i].row]);
    ASSERT_EQ(path.steps[i].reason, other_path.steps[i].reason);
    ASSERT_EQ(path.steps[i].delay, other_path.steps[i].delay);
  }
  const ExecutionTimes times = paths->executions(), other_times = others->executions();
  for (std::uint32_t row = 0; row < spans; ++row) {
    ASSERT_EQ(times.slack[order[row]], other_times.slack[row]);
    ASSERT_EQ(times.work[order[row]], other_times.work[row]);
  }
  for (const PathStep& step : path.steps) ASSERT_EQ(times.slack[step.row], 0);
}

}  // namespace
}  // namespace npuscope::analysis::path_large_test
