#include "base/toml_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace npuscope::toml_reader_test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

// What is wrong with a text, by a reader that asks for some of each kind of key.
struct Read {
  std::string name, error;
  std::vector<std::string> marks;
  std::optional<Pattern> op;
  double share = 0.25;
  std::uint32_t bits = 7;
  bool is_cold = false;
  std::vector<std::uint64_t> values;
  std::vector<std::string> parts;
};

Read read(const std::string& text, bool is_builtin = false) {
  Read made;
  const TomlFile file{"mine.toml", ErrorKind::usage, is_builtin};
  const auto root = parse_toml(text, file.name, file.error);
  if (!root) {
    made.error = root.error().message;
    return made;
  }
  TomlReader in(*root, file);
  in.text("name", made.name, Needed::yes);
  in.texts("marks", made.marks);
  in.pattern("op", made.op);
  in.number("share", made.share, 0, 1);
  in.whole("record.bits", made.bits, 1, 32);
  in.yes_or_no("is_cold", made.is_cold);
  in.whole_numbers("values", made.values, 9);
  in.tables(
      "part", [&](TomlReader& each) { each.text("name", made.parts.emplace_back(), Needed::yes); },
      Needed::no, 2);
  if (const Status done = in.finish(); !done) made.error = done.error().message;
  return made;
}

TEST(TomlReader, TakesWhatIsThereAndLeavesTheRestAsItIs) {
  const Read all = read(
      "name = 'a'\nmarks = ['x', '']\nop = 'Mat.*'\nshare = 1\nis_cold = true\nvalues = [0, 9]\n"
      "[record]\nbits = 32\n[[part]]\nname = 'p'\n[[part]]\nname = 'q'\n");
  EXPECT_EQ(all.error, "");
  EXPECT_EQ(all.name, "a");
  EXPECT_THAT(all.marks, ElementsAre("x", ""));
  EXPECT_TRUE(all.op && all.op->found_in("MatMul"));
  EXPECT_EQ(all.share, 1);
  EXPECT_EQ(all.bits, 32u);
  EXPECT_TRUE(all.is_cold);
  EXPECT_THAT(all.values, ElementsAre(0, 9));
  EXPECT_THAT(all.parts, ElementsAre("p", "q"));
  const Read few = read("name = 'a'\nmarks = 'x'\nvalues = 3\n");
  EXPECT_EQ(few.error, "");
  EXPECT_THAT(few.marks, ElementsAre("x"));
  EXPECT_THAT(few.values, ElementsAre(3));
  EXPECT_EQ(few.share, 0.25);
  EXPECT_EQ(few.bits, 7u);
}

TEST(TomlReader, SaysWhatIsWrongAndWhere) {
  const auto error_of = [](const std::string& text) { return read("name = 'a'\n" + text).error; };
  EXPECT_EQ(read("").error, "mine.toml:1: 'name' is missing");
  EXPECT_THAT(error_of("x =\n"), StartsWith("mine.toml:2: "));
  EXPECT_EQ(error_of("marks = [1]\n"), "mine.toml:2: 'marks' must be a text or a list of texts");
  EXPECT_EQ(error_of("marks = ['x', 1]\n"),
            "mine.toml:2: 'marks' must be a text or a list of texts");
  EXPECT_EQ(error_of("marks = []\n"), "");
  EXPECT_THAT(error_of("op = '('\n"), StartsWith("mine.toml:2: op '(': "));
  EXPECT_EQ(error_of("share = 2\n"), "mine.toml:2: 'share' must be a number from 0 to 1");
  EXPECT_EQ(error_of("share = nan\n"), "mine.toml:2: 'share' must be a number from 0 to 1");
  EXPECT_EQ(error_of("share = true\n"), "mine.toml:2: 'share' must be a number from 0 to 1");
  EXPECT_EQ(error_of("[record]\nbits = 33\n"),
            "mine.toml:3: 'record.bits' must be a whole number from 1 to 32");
  EXPECT_EQ(error_of("[record]\nbits = 3.0\n"),
            "mine.toml:3: 'record.bits' must be a whole number from 1 to 32");
  EXPECT_EQ(error_of("is_cold = 1\n"), "mine.toml:2: 'is_cold' must be true or false");
  EXPECT_EQ(error_of("values = [3, 10]\n"),
            "mine.toml:2: 'values' must be a number from 0 to 9, or a list of them");
  EXPECT_EQ(error_of("part = [1]\n"),
            "mine.toml:2: 'part' must be tables; begin each with [[part]]");
  EXPECT_EQ(error_of("[[part]]\n"), "mine.toml:2: 'name' is missing");
  EXPECT_EQ(error_of("[[part]]\nname = 'x'\n[[part]]\nname = 'x'\n[[part]]\nname = 'x'\n"),
            "mine.toml:2: 3 of 'part' are more than 2; keep those that matter");
}

// What is misspelt is missing, too.
TEST(TomlReader, AKeyThatIsUnknownIsSaidBeforeWhatLacks) {
  EXPECT_EQ(read("nmae = 'a'\n").error,
            "mine.toml:1: 'nmae' is unknown (did you mean 'name'?); the keys here are name, marks, "
            "op, share, record.bits, is_cold, values, part");
  EXPECT_EQ(read("name = 'a'\n[[part]]\nnam = 'a'\n").error,
            "mine.toml:3: 'nam' is unknown (did you mean 'name'?); the only key here is name");
}

TEST(TomlReader, PatternsOfTheProgramItselfAreNotCompiledBeforeTheyAreLookedFor) {
  EXPECT_EQ(read("name = 'a'\nop = '('\n", true).error, "");
}

}  // namespace
}  // namespace npuscope::toml_reader_test
