// npuscope diff as a user runs it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::diff_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Diff : public TraceFolder {
 protected:
  // One thread that runs "matmul" for so many microseconds, then "add" for 10.
  std::string trace_of(int microseconds, const std::string& matmul = "matmul") const {
    const std::string name = std::to_string(++traces_) + ".json";
    write(name, R"({"traceEvents":[
{"ph":"X","pid":1,"tid":2,"ts":1000,"dur":)" +
                    std::to_string(microseconds) + R"(,"name":")" + matmul +
                    R"(","cat":"kernel"},
{"ph":"X","pid":1,"tid":2,"ts":2000,"dur":10,"name":"add","cat":"kernel"}]})");
    return path(name);
  }

  mutable int traces_ = 0;
};

TEST_F(Diff, AProfileWithItselfHasNoDifference) {
  const Outcome outcome = run_npuscope(
      {"diff", path("trace.json"), path("trace.json"), "--fail-if", "wall > 0%", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  const auto json = nlohmann::json::parse(outcome.output);
  for (const auto& section : json["numbers"]) {
    for (const auto& row : section["rows"]) EXPECT_EQ(row["delta"], 0);
    for (const auto& row : section["unchanged"]["rows"]) EXPECT_EQ(row["verdict"], "same");
  }
  EXPECT_EQ(json["ops"]["rows_by_change"], "2 same");
  EXPECT_EQ(json["ops"]["matched_share_a"], 1.0);
  EXPECT_EQ(json["ops"]["same_structure"], true);
}

TEST_F(Diff, AFailedGateIsStatus1AndSaysWhich) {
  const std::string a = trace_of(100), b = trace_of(150);
  const Outcome outcome = run_npuscope({"diff", a, b, "--fail-if", "op('matmul').work > +10%",
                                        "--fail-if=active > +1ms", "--top=1"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.errors,
            "npuscope: gate 'op('matmul').work > +10%' failed: 100.0 us -> 150.0 us, +50.0 % (one "
            "sample a side)\n");
  EXPECT_THAT(outcome.output, HasSubstr("1 of 2 gates failed"));
  EXPECT_THAT(outcome.output, HasSubstr("slower  matmul  kernel  100.0 us  150.0 us"));
}

TEST_F(Diff, AGraphThatTheFilesDoNotNameIsAUsageError) {
  const Outcome outcome =
      run_npuscope({"diff", path("trace.json"), path("trace.json"), "--graph", "resnet50"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.errors,
            "npuscope: --graph resnet50: the files of A do not say which graph they are of; leave "
            "out --graph and name the files\n");
}

TEST_F(Diff, SetsOfRuns) {
  std::vector<std::string> arguments{"diff", "--fail-if", "op('matmul') > +3%", "--json", "--a"};
  for (const int time : {100, 101, 102, 103}) arguments.push_back(trace_of(time));
  arguments.push_back("--b");
  for (const int time : {110, 111, 112, 113}) arguments.push_back(trace_of(time));
  const Outcome outcome = run_npuscope(arguments);
  EXPECT_EQ(outcome.status, 1) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["sides"]["samples_a"], 4);
  EXPECT_EQ(json["gates"]["rows"][0]["has_noise_rule"], true);
  const auto& row = json["ops"]["rows"][0];
  EXPECT_EQ(row["name"], "matmul");
  EXPECT_EQ(row["a"], 101.5e-6);
  EXPECT_NEAR(row["p"].get<double>(), 2.0 / 70, 1e-12);
}

TEST_F(Diff, AddedAndRemovedOpsAsCsv) {
  const Outcome outcome =
      run_npuscope({"diff", trace_of(100), trace_of(100, "gemm"), "--csv", "--width=100"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, StartsWith("change_of,name,kernel,a,b,delta,change,"));
  EXPECT_THAT(outcome.output, HasSubstr("removed,matmul,kernel,"));
  EXPECT_THAT(outcome.output, HasSubstr("added,gemm,kernel,0,"));
  EXPECT_THAT(outcome.output, HasSubstr("same,add,kernel,"));
}

TEST_F(Diff, NamesAreDataInMarkdown) {
  const Outcome outcome = run_npuscope(
      {"diff", trace_of(100), trace_of(100, "x|<img src=1>`@all https://e.org"), "--markdown"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, StartsWith("**Compared**: wall is the same"));
  EXPECT_THAT(outcome.output,
              HasSubstr("| x&#124;&#60;img src=1&#62;&#96;&#64;all https&#58;//e.org |"));
}

TEST_F(Diff, BadRequestsSayWhatToDo) {
  const std::string a = path("trace.json");
  const auto error = [&](std::vector<std::string> arguments, int status = 2) {
    arguments.insert(arguments.begin(), "diff");
    const Outcome outcome = run_npuscope(arguments);
    EXPECT_EQ(outcome.status, status);
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
    return outcome.errors;
  };
  EXPECT_THAT(error({a}), HasSubstr("takes two profiles, not 1"));
  EXPECT_THAT(error({}), HasSubstr("takes two profiles, not 0"));
  EXPECT_THAT(error({a, a, a}), HasSubstr("not 3; of several each use --a FILES --b FILES"));
  EXPECT_THAT(error({"--a", a}), HasSubstr("give both --a and --b"));
  EXPECT_THAT(error({a, a, "--fail-if", "wall"}), HasSubstr("no >, >=, < or <="));
  EXPECT_THAT(error({a, a, "--fail-if", "op('(') > 1%"}), HasSubstr("'('"));
  EXPECT_THAT(error({a, a, "--fail-if", "busy(HMX) > 1%"}), HasSubstr("neither side has a number"));
  EXPECT_THAT(error({a, a, "--fail-if", "op('conv') > 1%"}), HasSubstr("no op of either side"));
  EXPECT_THAT(error({a, a, "--fail-if", "wall > +5cyc"}), HasSubstr("counts in time"));
  EXPECT_THAT(error({a, a, "--fail-if", "wall > 5"}), HasSubstr("write ns, us, ms or s"));
  EXPECT_THAT(error({a, a, "--json", "--markdown"}), HasSubstr("--markdown"));
  EXPECT_THAT(error({a, a, "--op", "nothing"}), HasSubstr("nothing"));
  EXPECT_THAT(error({a, path("missing.json")}, 3), HasSubstr("missing.json"));
}

}  // namespace
}  // namespace npuscope::cli::diff_test
