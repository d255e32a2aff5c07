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

  // Runs of so many microseconds each, as --a or --b.
  void add_side(std::vector<std::string>& arguments, const char* side,
                const std::vector<int>& runs) const {
    arguments.push_back(side);
    for (const int microseconds : runs) arguments.push_back(trace_of(microseconds));
  }

  mutable int traces_ = 0;
};

TEST_F(Diff, AProfileWithItselfHasNoDifference) {
  const Outcome outcome = run_npuscope({"diff", path("trace.json"), path("trace.json"), "--fail-if",
                                        "wall > 0%", "--inconclusive=pass", "--json"});
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

// A run on a CPU and a compiler's estimate for an NPU: joined by name, each in its unit.
TEST_F(Diff, AcrossRuntimesEachSideKeepsItsUnit) {
  const auto node = [](const char* name, const char* type, int begin, int duration) {
    return R"({"cat" : "Node","pid" :1,"tid" :1,"dur" :)" + std::to_string(duration) +
           R"(,"ts" :)" + std::to_string(begin) + R"(,"ph" : "X","name" :")" + name +
           R"(_kernel_time","args" : {"op_name" : ")" + type +
           R"(","provider" : "CPUExecutionProvider"}})";
  };
  std::string events = "[\n";
  for (const int begin : {0, 1000}) {
    events += node("conv1", "Conv", begin, 60) + ",\n" + node("fc", "Gemm", begin + 60, 30) +
              ",\n" + node("prob", "Softmax", begin + 90, 10) + ",\n" +
              R"({"cat" : "Session","pid" :1,"tid" :1,"dur" :110,"ts" :)" + std::to_string(begin) +
              R"(,"ph" : "X","name" :"model_run","args" : {}})" + (begin == 0 ? ",\n" : "\n]\n");
  }
  write("ort.json", events);
  write("scale.csv",
        "TFLite_operator,NNG Operator,SRAM Usage,Peak%,Op Cycles,Network%,NPU,SRAM AC,DRAM AC,"
        "OnFlash AC,OffFlash AC,MAC Count,Network%,Util%,Name\n"
        "CONV_2D,Conv2D,1,1.0,700.0,70.0,700.0,1,0,0,0,100,50.0,10.0,conv1\n"
        "FULLY_CONNECTED,FullyConnected,1,1.0,200.0,20.0,200.0,1,0,0,0,100,50.0,10.0,fc\n"
        "PAD,Pad,1,1.0,100.0,10.0,100.0,1,0,0,0,0,0.0,0.0,pad\n");
  const Outcome page =
      run_npuscope({"diff", "--across", path("ort.json"), path("scale.csv"), "--width", "100"});
  EXPECT_EQ(page.status, 0) << page.errors;
  EXPECT_EQ(
      page.output.substr(page.output.find("  joined")),
      R"(  joined      2 of 3 nodes of A (90.0 % of its work), 2 of 3 nodes of B (90.0 % of its op cycles)
  A counts seconds and B cycles, which no known rate relates: only shares of a side compare.
  A is measured and B is estimated: what is estimated or simulated did not run.
  A is work and B is op cycles: the two need not count alike.

NODES, in the order of A
  node   kind  kind in B               A    of A  B, cycles    of B  joined by
  conv1  Conv  CONV_2D          60.00 us  60.0 %        700  70.0 %  name
  fc     Gemm  FULLY_CONNECTED  30.00 us  30.0 %        200  20.0 %  name

ONLY IN A
  node  kind            A    of A
  prob  Softmax  10.00 us  10.0 %

ONLY IN B
  node  kind  B, cycles    of B
  pad   PAD         100  10.0 %
)");
  const auto json = nlohmann::json::parse(
      run_npuscope({"diff", "--across", path("ort.json"), path("scale.csv"), "--json"}).output);
  EXPECT_EQ(json["across"]["a_unit"], "seconds");
  EXPECT_EQ(json["across"]["b_unit"], "cycles");
  EXPECT_EQ(json["across"]["b_origin"], "estimated");
  EXPECT_EQ(json["nodes"]["rows"][0]["nodes_b"], nlohmann::json::array({"conv1"}));
  EXPECT_EQ(json["nodes"]["rows"][0]["a"], 60e-6);
  EXPECT_EQ(json["nodes"]["rows"][0]["b_by_a"], nullptr);
  EXPECT_EQ(json["only_in_b"]["rows"][0]["node"], "pad");
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--fail-if", "wall > 1ms"}, {"--by", "kind"}}) {
    std::vector<std::string> arguments{"diff", "--across", path("ort.json"), path("scale.csv")};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(run_npuscope(arguments).status, 2);
  }
  const Outcome no_times = run_npuscope({"diff", "--across", path("ort.json"), path("none.csv")});
  EXPECT_EQ(no_times.status, 3);
  write("again.json", events);
  const Outcome several = run_npuscope(
      {"diff", "--across", "--a", path("ort.json"), path("again.json"), "--b", path("scale.csv")});
  EXPECT_THAT(several.output, HasSubstr("Of the 2 runs of A the first is compared"));
}

