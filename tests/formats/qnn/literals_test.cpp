#include "formats/qnn/read/literals.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace npuscope::qnn {
namespace {

TEST(QnnLiterals, OfEveryFormAreRead) {
  Literals text(
      "# a comment\n"
      "nothing = runlist1\n"
      "numbers = [ 0x1F, 2, -3, 4.5, 'x', ] # end\n"
      "for k,v in numbers: k = v\n"
      "table = {\n 'a': (1, \"two, # no comment\"),\n 0x2: { 'b' : [[1],{}] }, }\n"
      "called = made( 7, name='x', deep=other(1,[2]))\n");
  std::vector<std::string> seen;
  while (const auto name = text.next_assignment()) {
    seen.emplace_back(*name);
    if (*name == "numbers") {
      std::vector<std::optional<std::int64_t>> values;
      text.each_element([&] { values.push_back(text.signed_whole()); });
      EXPECT_EQ(values, (std::vector<std::optional<std::int64_t>>{31, 2, -3, {}, {}}));
    }
    if (*name == "table") {
      std::vector<std::string> keys;
      text.each_member([&] {
        if (text.next() == '\'') {
          keys.emplace_back(text.text_key().value_or("?"));
          std::size_t place = 0;
          text.each_element([&] {
            if (place++ == 1) {
              EXPECT_EQ(text.text(), "two, # no comment");
            } else {
              text.skip();
            }
          });
        } else {
          keys.push_back(std::to_string(text.number_key().value_or(0)));
          text.skip();
        }
      });
      EXPECT_EQ(keys, (std::vector<std::string>{"a", "2"}));
    }
    if (*name == "called") {
      std::vector<std::string> names;
      EXPECT_EQ(text.call([&](std::string_view argument) {
        names.emplace_back(argument);
        text.skip();
      }),
                "made");
      EXPECT_EQ(names, (std::vector<std::string>{"", "name", "deep"}));
    }
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"nothing", "numbers", "table", "called"}));
  EXPECT_EQ(text.broken(), std::nullopt);
}

// What breaks off says where, and the next assignment is read all the same.
TEST(QnnLiterals, ThatBreakOffLoseNothingElse) {
  Literals text("first = [1, 2\nsecond = 'never closed\nthird = [3]\n");
  std::vector<std::uint64_t> values;
  while (const auto name = text.next_assignment()) {
    if (*name == "second") {
      EXPECT_EQ(text.text(), std::nullopt);
    } else {
      text.each_element([&] { values.push_back(text.whole().value_or(0)); });
    }
  }
  ASSERT_GE(values.size(), 3u);
  EXPECT_EQ(values[0], 1u);
  EXPECT_EQ(values[1], 2u);
  EXPECT_EQ(values.back(), 3u);
  EXPECT_TRUE(text.broken().has_value());
}

// Walks that end, whatever the text: brackets, quotes and words in any order.
TEST(QnnLiterals, OfAnyTextEnd) {
  std::mt19937 random(7);
  constexpr std::string_view parts[] = {
      "{", "}",  "[",  "]",    "(",   ")",  ",",   ":",  "'a'", "\"b\"",
      "#", "\n", "\n", "x = ", "0x1", "-7", "1.5", "f(", "'",   " "};
  for (int round = 0; round < 3'000; ++round) {
    std::string content = "\na = ";
    for (int i = 0; i < 40; ++i) content += parts[random() % std::size(parts)];
    Literals text(content);
    std::size_t steps = 0;
    const auto step = [&] { ASSERT_LT(++steps, 10'000u) << content; };
    while (text.next_assignment()) {
      step();
      text.each_member([&] {
        step();
        if (!text.number_key()) return;
        text.each_element([&] {
          step();
          text.call([&](std::string_view) {
            step();
            text.skip();
          });
        });
      });
    }
  }
}

}  // namespace
}  // namespace npuscope::qnn
