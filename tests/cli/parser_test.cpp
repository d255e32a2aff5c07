// A command line that is declared, read into variables and described.
#include "cli/parser/parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/choices.hpp"
#include "cli/command.hpp"
#include "cli/description.hpp"

namespace npuscope::cli::parser_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// "copy" as the example of flags.hpp has it, and "group" with a command below.
class Parser : public testing::Test {
 protected:
  Parser() {
    copy_.flag("files", files_, "what to copy").required();
    copy_.flag("-d,--depth", depth_, "folders").check(whole_number(0, 9)).shows_usual();
    copy_.flag("--json", json_, "print JSON");
    copy_.action = [this] { return files_.empty() ? ExitStatus::input : ExitStatus::done; };
    program_.command("group", "Commands").command("below", "One of them");
  }

  ParsedLine parse(const std::vector<std::string>& arguments) {
    return parse_line(program_, arguments);
  }

  Command program_{"program", "Copies"};
  Command& copy_ = program_.command("copy", "Copy files");
  std::vector<std::string> files_;
  std::size_t depth_ = 3;
  bool json_ = false;
};

TEST_F(Parser, SetsVariablesAndNamesTheCommand) {
  const ParsedLine line = parse({"copy", "a.txt", "b.txt", "--depth", "2", "--json"});
  EXPECT_EQ(line.problem, "");
  EXPECT_EQ(line.command, &copy_);
  EXPECT_EQ(line.command->path(), "program copy");
  EXPECT_THAT(files_, ElementsAre("a.txt", "b.txt"));
  EXPECT_EQ(depth_, 2U);
  EXPECT_TRUE(json_);
  EXPECT_EQ(copy_.action(), ExitStatus::done);
}

TEST_F(Parser, KnowsWhatWasGiven) {
  parse({"copy", "a.txt", "-d", "3"});
  EXPECT_TRUE(copy_.has("--depth"));
  EXPECT_TRUE(copy_.has("files"));
  EXPECT_FALSE(copy_.has("--json"));
  EXPECT_EQ(depth_, 3U);
}

TEST_F(Parser, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(parse({"copy"}).problem, "no file is named");
  EXPECT_EQ(parse({"copy", "a", "-d", "10"}).problem,
            "--depth: 10 is not a whole number from 0 to 9");
  EXPECT_EQ(parse({"group"}).problem, "no command is named");
  const ParsedLine line = parse({"copy", "a", "--wat"});
  EXPECT_THAT(line.problem, HasSubstr("--wat"));
  EXPECT_TRUE(line.is_unknown_word);
  EXPECT_EQ(line.command, &copy_);
}

TEST_F(Parser, ChecksMayPutAnotherValueInItsPlace) {
  double share = 0;
  std::uint64_t bytes = 0;
  copy_.flag("--share", share, "").check([](std::string& text) {
    if (text.ends_with('%')) text.pop_back();
    return std::string();
  });
  copy_.flag("--memory", bytes, "").check(size_in_bytes());
  EXPECT_EQ(parse({"copy", "a", "--share", "5%", "--memory", "2GiB"}).problem, "");
  EXPECT_EQ(share, 5);
  EXPECT_EQ(bytes, std::uint64_t{2} << 30);
}

TEST_F(Parser, ChecksAreAskedInTheirOrder) {
  std::string value, asked;
  const auto note = [&](const char* name) {
    return [&asked, name](const std::string&) {
      asked += name;
      return std::string();
    };
  };
  copy_.flag("--value", value, "").check(note("a")).check(note("b")).check(note("c"));
  parse({"copy", "a", "--value", "x"});
  EXPECT_EQ(asked, "abc");
}

TEST_F(Parser, ListsTakeAllThatFollowsOrOneEach) {
  std::vector<std::string> greedy, modest;
  std::vector<std::uint32_t> numbers;
  copy_.flag("--greedy", greedy, "");
  copy_.flag("--modest", modest, "").one_each();
  copy_.flag("--numbers", numbers, "").separated_by(',').one_each();
  parse({"copy", "--modest", "1", "a.txt", "--modest", "2", "--numbers", "4,5", "--greedy", "x",
         "y"});
  EXPECT_THAT(files_, ElementsAre("a.txt"));
  EXPECT_THAT(modest, ElementsAre("1", "2"));
  EXPECT_THAT(greedy, ElementsAre("x", "y"));
  EXPECT_THAT(numbers, ElementsAre(4, 5));
}

TEST_F(Parser, AFlagMayStandAloneOrTakeAWord) {
  std::vector<std::string> taken{"nothing"};
  copy_
      .add("--upstream", Take{[&](const std::vector<std::string>& words) {
             taken = words;
             return true;
           }},
           "")
      .values(0, 1);
  parse({"copy", "a", "--upstream"});
  EXPECT_THAT(taken, IsEmpty());
  parse({"copy", "a", "--upstream", "metrics"});
  EXPECT_THAT(taken, ElementsAre("metrics"));
}

TEST_F(Parser, SwitchesThatAreNotGivenLeaveTheirVariable) {
  std::optional<bool> tied;
  copy_.flag("--tied,!--no-tied", tied, "");
  parse({"copy", "a"});
  EXPECT_EQ(tied, std::nullopt);
  parse({"copy", "a", "--no-tied"});
  EXPECT_EQ(tied, false);
  parse({"copy", "a", "--tied"});
  EXPECT_EQ(tied, true);
}

