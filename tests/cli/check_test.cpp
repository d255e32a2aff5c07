// npuscope check, and gates in a file, as a user runs them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::check_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A trace a run, in which one op takes so many microseconds of 1000.
class Checks : public TraceFolder {
 protected:
  std::vector<std::string> runs(const std::string& name, const std::vector<int>& walls) const {
    std::vector<std::string> files;
    for (std::size_t i = 0; i < walls.size(); ++i) {
      const std::string file = name + std::to_string(i) + ".json";
      write(file, R"({"traceEvents":[
{"ph":"X","pid":1,"tid":2,"ts":0,"dur":)" +
                      std::to_string(walls[i]) + R"(,"name":"matmul","cat":"matrix"},
{"ph":"X","pid":1,"tid":3,"ts":900,"dur":100,"name":"store","cat":"copy"}]})");
      files.push_back(path(file));
    }
    return files;
  }
  static Outcome check(const std::vector<std::string>& files,
                       const std::vector<std::string>& flags) {
    std::vector<std::string> arguments{"check"};
    arguments.insert(arguments.end(), files.begin(), files.end());
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_npuscope(arguments);
  }
};

TEST_F(Checks, LimitsThatAreKeptPass) {
  const auto files = runs("r", {400, 401, 402, 403, 404});
  const Outcome kept =
      check(files, {"--require", "wall < 1.1 ms", "--require", "op('matmul').work < 0.41ms",
                    "--require", "share(idle) < 60 %", "--require", "share(work) >= 49%",
                    "--require", "op('matmul').work.max <= 404us"});
  EXPECT_EQ(kept.status, 0) << kept.errors;
  EXPECT_THAT(kept.output, HasSubstr("5 gates passed; "));
  EXPECT_THAT(kept.output,
              HasSubstr("gate 'op('matmul').work < 0.41ms' passed: 402.0 us (median of 5 samples"));
  EXPECT_THAT(kept.output, HasSubstr("404.0 us (max of 5 samples)"));
}

TEST_F(Checks, LimitsThatAreBrokenFail) {
  const auto files = runs("r", {400, 401, 402, 403, 404});
  for (const char* gate : {"wall < 0.9 ms", "op('matmul').work < 399us", "share(idle) < 20 %",
                           "op('matmul').work.max < 404us", "work.p50 > 10 ms"}) {
    const Outcome broken = check(files, {"--require", gate});
    EXPECT_EQ(broken.status, 1) << gate;
    EXPECT_THAT(broken.errors, HasSubstr(std::string("npuscope: gate '") + gate + "' failed: "));
  }
  EXPECT_EQ(check(files, {"--fail-if", "wall > 0.9 ms"}).status, 1);
  EXPECT_EQ(check(files, {"--fail-if", "wall > 1.1 ms"}).status, 0);
}

TEST_F(Checks, TooFewSamplesAreInconclusive) {
  const auto files = runs("r", {400, 401});
  const std::vector<std::string> gate{"--require", "op('matmul') < 1 ms"};
  const Outcome strict = check(files, gate);
  EXPECT_EQ(strict.status, 1);
  EXPECT_THAT(strict.errors, HasSubstr("inconclusive: 400.5 us (median of 2 samples, 95 % interval "
                                       "400.0 us … 401.0 us); needs about 3 more samples"));
  EXPECT_EQ(check(files, {gate[0], gate[1], "--inconclusive", "warn"}).status, 0);
}

TEST_F(Checks, WhatIsNotThereIsAnErrorWithTheNearestName) {
  const auto files = runs("r", {400, 401, 402, 403, 404});
  const auto error = [&](const char* gate) {
    const Outcome outcome = check(files, {"--require", gate});
    EXPECT_EQ(outcome.status, 2) << gate;
    return outcome.errors;
  };
  EXPECT_THAT(error("wal < 3ms"),
              HasSubstr("no profile has a number 'wal'; the nearest names: 'wall'"));
  EXPECT_THAT(error("share(idel) < 3%"), HasSubstr("'share(idle)'"));
  EXPECT_THAT(error("op('matmull') < 3ms"),
              HasSubstr("no op matches; the nearest names: 'matmul'"));
  EXPECT_THAT(error("op('matmul').bytes < 3"),
              HasSubstr("the ops have no 'bytes'; they have work"));
  EXPECT_THAT(error("findings('spil') < 1"), HasSubstr("did you mean 'spill'?"));
  EXPECT_THAT(error("wall < 3"), HasSubstr("its limit has no unit; write 'wall < 3ms'"));
  EXPECT_THAT(error("wall < 3MB"), HasSubstr("its limit is in bytes"));
  EXPECT_THAT(error("wall > +3%"), HasSubstr("a change needs a baseline"));
}

