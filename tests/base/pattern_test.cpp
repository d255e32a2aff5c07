#include "npuscope/base/pattern.hpp"

#include <gmock/gmock.h>

#include <string>

namespace npuscope::pattern_test {
namespace {

bool found(std::string_view pattern, std::string_view text) {
  return Pattern::compile("--op", pattern).value().found_in(text);
}

std::string refusal(std::string_view pattern) {
  const auto made = Pattern::compile("--op", pattern);
  EXPECT_FALSE(made);
  return made ? "" : made.error().message;
}

TEST(Pattern, IsFoundAnywhereInATextUnlessItSaysWhere) {
  EXPECT_TRUE(found("atMu", "MatMul_3"));
  EXPECT_TRUE(found("^Mat.*_[0-9]$", "MatMul_3"));
  EXPECT_FALSE(found("^atMul", "MatMul_3"));
  EXPECT_FALSE(found("matmul", "MatMul_3"));
  EXPECT_TRUE(found("(?i)matmul", "MatMul_3"));
  EXPECT_TRUE(found("", ""));
  EXPECT_FALSE(found("a", ""));
}

TEST(Pattern, ADotIsACharacterAndABrokenByteIsNone) {
  EXPECT_TRUE(found("^.$", "\xc3\xa9"));  // e with acute accent
  EXPECT_FALSE(found("^.$", "\xff"));
  EXPECT_TRUE(found("op", "\xff op \xfe"));
}

TEST(Pattern, ATextWithNulsIsSearchedToItsEnd) {
  EXPECT_TRUE(found("b", std::string_view("a\0b", 3)));
}

TEST(Pattern, WhatIsNoPatternIsRefusedInTheWordsOfTheCommandLine) {
  constexpr const char* advice =
      "not a regular expression without back references and look-around; check its brackets and "
      "escapes";
  EXPECT_EQ(refusal("("), "--op '(': " + std::string(advice));
  EXPECT_EQ(refusal("(a)\\1"), "--op '(a)\\1': " + std::string(advice));
  EXPECT_EQ(refusal("a(?=b)"), "--op 'a(?=b)': " + std::string(advice));
  EXPECT_EQ(refusal("\xff"), "--op '\xff': " + std::string(advice));
  EXPECT_EQ(Pattern::compile("--op", "(").error().kind, ErrorKind::usage);
}

TEST(Pattern, RepetitionsThatMultiplyAreRefusedBeforeTheyTakeMemory) {
  EXPECT_EQ(refusal("((a{100}){100}){100}"),
            "--op '((a{100}){100}){100}': the regular expression is too large; repeat less in it");
}

TEST(Pattern, OfTheProgramIsFoundWhereOneOfAUserIs) {
  const Pattern pattern = Pattern::builtin("_t_(\\w+)", Pattern::Groups::kept);
  EXPECT_FALSE(pattern.found_in("conv"));
  EXPECT_EQ(pattern.group_in("conv"), "");
  EXPECT_TRUE(pattern.found_in("a_t_conv"));
  EXPECT_EQ(pattern.group_in("a_t_conv"), "conv");
  for (int i = 0; i < 500; ++i) EXPECT_FALSE(pattern.found_in("conv"));
}

// A matcher that backtracks would try 2^40 ways.
TEST(Pattern, ATextThatNearlyMatchesANestedRepetitionTakesNoAge) {
  EXPECT_FALSE(found("^(a+)+$", std::string(40, 'a') + "b"));
  EXPECT_FALSE(found("^(a|aa)+$", std::string(1 << 20, 'a') + "b"));
}

}  // namespace
}  // namespace npuscope::pattern_test
