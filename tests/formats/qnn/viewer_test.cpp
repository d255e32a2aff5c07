// qnn-profile-viewer's text, CSV and standardised JSON as profiles.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/qnn/generated_run.hpp"
#include "formats/qnn/scratch_files.hpp"

namespace npuscope::qnn::viewer_test {
namespace {

using test::GeneratedRun;
using test::values_of;

class QnnViewer : public test::ScratchFiles {};

// Op, inference and cycles of every measure of a node.
std::vector<std::string> node_cycles(const Profile& profile) {
  std::vector<std::string> rows;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::op) continue;
    const Op& op = profile.ops[measure.subject_id];
    rows.push_back(
        fmt::format("{} {} #{} {}", profile.text(op.name), op.id, measure.instance, measure.value));
    EXPECT_EQ(measure.kind, MeasureKind::work);
  }
  return rows;
}

TEST_F(QnnViewer, TextCsvAndJsonSayTheSame) {
  const GeneratedRun run = test::random_run(1);
  const Profile text = read_one({write("profile.txt", test::viewer_text_of(run))});
  const Profile csv = read_one({write("profile.csv", test::viewer_csv_of(run))});
  const Profile json = read_one({write("profile.json", test::viewer_json_of(run))});
  EXPECT_EQ(node_cycles(text).size(), 30u);
  EXPECT_EQ(node_cycles(text), node_cycles(csv));
  EXPECT_EQ(node_cycles(text), node_cycles(json));
  for (const char* label :
       {"RPC (execute) time", "QNN (execute) time", "Time for initial VTCM acquire",
        "Number of HVX threads used", "Accelerator (execute) time (cycles)"}) {
    EXPECT_EQ(values_of(text, label).size(), 3u) << label;
    EXPECT_EQ(values_of(text, label), values_of(csv, label)) << label;
    EXPECT_EQ(values_of(text, label), values_of(json, label)) << label;
  }
  for (const Profile* profile : {&text, &csv, &json}) {
    EXPECT_EQ(profile->provenance.inferences, 3u);
    EXPECT_EQ(profile->provenance.temperature, Provenance::Temperature::cold_then_warm);
  }
  EXPECT_EQ(text.provenance.version, "backend v2.45.0.2");
  EXPECT_EQ(json.provenance.version, "backend v2.45.0.2");
}

TEST_F(QnnViewer, PhasesOfAnExecuteBeginWithItAndExecutesFollowOneAnother) {
  const Profile profile =
      read_one({write("profile.txt", test::viewer_text_of(test::random_run(1)))});
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> executes;  // start and end
  for (const Phase& phase : profile.phases) {
    if (profile.text(phase.name) != "QNN (execute) time") continue;
    executes[phase.instance] = {phase.start, phase.start + phase.duration};
    EXPECT_EQ(profile.units[index_of(phase.unit)].engine, Engine::host);
  }
  ASSERT_EQ(executes.size(), 3u);
  EXPECT_EQ(executes[0].second, executes[1].first);
  EXPECT_EQ(executes[1].second, executes[2].first);
  EXPECT_EQ(executes[0].second - executes[0].first, 3'900'000);  // nanoseconds
  for (const Phase& phase : profile.phases) {
    if (!profile.text(phase.name).starts_with("RPC (execute)")) continue;
    EXPECT_EQ(phase.start, executes[phase.instance].first);
  }
  EXPECT_EQ(test::noted(profile, "only lengths are printed"), 1u);
}

// The order is known from RUN_TRACE, the lengths are printed.
TEST_F(QnnViewer, VtcmIsAcquiredThenPowerThenTheGraphExecutes) {
  const Profile profile =
      read_one({write("profile.txt",
                      "Execute Stats:\nExecute Stat 1\nQNN (execute) time : 2000  us\n"
                      "Time for HVX + HMX power on and acquire : 192  us\n"
                      "Time for initial VTCM acquire : 96  us\n"
                      "Accelerator (execute excluding wait) time : 80  us\n"
                      "Accelerator (execute) time : 100  us\n")});
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> nanoseconds;
  for (const Phase& phase : profile.phases) {
    nanoseconds[profile.text(phase.name)] = {phase.start, phase.start + phase.duration};
  }
  using Times = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(nanoseconds["Time for initial VTCM acquire"], Times(0, 5000));
  EXPECT_EQ(nanoseconds["Time for HVX + HMX power on and acquire"], Times(5000, 15000));
  EXPECT_EQ(nanoseconds["Accelerator (execute excluding wait) time"], Times(20000, 100000));
  EXPECT_EQ(nanoseconds["Accelerator (execute) time"], Times(0, 100000));
}