TEST_F(Checks, ARuleThatCouldNotBeTriedPassedInSilence) {
  const auto files = runs("r", {400});
  const Outcome outcome = check(files, {"--fail-if", "findings('tiny-dma') > 0"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors,
              HasSubstr("rule 'tiny-dma' could not be tried, data is missing: a timeline"));
}

TEST_F(Checks, ColdInferencesAloneDecideNoLimitOfATime) {
  const std::string set = NPUSCOPE_SHARED_DIR "/data/qnn/chain8";
  if (!fs::exists(set)) GTEST_SKIP() << set;
  const Outcome outcome =
      check({set}, {"--require", "wall.max < 1000000cyc", "--require", "ddr_read_bytes < 20 MB",
                    "--require", "latency.max < 3 ms", "--json"});
  EXPECT_EQ(outcome.status, 1);
  const json rows = json::parse(outcome.output)["gates"]["rows"];
  EXPECT_EQ(rows[0]["outcome"], "inconclusive");
  EXPECT_EQ(rows[0]["doubt"], "cold inferences only");
  EXPECT_EQ(rows[1]["outcome"], "passed");
  EXPECT_EQ(rows[1]["measured"], 606208);
  EXPECT_EQ(rows[2]["outcome"], "passed");
  EXPECT_DOUBLE_EQ(rows[2]["measured"].get<double>(), 2467e-6);  // executes 2 and 3 of its text
  EXPECT_THAT(outcome.errors, HasSubstr("all inferences are cold"));
}

// A session that was asked for an NPU: the file holds no trace of the wish.
TEST_F(Checks, ExpectedProvidersRanAllNodes) {
  const auto event = [](const char* category, const char* name, int begin, int duration,
                        const std::string& args) {
    return R"({"cat" : ")" + std::string(category) + R"(","pid" :1,"tid" :1,"dur" :)" +
           std::to_string(duration) + R"(,"ts" :)" + std::to_string(begin) +
           R"(,"ph" : "X","name" :")" + name + R"(","args" : {)" + args + "}}";
  };
  const auto on = [](const char* type, const char* provider) {
    return R"("op_name" : ")" + std::string(type) + R"(","provider" : ")" + provider + "\"";
  };
  std::string events;
  for (int run = 0; run < 3; ++run) {
    const int begin = 1000 * run, time = run == 0 ? 400 : 100;
    events += event("Node", "QNNExecutionProvider_QNN_7_0_kernel_time", begin, time,
                    on("QNN_7_0", "QNNExecutionProvider")) +
              ",\n" +
              event("Node", "resize_kernel_time", begin + time, 300 + run,
                    on("Resize", "CPUExecutionProvider")) +
              ",\n" +
              event("Node", "argmax_kernel_time", begin + time + 310, 10,
                    on("ArgMax", "CPUExecutionProvider")) +
              ",\n" + event("Session", "model_run", begin, time + 330, "") + (run < 2 ? ",\n" : "");
  }
  write("ort.json", "[\n" + events + "\n]\n");
  const Outcome fell_back = check({path("ort.json")}, {"--expect-provider", "qnn"});
  EXPECT_EQ(fell_back.status, 1);
  const std::string page = fell_back.output.substr(fell_back.output.find("GATES"));
  EXPECT_EQ(page, R"(GATES
  gate 'nodes elsewhere than on QNNExecutionProvider < 1' failed: 2 (one sample)

PROVIDERS
  expected    QNNExecutionProvider
  provider              nodes      work  of all nodes
  CPUExecutionProvider      2  311.5 us        75.7 %
  QNNExecutionProvider      1  100.0 us        24.3 %

NODES ELSEWHERE, by work
  node    kind    provider                  work  of all nodes
  resize  Resize  CPUExecutionProvider  301.5 us        73.3 %
  argmax  ArgMax  CPUExecutionProvider  10.00 us         2.4 %
  A part of the model that a provider took as a whole is one node. Times are of one inference, the
  median of those after the first.
)");
  EXPECT_EQ(fell_back.errors,
            "npuscope: gate 'nodes elsewhere than on QNNExecutionProvider < 1' failed: 2 (one "
            "sample)\n");
  const json made = json::parse(
      check({path("ort.json")}, {"--expect-provider", "QNNExecutionProvider", "--json"}).output);
  EXPECT_EQ(made["providers"]["expected"], "QNNExecutionProvider");
  EXPECT_EQ(made["nodes_elsewhere"]["rows"][0]["node"], "resize");
  EXPECT_EQ(made["nodes_elsewhere"]["rows"][0]["work_seconds"], 301.5e-6);
  EXPECT_EQ(made["gates"]["rows"][0]["outcome"], "failed");
  EXPECT_EQ(check({path("ort.json")}, {"--expect-provider", "VitisAI"}).status, 1);
  write("cpu.json", "[\n" +
                        event("Node", "a_kernel_time", 0, 5, on("Add", "CPUExecutionProvider")) +
                        ",\n" + event("Session", "model_run", 0, 9, "") + "\n]\n");
  EXPECT_EQ(check({path("cpu.json")}, {"--expect-provider", "cpu"}).status, 0);
  EXPECT_EQ(check({path("cpu.json")}, {"--expect-provider", ""}).status, 2);  // a variable of a job
  const Outcome other = check({path("trace.json")}, {"--expect-provider", "QNN"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors, HasSubstr("does not say which execution provider ran a node"));
}

TEST_F(Checks, OfADamagedProfilePassNoGate) {
  write("cut.json", R"({"traceEvents":[
{"ph":"X","pid":1,"tid":2,"ts":0,"dur":10,"name":"step","cat":"user"},
{"ph":"X","pid":1,"tid":2,"ts":20,"dur":)");
  const std::vector<std::string> gate{"--require", "wall.max < 1ms"};
  const Outcome outcome = check({path("cut.json")}, gate);
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("no gate is passed on a damaged profile"));
  EXPECT_EQ(check({path("cut.json")}, {gate[0], gate[1], "--allow-partial"}).status, 0);
}

TEST_F(Checks, WithoutGatesListTheNumbersThatGatesCanName) {
  const auto files = runs("r", {400, 401, 402});
  const Outcome page = check(files, {});
  EXPECT_EQ(page.status, 0);
  EXPECT_THAT(page.output, HasSubstr("NUMBERS in seconds"));
  EXPECT_THAT(page.output, HasSubstr("  work "));
  const json numbers = json::parse(check(files, {"--json"}).output)["numbers"];
  EXPECT_EQ(numbers[0]["rows"][0]["name"], "wall");
  EXPECT_EQ(numbers[0]["rows"][0]["value"], 0.001);
  EXPECT_EQ(numbers[0]["rows"][0]["samples"], 3);
}

constexpr const char* gate_file = R"(# budgets of the camera
inconclusive = "warn"

[[gate]]
name = "frame"
require = "wall < 1.1 ms"
reason = "30 frames a second"

[[gate]]
fail_if = "op('matmul').work > 0.3ms"   # it was 0.28
)";

