// Several graphs in one output of the viewer, its summary over all executes, and rows that are of
// no execution: estimates, partners, an emulation.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/qnn/scratch_files.hpp"

namespace npuscope::qnn::viewer_graphs_test {
namespace {

using test::noted;
using test::values_of;

const std::string ort_head =
    "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier,"
    "ONNX Source Ops\n";

class QnnViewerGraphs : public test::ScratchFiles {
 protected:
  std::vector<Profile> read_all(const std::string& name, const std::string& text) {
    auto sets = read_sets(std::vector{write(name, text)});
    if (sets) return std::move(sets->profiles);
    ADD_FAILURE() << sets.error().message;
    return {};
  }
};

// Sums over an op's measures of each inference: "conv 100 110".
std::string ops_of(const Profile& profile) {
  std::string out;
  for (std::uint32_t op = 0; op < profile.ops.size(); ++op) {
    out += fmt::format("{}", profile.text(profile.ops[op].name));
    for (const Measure& measure : profile.measures) {
      if (measure.subject != Measure::Subject::op || measure.subject_id != op) continue;
      out += fmt::format(" {}", measure.value);
    }
    out += '\n';
  }
  return out;
}

std::string native_execute(int graph, const char* name, int microseconds, int cycles) {
  return fmt::format(
      "17,EXECUTE,{1},US,NETRUN,ROOT,Graph {0}: {3}\n"
      "17,EXECUTE,8,COUNT,BACKEND,ROOT,Number of HVX threads used\n"
      "17,EXECUTE,{1},US,BACKEND,ROOT,RPC (execute) time\n"
      "17,EXECUTE,{2},CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles)\n"
      "17,EXECUTE,{2},CYCLES,BACKEND,SUB-EVENT,/conv:OpId_21 (cycles)\n"
      "17,EXECUTE,{1},US,BACKEND,ROOT,Accelerator (execute) time\n"
      "17,EXECUTE,{1},US,BACKEND,ROOT,QNN (execute) time\n",
      graph, microseconds, cycles, name);
}

const std::string native_head =
    "input log file location, run.log\nqnn-profile-viewer version, v2.45\n"
    "qnn-net-run version, v2.45\nBackend version, v2.45.9\n"
    "Msg Timestamp, Message, Time, Unit of Measurement, Timing Source, Event Level, Event "
    "Identifier\n"
    "17,INIT,904,US,NETRUN,ROOT,null\n"
    "17,INIT,60,US,BACKEND,ROOT,Accelerator (load binary) time\n"
    "17,INIT,61,US,BACKEND,ROOT,Accelerator (load binary) time\n"
    "17,INIT,800,US,BACKEND,ROOT,QNN (load binary) time\n"
    "17,DE-INIT,20,US,NETRUN,ROOT,null\n";

// One latency was printed over the prompt's and the token's executes.
TEST_F(QnnViewerGraphs, OfTheViewersOwnCsvWereOneProfileOrRefused) {
  std::string text = native_head;
  for (const int time : {500, 400, 410}) text += native_execute(0, "prompt", time, 10 * time);
  for (const int time : {90, 70}) text += native_execute(1, "token", time, 10 * time);
  const auto profiles = read_all("viewer.csv", text);
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles[0].provenance.graph, "prompt");
  EXPECT_EQ(profiles[1].provenance.graph, "token");
  EXPECT_EQ(profiles[0].provenance.version, "backend v2.45.9");
  EXPECT_EQ(profiles[0].provenance.inferences, 3u);
  EXPECT_EQ(profiles[1].provenance.inferences, 2u);
  EXPECT_EQ(values_of(profiles[0], "NetRun"), (std::vector<double>{500, 400, 410}));
  EXPECT_EQ(values_of(profiles[1], "QNN (execute) time"), (std::vector<double>{90, 70}));
  EXPECT_EQ(ops_of(profiles[1]), "/conv 900 700\n");
  for (const Profile& profile : profiles) {
    EXPECT_EQ(values_of(profile, "INIT: NetRun"), std::vector<double>{904});
    EXPECT_EQ(values_of(profile, "INIT: Accelerator (load binary) time"),
              (std::vector<double>{60, 61}));
    EXPECT_EQ(test::outcomes(profile, Check::Outcome::failed), "");
    EXPECT_TRUE(values_of(profile, "QNN (execute) time, all graphs").empty());
  }
}

std::string ort_execute(const std::string& nodes, int threads, int microseconds) {
  const std::string rpc = threads > 0 ? "0,BACKEND,9,US,BACKEND,ROOT,RPC (execute) time,\n" : "";
  return fmt::format(
      "0,BACKEND,{},COUNT,BACKEND,ROOT,Number of HVX threads used,\n{}"
      "0,BACKEND,30,CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles),\n{}"
      "0,EXECUTE,{},US,BACKEND,ROOT,QNN (execute) time,\n",
      threads, rpc, nodes, microseconds);
}

std::string node(const char* name, int id, int cycles, const char* source = "") {
  return fmt::format("0,NODE,{},CYCLES,BACKEND,SUB-EVENT,{}:OpId_{} (cycles),{}\n", cycles, name,
                     id, source);
}

std::string finalize(int microseconds) {
  return fmt::format(
      "0,FINALIZE,{},US,BACKEND,ROOT,QNN (finalize) time,\n"
      "0,UNKNOWN,{},US,BACKEND,SUB-EVENT,VTCM Allocation,\n"
      "0,BACKEND,0,US,BACKEND,ROOT,Performance Estimates,\n"
      "0,BACKEND,0,US,BACKEND,SUB-EVENT,Mode,\n"
      "0,BACKEND,77,CYCLES,BACKEND,SUB-EVENT,Simulated (Accelerator exec cycles),\n"
      "0,BACKEND,512,BYTES,BACKEND,SUB-EVENT,Input Fill,\n"
      "0,BACKEND,3,US,BACKEND,SUB-EVENT,Missing Ops (Number of Ops with no Costs associated),\n",
      microseconds, microseconds / 2);
}

// A node on the CPU makes two graphs; two runs of them were four inferences.
TEST_F(QnnViewerGraphs, OfAModelWithANodeOnTheCpuWereTakenForInferences) {
  const std::string a = node("Input", 2, 5) + node("conv0", 23, 25),
                    b = node("Input", 2, 10) + node("conv1", 32, 20);
  std::string text = ort_head + finalize(600) + finalize(600) + finalize(400);
  for (const int time : {500, 300}) {
    text += ort_execute(a, 4, time) + ort_execute(b, 4, time / 10);
  }
  const auto profiles = read_all("ort.csv", text);
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles[0].provenance.graph, "graph 1");
  EXPECT_EQ(values_of(profiles[0], "QNN (execute) time"), (std::vector<double>{500, 300}));
  EXPECT_EQ(values_of(profiles[1], "QNN (execute) time"), (std::vector<double>{50, 30}));
  EXPECT_EQ(ops_of(profiles[0]), "Input 5 5\nconv0 25 25\n");
  EXPECT_EQ(ops_of(profiles[1]), "Input 10 10\nconv1 20 20\n");
  EXPECT_EQ(values_of(profiles[0], "FINALIZE: QNN (finalize) time"), std::vector<double>{600});
  EXPECT_EQ(values_of(profiles[1], "FINALIZE: QNN (finalize) time"), std::vector<double>{400});
  EXPECT_EQ(noted(profiles[0], "preparations that repeat"), 1u);
  for (const Profile& profile : profiles) {
    EXPECT_EQ(profile.provenance.inferences, 2u);
    EXPECT_EQ(values_of(profile, "QNN (execute) time, all graphs"),
              (std::vector<double>{550, 330}));
    EXPECT_EQ(test::outcomes(profile, Check::Outcome::failed), "");
  }
}

