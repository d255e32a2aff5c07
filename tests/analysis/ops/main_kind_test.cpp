// What a row of several kernels is said to be mostly.
#include <gtest/gtest.h>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis::main_kind_test {
namespace {

using test_support::ProfileBuilder;

// A conversion on four threads for 10 ticks, then a product on one for 30.
ProfileBuilder converted_and_multiplied() {
  ProfileBuilder made;
  for (int i = 0; i < 4; ++i) {
    const UnitId hvx = made.unit("HVX " + std::to_string(i), Engine::hvx);
    made.span(hvx, "MatMul", 0, 10, SpanKind::op, "convert");
  }
  made.span(made.unit("HMX", Engine::hmx), "MatMul", 10, 40, SpanKind::op, "multiply");
  return made;
}

OpRow only_row(const Profile& profile) {
  return Analysis(profile).ops({.grouping = Grouping::op}).rows.at(0);
}

TEST(MainKind, WasByTheWorkOfFourThreadsAtOnceWhereThePathIsKnown) {
  ProfileBuilder made = converted_and_multiplied();
  MeasureColumn path = made.profile.column_of(
      {"dominant path", MeasureKind::dominant_path, NumberRole::dominant_path}, Origin::derived,
      made.profile.base_clock);
  path.values = {10, 0, 0, 0, 30};
  made.profile.spans.measures.push_back(std::move(path));
  const OpRow row = only_row(made.profile);
  EXPECT_EQ(made.profile.text(row.main_kind), "multiply");
  EXPECT_EQ(row.main_share, 0.75);
}

TEST(MainKind, IsByWorkWhereNothingElseIsKnown) {
  const ProfileBuilder made = converted_and_multiplied();
  const OpRow row = only_row(made.profile);
  EXPECT_EQ(made.profile.text(row.main_kind), "convert");
  EXPECT_EQ(row.main_share, 4.0 / 7);
}

}  // namespace
}  // namespace npuscope::analysis::main_kind_test
