// npuscope show as a user runs it.
#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::show_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Show = TraceFolder;

TEST_F(Show, PrintsAFirstPage) {
  const Outcome outcome = run_npuscope({"show", path("trace.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.output, path("trace.json") + R"( · Chrome trace

WHERE THE TIME GOES  wall 200.0 us
  work ██████████████████ 75 %  idle ██████ 25 %
  server > worker  ██████████████████████████████               ███████████████   75.0 %

FINDINGS  none

OPS, by work
  op                       share      work  mostly  on
  step    █████████████▍  66.7 %  100.0 us  user    thread
  matmul  ██████▋         33.3 %  50.00 us  matrix  thread

NEXT  npuscope show )" + path("trace.json") +
                                " --full\n");
}

TEST_F(Show, AFileWithoutACommandIsShown) {
  const Outcome shown = run_npuscope({"show", path("trace.json"), "--json"});
  EXPECT_EQ(run_npuscope({path("trace.json"), "--json"}).output, shown.output);
  EXPECT_EQ(run_npuscope({"-", "--json"}, "< " + path("trace.json")).status, 0);
  const Outcome missing = run_npuscope({path("trace.jsn")});
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.errors, "npuscope: '" + path("trace.jsn") +
                                "' is neither a file that is there nor a command; see npuscope "
                                "--help\n");
}

TEST_F(Show, InOrderHasTheOpsAsTheyRanWithWhatBoundsThem) {
  const Outcome shown =
      run_npuscope({"show", std::string(NPUSCOPE_SOURCE_DIR) + "/examples/qnn_htp", "--order",
                    "--top", "3", "--color", "always"});
  EXPECT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("OPS BY NODE, in order of execution, in cycles (3 of 108)"));
  EXPECT_THAT(shown.output,
              HasSubstr("1  Input      0            414   0.2 %  \x1b[35mDMA  \x1b[0m"));
  EXPECT_THAT(shown.output,
              HasSubstr("2  n0       165         38,625  15.0 %  \x1b[32mHMX  \x1b[0m"));
  EXPECT_THAT(shown.output, Not(HasSubstr("columns hidden")));
}

// Six lines stood before the page of a folder.
TEST_F(Show, WhatAFolderLeavesOutIsOneLine) {
  for (const char* name : {"a.txt", "b.txt", "c.txt", "d.txt"}) write(name, "nothing known");
  EXPECT_EQ(run_npuscope({folder_.string()}).errors,
            "npuscope: info: 4 files are left out: " + path("a.txt") + ", " + path("b.txt") + ", " +
                path("c.txt") + " and 1 more; name one to see why\n");
  std::filesystem::remove(path("b.txt"));
  std::filesystem::remove(path("c.txt"));
  std::filesystem::remove(path("d.txt"));
  EXPECT_THAT(run_npuscope({folder_.string()}).errors,
              StartsWith("npuscope: info: " + path("a.txt") + ": not of a format"));
}

