// What all commands have in common; docs/cli.md says it in words.
#include "cli/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

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
  EXPECT_THAT(outcome.output,
              MatchesRegex("npuscope " NPUSCOPE_VERSION "\ncommit [0-9a-z]+(, modified)?\n"
                           "build [A-Za-z]+, (GCC|clang) [^\n]+\nwith CLI11 [^\n]+\n(.|\n)+"));
  EXPECT_EQ(run_npuscope({"-V"}).output, outcome.output);
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
  EXPECT_EQ(none.errors, "npuscope: no command is named; see npuscope --help\n");

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
            "npuscope: unknown command 'shwo' (did you mean 'show'?); see npuscope --help\n");
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

// --- help ---

TEST(Help, IsShortWithOneDashAndLongWithTwo) {
  const std::string brief = run_npuscope({"ops", "-h"}).output;
  const std::string full = run_npuscope({"ops", "--help"}).output;
  EXPECT_LT(brief.size(), full.size());
  EXPECT_THAT(brief, HasSubstr("  npuscope ops optrace/\n"));
  EXPECT_THAT(brief, HasSubstr("Usage: npuscope ops [OPTIONS] FILES...\n"));
  EXPECT_THAT(brief, HasSubstr("\nAll flags: npuscope ops --help\n"));
  EXPECT_THAT(brief, HasSubstr("--op REGEX"));
  EXPECT_THAT(full, HasSubstr("--from TIME"));
  EXPECT_THAT(full, HasSubstr("--roles FILE"));
  for (const std::string& text : {brief, full}) {
    for (const char* noise : {"TEXT", "UINT", "FLOAT", "Excludes", "Needs:"}) {
      EXPECT_THAT(text, Not(HasSubstr(noise)));
    }
  }
}

// Every command that the help of the program and of its commands names, with its words.
std::vector<std::vector<std::string>> all_commands() {
  std::vector<std::vector<std::string>> commands;
  for (const char* path :
       {"show",          "diagnose",     "timeline",     "ops",           "units",
        "memory",        "path",         "graph",        "latency",       "query",
        "diff",          "convert",      "compile",      "run",           "opstats",
        "tune",          "conversation", "tables list",  "tables check",  "tables draft",
        "qpc list",      "qpc extract",  "qpc validate", "torq annotate", "torq overview",
        "torq timeline", "torq passes",  "ipu op-cost",  "ipu info",      "ipu operators",
        "ipu timeline",  "completion"}) {
    std::istringstream words{std::string(path)};
    commands.emplace_back();
    for (std::string word; words >> word;) commands.back().push_back(word);
  }
  return commands;
}

TEST(Help, OfEveryCommandBeginsWithTwoExamplesAndNamesEveryValue) {
  for (std::vector<std::string> words : all_commands()) {
    words.push_back("-h");
    const std::string text = run_npuscope(words).output;
    std::size_t examples = 0;
    for (std::size_t at = 0; (at = text.find("\n  npuscope ", at)) != text.npos; ++at) ++examples;
    EXPECT_EQ(examples, 2U) << text;
    words.back() = "--help";
    const std::string full = run_npuscope(words).output;
    const bool has_vendor_texts = words[0] == "compile";  // accepted without effect
    if (!has_vendor_texts) {
      EXPECT_THAT(full, Not(HasSubstr(" TEXT"))) << words[0];
    }
    for (const char* noise : {" UINT", " INT", " FLOAT", "Excludes", "Needs:"}) {
      EXPECT_THAT(full, Not(HasSubstr(noise))) << words[0];
    }
  }
}

TEST(Help, WrapsToTheColumnsThatThereAre) {
  for (const std::size_t columns : {80, 100, 120}) {
    const Outcome outcome = run_program_at("/usr/bin/env", {"COLUMNS=" + std::to_string(columns),
                                                            npuscope_program(), "show", "--help"});
    std::istringstream lines(outcome.output);
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
    EXPECT_LE(widest, columns);
    EXPECT_GT(widest, columns - 12);
  }
}

// --- completion and man pages ---

// What bash offers behind `line`, sorted.
std::string bash_offers(const std::string& line) {
  const std::string script =
      "source <(\"$1\" completion bash); line=\"$2\"; read -r -a COMP_WORDS <<<\"$line\";"
      "[[ $line == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((${#COMP_WORDS[@]} - 1));"
      "_npuscope; printf '%s\\n' \"${COMPREPLY[@]}\" | sort | tr '\\n' ' '";
  return run_program_at("/bin/bash", {"-c", script, "bash", npuscope_program(), line}).output;
}