// The times when things happened are made up: they cannot tell what is part of what.
TEST_F(QnnViewer, LayersOfACallAreInOneAnotherAndSectionsInNone) {
  const Profile profile = read_one(
      {write("profile.csv",
             "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event "
             "Identifier\n"
             "0,BACKEND,14253,US,BACKEND,ROOT,RPC (finalize) time\n"
             "0,FINALIZE,561285,US,BACKEND,ROOT,QNN (finalize) time\n"
             "0,UNKNOWN,13056,US,BACKEND,SUB-EVENT,VTCM Allocation\n"
             "0,BACKEND,4,COUNT,BACKEND,ROOT,Number of HVX threads used\n"
             "0,BACKEND,7784,US,BACKEND,ROOT,RPC (execute) time\n"
             "0,BACKEND,4334,US,BACKEND,ROOT,QNN accelerator (execute) time\n"
             "0,BACKEND,665,US,BACKEND,ROOT,Time for initial VTCM acquire\n"
             "0,BACKEND,1359,US,BACKEND,ROOT,Accelerator (execute) time\n"
             "0,BACKEND,1132,US,BACKEND,ROOT,Accelerator (execute excluding wait) time\n"
             "0,EXECUTE,9308,US,BACKEND,ROOT,QNN (execute) time\n")});
  std::map<std::string, std::string> parents;
  for (const Phase& phase : profile.phases) {
    ASSERT_NE(phase.parent, no_phase);
    parents[std::string(profile.text(phase.name))] =
        phase.parent == outermost_phase
            ? ""
            : std::string(profile.text(profile.phases[phase.parent].name));
  }
  EXPECT_EQ(parents,
            (std::map<std::string, std::string>{
                {"FINALIZE: QNN (finalize) time", ""},
                {"FINALIZE: RPC (finalize) time", "FINALIZE: QNN (finalize) time"},
                {"FINALIZE: VTCM Allocation", "FINALIZE: QNN (finalize) time"},
                {"QNN (execute) time", ""},
                {"RPC (execute) time", "QNN (execute) time"},
                {"QNN accelerator (execute) time", "RPC (execute) time"},
                {"Accelerator (execute) time", "QNN accelerator (execute) time"},
                {"Time for initial VTCM acquire", "Accelerator (execute) time"},
                {"Accelerator (execute excluding wait) time", "Accelerator (execute) time"}}));
}

TEST_F(QnnViewer, TheWholeCallComesBeforeTheNumbersOfASummaryAndOfInit) {
  const GeneratedRun run = test::random_run(1);
  const Profile profile = read_one(
      {write("qhas.json", test::qhas_of(run)), write("profile.txt", test::viewer_text_of(run))});
  std::vector<std::string_view> names;
  for (const Measure& measure : profile.measures) names.push_back(profile.text(measure.what));
  ASSERT_GT(names.size(), 3u);
  EXPECT_EQ(names.front(), "QNN (execute) time");
}

TEST_F(QnnViewer, ExecutesComeBeforeWhatIsDoneOnceWhateverThePrintedOrder) {
  const Profile profile =
      read_one({write("profile.txt", test::viewer_text_of(test::random_run(1)))});
  bool outside = false;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::profile) continue;
    EXPECT_TRUE(measure.instance == every_instance || !outside) << profile.text(measure.what);
    outside |= measure.instance == every_instance;
  }
  EXPECT_TRUE(outside);
}

TEST_F(QnnViewer, WhatTheCallAddsToTheAcceleratorsTimeIsAMeasureOfEveryExecute) {
  const GeneratedRun run = test::random_run(1);
  const Profile profile = read_one({write("run.json", test::run_trace_of(run)),
                                    write("profile.txt", test::viewer_text_of(run))});
  const auto overhead = values_of(profile, "QNN (execute) beyond QNN DSP Execute");
  const auto calls = values_of(profile, "QNN (execute) time");
  ASSERT_EQ(overhead.size(), 3u);
  for (const Phase& phase : profile.phases) {
    if (profile.text(phase.name) != "QNN DSP Execute") continue;
    EXPECT_DOUBLE_EQ(overhead[phase.instance], calls[phase.instance] - phase.microseconds);
  }
}

