// npuscope compile and run for a Torq NPU, as a user runs them, and every Torq command on what they
// write.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::torq_reference_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

const std::string model = NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx";

class TorqReference : public TraceFolder {
 protected:
  Outcome compile(std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"compile", "-m", model, "--target", "torq-sl2610"};
    all.insert(all.end(), more.begin(), more.end());
    return run_npuscope(all);
  }
  // Program, timeline, debug information and log.
  void make() const {
    const Outcome compiled = compile({"-o", path("p.torq"), "--torq-enable-profiling",
                                      "--torq-dump-profiling=" + path("timeline.csv"),
                                      "--torq-debug-info=" + path("debug")});
    ASSERT_EQ(compiled.status, 0) << compiled.errors;
    ASSERT_EQ(compiled.errors, "");
    const Outcome ran = run_npuscope(
        {"run", path("p.torq"), "--torq_profile_host=" + path("runtime.csv"), "-n", "3"});
    ASSERT_EQ(ran.status, 0) << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr("inference time"));
    EXPECT_THAT(ran.output, HasSubstr("inferences     3"));
  }
};

TEST_F(TorqReference, MakesWhatEveryCommandReads) {
  make();
  const std::string log = path("runtime.csv"), debug = path("debug");
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands{
      {{"torq", "annotate", debug, log, path("out.csv")}, "wrote"},
      {{"torq", "annotate", debug, log, path("out.pb")}, "wrote"},
      {{"torq", "annotate", debug, log, path("host.csv"), "--format=old-host"}, "wrote"},
      {{"torq", "annotate", debug, log, path("nss.csv"), "--format", "nss"}, "wrote"},
      {{"torq", "overview", log, debug}, "Host Copy"},
      {{"torq", "timeline", log, debug, "--mhz", "800"}, "measured by estimated"},
      {{"torq", "timeline", path("timeline.csv")}, "ESTIMATES"},
      {{"show", log, debug}, "onnx.Conv@L"},
      {{"ops", log, debug}, "onnx.Conv@L"},
      {{"units", path("timeline.csv")}, "Slice 1"},
      {{"path", path("timeline.csv")}, "CRITICAL PATH"},
      {{"memory", path("timeline.csv")}, "DDR read"}};
  for (const auto& [command, expected] : commands) {
    const Outcome outcome = run_npuscope(command);
    EXPECT_EQ(outcome.status, 0) << command[0] << " " << command[1] << ": " << outcome.errors;
    EXPECT_EQ(outcome.errors, "") << command[0] << " " << command[1];
    EXPECT_THAT(outcome.output, HasSubstr(expected));
  }
  EXPECT_THAT(read("host.csv"), StartsWith("action_id;job_id;operation;invocation_name;"));
  EXPECT_THAT(read("nss.csv"), StartsWith("nss_program_index;operation;slice_id;"));
  EXPECT_THAT(read(log), StartsWith("dispatch_name,invocation_id,action_id,timestamp_us,event\n"
                                    "main_dispatch_0_conv2d,0,-1,1000000,INIT_BEGIN\n"));
}

// ops named the operators, and graph found none of them among the model's nodes.
TEST_F(TorqReference, GraphMapsOpsToTheNodesThatOpsNames) {
  make();
  const std::string log = path("runtime.csv"), debug = path("debug"), table = path("table.csv");
  ASSERT_EQ(run_npuscope({"torq", "annotate", debug, log, table}).status, 0);
  for (const std::vector<std::string>& files : {std::vector{log, debug}, std::vector{table}}) {
    std::vector<std::string> command{"graph", "--expect", model, "--json"};
    command.insert(command.end(), files.begin(), files.end());
    const Outcome outcome = run_npuscope(command);
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const auto facts = nlohmann::json::parse(outcome.output)["profiles"][0]["expected"];
    EXPECT_EQ(facts["nodes"], 105);
    EXPECT_EQ(facts["vanished"], 40);              // constants and the Dropout
    EXPECT_TRUE(facts["dependencies"].is_null());  // a log says only what the host did next
    // A log has an op for each transfer and kernel of a node, by the estimate; a table one for the
    // program that they all are, which is none of them.
    const bool is_table = files.size() == 1;
    EXPECT_EQ(facts["fused"], is_table ? 0 : 26);  // each Relu into its Conv
    EXPECT_EQ(facts["split"], is_table ? 0 : 39);
    EXPECT_EQ(facts["unmatched"], is_table ? 65 : 0);
    if (is_table) continue;
    EXPECT_EQ(facts["split_nodes"]["rows"][0]["evidence"], "source line");
  }
}

