// npuscope timeline as a user runs it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::timeline_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Timeline = TraceFolder;

TEST_F(Timeline, DrawsARowForEachUnit) {
  const Outcome outcome = run_npuscope({"timeline", path("trace.json"), "--width", "60"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("TIMELINE by unit, 200.0 us"));
  EXPECT_THAT(outcome.output, HasSubstr("|####"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("█"))) << "a file gets ASCII";
}

TEST_F(Timeline, ZoomsAndGroups) {
  const Outcome outcome = run_npuscope({"timeline", "-json", path("trace.json"), "--by", "op",
                                        "--from", "50us", "--until=160us", "--order", "work"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto page = nlohmann::json::parse(outcome.output)["profiles"][0];
  EXPECT_EQ(page["timeline"]["begin"], 50'000);
  EXPECT_EQ(page["timeline"]["end"], 160'000);
  EXPECT_EQ(page["selection"], "from 50us, to 160us");
  EXPECT_EQ(page["rows"]["rows"][0]["row"], "step");
}

TEST_F(Timeline, WritesAFigureAsWell) {
  const Outcome outcome =
      run_npuscope({"timeline", path("trace.json"), "--svg", path("t.svg"), "--colours", "op"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("TIMELINE"));
  EXPECT_THAT(read("t.svg"), StartsWith("<?xml"));
  EXPECT_THAT(read("t.svg"), HasSubstr(">matmul</text>"));
  const Outcome only = run_npuscope({"timeline", path("trace.json"), "--svg", "-", "--colors=op"});
  EXPECT_EQ(only.output, read("t.svg"));
}

TEST_F(Timeline, NeverReplacesAnInput) {
  const std::string before = read("trace.json");
  const Outcome outcome =
      run_npuscope({"timeline", path("trace.json"), "--svg", path("./trace.json")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(read("trace.json"), before);
}

TEST_F(Timeline, AFigureThatCannotBeWrittenIsAnOutputError) {
  EXPECT_EQ(run_npuscope({"timeline", path("trace.json"), "--svg", path("no/t.svg")}).status, 4);
  EXPECT_EQ(run_npuscope({"timeline", path("trace.json"), "--svg", "/dev/full"}).status, 4);
}

TEST_F(Timeline, AFigureIsOfOneProfile) {
  write("second.json", R"([{"ph":"X","pid":1,"tid":2,"ts":0,"dur":1,"name":"a"}])");
  const Outcome outcome =
      run_npuscope({"timeline", path("trace.json"), path("second.json"), "--svg", path("t.svg")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("a picture is of one profile, and these are 2"));
  EXPECT_FALSE(std::filesystem::exists(path("t.svg")));
}

TEST_F(Timeline, WrongUsageSaysWhatWouldBeRight) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--by", "colour"},
                                             {"--svg", ""},
                                             {"--letters", "x"},
                                             {"--core", "-1"},
                                             {"--core", "3"},
                                             {"--inference", "0"},
                                             {"--svg-width", "1"},
                                             {"--order", "size"},
                                             {"--from", "9us", "--until", "3us"},
                                             {"--op", "("},
                                             {"--ascii", "--blocks"}}) {
    std::vector<std::string> arguments{"timeline", path("trace.json")};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, 2) << wrong.front() << outcome.output;
    EXPECT_THAT(outcome.errors, StartsWith("npuscope: "));
  }
}

TEST_F(Timeline, NothingThatCanBeReadIsAnInputError) {
  EXPECT_EQ(run_npuscope({"timeline", path("missing.json")}).status, 3);
  write("counters.json", R"([{"ph":"C","pid":1,"ts":0,"name":"c","args":{"v":1}}])");
  EXPECT_EQ(run_npuscope({"timeline", path("counters.json")}).status, 3);
}

TEST_F(Timeline, NamesDoNotSteerTheTerminal) {
  write("evil.json",
        R"([{"ph":"X","pid":1,"tid":2,"ts":0,"dur":1,"name":"a\u001b]0;title\u0007\u202eb"}])");
  const Outcome outcome = run_npuscope({"timeline", path("evil.json"), "--by", "op"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace npuscope::cli::timeline_test