TEST_F(Show, InFullHasEverySectionAndOneAloneThatOne) {
  const Outcome full = run_npuscope({"show", path("trace.json"), "--full"});
  EXPECT_EQ(full.status, 0) << full.errors;
  EXPECT_THAT(full.output, HasSubstr("\n\nWALL  200.0 us\n"));
  EXPECT_THAT(full.output, HasSubstr("\n\nUNITS\n"));
  const Outcome units = run_npuscope({"show", path("trace.json"), "--section", "units"});
  EXPECT_EQ(units.status, 0) << units.errors;
  EXPECT_THAT(units.output, HasSubstr("\n\nUNITS\n"));
  EXPECT_THAT(units.output, Not(HasSubstr("WALL")));
  const Outcome none = run_npuscope({"show", path("trace.json"), "--section", "phases"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.errors, HasSubstr("this profile has no such section; it has about, "));
}

// What programs agree on about colour (https://no-color.org), for the time of a test.
class Environment {
 public:
  Environment(const char* no_color, const char* clicolor_force) {
    if (no_color != nullptr) ::setenv("NO_COLOR", no_color, 1);
    if (clicolor_force != nullptr) ::setenv("CLICOLOR_FORCE", clicolor_force, 1);
  }
  ~Environment() {
    ::unsetenv("NO_COLOR");
    ::unsetenv("CLICOLOR_FORCE");
  }
};

TEST_F(Show, IsColouredWhereColourIsAskedFor) {
  const auto is_coloured = [&](std::vector<std::string> flags, const char* no_color,
                               const char* clicolor_force) {
    const Environment environment(no_color, clicolor_force);
    std::vector<std::string> arguments{"show", path("trace.json")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output.find('\x1b') != std::string::npos;
  };
  EXPECT_FALSE(is_coloured({}, nullptr, nullptr));  // a pipe
  EXPECT_TRUE(is_coloured({"--color", "always"}, "1", nullptr));
  EXPECT_TRUE(is_coloured({}, nullptr, "1"));
  EXPECT_FALSE(is_coloured({}, "1", "1"));
  EXPECT_FALSE(is_coloured({"--color", "never"}, nullptr, "1"));
  EXPECT_EQ(run_npuscope({"show", path("trace.json"), "--color", "blue"}).status, 2);
}

TEST_F(Show, AsJsonSaysTheSame) {
  const Outcome outcome = run_npuscope({"show", "--json", path("trace.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  const auto& page = json["profiles"][0];
  EXPECT_EQ(page["wall"]["ticks"], 200'000);
  EXPECT_EQ(page["wall"]["seconds"], 200e-6);
  EXPECT_EQ(page["ops"]["rows"][0]["work"], 100'000);
  EXPECT_EQ(page["units"]["rows"][0]["busy_share_of_wall"], 0.75);
}

// The wall of a window looked like the latency of an inference.
TEST_F(Show, AWindowOfAnInferenceHasNoLatency) {
  const std::string log = NPUSCOPE_TEST_DATA "/torq/runtime.csv";
  EXPECT_THAT(run_npuscope({"show", log}).output, HasSubstr("\n\nLATENCY"));
  const Outcome part = run_npuscope({"show", log, "--from", "1us"});
  EXPECT_EQ(part.status, 0) << part.errors;
  EXPECT_THAT(part.output, Not(HasSubstr("LATENCY")));
  EXPECT_THAT(run_npuscope({"show", log, "--from", "1us", "--json"}).output,
              Not(HasSubstr("\"latency\"")));
}

TEST_F(Show, AWindowIsWhatShareOfItWasBusy) {
  const Outcome outcome = run_npuscope(
      {"show", "-json", "--from", "90us", "--to=160us", "--op", "step", path("trace.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["profiles"][0]["wall"]["ticks"], 70'000);
  EXPECT_EQ(json["profiles"][0]["wall"]["active"], 20'000);
}

TEST_F(Show, SeveralFilesGiveAPageEachAndBrokenOnesANote) {
  write("second.json", R"([{"ph":"X","pid":1,"tid":2,"ts":0,"dur":1,"name":"a"}])");
  write("broken.json", "no JSON");
  const Outcome outcome =
      run_npuscope({"show", path("trace.json"), path("broken.json"), path("second.json")});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, StartsWith("PROFILES (2)\n"));
  EXPECT_THAT(outcome.output, HasSubstr("\n\n\n" + path("trace.json") + " · Chrome trace\n"));
  EXPECT_THAT(outcome.output, HasSubstr("\n\n\n" + path("second.json") + " · Chrome trace\n"));
  EXPECT_THAT(outcome.errors, StartsWith("npuscope: error: " + path("broken.json") + ": "));
}

TEST_F(Show, NothingThatCanBeReadIsAnInputError) {
  write("broken.json", "no JSON");
  EXPECT_EQ(run_npuscope({"show", path("broken.json")}).status, 3);
  EXPECT_EQ(run_npuscope({"show", path("missing.json")}).status, 3);
}

TEST_F(Show, WrongUsageSaysWhatWouldBeRight) {
  EXPECT_EQ(run_npuscope({"show"}).status, 2);
  EXPECT_EQ(run_npuscope({"show", path("trace.json"), "--top", "-1"}).status, 2);
  const Outcome outcome = run_npuscope({"show", path("trace.json"), "--from", "5cyc"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.errors,
            "npuscope: --from 5cyc: this profile's times are not in cycles; write it in us or "
            "ticks\n");
}

TEST_F(Show, AFullDiskIsAnOutputError) {
  EXPECT_EQ(run_npuscope({"show", path("trace.json")}, "> /dev/full").status, 4);
}

TEST_F(Show, NamesDoNotSteerTheTerminal) {
  write("evil\x1b[2J.json",
        R"([{"ph":"X","pid":1,"tid":2,"ts":0,"dur":1,"name":"a\u001b]0;title\u0007\u202eb"}])");
  const Outcome outcome = run_npuscope({"show", path("evil\x1b[2J.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(outcome.output, HasSubstr("a\\x1b]0;title\\x07\\xe2\\x80\\xaeb"));
}

}  // namespace
}  // namespace npuscope::cli::show_test