TEST_F(Diff, AFailedGateIsStatus1AndSaysWhich) {
  std::vector<std::string> arguments{"diff", "--fail-if", "op('matmul').work > +10%",
                                     "--fail-if=active > +1ms", "--top=1"};
  add_side(arguments, "--a", {100, 101, 102});
  add_side(arguments, "--b", {150, 151, 152});
  const Outcome outcome = run_npuscope(arguments);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.errors,
            "npuscope: gate 'op('matmul').work > +10%' failed: 101.0 us -> 151.0 us, +49.5 % (95 % "
            "interval +47.1 … +52.0 %, p = 0.1)\n");
  EXPECT_THAT(outcome.output, HasSubstr("1 of 2 gates failed"));
  EXPECT_THAT(outcome.output, HasSubstr("slower  matmul  kernel  101.0 us  151.0 us"));
}

TEST_F(Diff, OneSampleASideIsInconclusiveAndFailsUnlessToldOtherwise) {
  const std::string a = trace_of(100), b = trace_of(150);
  const auto gated = [&](const char* how) {
    return run_npuscope({"diff", a, b, "--fail-if", "active > +10%", how});
  };
  const std::string sentence =
      "npuscope: gate 'active > +10%' inconclusive: 110.0 us -> 160.0 us, +45.5 % (one sample a "
      "side); needs at least 2 more samples a side\n";
  EXPECT_EQ(gated("--inconclusive=fail").status, 1);
  EXPECT_EQ(gated("--inconclusive=fail").errors, sentence);
  EXPECT_EQ(gated("--inconclusive=warn").status, 0);
  EXPECT_EQ(gated("--inconclusive=warn").errors, sentence);
  EXPECT_EQ(gated("--inconclusive=pass").status, 0);
  EXPECT_EQ(gated("--inconclusive=pass").errors, "");
  EXPECT_THAT(gated("--inconclusive=pass").output, HasSubstr("1 of 1 gate inconclusive"));
  const Outcome unclear = gated("--inconclusive=maybe");
  EXPECT_EQ(unclear.status, 2);
  EXPECT_THAT(unclear.errors, HasSubstr("--inconclusive"));
  const auto json = nlohmann::json::parse(
      run_npuscope({"diff", a, b, "--fail-if", "active > +10%", "--json"}).output);
  const auto& row = json["gates"]["rows"][0];
  EXPECT_EQ(row["outcome"], "inconclusive");
  EXPECT_EQ(row["doubt"], "too few samples");
  EXPECT_EQ(row["more_samples_a"], 2);
  EXPECT_EQ(row["more_samples_b"], 2);
}

