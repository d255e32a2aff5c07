#include "analysis/extents_by_inference.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::extents_by_inference_test {
namespace {

using npuscope::test_support::ProfileBuilder;

// Neighbours of other inferences in nearly every row, and so many rows that several threads look.
TEST(ExtentsByInference, OfInferencesWhoseSpansMixAreThatOfLookingAtEach) {
  std::mt19937 random(2);
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  Spans& spans = made.profile.spans;
  for (std::size_t row = 0; row < 150'000; ++row) {
    spans.unit.push_back(unit);
    spans.op.push_back(OpId::none);
    spans.kind.push_back(random() % 6 == 0 ? SpanKind::async : SpanKind::op);
    spans.start.push_back(std::int64_t(random() % 100'000));
    spans.duration.push_back(std::int64_t(random() % 50) - 5);
    spans.instance.push_back(random() % 9 == 0 ? every_instance : random() % 6'000);
  }
  std::map<std::uint32_t, Interval> expected;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (!is_of_inference(spans.kind[row])) continue;
    const Interval interval = interval_of(spans, row);
    Interval& extent = expected.try_emplace(spans.instance[row], interval).first->second;
    extent.begin = std::min(extent.begin, interval.begin);
    extent.end = std::max(extent.end, interval.end);
  }
  const auto found = extents_by_inference(
      spans, [&](std::size_t row) { return is_of_inference(spans.kind[row]); });
  EXPECT_EQ(found, (std::vector<InferenceExtent>{expected.begin(), expected.end()}));
}

TEST(ExtentsByInference, OfAProfileThatDoesNotTellInferencesAreNone) {
  ProfileBuilder made;
  made.span(made.unit("HVX", Engine::hvx), "add", 0, 10);
  EXPECT_TRUE(extents_by_inference(made.profile.spans, [](std::size_t) { return true; }).empty());
}

}  // namespace
}  // namespace npuscope::analysis::extents_by_inference_test
