#include "npuscope/base/result.hpp"

#include <gtest/gtest.h>

namespace npuscope::result_test {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return usage_error("{}: odd; give an even number", value);
  return value / 2;
}

Result<int> quarter(int value) {
  const Result<int> first = half(value);
  if (!first) return tl::unexpected(first.error());
  return half(*first);
}

TEST(Result, HoldsAValue) { EXPECT_EQ(quarter(12), 3); }

TEST(Result, HoldsTheErrorOfTheStepThatFailed) {
  const Result<int> result = quarter(6);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  EXPECT_EQ(result.error().message, "3: odd; give an even number");
}

TEST(Result, EachHelperMakesItsKindOfError) {
  const Status usage = usage_error("a");
  const Status input = input_error("{}: byte {}", "file.qpc", 17);
  const Status output = output_error("c");
  EXPECT_EQ(usage.error().kind, ErrorKind::usage);
  EXPECT_EQ(input.error().kind, ErrorKind::input);
  EXPECT_EQ(input.error().message, "file.qpc: byte 17");
  EXPECT_EQ(output.error().kind, ErrorKind::output);
}

TEST(Status, IsDoneUnlessToldOtherwise) { EXPECT_TRUE(Status{}.has_value()); }

}  // namespace
}  // namespace npuscope::result_test
