// npuscope show as a user runs it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::show_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Show = TraceFolder;

TEST_F(Show, PrintsAPage) {
  const Outcome outcome = run_npuscope({"show", path("trace.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.output, path("trace.json") + R"(
  format      Chrome trace
  holds       3 spans, 2 ops, 2 units
  clock       trace (ns)

WALL  200.0 us
  part               time   share
  units at work  150.0 us  75.0 %  #######################
  idle           50.00 us  25.0 %  ########
  overall     work 150.0 us; 1.00 units at work on average while any is, 1 at most; 1 gap, the
              longest 50.00 us

OPS (2), by work
  op      kind    on      runs      work   share    active      span
  step    user    thread     2  100.0 us  66.7 %  150.0 us  200.0 us
  matmul  matrix  thread     1  50.00 us  33.3 %  50.00 us  50.00 us

UNITS (1)
  unit             spans      busy  of wall
  server > worker      3  150.0 us   75.0 %
)");
}

TEST_F(Show, AsJsonSaysTheSame) {
  const Outcome outcome = run_npuscope({"show", "--json", path("trace.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  const auto& page = json["profiles"][0];
  EXPECT_EQ(page["wall"]["ticks"], 200'000);
  EXPECT_EQ(page["wall"]["seconds"], 200e-6);
  EXPECT_EQ(page["ops"]["rows"][0]["values"][0], 100'000);
  EXPECT_EQ(page["units"][0]["busy_share_of_wall"], 0.75);
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
  const Outcome outcome = run_npuscope(
      {"show", path("trace.json"), path("broken.json"), path("second.json"), "--top", "1"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, StartsWith(path("trace.json")));
  EXPECT_THAT(outcome.output, HasSubstr("\n\n\n" + path("second.json")));
  EXPECT_THAT(outcome.output, HasSubstr("OPS (1 of 2), by work"));
  EXPECT_THAT(outcome.errors, StartsWith("npuscope: error: " + path("broken.json") + ": "));
}

TEST_F(Show, NothingThatCanBeReadIsAnInputError) {
  write("broken.json", "no JSON");
  EXPECT_EQ(run_npuscope({"show", path("broken.json")}).status, 3);
  EXPECT_EQ(run_npuscope({"show", path("missing.json")}).status, 3);
}

TEST_F(Show, WrongUsageSaysWhatWouldBeRight) {
  EXPECT_EQ(run_npuscope({"show"}).status, 2);
  EXPECT_EQ(run_npuscope({"show", path("trace.json"), "--top", "0"}).status, 2);
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
