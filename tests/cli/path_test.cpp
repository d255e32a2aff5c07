// npuscope path as a user runs it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::path_test {
namespace {

using testing::HasSubstr;
using Path = TraceFolder;

TEST_F(Path, PrintsThePath) {
  const Outcome outcome = run_npuscope({"path", path("trace.json"), "--steps", "all"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("CRITICAL PATH"));
  EXPECT_THAT(outcome.output, HasSubstr("no dependencies between ops"));
}

TEST_F(Path, PrintsJsonAndCsvWithEveryStep) {
  const Outcome json = run_npuscope({"path", path("trace.json"), "--json", "--faster", "matmul=0"});
  EXPECT_EQ(json.status, 0) << json.errors;
  const auto document = nlohmann::json::parse(json.output)["profiles"][0];
  EXPECT_EQ(document["path"]["steps"], document["steps"]["rows"].size());
  EXPECT_TRUE(document.contains("what_if"));
  const Outcome csv = run_npuscope({"path", path("trace.json"), "--csv", "--table", "steps"});
  EXPECT_EQ(csv.status, 0) << csv.errors;
  EXPECT_THAT(csv.output, HasSubstr("step,start,waiting_before,duration,op"));
}

TEST_F(Path, AFileMayFollowAWhatIf) {
  const Outcome outcome = run_npuscope({"path", "--faster", "matmul=2x", path("trace.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("WHAT IF"));
}

// Each moment of the timeline belongs to one row of it.
TEST_F(Path, TheVendorsPathFillsTheTimelineWithoutGapOrOverlap) {
  const Outcome outcome =
      run_npuscope({"path", NPUSCOPE_SOURCE_DIR "/examples/qnn_htp", "--vendor", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const auto page = nlohmann::json::parse(outcome.output)["profiles"][0];
  const auto& vendor = page["vendor"];
  std::int64_t end = 0, owned = 0, idle = 0, critical = 0;
  for (const auto& segment : vendor["rows"]) {
    EXPECT_EQ(segment["start"], end) << segment;
    const std::int64_t duration = segment["duration"];
    EXPECT_GT(duration, 0) << segment;
    EXPECT_EQ(segment["end_cycle"].get<std::int64_t>() - segment["start_cycle"].get<std::int64_t>(),
              duration);
    end += duration;
    (segment["op"] == "(idle)" ? idle : owned) += duration;
    if (!segment["critical"].is_number()) continue;
    EXPECT_LE(segment["critical"].get<std::int64_t>(), duration) << segment;
    EXPECT_LE(duration, segment["execution"].get<std::int64_t>()) << segment;
    critical += segment["critical"].get<std::int64_t>();
  }
  EXPECT_EQ(owned, vendor["owned"]);
  EXPECT_EQ(idle, vendor["idle"]);
  EXPECT_EQ(critical, vendor["critical"]);
  EXPECT_EQ(end, page["path"]["wall"]);
  // The set has what the vendor's own tool says of each execution.
  EXPECT_EQ(vendor["differing"], 0);
}

TEST_F(Path, OfTheVendorsPathTheLongestRowsInTheirOrder) {
  const Outcome outcome = run_npuscope({"path", NPUSCOPE_SOURCE_DIR "/examples/qnn_htp", "--vendor",
                                        "--steps", "3", "--width", "100"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  const std::string expected = R"(
DOMINANT PATH (QHAS), BY TIME (3 of 272)
  owned                257,102
  idle                 1,421
  idle, of wall        0.5 %
  on the critical path 224,114
  of wall              86.7 %
  segment   start  cycles  of execution  op   kind                   unit              critical path
       89  14,475  29,265        29,265  n0   q::ConvLay…p16.s1.tcm  core 0 > HMX 256         29,265
       91  43,760  28,954        28,954  n2   q::PoolMax2d           core 0 > HVX 512         28,954
      120  94,560  21,602        21,602  n10  q::ForceFo…at_Crouton  core 0 > HVX 512         21,570
)";
  EXPECT_THAT(outcome.output, HasSubstr(expected));
}

TEST_F(Path, RefusesWhatMakesNoSense) {
  const auto refuses = [&](std::vector<std::string> flags, const char* says) {
    flags.insert(flags.begin(), {"path", path("trace.json")});
    const Outcome outcome = run_npuscope(flags);
    EXPECT_EQ(outcome.status, 2) << flags.back();
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, HasSubstr(says)) << flags.back();
  };
  refuses({"--vendor"}, "no dominant path of the vendor");
  refuses({"--inference", "3"}, "does not tell inferences apart");
  refuses({"--inference", "-1"}, "--inference");
  refuses({"--steps", "many"}, "--steps");
  refuses({"--by", "colour"}, "--by");
  refuses({"--faster", "matmul"}, "expected PATTERN=FACTOR");
  refuses({"--faster", "nothing=2x"}, "no op of the profile matches");
  refuses({"--slower", "mat(mul=2x"}, "--slower");
}

}  // namespace
}  // namespace npuscope::cli::path_test