TEST_F(TorqReference, GraphMapsNothingToTheNodesOfAnotherModel) {
  make();
  const Outcome outcome =
      run_npuscope({"graph", path("runtime.csv"), path("debug"), "--json", "--expect",
                    NPUSCOPE_SOURCE_DIR "/models/light_resnet50.onnx"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto facts = nlohmann::json::parse(outcome.output)["profiles"][0]["expected"];
  EXPECT_EQ(facts["kept"], 0);
  EXPECT_EQ(facts["split"], 0);
  EXPECT_EQ(facts["fused"], 0);
}

TEST_F(TorqReference, OverviewAndDiffSayOfWhichInferencesTheyAre) {
  make();
  const std::string log = path("runtime.csv"), debug = path("debug");
  const Outcome overview = run_npuscope({"torq", "overview", log, debug});
  EXPECT_THAT(overview.output, HasSubstr("  Scope: all 3 inferences together\n  OVERALL "));
  const Outcome json = run_npuscope({"torq", "overview", log, debug, "--json"});
  EXPECT_EQ(nlohmann::json::parse(json.output)["models"][0]["scope"], "all 3 inferences together");
  const Outcome vendor = run_npuscope({"torq", "overview", log, debug, "--upstream"});
  EXPECT_THAT(vendor.output, testing::Not(HasSubstr("Scope")));
  const Outcome diff = run_npuscope({"diff", log, log});
  EXPECT_THAT(diff.output,
              HasSubstr("scope       one inference: the median of the 2 after the first\n"));
}

// SqueezeNet in bf16: images go out and come in again between convolutions and pools.
TEST_F(TorqReference, DiagnoseSaysWhatBoundsTheNet) {
  make();
  const Outcome outcome = run_npuscope({"diagnose", path("runtime.csv"), path("debug")});
  EXPECT_THAT(outcome.output, HasSubstr("1  memory-bound: up to 70"));
}

TEST_F(TorqReference, TheSameModelMakesTheSameBytes) {
  make();
  const std::string log = read("runtime.csv"), program = read("p.torq");
  const std::string timeline = read("timeline.csv");
  make();
  EXPECT_EQ(read("runtime.csv"), log);
  EXPECT_EQ(read("p.torq"), program);
  EXPECT_EQ(read("timeline.csv"), timeline);
}

TEST_F(TorqReference, PrintsJson) {
  const Outcome compiled = compile({"-o", path("p.torq"), "--json"});
  ASSERT_EQ(compiled.status, 0) << compiled.errors;
  const auto json = nlohmann::json::parse(compiled.output);
  EXPECT_EQ(json["compilation"]["target"], "torq-sl2610");
  EXPECT_EQ(json["compilation"]["dispatches"], 1);
  EXPECT_EQ(json["operations"]["rows"].size(), json["compilation"]["operations"]);
  std::int64_t cycles = 0;
  for (const auto& row : json["operations"]["rows"])
    cycles += row["estimated_cycles"].get<std::int64_t>();
  EXPECT_EQ(cycles, json["compilation"]["estimated_cycles"]);
  const Outcome ran = run_npuscope({"run", path("p.torq"), "--json"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const auto run = nlohmann::json::parse(ran.output);
  EXPECT_GT(run["run"]["inference_seconds"], run["run"]["nss_seconds"]);
  EXPECT_EQ(run["units"]["rows"].size(), 6u);
}

TEST_F(TorqReference, RefusesWhatMakesNoSense) {
  struct Case {
    std::vector<std::string> more;
    const char* error;
  };
  const std::vector<Case> cases{
      {{}, "npuscope: --output is required; name the program to write\n"},
      {{"-o", path("p"), "--torq-dump-profiling", path("t")},
       "npuscope: --torq-dump-profiling writes estimates; add --torq-enable-profiling\n"},
      {{"-o", path("p"), "-stats-level=70"},
       "npuscope: --stats-level is for a Cloud AI 100 or Hexagon NPU; torq-sl2610 is a Synaptics "
       "Torq NPU: leave it out, or choose another --target\n"},
      {{"-o", model}, "npuscope: "}};
  for (const Case& each : cases) {
    const Outcome outcome = compile(each.more);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.errors, StartsWith(each.error));
    EXPECT_FALSE(fs::exists(path("p")));
  }
  EXPECT_EQ(compile({"-o", path("no/p")}).status, 4);
  EXPECT_EQ(compile({"-o", path("p"), "--torq-debug-info=/dev/null/x"}).status, 4);
  const Outcome other = run_npuscope(
      {"compile", "-m", model, "-aic-binary-dir=" + path("bin"), "--torq-enable-profiling"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors,
              StartsWith("npuscope: --torq-enable-profiling is for a Synaptics Torq"));
}

TEST_F(TorqReference, RunRefusesOtherFilesAndFlags) {
  ASSERT_EQ(compile({"-o", path("p.torq")}).status, 0);
  const auto run = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    return run_npuscope(arguments);
  };
  const Outcome flag = run({path("p.torq"), "--aic-profiling-type=trace"});
  EXPECT_EQ(flag.status, 2);
  EXPECT_THAT(flag.errors, HasSubstr("--aic-profiling-type is for programs of Cloud AI 100"));
  const Outcome nothing = run({"--torq_profile_host=" + path("log")});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.errors, HasSubstr("name such a file, or leave the flag out"));
  const Outcome missing = run({path("none.torq"), "--torq_profile_host=" + path("log")});
  EXPECT_EQ(missing.status, 3);
  EXPECT_THAT(missing.errors, HasSubstr("none.torq: "));
  EXPECT_EQ(run({path("p.torq"), "-n", "0"}).status, 2);
  EXPECT_EQ(run({path("p.torq"), "--torq_profile_host=" + path("p.torq")}).status, 2);
  EXPECT_EQ(run({path("p.torq"), "--torq_profile_host=" + path("no/log")}).status, 4);
  const std::string program = read("p.torq");
  write("cut.torq", program.substr(0, program.size() / 2));
  const Outcome cut = run({path("cut.torq")});
  EXPECT_EQ(cut.status, 3);
  EXPECT_THAT(cut.errors, HasSubstr("copy the file again"));
}

// The command lines of the vendor's documentation, with npuscope's names of programs.
TEST_F(TorqReference, TheDocumentedCommandLinesWork) {
  const std::string phases = path("compilation_phases");
  const Outcome compiled =
      run_npuscope({"compile", model, "--target", "torq-sl2610", "-o", path("model.vmfb"),
                    "--torq-enable-profiling", "--torq-dump-profiling=" + path("trace.csv"),
                    "--torq-timeline-form=ids", "--dump-compilation-phases-to=" + phases});
  ASSERT_EQ(compiled.status, 0) << compiled.errors;
  EXPECT_THAT(read("trace.csv"), StartsWith("DI0,0,"));
  EXPECT_THAT(read("trace.csv"), HasSubstr("\nS0_0,"));
  const Outcome ran = run_npuscope(
      {"run", "--module=" + path("model.vmfb"), "--input=1x3x224x224xf32=1",
       "--torq_profile_host=" + path("runtime.csv"), "--torq_profile=" + path("jobs.csv")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(read("jobs.csv"), StartsWith("id;time_since_open;time_since_start;location\n0;"));
  const Outcome annotated =
      run_npuscope({"torq", "annotate", phases + "/light_squeezenet.9.executable-targets.mlir",
                    path("runtime.csv"), path("annotated.csv")});
  ASSERT_EQ(annotated.status, 0) << annotated.errors;
  EXPECT_EQ(annotated.errors, "");
  EXPECT_THAT(read("annotated.csv"), HasSubstr(";onnx.Conv@L94 onnx.Relu@L95;"));
  // The phase says what the debug information of each dispatch says.
  make();
  const std::string phase_table = read("annotated.csv");
  run_npuscope({"run", path("p.torq"), "--torq_profile_host=" + path("runtime.csv")});
  const Outcome again =
      run_npuscope({"torq", "annotate", path("debug"), path("runtime.csv"), path("annotated.csv")});
  ASSERT_EQ(again.status, 0) << again.errors;
  EXPECT_EQ(read("annotated.csv"), phase_table);
  // And both forms of the timeline say the same.
  const auto spans = [&](const char* file) {
    const Outcome units = run_npuscope({"units", path(file), "--csv"});
    EXPECT_EQ(units.status, 0) << units.errors;
    return units.output;
  };
  EXPECT_EQ(spans("trace.csv"), spans("timeline.csv"));
}

// 7.310 ms of three inferences stood beside the 7.988 ms of one.
TEST_F(TorqReference, AGainIsOfOneInferenceAsThePathIs) {
  make();
  std::vector<double> gains;
  for (const char* count : {"1", "3"}) {
    const std::string log = path("n.csv");
    ASSERT_EQ(
        run_npuscope({"run", path("p.torq"), "--torq_profile_host=" + log, "-n", count}).status, 0);
    const Outcome outcome =
        run_npuscope({"diagnose", log, path("debug"), "--rule", "memory-bound", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const auto page = nlohmann::json::parse(outcome.output)["profiles"][0];
    const auto finding = page["findings"][0];
    gains.push_back(finding["gain_ticks"]);
    EXPECT_EQ(finding["gain_of"], std::string(count) == "1" ? "the cold wall" : "an inference");
  }
  EXPECT_NEAR(gains[1], gains[0], gains[0] / 100);
}

// What the host did next was taken for a dependency of the next inference's ops: a cycle of all.
TEST_F(TorqReference, AGraphOfSeveralInferencesIsThatOfOne) {
  make();
  std::vector<nlohmann::json> facts;
  for (const char* count : {"1", "3"}) {
    const Outcome ran =
        run_npuscope({"run", path("p.torq"), "--torq_profile_host=" + path("n.csv"), "-n", count});
    ASSERT_EQ(ran.status, 0) << ran.errors;
    const Outcome graph = run_npuscope({"graph", path("n.csv"), path("debug"), "--json"});
    ASSERT_EQ(graph.status, 0) << graph.errors;
    facts.push_back(nlohmann::json::parse(graph.output)["profiles"][0]["graph"]);
  }
  EXPECT_EQ(facts[1]["cycles"], 0);
  EXPECT_EQ(facts[1]["longest_chain"], facts[0]["longest_chain"]);
  EXPECT_GT(facts[1]["longest_chain"], 10);
}

TEST_F(TorqReference, OlderTablesAreCsv) {
  make();
  const Outcome outcome = run_npuscope(
      {"torq", "annotate", path("debug"), path("runtime.csv"), path("out.xlsx"), "--format=nss"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("name a .csv file, or leave out --format"));
}

TEST_F(TorqReference, MemoryKnowsThePeaks) {
  make();
  const Outcome memory = run_npuscope({"memory", path("timeline.csv"), "--target", "torq-sl2610"});
  EXPECT_EQ(memory.status, 0) << memory.errors;
  EXPECT_THAT(memory.output, HasSubstr("target torq-sl2610"));
}

}  // namespace
}  // namespace npuscope::cli::torq_reference_test