TEST(Completion, OfBashKnowsCommandsFlagsValuesAndFiles) {
  EXPECT_EQ(bash_offers("npuscope dia"), "diagnose ");
  EXPECT_EQ(bash_offers("npuscope qpc "), "extract list validate ");
  EXPECT_EQ(bash_offers("npuscope show --se"), "--section ");
  EXPECT_EQ(bash_offers("npuscope qpc extract --seg"), "--segments ");
  EXPECT_EQ(bash_offers("npuscope units --by "), "core device engine unit ");
  EXPECT_EQ(bash_offers("npuscope units --by = e"), "engine ");  // as bash cuts --by=e
  EXPECT_EQ(bash_offers("npuscope show --from "), " ");
  EXPECT_EQ(bash_offers("npuscope show --target h"), "htp-v73 htp-v75 htp-v79 ");
  EXPECT_EQ(bash_offers("npuscope diagnose --rule boundary"), "boundary-tax ");
  EXPECT_EQ(bash_offers("npuscope ops --rules t"), "transformer ");
  EXPECT_EQ(bash_offers("npuscope record-help lla"), "llama.cpp llamacpp ");
  EXPECT_EQ(bash_offers("npuscope explain roof"), "roofline ");
  EXPECT_EQ(bash_offers("npuscope show " NPUSCOPE_SOURCE_DIR "/CHANGE"),
            NPUSCOPE_SOURCE_DIR "/CHANGELOG.md ");
  EXPECT_EQ(bash_offers("npuscope opstats --input-dir " NPUSCOPE_SOURCE_DIR "/targ"),
            NPUSCOPE_SOURCE_DIR "/targets ");
}

TEST(Completion, OfZshAndFishAreScriptsThatTheseShellsRead) {
  for (const std::string shell : {"zsh", "fish"}) {
    const Outcome script = run_npuscope({"completion", shell});
    EXPECT_EQ(script.status, 0);
    EXPECT_THAT(script.output, HasSubstr("diagnose"));
    if (run_program_at("/bin/sh", {"-c", "command -v " + shell}).status != 0) continue;
    const Outcome checked = run_program_at(
        "/bin/sh", {"-c",
                    "\"$1\" completion " + shell + " > /tmp/npuscope-completion-$$ && " + shell +
                        " -n /tmp/npuscope-completion-$$; s=$?; rm /tmp/npuscope-completion-$$;"
                        " exit $s",
                    "sh", npuscope_program()});
    EXPECT_EQ(checked.status, 0) << checked.errors;
  }
  EXPECT_THAT(run_npuscope({"completion", "bush"}).errors, HasSubstr("did you mean 'bash'?"));
}

TEST(ManPages, AreReadByRoffWithoutAWarning) {
  const Outcome outcome = run_program_at(
      "/bin/sh",
      {"-c",
       "d=$(mktemp -d); \"$1\" completion --man-pages \"$d\" && ls \"$d\" &&"
       " if command -v groff >/dev/null; then"
       " for f in \"$d\"/*.1; do groff -man -ww -Tascii \"$f\" >/dev/null; done; fi; rm -r \"$d\"",
       "sh", npuscope_program()});
  EXPECT_EQ(outcome.errors, "");
  EXPECT_THAT(outcome.output, HasSubstr("npuscope-qpc-list.1\n"));
  EXPECT_THAT(outcome.output, HasSubstr("npuscope.1\n"));
}

TEST(Program, AWordThatIsNoCommandIsNamed) {
  EXPECT_EQ(run_npuscope({"wat"}).errors, "npuscope: unknown command 'wat'; see npuscope --help\n");
  EXPECT_EQ(run_npuscope({"qpc", "\x1b[0m"}).errors,
            "npuscope: unknown command '\\x1b[0m'; see npuscope --help\n");
}

// A script's -model=$UNSET must not take the next flag as its value.
TEST(Program, AnEmptyValueBehindAnEqualsSignIsNotTheNextFlag) {
  const Outcome outcome = run_npuscope({"compile", "-model=", "-aic-binary-dir=folder"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.errors, "npuscope: --model= has no value; see npuscope --help\n");
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
