#include "npuscope/profile/arguments.hpp"

#include <gtest/gtest.h>

namespace npuscope::arguments_test {
namespace {

class ArgumentsTest : public testing::Test {
 protected:
  // Row 0 has none, row 1 { cycles: -5, frequency: 1450.25 }.
  void SetUp() override {
    arguments.shapes.push_back(
        {{cycles, ArgumentType::integer}, {frequency, ArgumentType::number}});
    arguments.add(1, 1,
                  std::array{std::bit_cast<std::uint64_t>(std::int64_t{-5}),
                             std::bit_cast<std::uint64_t>(1450.25)});
  }

  StringPool strings;
  StringId cycles = strings.intern("cycles");
  StringId frequency = strings.intern("frequency");
  Arguments arguments;
};

TEST_F(ArgumentsTest, AreFoundByNameWithTheirType) {
  ASSERT_TRUE(arguments.find(1, cycles));
  EXPECT_EQ(arguments.find(1, cycles)->integer(), -5);
  EXPECT_EQ(arguments.find(1, frequency)->number(), 1450.25);
  EXPECT_EQ(arguments.find(1, cycles)->as_number(), -5.0);
}

TEST_F(ArgumentsTest, AreAbsentWhereTheRowHasNone) {
  EXPECT_EQ(arguments.count(0), 0u);
  EXPECT_FALSE(arguments.find(0, cycles));
  EXPECT_FALSE(arguments.find(1, strings.intern("other")));
  EXPECT_FALSE(Arguments{}.find(5, cycles));
}

TEST_F(ArgumentsTest, TextIsNoNumber) {
  const Argument text{{cycles, ArgumentType::text}, 7};
  EXPECT_FALSE(text.as_number());
  EXPECT_EQ(text.text(), StringId{7});
}

}  // namespace
}  // namespace npuscope::arguments_test
