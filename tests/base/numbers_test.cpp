#include "base/numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace npuscope::numbers_test {
namespace {

TEST(Numbers, AreTheWholeText) {
  EXPECT_EQ(parse_number<std::uint32_t>("17"), 17u);
  EXPECT_EQ(parse_number<std::int64_t>("-17"), -17);
  EXPECT_EQ(parse_number<double>("1.5e3"), 1500);
  for (const std::string text : {"", "x", "17x", " 17", "17 ", "+17", "0x11", "1.5"}) {
    EXPECT_EQ(parse_number<std::uint32_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number<double>("1.5.2"), std::nullopt);
}

TEST(Numbers, FitTheirType) {
  EXPECT_EQ(parse_number<std::uint8_t>("255"), 255);
  EXPECT_EQ(parse_number<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(parse_number<std::uint32_t>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_number<double>("1e400"), std::nullopt);
  EXPECT_EQ(parse_number<double>("1e-400"), std::nullopt);
}

TEST(Numbers, MayBeHexadecimal) {
  EXPECT_EQ(parse_number<std::uint32_t>("c0DE", 16), 0xC0DEu);
  EXPECT_EQ(parse_number<std::uint8_t>("0A", 16), 10);
  EXPECT_EQ(parse_number<std::uint32_t>("0xC0", 16), std::nullopt);  // 0x is the caller's
  EXPECT_EQ(parse_number<std::uint32_t>("g", 16), std::nullopt);
}

TEST(Numbers, MayBeInfiniteWhereTheyAreDoubles) {
  EXPECT_TRUE(std::isinf(parse_number<double>("inf").value_or(0)));
  EXPECT_TRUE(std::isnan(parse_number<double>("nan").value_or(0)));
}

TEST(Numbers, AreTakenOffTheFront) {
  std::string_view text = "12:2.5 GHz";
  EXPECT_EQ(take_number<std::uint32_t>(text), 12u);
  EXPECT_EQ(text, ":2.5 GHz");
  text.remove_prefix(1);
  EXPECT_EQ(take_number<double>(text), 2.5);
  EXPECT_EQ(text, " GHz");
  text = "ffx";
  EXPECT_EQ(take_number<std::uint32_t>(text, 16), 255u);
  EXPECT_EQ(text, "x");
}

TEST(Numbers, ThatAreNoneOrDoNotFitLeaveTheTextAsItIs) {
  for (const std::string text : {"", " 1", "x1", "99999999999"}) {
    std::string_view rest = text;
    EXPECT_EQ(take_number<std::uint32_t>(rest), std::nullopt) << text;
    EXPECT_EQ(rest, text);
  }
}

}  // namespace
}  // namespace npuscope::numbers_test
