// What all commands have in common; docs/cli.md says it in words.
#include "cli/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.hpp"

namespace npuscope::cli::command_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

std::vector<std::string> normalized(std::vector<std::string> words) {
  std::vector<char*> pointers{nullptr};
  for (std::string& word : words) pointers.push_back(word.data());
  return normalize_arguments(int(pointers.size()), pointers.data());
}

TEST(Arguments, VendorFlagsWithOneDashGetTheSecond) {
  EXPECT_THAT(normalized({"compile", "-stats-level=70", "-aic-num-cores", "4"}),
              ElementsAre("compile", "--stats-level=70", "--aic-num-cores", "4"));
}

TEST(Arguments, AShortFlagTakesItsValueAfterAnEqualsSign) {
  EXPECT_THAT(normalized({"-m=model.onnx", "-n=10", "-v"}),
              ElementsAre("-m", "model.onnx", "-n", "10", "-v"));
}

TEST(Arguments, EverythingElseStaysAsItIs) {
  const std::vector<std::string> words{
      "--stats-level=70", "-q", "-S10", "-1", "-", "-.5", "a-b", ""};
  EXPECT_EQ(normalized(words), words);
}

TEST(Arguments, BehindTwoDashesAreFiles) {
  EXPECT_THAT(normalized({"-model", "--", "-model"}), ElementsAre("--model", "--", "-model"));
}

TEST(ExitStatus, FollowsTheKindOfError) {
  EXPECT_EQ(int(exit_status_of(ErrorKind::usage)), 2);
  EXPECT_EQ(int(exit_status_of(ErrorKind::input)), 3);
  EXPECT_EQ(int(exit_status_of(ErrorKind::output)), 4);
}

TEST(Program, TellsItsVersion) {
  const Outcome outcome = run_npuscope({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, NPUSCOPE_VERSION "\n");
  EXPECT_EQ(outcome.errors, "");
}

TEST(Program, HelpIsAnAnswerNotAnError) {
  for (const std::string command : {"compile", "run", "opstats", "qpc"}) {
    EXPECT_THAT(run_npuscope({"--help"}).output, HasSubstr("\n  " + command + " "));
    const Outcome outcome = run_npuscope({command, "--help"});
    EXPECT_EQ(outcome.status, 0) << command;
    EXPECT_THAT(outcome.output, HasSubstr("--help")) << command;
    EXPECT_EQ(outcome.errors, "") << command;
  }
}

TEST(Program, WrongUsageIsStatusTwoAndOneSentence) {
  const Outcome none = run_npuscope({});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.output, "");
  EXPECT_EQ(none.errors, "npuscope: A subcommand is required; see npuscope --help\n");

  const Outcome flag = run_npuscope({"opstats", "--no-such\x1b[31m-flag"});
  EXPECT_EQ(flag.status, 2);
  EXPECT_EQ(flag.output, "");
  EXPECT_THAT(flag.errors, MatchesRegex("npuscope: .*; see npuscope opstats --help\n"));

  const Outcome model = run_npuscope_model({"--no-such-flag"});
  EXPECT_EQ(model.status, 2);
  EXPECT_THAT(model.errors, MatchesRegex("npuscope-model: .*; see npuscope-model --help\n"));
}

TEST(Usage, SaysWhatAMistypedWordMayHaveMeant) {
  EXPECT_EQ(run_npuscope({"shwo"}).errors,
            "npuscope: 'shwo' is no command (did you mean 'show'?); see npuscope --help\n");
  EXPECT_THAT(run_npuscope({"show", "--ful", "x"}).errors,
              HasSubstr("--ful (did you mean '--full'?); see npuscope show --help\n"));
  EXPECT_THAT(run_npuscope({"qpc", "lits"}).errors, HasSubstr("(did you mean 'list'?)"));
  EXPECT_THAT(run_npuscope({"show", "--wat", "x"}).errors, Not(HasSubstr("did you mean")));
}

TEST(Usage, HelpIsACommandToo) {
  EXPECT_EQ(run_npuscope({"help", "diff"}).output, run_npuscope({"diff", "--help"}).output);
  EXPECT_EQ(run_npuscope({"help"}).output, run_npuscope({"--help"}).output);
  EXPECT_EQ(run_npuscope({"help", "wat"}).status, 2);
}

TEST(Program, AWordThatIsNoCommandIsNamed) {
  EXPECT_EQ(run_npuscope({"wat"}).errors, "npuscope: 'wat' is no command; see npuscope --help\n");
  EXPECT_EQ(run_npuscope({"qpc", "\x1b[0m"}).errors,
            "npuscope: '\\x1b[0m' is no command; see npuscope --help\n");
}

// A script's -model=$UNSET must not take the next flag as its value.
TEST(Program, AnEmptyValueBehindAnEqualsSignIsNotTheNextFlag) {
  const Outcome outcome = run_npuscope({"compile", "-model=", "-aic-binary-dir=folder"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.errors, "npuscope: --model= has no value; see npuscope --help\n");
}

TEST(Numbers, AreCheckedAgainstWhatIsMeant) {
  const auto whole = [](const char* text) { return whole_number(1, 40)(text); };
  EXPECT_EQ(whole("1"), "");
  EXPECT_EQ(whole("40"), "");
  for (const char* text : {"0", "41", "-1", "", "4.0", "0x4", " 4", "4 ", "99999999999999999999"}) {
    EXPECT_EQ(whole_number(1, 40)(text),
              fmt::format("{} is not a whole number from 1 to 40", text));
  }
  EXPECT_EQ(whole_number()("99999999999999999999"),
            "99999999999999999999 is not a whole number from 0 on");
  EXPECT_EQ(real_number(0, 10)("2.5"), "");
  for (const char* text : {"nan", "inf", "-1", "1e300", "", "1,5"}) {
    EXPECT_EQ(real_number(0, 10)(text), fmt::format("{} is not a number from 0 to 10", text));
  }
}

TEST(Program, ResultsThatCannotBePrintedAreStatusFour) {
  for (const Outcome& outcome :
       {run_npuscope({"--help"}, "> /dev/full"), run_npuscope_model({"--list"}, "> /dev/full")}) {
    EXPECT_EQ(outcome.status, 4);
    EXPECT_THAT(outcome.errors, HasSubstr("standard output: cannot write; check the disk\n"));
  }
}

// What was printed must not land in the file that got the closed stream's number.
TEST(Program, ClosedStreamsAreStatusFourAndNoCrash) {
  const Outcome output = run_npuscope({"--help"}, ">&-");
  EXPECT_EQ(output.status, 4);
  EXPECT_THAT(output.errors, HasSubstr("standard output: cannot write; check the disk\n"));
  EXPECT_EQ(run_npuscope({"--help"}, ">&- 2>&-").status, 4);
  EXPECT_EQ(run_npuscope({"wat"}, "2>&-").status, 2);
  EXPECT_EQ(run_npuscope({"wat"}, "2>/dev/full").status, 2);
}

TEST(Program, AReaderThatGoesAwayIsNoCrash) {
  const Outcome outcome = run_npuscope({"--help"}, "| head -n 1");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.errors, "");
}

}  // namespace
}  // namespace npuscope::cli::command_test
