// Names out of files in the log of a job of GitHub Actions.
#include <gmock/gmock.h>

#include <cstdlib>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::github_job_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class GithubJob : public TraceFolder {
 protected:
  void SetUp() override {
    TraceFolder::SetUp();
    ::setenv("GITHUB_ACTIONS", "true", 1);
    write("::error::trace.json", R"({"traceEvents":[
{"ph":"X","pid":1,"tid":2,"ts":0,"dur":100,"name":"::error file=x::taken"},
{"ph":"X","pid":1,"tid":2,"ts":100,"dur":50,"name":"##[add-mask]taken"}]})");
  }
  void TearDown() override {
    ::unsetenv("GITHUB_ACTIONS");
    TraceFolder::TearDown();
  }
};

TEST_F(GithubJob, ANameInAPageWasACommandOfTheLog) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"show"},
                                                {"show", "--markdown"},
                                                {"ops"},
                                                {"ops", "--markdown"},
                                                {"timeline", "--by", "name"},
                                                {"path"}}) {
    std::vector<std::string> all = words;
    all.push_back(path("::error::trace.json"));
    const Outcome outcome = run_npuscope(all);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_THAT("\n" + outcome.output, Not(testing::ContainsRegex("\n *::"))) << words.front();
    EXPECT_THAT(outcome.output, Not(HasSubstr("##["))) << words.front();
    EXPECT_THAT("\n" + outcome.errors, Not(testing::ContainsRegex("\n *::"))) << words.front();
  }
  EXPECT_THAT(run_npuscope({"ops", path("::error::trace.json")}).output,
              HasSubstr("\n  \\x3a:error file=x::taken"));
  EXPECT_THAT(run_npuscope({"ops", path("::error::trace.json"), "--csv"}).output,
              HasSubstr("\n::error file=x::taken"));  // data stays as it is
  ::unsetenv("GITHUB_ACTIONS");
  EXPECT_THAT(run_npuscope({"ops", path("::error::trace.json")}).output,
              HasSubstr("\n  ::error file=x::taken"));
}

}  // namespace
}  // namespace npuscope::cli::github_job_test
