#include "report/latency/latency_document.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/formats/open.hpp"
#include "report/picture/xml_check.hpp"

namespace npuscope::report::latency_svg_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LatencySvg, OfSamplesThereIsAHistogramOfEachStepWithItsTail) {
  const std::filesystem::path path =
      NPUSCOPE_TEST_DATA "/qaic/bert-base-cased_b8_2core.latency.txt";
  const auto opened = open_profiles({&path, 1});
  ASSERT_TRUE(opened) << opened.error().message;
  const auto svg = latency_svg(analysis::Analysis(opened->profiles.front()), {});
  ASSERT_TRUE(svg) << svg.error().message;
  EXPECT_EQ(problem_in(*svg), "");
  for (const char* part : {">Latency</text>", ">device execution</text>",
                           ">total round trip</text>", "median ", ">Times are of a batch"}) {
    EXPECT_THAT(*svg, HasSubstr(part));
  }
}

TEST(LatencySvg, WhatHasNoLatencyIsRefused) {
  test_support::ProfileBuilder made;
  made.span(made.unit("HMX", Engine::hmx), "op", 0, 10);
  const auto svg = latency_svg(analysis::Analysis(made.profile), {});
  ASSERT_FALSE(svg);
  EXPECT_THAT(svg.error().message, HasSubstr("neither a latency file nor a runner's log"));
}

TEST(LatencySvg, EverySampleIsInOneBin) {
  EXPECT_THAT(histogram_of({0, 1, 2, 3, 4}, 0, 4, 2), ElementsAre(2, 3));
  EXPECT_THAT(histogram_of({5, 5}, 5, 5, 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(histogram_of({-1, 9}, 0, 4, 2), ElementsAre(0, 0));
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> samples(random() % 50);
    for (double& sample : samples) sample = double(random() % 1000);
    const std::size_t bins = 1 + random() % 20;
    std::uint64_t sum = 0;
    for (const std::uint64_t count : histogram_of(samples, 0, 999, bins)) sum += count;
    EXPECT_EQ(sum, samples.size());
  }
}

}  // namespace
}  // namespace npuscope::report::latency_svg_test
