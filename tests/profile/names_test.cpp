#include "profile/names.hpp"

#include <gtest/gtest.h>

namespace npuscope::names_test {
namespace {

TEST(Names, LeadBackToTheirValues) {
  EXPECT_STREQ(stable_name(Engine::dma_issue), "dma_issue");
  EXPECT_EQ(value_named<Engine>("dma_issue"), Engine::dma_issue);
  EXPECT_EQ(value_named<Engine>("DMA"), std::nullopt);
  EXPECT_EQ(value_named<Engine>(""), std::nullopt);
}

TEST(Names, ThereIsOneForEachValue) {
  EXPECT_STREQ(stable_name(ClockKind::unit_cycles), "unit_cycles");
  EXPECT_STREQ(stable_name(Engine::other), "other");
  EXPECT_STREQ(stable_name(SpanKind::instant), "instant");
  EXPECT_STREQ(stable_name(MeasureKind::count), "count");
  EXPECT_STREQ(stable_name(Origin::derived), "derived");
  EXPECT_STREQ(stable_name(Measure::Subject::phase), "phase");
  EXPECT_STREQ(stable_name(EdgeKind::order), "order");
  EXPECT_STREQ(stable_name(ArgumentType::json), "json");
  EXPECT_STREQ(stable_name(Provenance::Temperature::cold_then_warm), "cold_then_warm");
  EXPECT_STREQ(stable_name(Check::Outcome::impossible), "impossible");
  EXPECT_STREQ(stable_name(Severity::error), "error");
}

TEST(Names, AForgedValueIsUnknown) { EXPECT_STREQ(stable_name(Engine(99)), "unknown"); }

}  // namespace
}  // namespace npuscope::names_test
