#include "base/pattern_set.hpp"

#include <gmock/gmock.h>

#include <random>

#include "npuscope/base/pattern.hpp"

namespace npuscope::pattern_set_test {
namespace {

using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

PatternSet set_of(const std::vector<std::string>& patterns) {
  PatternSet set;
  for (const std::string& each : patterns) EXPECT_TRUE(set.add("--op", each));
  EXPECT_TRUE(set.compile("all"));
  return set;
}

TEST(PatternSet, FindsAllThatAreInATextAtOnce) {
  const PatternSet set = set_of({"conv", "(?i)matmul", "^/a", "^$", "b$"});
  std::vector<int> found{7};
  set.find("/a/MatMul/b", found);
  EXPECT_THAT(found, UnorderedElementsAre(1, 2, 4));
  set.find("", found);
  EXPECT_THAT(found, UnorderedElementsAre(3));
  set.find("x", found);
  EXPECT_THAT(found, UnorderedElementsAre());
}

TEST(PatternSet, WithoutPatternsFindsNone) {
  const PatternSet set = set_of({});
  std::vector<int> found;
  set.find("x", found);
  EXPECT_THAT(found, UnorderedElementsAre());
}

TEST(PatternSet, RefusesWhatIsNoPatternAndGoesOn) {
  PatternSet set;
  const auto refused = set.add("--op", "(");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, Pattern::compile("--op", "(").error().message);
  EXPECT_EQ(set.add("--op", "a").value(), 0u);
  ASSERT_TRUE(set.compile("all"));
}

TEST(PatternSet, FindsWhatEachPatternAloneFinds) {
  const char* pieces[] = {"a", "b",    "/",  ".",      "\\b",   "^",
                          "$", "[^a]", "a*", "(a|b/)", "(?i)B", "_\\d+"};
  const char* letters[] = {"a", "b", "B", "/", "_", "7", "\xff", "\xc3\xa9", " "};
  for (unsigned seed = 1; seed <= 100; ++seed) {
    std::mt19937 random(seed);
    const auto text_of = [&](const auto& parts, std::size_t most) {
      std::string text;
      for (std::size_t i = random() % (most + 1); i > 0; --i) {
        text += parts[random() % std::size(parts)];
      }
      return text;
    };
    std::vector<std::string> patterns(1 + random() % 20);
    for (std::string& each : patterns) each = text_of(pieces, 4);
    const PatternSet set = set_of(patterns);
    for (int i = 0; i < 50; ++i) {
      const std::string text = text_of(letters, 10);
      std::vector<int> found, alone;
      set.find(text, found);
      for (std::size_t at = 0; at < patterns.size(); ++at) {
        const auto pattern = Pattern::compile("--op", patterns[at]);
        if (pattern.value().found_in(text)) alone.push_back(int(at));
      }
      EXPECT_THAT(found, UnorderedElementsAreArray(alone)) << text;
    }
  }
}

}  // namespace
}  // namespace npuscope::pattern_set_test
