#include "analysis/compare/samples_held.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace npuscope::analysis::gathering_test {
namespace {

// A table and a list, whichever the numbers of groups and inferences make it.
TEST(Gathering, GivesTheSumsOfAMapByGroupAndInference) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t groups = 1 + random() % 40;
    const std::uint32_t inferences = round % 3 == 0 ? 60'000 : 1 + random() % 30;
    std::vector<std::uint32_t> ids;
    for (std::uint32_t i = 0; i < inferences; ++i) ids.push_back(3 * i + 1);
    Gathering gathering(groups, inferences, 1'000);
    std::map<std::uint32_t, std::map<std::uint32_t, double>> sums;
    std::map<std::uint32_t, bool> seen;
    for (std::size_t i = random() % 500; i > 0; --i) {
      const auto group = std::uint32_t(random() % groups);
      const auto inference = std::uint32_t(random() % inferences);
      const double value = double(random() % 100);
      gathering.add({group, inference, value});
      sums[group][ids[inference]] += value;
      seen[ids[inference]] = true;
    }
    OpSamples found;
    gathering.finish(ids, found);
    ASSERT_EQ(found.first.size(), groups + 1);
    for (std::uint32_t group = 0; group < groups; ++group) {
      std::vector<Sample> expected;
      for (const auto& [inference, sum] : sums[group]) expected.push_back({inference, sum});
      const std::vector<Sample> here(found.entries.begin() + found.first[group],
                                     found.entries.begin() + found.first[group + 1]);
      ASSERT_EQ(here, expected) << round << " group " << group;
    }
    std::vector<std::uint32_t> with_any;
    for (const auto& [inference, any] : seen) with_any.push_back(inference);
    ASSERT_EQ(found.inferences, with_any);
  }
}

}  // namespace
}  // namespace npuscope::analysis::gathering_test
