// The answers must find what the synthetic fleet has, and nothing else.
#include "fleet/synthetic_fleet.hpp"

#include <gmock/gmock.h>

#include "fleet/questions/changes.hpp"
#include "fleet/questions/outliers.hpp"

namespace npuscope::fleet::synthetic_fleet_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t run_count = 2'000;

OutlierRequest within_builds() {
  OutlierRequest request;
  request.within = {"build"};
  return request;
}

Store& whole_fleet() {
  static TemporaryStore made;
  static const bool is_filled = [] {
    SyntheticFleet(run_count).fill(*made);
    return true;
  }();
  EXPECT_TRUE(is_filled);
  return *made;
}

std::string text(const Value& value) {
  const auto* known = std::get_if<std::string>(&value);
  const auto* number = std::get_if<double>(&value);
  return known != nullptr ? *known : number != nullptr ? fmt::format("{}", *number) : "?";
}

TEST(SyntheticFleet, ItsThrottledDevicesAreTheSlowOnesAndTheClockIsWhy) {
  const auto outliers = outliers_of(whole_fleet(), {}, within_builds());
  ASSERT_TRUE(outliers) << outliers.error().message;
  const SyntheticFleet truth(1);
  std::set<std::string> slow;
  for (const SlowGroup& group : outliers->groups) {
    if (!group.is_outlier) continue;
    slow.insert(text(group.by[0]));
    EXPECT_EQ(group.reason, SlowReason::clock) << text(group.by[0]);
    EXPECT_NEAR(group.clock.value_or(0), 1.05 / 1.45, 0.01);
  }
  EXPECT_EQ(slow, truth.throttled);
}

TEST(SyntheticFleet, ThatItsBuildsDifferIsSaidUnlessRunsAreComparedWithinThem) {
  const auto mixed = outliers_of(whole_fleet(), {}, {});
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_THAT(mixed->remarks, Contains(testing::ContainsRegex(
                                  "^build explains [5-9][0-9] % of how runs of one device differ "
                                  ".*compare within it: --within build$")));
  const auto within = outliers_of(whole_fleet(), {}, within_builds());
  ASSERT_TRUE(within) << within.error().message;
  EXPECT_THAT(within->remarks, Not(Contains(HasSubstr("explains"))));
  const auto before = outliers_of(whole_fleet(), {.where = "build < 17"}, {});
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_THAT(before->remarks, Not(Contains(HasSubstr("explains"))));
}

TEST(SyntheticFleet, ItsRegressedOpIsTheOneThatChangedAtItsBuild) {
  const SyntheticFleet truth(1);
  const auto points = change_points(whole_fleet(), {}, "build", {});
  ASSERT_TRUE(points) << points.error().message;
  std::vector<std::string> found;
  for (const PointOfOp& point : points->rows) {
    if (point.op == 0) continue;  // the whole inference, which has it in it
    found.push_back(fmt::format("{} from {} on", point.name, text(point.first_after)));
    EXPECT_NEAR(point.relative(), 0.3, 0.03);
  }
  EXPECT_THAT(found, ElementsAre(truth.regressed + " from 17 on"));
}

TEST(SyntheticFleet, ItsBuildsAreToldApartByTheRegressedOpAlone) {
  const SyntheticFleet truth(1);
  const auto changes =
      compare_ops(whole_fleet(), {}, "build BETWEEN 10 AND 16", "build BETWEEN 17 AND 23", {});
  ASSERT_TRUE(changes) << changes.error().message;
  std::vector<std::string> slower;
  for (const ComparedOp& op : changes->rows) {
    if (op.op != 0 && op.is_change) slower.push_back(op.name);
  }
  EXPECT_THAT(slower, ElementsAre(truth.regressed));
  EXPECT_EQ(changes->slower, 1u);
  EXPECT_EQ(changes->faster, 0u);
  const auto same =
      compare_ops(whole_fleet(), {}, "build BETWEEN 2 AND 8", "build BETWEEN 9 AND 15", {});
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->slower + same->faster, 0u);
}

TEST(SyntheticFleet, AnUnluckyDeviceIsToldFromOneOfAnotherGraph) {
  TemporaryStore made;
  SyntheticFleet fleet(160);
  fleet.slow_memory = SyntheticFleet::device(2);
  fleet.other_graph = SyntheticFleet::device(9);
  fleet.fill(*made);
  const auto outliers = outliers_of(*made, {.where = "build < 17"}, within_builds());
  ASSERT_TRUE(outliers) << outliers.error().message;
  std::map<std::string, std::string> reasons;
  for (const SlowGroup& group : outliers->groups) {
    if (group.is_outlier) reasons[text(group.by[0])] = name_of(group.reason);
  }
  const std::map<std::string, std::string> truth{{"d02", "memory"},
                                                 {"d05", "clock"},
                                                 {"d09", "another graph"},
                                                 {"d17", "clock"},
                                                 {"d33", "clock"}};
  EXPECT_EQ(reasons, truth);
}

}  // namespace
}  // namespace npuscope::fleet::synthetic_fleet_test