TEST_F(QnnViewerGraphs, OfOneRunHaveNoWarmInference) {
  const auto profiles = read_all("ort.csv", ort_head + finalize(600) + finalize(400) +
                                                ort_execute(node("a", 20, 30), 4, 50) +
                                                ort_execute(node("b", 30, 30), 4, 5));
  ASSERT_EQ(profiles.size(), 2u);
  for (const Profile& profile : profiles) {
    EXPECT_EQ(profile.provenance.temperature, Provenance::Temperature::cold);
    EXPECT_EQ(values_of(profile, "QNN (execute) time, all graphs"), std::vector<double>{55});
  }
}

// An execute of which the file has only the first nodes is of the graph that has them.
TEST_F(QnnViewerGraphs, OfAFileThatEndsEarlyAreNotMore) {
  const auto profiles =
      read_all("ort.csv", ort_head + ort_execute(node("a", 20, 10) + node("b", 21, 20), 4, 50) +
                              "0,BACKEND,4,COUNT,BACKEND,ROOT,Number of HVX threads used,\n" +
                              node("a", 20, 9));
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(ops_of(profiles[0]), "a 10 9\nb 20\n");
}

TEST_F(QnnViewerGraphs, WithoutNodesTakeTurnsAndTheFileIsSaidNotToTell) {
  std::string text = ort_head + finalize(600) + finalize(400);
  for (const int time : {50, 5, 40, 4}) text += ort_execute("", 4, time);
  const auto profiles = read_all("ort.csv", text);
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(values_of(profiles[0], "QNN (execute) time"), (std::vector<double>{50, 40}));
  EXPECT_EQ(noted(profiles[0], "take turns is assumed"), 1u);
}