TEST_F(Diff, AGateThatCannotBeJudgedHidOneThatFailed) {
  std::vector<std::string> arguments{"diff",       "--fail-if", "activ > +10%",         "--fail-if",
                                     "active > 3", "--fail-if", "op('matmull') > +10%", "--json"};
  add_side(arguments, "--a", {100, 101, 102});
  add_side(arguments, "--b", {150, 151, 152});
  const std::string unjudged =
      "npuscope: gate 'activ > +10%' not judged: neither side has a number 'activ'; the nearest "
      "names: 'active', 'active(compute)', 'waiting'\n"
      "npuscope: gate 'active > 3' not judged: its limit has no unit; write 'active > 3ms', or "
      "'active > +3%' for a share of A\n"
      "npuscope: gate 'op('matmull') > +10%' not judged: no op of either side matches; the nearest "
      "names: 'matmul', 'kernel', 'add'\n";
  const Outcome alone = run_npuscope(arguments);
  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(alone.errors, unjudged);
  const auto page = nlohmann::json::parse(alone.output);
  EXPECT_EQ(page["gates"]["rows"].size(), 3u);
  EXPECT_EQ(page["gates"]["rows"][0]["outcome"], "not judged");
  EXPECT_GT(page["numbers"].size(), 0u);
  arguments.insert(arguments.begin() + 1, {"--fail-if", "active > +10%"});
  const Outcome both = run_npuscope(arguments);
  EXPECT_EQ(both.status, 1);
  EXPECT_THAT(both.errors, StartsWith("npuscope: gate 'active > +10%' failed: "));
  EXPECT_THAT(both.errors, HasSubstr(unjudged));
  EXPECT_THAT(nlohmann::json::parse(both.output)["sides"]["verdict"].get<std::string>(),
              StartsWith("1 of 4 gates failed, 3 not judged; "));
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
  EXPECT_THAT(error({a, a, "--json", "--markdown"}), HasSubstr("--markdown"));
  EXPECT_THAT(error({a, a, "--op", "nothing"}), HasSubstr("nothing"));
  EXPECT_THAT(error({a, path("missing.json")}, 3), HasSubstr("missing.json"));
}

// As the runner of GitHub has them.
class GitHubJob {
 public:
  explicit GitHubJob(const std::string& summary) {
    ::setenv("GITHUB_ACTIONS", "true", 1);
    ::setenv("GITHUB_STEP_SUMMARY", summary.c_str(), 1);
  }
  ~GitHubJob() {
    ::unsetenv("GITHUB_ACTIONS");
    ::unsetenv("GITHUB_STEP_SUMMARY");
  }
};

TEST_F(Diff, InAGitHubJobGatesAreAnnotationsAndTheJobHasASummary) {
  std::vector<std::string> arguments{"diff",      "--fail-if", "nothing > 3",  "--fail-if",
                                     "wall > 5%", "--fail-if", "active > +1%", "--json"};
  add_side(arguments, "--a", {100, 101, 102, 103, 104});
  add_side(arguments, "--b", {150, 151, 152, 153, 154});
  write("summary.md", "before\n");
  Outcome outcome;
  {
    const GitHubJob job(path("summary.md"));
    outcome = run_npuscope(arguments);
  }
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(nlohmann::json::accept(outcome.output));  // annotations must not stand in it
  EXPECT_THAT(outcome.errors,
              StartsWith("::error title=active > +1%25::gate 'active > +1%25' failed: "));
  const auto unjudged =
      outcome.errors.find("::error title=nothing > 3::gate 'nothing > 3' not judged");
  EXPECT_NE(unjudged, std::string::npos) << outcome.errors;
  EXPECT_THAT(outcome.errors, Not(HasSubstr("npuscope: gate")));
  std::replace(arguments.begin(), arguments.end(), std::string("--json"),
               std::string("--markdown"));
  EXPECT_EQ(read("summary.md"), "before\n" + run_npuscope(arguments).output + "\n");
}

TEST_F(Diff, WithoutAGitHubJobTheFlagAsksForAnnotations) {
  std::vector<std::string> arguments{"diff", "--github", "--fail-if", "active > +1%"};
  add_side(arguments, "--a", {100, 101, 102, 103, 104});
  add_side(arguments, "--b", {150, 151, 152, 153, 154});
  EXPECT_THAT(run_npuscope(arguments).errors, StartsWith("::error title=active > +1%25::"));
  arguments.erase(arguments.begin() + 1);
  EXPECT_THAT(run_npuscope(arguments).errors, StartsWith("npuscope: gate 'active > +1%' failed: "));
}

TEST_F(Diff, ASummaryThatCannotBeWrittenIsAnOutputError) {
  const GitHubJob job(path("missing/summary.md"));
  const Outcome outcome = run_npuscope({"diff", path("trace.json"), path("trace.json")});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.errors, HasSubstr("cannot write; check GITHUB_STEP_SUMMARY"));
}

}  // namespace
}  // namespace npuscope::cli::diff_test
