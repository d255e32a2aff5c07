// Where findings say that their evidence lies.
#include "analysis/findings/finding_tester.hpp"

namespace npuscope::analysis::places_test {
namespace {

using test_support::CoreBuilder;
using test_support::Tried;

std::vector<EvidencePlace> places_of(const char* rule, const Profile& profile) {
  const Tried tried(rule, profile, {.places = true});
  return tried.found() ? tried.finding().places : std::vector<EvidencePlace>{};
}

std::int64_t total(const std::vector<EvidencePlace>& places) {
  std::int64_t sum = 0;
  for (const EvidencePlace& place : places) sum += length_of(place.time);
  return sum;
}

TEST(Places, OfExposedTransfersAddUpToWhatIsExposed) {
  CoreBuilder made;
  made.transfer("weights", 0, 30);
  made.span(made.hmx, "MatMul", 20, 60);
  made.span(made.hmx, "MatMul", 60, 70, SpanKind::dma_wait);
  made.span(made.hvx, "Add", 70, 100);
  const Tried tried("exposed-dma", made.profile, {.places = true});
  ASSERT_TRUE(tried.found());
  const auto& places = tried.finding().places;
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].time, (Interval{0, 20}));
  EXPECT_EQ(places[1].time, (Interval{60, 70}));
  EXPECT_EQ(total(places), tried.value("movement_alone") + tried.value("waiting_for_dma_alone"));
}

TEST(Places, OfOpsAreTheirLongestExecutionsOnTheirUnits) {
  CoreBuilder made;
  for (std::int64_t i = 0; i < 50; ++i) {
    made.span(made.hvx, "to flat", 100 * i, 100 * i + 10 + i, SpanKind::op, "q::ForceFormat_Flat");
    made.span(made.hvx, "MatMul", 100 * i + 60, 100 * i + 90, SpanKind::op, "q::ConvLayer.opt");
  }
  const auto places = places_of("boundary-tax", made.profile);
  ASSERT_EQ(places.size(), 20u);
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places[i].unit, made.hvx);
    EXPECT_EQ(places[i].time.begin, 100 * std::int64_t(30 + i)) << "the longest, in order of time";
  }
}

TEST(Places, OnlyWhereTheyAreAskedFor) {
  CoreBuilder made;
  made.transfer("weights", 0, 30);
  made.span(made.hmx, "MatMul", 20, 60);
  const Tried tried("exposed-dma", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_TRUE(tried.finding().places.empty());
}

}  // namespace
}  // namespace npuscope::analysis::places_test
