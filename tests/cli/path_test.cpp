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
