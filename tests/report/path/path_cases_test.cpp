// The critical path of small traces whose path is known (../shared/data/cases).
#include <gtest/gtest.h>

#include <filesystem>

#include "npuscope/analysis/path.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::report::path_cases_test {
namespace {

class SoftmaxCase : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::filesystem::path file =
        std::filesystem::path(NPUSCOPE_SHARED_DIR) / "data/cases" / GetParam();
    if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
    auto opened = open_profiles(std::span(&file, 1));
    ASSERT_TRUE(opened) << opened.error().message;
    profile_ = std::move(opened->profiles.at(0));
  }

  double gain(std::string_view kind, double factor) const {
    analysis::Scaling scaling;
    for (const Op& op : profile_.ops) {
      scaling.of_op.push_back(profile_.text(op.kind) == kind ? factor : 1);
    }
    scaling.of_op.push_back(1);
    const analysis::WhatIf what_if =
        analysis::PathAnalysis::create(profile_, std::nullopt)->what_if(scaling);
    return what_if.before - what_if.after;
  }

  Profile profile_;
};

// 100,000 of 103,060 cycles; behind it a thread polls for DMA for 90 cycles.
TEST_P(SoftmaxCase, IsThePathWhetherAPollFollowsOrNot) {
  const analysis::CriticalPath path =
      analysis::PathAnalysis::create(profile_, std::nullopt)->observed();
  std::int64_t softmax = 0;
  for (const analysis::PathStep& step : path.steps) {
    if (profile_.text(profile_.ops[index_of(step.op)].kind) == "q::Softmax") {
      softmax += step.duration;
    }
  }
  EXPECT_EQ(path.wall, 103'060);
  EXPECT_EQ(softmax, 100'000);
  EXPECT_EQ(gain("q::Softmax", 0), 100'000);
  EXPECT_EQ(gain("q::Softmax", 0.5), 50'000);
}

INSTANTIATE_TEST_SUITE_P(Cases, SoftmaxCase, ::testing::Values("poll.json", "nopoll.json"),
                         [](const auto& instance) {
                           const std::string name = instance.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace npuscope::report::path_cases_test