// A file may name a graph for each of its executes, and list other nodes in each.
TEST_F(QnnViewerGraphs, OfAForgedFileAreFew) {
  std::string named = native_head, unnamed = ort_head;
  for (int i = 0; i < 20'000; ++i) unnamed += finalize(600);
  for (int i = 0; i < 3'000; ++i) {
    named += native_execute(i, fmt::format("g{}", i).c_str(), 10, 100);
    unnamed += ort_execute(node(fmt::format("n{}", i).c_str(), 20 + i, 30), 4, 50);
  }
  for (const std::string& text : {named, unnamed}) {
    const auto profiles = read_all("forged.csv", text);
    EXPECT_EQ(profiles.size(), 64u);
    std::uint64_t inferences = 0;
    for (const Profile& profile : profiles) inferences += profile.provenance.inferences;
    EXPECT_EQ(inferences, 3'000u);
    EXPECT_EQ(noted(profiles[0], "graphs beyond the first 64"), 2'936u);
  }
}

// What the compiler estimates was printed as measured, headings as times of 0.
TEST_F(QnnViewerGraphs, EstimatesWereMeasuredTimes) {
  const auto profiles =
      read_all("ort.csv", ort_head + finalize(600) + ort_execute(node("a", 20, 30), 4, 50));
  ASSERT_EQ(profiles.size(), 1u);
  const Profile& profile = profiles[0];
  std::map<std::string, std::string> origins;
  for (const Measure& measure : profile.measures) {
    const std::string name(profile.text(measure.what));
    if (name.starts_with("estimate: ")) {
      EXPECT_EQ(measure.origin, Origin::estimated) << name;
      origins[name] = fmt::format("{} {}", measure.value, int(measure.kind == MeasureKind::count));
    } else {
      EXPECT_EQ(measure.origin, Origin::measured) << name;
    }
  }
  EXPECT_EQ(origins,
            (std::map<std::string, std::string>{
                {"estimate: Simulated (Accelerator exec cycles)", "77 0"},
                {"estimate: Input Fill", "512 1"},
                {"estimate: Missing Ops (Number of Ops with no Costs associated)", "3 1"}}));
  for (const Phase& phase : profile.phases) {
    EXPECT_EQ(profile.text(phase.name).find("estimate"), std::string_view::npos);
    EXPECT_EQ(profile.text(phase.name).find("Performance"), std::string_view::npos);
  }
}

// No thread and no call to another processor: the host's own time stood as the NPU's.
TEST_F(QnnViewerGraphs, AnEmulatedExecuteWasTheNpusTime) {
  const auto profiles = read_all("ort.csv", ort_head + ort_execute(node("a", 20, 30), 0, 50) +
                                                ort_execute(node("a", 20, 30), 0, 40));
  ASSERT_EQ(profiles.size(), 1u);
  const Profile& profile = profiles[0];
  EXPECT_EQ(profile.provenance.device, "HTP, emulated on the host");
  EXPECT_EQ(noted(profile, "emulated on the host"), 1u);
  for (const Measure& measure : profile.measures) {
    EXPECT_EQ(measure.origin, Origin::simulated) << profile.text(measure.what);
  }
}

// Without it nodes did not add up to the execute.
TEST_F(QnnViewerGraphs, ANodeWithoutANameVanished) {
  const std::string nameless = "0,NODE,7,CYCLES,BACKEND,SUB-EVENT,OpId_18 (cycles),\n";
  const auto profiles =
      read_all("ort.csv", ort_head + ort_execute(node("a", 17, 23) + nameless, 4, 50));
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(ops_of(profiles[0]), "a 23\nOpId_18 7\n");
  EXPECT_EQ(profiles[0].ops[1].id, 18u);
  EXPECT_NE(test::outcomes(profiles[0], Check::Outcome::passed)
                .find("cycles of nodes = of the execute (1 of 1 executes)"),
            std::string::npos);
  const auto broken = read_all("ort.csv", ort_head + ort_execute(node("a", 17, 23), 4, 50));
  EXPECT_EQ(test::outcomes(broken[0], Check::Outcome::failed),
            "cycles of nodes = of the execute (0 of 1 executes; execute 1: 23 in nodes, 30 in "
            "all)\n");
}

TEST_F(QnnViewerGraphs, NodesWithoutOpIdYieldedNothing) {
  const std::string execute =
      "UNKNOWN,EXECUTE,3100,US,BACKEND,ROOT,NULL\n"
      "UNKNOWN,BACKEND,2800,US,BACKEND,SUB-EVENT,Accelerator (execute) time\n"
      "UNKNOWN,NODE,600,CYCLES,BACKEND,SUB-EVENT,/MatMul\n"
      "UNKNOWN,NODE,300,CYCLES,BACKEND,SUB-EVENT,/Softmax\n";
  const auto profiles = read_all("ort.csv", ort_head + execute + execute);
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(profiles[0].provenance.inferences, 2u);
  EXPECT_EQ(ops_of(profiles[0]), "/MatMul 600 600\n/Softmax 300 300\n");
  EXPECT_EQ(values_of(profiles[0], "QNN (execute) time"), (std::vector<double>{3100, 3100}));
}

// Ops that a node overlaps with are listed below it, as nodes are.
TEST_F(QnnViewerGraphs, PartnersOfLintingWereNodes) {
  const std::string parts =
      "0,NODE,11,CYCLES,BACKEND,SUB-SUB-EVENT,Overlap time,\n"
      "0,NODE,\"\",CYCLES,BACKEND,SUB-SUB-SUB-EVENT,embed:OpId_99 ,\n"
      "0,NODE,9,CYCLES,BACKEND,SUB-SUB-EVENT,Overlap (wait) time,\n";
  const auto profiles = read_all(
      "ort.csv", ort_head + ort_execute(node("a", 20, 10) + parts + node("b", 21, 20), 4, 50));
  ASSERT_EQ(profiles.size(), 1u);
  ASSERT_EQ(profiles[0].ops.size(), 2u);
  EXPECT_EQ(ops_of(profiles[0]), "a 10 11 9\nb 20\n");
}

TEST_F(QnnViewerGraphs, SourceOpsSayWhatANodeIs) {
  const auto profiles =
      read_all("ort.csv", ort_head + ort_execute(node("a", 20, 10, "Conv:conv_a;Relu:relu_a") +
                                                     node("b", 21, 20, "\"MatMul:fc,Add:bias\"") +
                                                     node("c", 22, 0, "c"),
                                                 4, 50));
  ASSERT_EQ(profiles.size(), 1u);
  const auto kind = [&](std::size_t op) { return profiles[0].text(profiles[0].ops[op].node_kind); };
  EXPECT_EQ(kind(0), "Conv, Relu");
  EXPECT_EQ(kind(1), "MatMul, Add");
  EXPECT_EQ(kind(2), "");
  EXPECT_EQ(noted(profiles[0], "columns that are unknown"), 0u);
}

// Its times were filed under De-Init, and named linting.
TEST_F(QnnViewerGraphs, SummariesOverAllExecutesWerePartsOfDeInit) {
  const std::string of_graph =
      "Total Inference Time:\n---------------------\n    Graph 0 (detector):\n";
  const auto profiles = read_all(
      "viewer.txt",
      "Qnn Init/Prepare/Finalize/De-Init/Execute/Lib-Load Statistics:\n-----\n"
      "De-Init Stats:\n--------------\n    NetRun: 3449 us\n    Backend (QNN (deinit) time): 44 "
      "us\n\n"
      "Execute Stats (Average):\n------------------------\n" +
          of_graph +
          "        NetRun: 519 us\n        Backend (RPC (execute) time): 460 us\n"
          "        Backend (Accelerator (execute) time (cycles)): 30 cycles\n"
          "            Input OpId_2 (cycles): 10 cycles\n            conv1:OpId_18 (cycles): 20 "
          "cycles\n"
          "        Backend (Accelerator (execute) time): 400 us\n"
          "        Backend (QNN (execute) time): 501 us\n\n"
          "Execute Stats (Min):\n" +
          of_graph + "        Backend (QNN (execute) time): 488 us\n\nExecute Stats (Max):\n" +
          of_graph +
          "        Backend (QNN (execute) time): 610 us\n\nExecute Stats (Overall):\n"
          "    NetRun IPS: 21.5353 inf/sec\n");
  ASSERT_EQ(profiles.size(), 1u);
  const Profile& profile = profiles[0];
  EXPECT_EQ(profile.provenance.graph, "detector");
  EXPECT_EQ(profile.provenance.inferences, 0u);
  EXPECT_EQ(profile.provenance.instrumentation, "detailed");
  EXPECT_EQ(values_of(profile, "QNN (execute) time, mean"), std::vector<double>{501});
  EXPECT_EQ(values_of(profile, "QNN (execute) time, min"), std::vector<double>{488});
  EXPECT_EQ(values_of(profile, "QNN (execute) time, max"), std::vector<double>{610});
  EXPECT_EQ(values_of(profile, "NetRun IPS"), std::vector<double>{21.5353});
  EXPECT_EQ(values_of(profile, "De-Init: QNN (deinit) time"), std::vector<double>{44});
  EXPECT_EQ(ops_of(profile), "Input 10\nconv1 20\n");
  EXPECT_EQ(profile.phases.size(), 2u);
}

}  // namespace
}  // namespace npuscope::qnn::viewer_graphs_test