TEST_F(Checks, TakeGatesOfAFile) {
  write("gates.toml", gate_file);
  const auto files = runs("r", {400, 401, 402, 403, 404});
  const Outcome outcome = check(files, {"--gates", path("gates.toml"), "--json"});
  EXPECT_EQ(outcome.status, 1);
  const json rows = json::parse(outcome.output)["gates"]["rows"];
  EXPECT_EQ(rows[0]["name"], "frame");
  EXPECT_EQ(rows[0]["form"], "require");
  EXPECT_EQ(rows[0]["purpose"], "30 frames a second");
  EXPECT_EQ(rows[0]["if_inconclusive"], "warn");
  EXPECT_EQ(rows[0]["outcome"], "passed");
  EXPECT_EQ(rows[1]["gate"], "op('matmul').work > 0.3ms");
  EXPECT_EQ(rows[1]["outcome"], "failed");
  EXPECT_EQ(check(runs("few", {200, 201}), {"--gates", path("gates.toml")}).status, 0);
  EXPECT_EQ(
      check(runs("few", {200, 201}), {"--gates", path("gates.toml"), "--inconclusive", "fail"})
          .status,
      1);
}

TEST_F(Checks, AndDiffTakeTheSameFile) {
  write("gates.toml", std::string(gate_file) + "[[gate]]\nfail_if = \"wall > +3%\"\n");
  const auto a = runs("a", {400, 401, 402, 403, 404}), b = runs("b", {280, 281, 282, 283, 284});
  std::vector<std::string> arguments{"diff", "--gates", path("gates.toml"), "--a"};
  arguments.insert(arguments.end(), a.begin(), a.end());
  arguments.push_back("--b");
  arguments.insert(arguments.end(), b.begin(), b.end());
  const Outcome outcome = run_npuscope(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("3 gates passed"));
  EXPECT_THAT(outcome.output, HasSubstr("gate frame ('wall < 1.1 ms') passed"));
}

TEST_F(Checks, AreAnnotationsAndASummaryInAGitHubJob) {
  write("gates.toml", std::string(gate_file) + R"([[gate]]
name = "a::b, 100%"
require = "wall < 0.5 ms"
)");
  const auto files = runs("r", {400, 401, 402, 403, 404});
  ::setenv("GITHUB_ACTIONS", "true", 1);
  ::setenv("GITHUB_STEP_SUMMARY", path("summary.md").c_str(), 1);
  const Outcome outcome = check(files, {"--gates", path("gates.toml")});
  ::unsetenv("GITHUB_ACTIONS");
  ::unsetenv("GITHUB_STEP_SUMMARY");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.errors, StartsWith("::error title=op('matmul').work > 0.3ms::gate "));
  EXPECT_THAT(outcome.errors, HasSubstr("\n::error title=a%3A%3Ab%2C 100%25::gate a::b, 100%25 "));
  EXPECT_THAT(outcome.errors, Not(HasSubstr("frame")));
  const std::string summary = read("summary.md");
  EXPECT_THAT(summary, StartsWith("**Failed**: 2 of 3 gates failed; wall 1.000 ms"));
  EXPECT_LT(summary.find("0.3ms"), summary.find("1.1 ms"));  // what failed comes first
}

}  // namespace
}  // namespace npuscope::cli::check_test