TEST_F(Parser, FlagsExcludeAndNeedOthers) {
  bool csv = false;
  std::string table;
  copy_.flag("--table", table, "").needs("--csv");
  copy_.flag("--csv", csv, "").excludes("--json");
  EXPECT_EQ(parse({"copy", "a", "--csv", "--json"}).problem, "--json excludes --csv");
  EXPECT_EQ(parse({"copy", "a", "--table", "ops"}).problem, "--table requires --csv");
}

TEST_F(Parser, QuestionsAreAnsweredAndRefusalsExplained) {
  program_.add("-V,--version", Answer{[] { return std::string("1.2.3\n"); }}, "the version");
  copy_.add("--shrink", Refusal{"--shrink: nothing can be shrunk"}, "");
  EXPECT_EQ(parse({"-V"}).answer, "1.2.3\n");
  for (const char* shrink : {"--shrink", "--shrink=2"})
    EXPECT_EQ(parse({"copy", "a", shrink}).problem, "--shrink: nothing can be shrunk") << shrink;
  EXPECT_EQ(parse({"copy", "a"}).answer, std::nullopt);
}

TEST_F(Parser, PairsAreOfTwoWords) {
  std::vector<std::pair<std::uint32_t, std::string>> cores;
  copy_.flag("-c", cores, "");
  parse({"copy", "a", "-c0", "left.bin", "-c", "1", "right.bin"});
  EXPECT_THAT(cores, ElementsAre(Pair(0, "left.bin"), Pair(1, "right.bin")));
}

TEST_F(Parser, ChoicesSetWhatTheirWordMeans) {
  enum class Fruit { apple, pear } fruit = Fruit::apple;
  Flag& flag = add_choice<Fruit>(copy_, "--fruit", fruit,
                                 {{"apple", Fruit::apple}, {"pear", Fruit::pear}}, "which");
  EXPECT_EQ(flag.usual, "apple");
  EXPECT_EQ(flag.value_word, "apple|pear");
  parse({"copy", "a", "--fruit", "pear"});
  EXPECT_EQ(fruit, Fruit::pear);
  EXPECT_EQ(parse({"copy", "a", "--fruit", "pea"}).problem,
            "--fruit: 'pea' is unknown (did you mean 'pear'?); use apple, pear");
}

// --- what help is made of ---

TEST_F(Parser, DeclarationsAreWhatHelpSays) {
  const std::string help = help_text(describe(copy_), HelpLength::full, 80);
  EXPECT_THAT(help, HasSubstr("Usage: program copy [OPTIONS] FILES...\n"));
  EXPECT_THAT(help, HasSubstr("  -d, --depth N                 folders [3]\n"));
  EXPECT_THAT(help, HasSubstr("      --json                    print JSON\n"));
}

TEST_F(Parser, FlagsStandUnderTheGroupThatHasBegun) {
  bool one = false, two = false, hidden = false;
  copy_.begin_group("Later");
  copy_.flag("--one", one, "");
  copy_.flag("--two", two, "").under("Elsewhere");
  copy_.flag("--hidden", hidden, "").under("");
  EXPECT_EQ(copy_.flag("--json").group, "Options");
  EXPECT_EQ(copy_.flag("--one").group, "Later");
  EXPECT_EQ(copy_.flag("--two").group, "Elsewhere");
  EXPECT_EQ(describe(copy_).flags.size(), 5U);
}

TEST(Flag, IsCalledByItsLongNameElseTheShortOneElseItsPlace) {
  std::string value;
  const auto flag = [&](const char* names) { return Flag(names, &value, "", ""); };
  EXPECT_EQ(flag("-m,--model,model_file").name(), "--model");
  EXPECT_EQ(flag("-m,model_file").name(), "-m");
  EXPECT_EQ(flag("model_file").name(), "model_file");
  EXPECT_EQ(flag("-m,--model,model_file").place(), "model_file");
  EXPECT_EQ(flag("-m,--model").place(), "");
  EXPECT_TRUE(flag("-m,--model").is_named("-m"));
  EXPECT_FALSE(flag("-m,--model").is_named("model"));
}

TEST(Flag, NamesItsValueByItsVariable) {
  std::vector<std::string> words;
  std::optional<std::uint32_t> number;
  double real = 0.25;
  bool truth = false;
  EXPECT_EQ(Flag("--words", &words, "", "").value_word, "TEXT");
  EXPECT_TRUE(Flag("--words", &words, "", "").is_list());
  EXPECT_EQ(Flag("--number", &number, "", "").value_word, "N");
  EXPECT_EQ(Flag("--real", &real, "", "").value_word, "NUMBER");
  EXPECT_EQ(Flag("--real", &real, "", "").shows_usual().usual, "0.25");
  EXPECT_FALSE(Flag("--truth", &truth, "", "").takes_value());
}

TEST(Numbers, AreCheckedAgainstWhatIsMeant) {
  const auto check = [](const Check& test, std::string text) { return test(text); };
  EXPECT_EQ(check(whole_number(1, 40), "1"), "");
  EXPECT_EQ(check(whole_number(1, 40), "40"), "");
  for (const char* text : {"0", "41", "-1", "", "4.0", "0x4", " 4", "4 ", "99999999999999999999"}) {
    EXPECT_EQ(check(whole_number(1, 40), text),
              fmt::format("{} is not a whole number from 1 to 40", text));
  }
  EXPECT_EQ(check(whole_number(), "99999999999999999999"),
            "99999999999999999999 is not a whole number from 0 on");
  EXPECT_EQ(check(real_number(0, 10), "2.5"), "");
  for (const char* text : {"nan", "inf", "-1", "1e300", "", "1,5"}) {
    EXPECT_EQ(check(real_number(0, 10), text),
              fmt::format("{} is not a number from 0 to 10", text));
  }
}

}  // namespace
}  // namespace npuscope::cli::parser_test
