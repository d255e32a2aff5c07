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
  const char* pieces[] = {"a",     "b",     "/",        ".",      "\\b",   "^",       "$",
                          "[^a]",  "a*",    "(a|b/)",   "(?i)B",  "_\\d+", "b?",      "/+",
                          "|",     "[bB]",  "[]a]",     "[a-b]",  "\\.",   "(?:a|)",  "b{2}",
                          "(ab)?", "\\x61", "(?-i:b/)", "[^]_]+", "k",     "(?i:ks)", "(a(b|B))"};
  // \u212a is the upper case of k where case does not count, \u017f that of s.
  const char* letters[] = {"a",    "b",        "B", "/", "_",  "7",
                           "\xff", "\xc3\xa9", " ", "k", "ks", "\xe2\x84\xaa\xc5\xbf",
                           "]",    "."};
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
    std::erase_if(patterns, [](auto& each) { return !Pattern::compile("--op", each); });
    const PatternSet set = set_of(patterns);
    PatternSet builtin;
    for (const std::string& each : patterns) builtin.add_builtin(each);
    for (int i = 0; i < 50; ++i) {
      const std::string text = text_of(letters, 10);
      std::vector<int> found, found_of_builtin, alone;
      set.find(text, found);
      builtin.find(text, found_of_builtin);
      for (std::size_t at = 0; at < patterns.size(); ++at) {
        const auto pattern = Pattern::compile("--op", patterns[at]);
        if (pattern.value().found_in(text)) alone.push_back(int(at));
      }
      EXPECT_THAT(found, UnorderedElementsAreArray(alone)) << text;
      if (patterns.empty()) continue;
      EXPECT_THAT(found_of_builtin, UnorderedElementsAreArray(alone)) << text;
    }
  }
}

TEST(PatternSet, OfTheProgramFindsTheSameInFewTextsAndInMany) {
  PatternSet set;
  EXPECT_EQ(set.add_builtin("(?i)(all_?reduce|mat[mM]ul)$"), 0u);
  EXPECT_EQ(set.add_builtin("^x"), 1u);
  ASSERT_TRUE(set.compile("all"));
  for (const std::size_t texts : {1, 1'000'000}) {
    set.expect(texts);
    std::vector<int> found;
    set.find("x/MatMul", found);
    EXPECT_THAT(found, UnorderedElementsAre(0, 1)) << texts;
    set.find("MatMul/y", found);
    EXPECT_THAT(found, UnorderedElementsAre()) << texts;
  }
}

}  // namespace
}  // namespace npuscope::pattern_set_test