TEST_F(QnnViewer, ItsNodesAreThoseOfASummaryWithoutInstances) {
  const GeneratedRun run = test::random_run(3);
  std::string text = test::qhas_of(run);
  const std::size_t begin = text.find("\"htp_op_instances\": {\"data\": [") + 31;
  text.erase(begin, text.rfind(']') - begin);
  const Profile profile =
      read_one({write("qhas.json", text), write("profile.csv", test::viewer_csv_of(run))});
  EXPECT_EQ(profile.ops.size(), 10u);
  EXPECT_EQ(values_of(profile, "cycles").size(), 10u);
  EXPECT_EQ(values_of(profile, "node cycles").size(), 30u);
  EXPECT_FALSE(profile.phases.empty());
}

TEST_F(QnnViewer, SectionsOutsideExecutesAreNamedByThem) {
  const GeneratedRun run = test::random_run(1);
  const Profile text = read_one({write("profile.txt", test::viewer_text_of(run))});
  EXPECT_EQ(values_of(text, "Init: NetRun"), std::vector<double>{24900});
  EXPECT_EQ(values_of(text, "De-Init: NetRun"), std::vector<double>{3449});
  EXPECT_EQ(text.phases.back().start + text.phases.back().duration, [&] {
    std::int64_t last = 0;
    for (const Phase& phase : text.phases) last = std::max(last, phase.start + phase.duration);
    return last;
  }());  // taking down comes last, wherever it is printed
  const Profile csv = read_one({write("profile.csv", test::viewer_csv_of(run))});
  EXPECT_EQ(values_of(csv, "FINALIZE: RPC (finalize) time"), std::vector<double>{14253});
  EXPECT_EQ(values_of(csv, "FINALIZE: Graph Optimizations"), std::vector<double>{271699});
  std::map<std::string, std::int64_t> start;
  for (const Phase& phase : csv.phases) start[std::string(csv.text(phase.name))] = phase.start;
  EXPECT_EQ(start["FINALIZE: Graph Preparation Initializing"], 0);
  EXPECT_EQ(start["FINALIZE: Graph Optimizations"], 451'000);
}

TEST_F(QnnViewer, NodesAreKnownWithColonAndWithSpace) {
  const Profile profile =
      read_one({write("profile.txt",
                      "Execute Stats:\nExecute Stat 1\nNumber of HVX threads used : 4  count\n"
                      "    Input OpId_2 (cycles) : 7818  cycles\n"
                      "    /a.b:c/MatMul:0:OpId_18 (cycles) : 32707  cycles\n"
                      "    OpId_4_copy:OpId_5 (cycles) : 12  cycles\n"
                      "Printing All Data Received From Back End\n")});
  EXPECT_EQ(node_cycles(profile),
            (std::vector<std::string>{"Input 2 #0 7818", "/a.b:c/MatMul:0 18 #0 32707",
                                      "OpId_4_copy 5 #0 12"}));
}

TEST_F(QnnViewer, UnknownAndEmptyValuesAreNoNumbers) {
  const Profile profile = read_one({write(
      "profile.csv",
      "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n"
      "0,BACKEND,4,COUNT,BACKEND,ROOT,Number of HVX threads used\n"
      "0,UNKNOWN,UNKNOWN,OBJECT,BACKEND,ROOT,Unknown event type\n"
      "0,BACKEND,,US,BACKEND,ROOT,RPC (execute) time\n"
      "0,EXECUTE,9308,US,BACKEND,ROOT,QNN (execute) time\n")});
  EXPECT_TRUE(values_of(profile, "Unknown event type").empty());
  EXPECT_TRUE(values_of(profile, "RPC (execute) time").empty());
  EXPECT_EQ(values_of(profile, "QNN (execute) time"), std::vector<double>{9308});
  EXPECT_EQ(profile.provenance.instrumentation, "optrace");
}

TEST_F(QnnViewer, CsvExecutesBeginAtTheirFirstLabelAndEndAtTheirLast) {
  // A basic profile has no HVX threads; what follows an execute is outside it.
  const Profile profile = read_one({write(
      "profile.csv",
      "qnn-profile-viewer: v2.47\nBackend: v2.47\n\n"
      "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n"
      "0,BACKEND,1,US,BACKEND,ROOT,RPC (execute) time\n"
      "0,EXECUTE,2,US,BACKEND,ROOT,QNN (execute) time\n"
      "0,BACKEND,3,US,BACKEND,ROOT,\"RPC (execute) time\"\r\n"
      "0,EXECUTE,4,US,BACKEND,ROOT,QNN (execute) time\n"
      "0,DEINIT,5,US,BACKEND,ROOT,QNN (deinit) time\n")});
  EXPECT_EQ(profile.provenance.inferences, 2u);
  EXPECT_EQ(profile.provenance.version, "backend v2.47");
  EXPECT_EQ(profile.provenance.instrumentation, "basic");
  EXPECT_EQ(values_of(profile, "RPC (execute) time"), (std::vector<double>{1, 3}));
  EXPECT_EQ(values_of(profile, "DEINIT: QNN (deinit) time"), std::vector<double>{5});
}

TEST_F(QnnViewer, NamesWithCommasAndQuotesAreWhole) {
  const Profile profile = read_one({write(
      "profile.csv",
      "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n"
      "0,BACKEND,4,COUNT,BACKEND,ROOT,Number of HVX threads used\n"
      "0,NODE,7,CYCLES,BACKEND,SUB-EVENT,\"a \"\"b\"\", c:OpId_3 (cycles)\"\n")});
  EXPECT_EQ(node_cycles(profile), std::vector<std::string>{"a \"b\", c 3 #0 7"});
}

const std::string csv_head =
    "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier";

TEST_F(QnnViewer, NamesWithCommasThatAreNotQuotedAreWhole) {
  const Profile profile = read_one({write(
      "profile.csv", csv_head + "\n"
                                "0,BACKEND,4,COUNT,BACKEND,ROOT,Number of HVX threads used\n"
                                "0,NODE,7,CYCLES,BACKEND,SUB-EVENT,/a, b,c/Conv:OpId_3 (cycles)\n"
                                "0,NODE,HVX, DMA,OBJECT,BACKEND,SUB-SUB-EVENT,Resources\n"
                                "0,EXECUTE,2,US,BACKEND,ROOT,QNN (execute) time\n")});
  EXPECT_EQ(node_cycles(profile), std::vector<std::string>{"/a, b,c/Conv 3 #0 7"});
  EXPECT_EQ(profile.text(profile.ops[0].attributes), "HVX, DMA");
  EXPECT_EQ(values_of(profile, "QNN (execute) time"), std::vector<double>{2});
}

TEST_F(QnnViewer, AnEighthColumnLosesNothing) {
  const std::vector<std::string> nodes{"a, b 3 #0 7", "c 4 #0 8"};
  const auto rows = [](const std::string& more) {
    return "0,BACKEND,4,COUNT,BACKEND,ROOT,Number of HVX threads used" + more +
           "\n0,NODE,7,CYCLES,BACKEND,SUB-EVENT,a, b:OpId_3 (cycles)" + more +
           "\n0,NODE,8,CYCLES,BACKEND,SUB-EVENT,c:OpId_4 (cycles)" + more +
           "\n0,EXECUTE,2,US,BACKEND,ROOT,QNN (execute) time" + more + "\n";
  };
  const std::string heads[] = {csv_head + ",Graph\n", csv_head + "\n", "Graph," + csv_head + "\n"};
  std::string before = rows("");
  for (std::size_t at = 0; at + 1 < before.size(); at = before.find('\n', at + 1)) {
    before.insert(at + (at > 0), "main,");
  }
  for (const std::string& text : {heads[0] + rows(",main"), heads[1] + rows(",main"),
                                  heads[1] + rows(","), heads[2] + before}) {
    const Profile profile = read_one({write("profile.csv", text)});
    EXPECT_EQ(node_cycles(profile), nodes) << text;
    EXPECT_EQ(values_of(profile, "QNN (execute) time"), std::vector<double>{2}) << text;
    EXPECT_EQ(test::noted(profile, "column"), text.find("main") == text.npos ? 0u
                                              : text.starts_with(heads[1])   ? 4u
                                                                             : 1u)
        << text;
  }
}

// Programs append to the file; some write the header row again, some do not.
TEST_F(QnnViewer, TwoSessionsInOneFileAreTwoProfilesThatEachBeginCold) {
  const GeneratedRun run = test::random_run(4);
  const auto repeat = [](const std::string& text) { return text + text; };
  const std::string csv = test::viewer_csv_of(run), text = test::viewer_text_of(run);
  const std::size_t row = csv.find('\n', csv.find("Msg Timestamp")) + 1;
  const std::string prepare =
      "0,BACKEND,14,US,BACKEND,ROOT,RPC (finalize) time\n"
      "0,FINALIZE,56,US,BACKEND,ROOT,QNN (finalize) time\n";
  const std::string rows = prepare + csv.substr(row);
  const std::string texts[] = {repeat(csv), csv.substr(0, row) + rows + rows, repeat(text)};
  for (const std::string& each : texts) {
    const auto sets = read_sets(std::vector{write("profile.out", each)});
    ASSERT_TRUE(sets) << sets.error().message;
    ASSERT_EQ(sets->profiles.size(), 2u) << each.substr(0, 200);
    const Profile& a = sets->profiles[0];
    const Profile& b = sets->profiles[1];
    EXPECT_EQ(a.provenance.inferences, run.inferences.size());
    EXPECT_EQ(b.provenance.inferences, run.inferences.size());
    EXPECT_EQ(a.provenance.version, b.provenance.version);
    EXPECT_EQ(node_cycles(a), node_cycles(b));
    ASSERT_EQ(a.measures.size(), b.measures.size());
    for (std::size_t i = 0; i < a.measures.size(); ++i) {
      EXPECT_EQ(a.text(a.measures[i].what), b.text(b.measures[i].what));
      EXPECT_EQ(a.measures[i].value, b.measures[i].value);
      EXPECT_EQ(a.measures[i].instance, b.measures[i].instance);
    }
    EXPECT_EQ(a.phases.size(), b.phases.size());
    EXPECT_EQ(test::noted(a, "session 1 of 2"), 1u);
    EXPECT_EQ(test::noted(b, "session 2 of 2"), 1u);
    EXPECT_EQ(test::noted(a, "too few columns") + test::noted(b, "too few columns"), 0u);
  }
}

// Every node has sub-events of its own, and execution is many times slower.
TEST_F(QnnViewer, LintingIsToldAndItsWaitsAndOverlapsAreMeasures) {
  const Profile profile = read_one({write(
      "profile.csv",
      "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n"
      "0,BACKEND,4,COUNT,BACKEND,ROOT,Number of HVX threads used\n"
      "0,BACKEND,900,CYCLES,BACKEND,ROOT,Accelerator (critical path execute) time (cycles)\n"
      "0,NODE,700,CYCLES,BACKEND,SUB-EVENT,MatMul_0:OpId_18 (cycles)\n"
      "0,NODE,50,CYCLES,BACKEND,SUB-SUB-EVENT,Wait (Scheduler) time\n"
      "0,NODE,60,CYCLES,BACKEND,SUB-SUB-EVENT,Overlap time\n"
      "0,NODE,\"HVX, DMA\",OBJECT,BACKEND,SUB-SUB-EVENT,Resources\n"
      "0,EXECUTE,9308,US,BACKEND,ROOT,QNN (execute) time\n")});
  EXPECT_EQ(profile.provenance.instrumentation, "linting");
  EXPECT_EQ(test::noted(profile, "linting slows execution"), 1u);
  ASSERT_EQ(profile.ops.size(), 1u);
  EXPECT_EQ(profile.text(profile.ops[0].attributes), "HVX, DMA");
  EXPECT_EQ(profile.ops[0].engine, Engine::hvx);
  EXPECT_EQ(values_of(profile, "node cycles"), std::vector<double>{700});
  EXPECT_EQ(values_of(profile, "Wait (Scheduler) time"), std::vector<double>{50});
  EXPECT_EQ(values_of(profile, "Overlap time"), std::vector<double>{60});
  for (const Measure& measure : profile.measures) {
    if (profile.text(measure.what).find("critical path") == std::string_view::npos) continue;
    EXPECT_EQ(measure.kind, MeasureKind::dominant_path);
  }
}

TEST_F(QnnViewer, StandardisedJsonIsReadInAnyOrderOfKeysAndAnyNesting) {
  const Profile profile = read_one({write("profile.json", R"json({"messages": [{"profilingEvents": [
    {"sub-events": [{"value": "32707", "unit": "CYCLES", "identifier": "MatMul_0:OpId_18 (cycles)"},
                    {"identifier": 7}],
     "value": 68365, "unit": "CYCLES", "identifier": "Accelerator (execute) time (cycles)"}],
    "method": "BACKEND_EXECUTE"}], "metadata": null})json")});
  EXPECT_EQ(node_cycles(profile), std::vector<std::string>{"MatMul_0 18 #0 32707"});
  EXPECT_EQ(values_of(profile, "Accelerator (execute) time (cycles)"), std::vector<double>{68365});
  EXPECT_EQ(test::noted(profile, "\"identifier\" is not a text"), 1u);
}

TEST_F(QnnViewer, ItsNodesStandBesideTheOpsOfATrace) {
  const GeneratedRun run = test::random_run(3);
  const Profile profile = read_one({write("trace.json", test::op_trace_of(run)),
                                    write("profile.csv", test::viewer_csv_of(run))});
  EXPECT_EQ(profile.phases.size(), 0u);  // the cycles of the trace are its time axis
  EXPECT_EQ(values_of(profile, "node cycles").size(), 30u);
  EXPECT_EQ(test::outcomes(profile, Check::Outcome::failed), "");
}

}  // namespace
}  // namespace npuscope::qnn::viewer_test
