// npuscope graph as a user runs it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::graph_test {
namespace {

using testing::HasSubstr;
using Graph = TraceFolder;

TEST_F(Graph, PrintsTextJsonAndCsv) {
  const Outcome text = run_npuscope({"graph", path("trace.json")});
  EXPECT_EQ(text.status, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("COMPILED GRAPH"));
  EXPECT_THAT(text.output, HasSubstr("no edges between ops"));
  const Outcome json = run_npuscope({"graph", path("trace.json"), "--json"});
  EXPECT_EQ(json.status, 0) << json.errors;
  const auto document = nlohmann::json::parse(json.output)["profiles"][0];
  EXPECT_EQ(document["graph"]["ops"], document["nodes"]["rows"].size());
  const Outcome csv = run_npuscope({"graph", path("trace.json"), "--csv", "--table", "edges"});
  EXPECT_EQ(csv.status, 0) << csv.errors;
  EXPECT_THAT(csv.output, HasSubstr("from_op,to_op,kind"));
}

TEST_F(Graph, DrawsButNeverOverAnInput) {
  const Outcome drawn =
      run_npuscope({"graph", path("trace.json"), "--svg", path("g.svg"), "--dot", path("g.dot")});
  EXPECT_EQ(drawn.status, 0) << drawn.errors;
  EXPECT_TRUE(std::filesystem::exists(path("g.svg")));
  EXPECT_TRUE(std::filesystem::exists(path("g.dot")));
  const Outcome over = run_npuscope({"graph", path("trace.json"), "--svg", path("trace.json")});
  EXPECT_EQ(over.status, 2);
  const Outcome nowhere =
      run_npuscope({"graph", path("trace.json"), "--dot", path("missing/g.dot")});
  EXPECT_EQ(nowhere.status, 4);
}

// Two convolutions in a row, as what a picture of the surroundings of the second holds.
TEST_F(Graph, AroundAnOpAreThoseAsManyEdgesAway) {
  const auto ops_around = [&](const char* hops, const char* edges) {
    const Outcome outcome =
        run_npuscope({"graph", NPUSCOPE_SOURCE_DIR "/examples/qnn_htp", "--around", "n2", "--hops",
                      hops, "--edges", edges, "--dot", path("around.dot")});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    std::vector<std::string> names;
    std::ifstream dot(path("around.dot"));
    for (std::string line; std::getline(dot, line);) {
      const std::size_t begin = line.find("[label=\"");
      if (begin == line.npos) continue;
      const std::size_t end = line.find_first_of("\\\"", begin + 8);
      names.push_back(line.substr(begin + 8, end - begin - 8));
    }
    return names;
  };
  EXPECT_THAT(ops_around("0", "data"), testing::Each("n2"));
  EXPECT_THAT(ops_around("1", "data"), testing::UnorderedElementsAre("n0", "n2", "n2", "n3"));
  EXPECT_THAT(ops_around("1", "data,order"), testing::IsSupersetOf({"n0", "n2", "n3", "n56"}));
}

TEST_F(Graph, RefusesWhatMakesNoSense) {
  const auto refuses = [&](std::vector<std::string> flags, int status, const char* says) {
    flags.insert(flags.begin(), {"graph", path("trace.json")});
    const Outcome outcome = run_npuscope(flags);
    EXPECT_EQ(outcome.status, status) << flags.back();
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, HasSubstr(says)) << flags.back();
  };
  refuses({"--path", "nothing_like_it", "matmul"}, 2, "the nearest names");
  refuses({"--path", "mat(mul", "matmul"}, 2, "--path");
  refuses({"--around", "matmul", "--hops", "-1"}, 2, "--hops");
  refuses({"--hops", "2"}, 2, "--around");
  refuses({"--around", "matmul", "--edges", "colour"}, 2,
          "--edges: 'colour' is unknown; use data, flow, order, reuse, transfer");
  refuses({"--by", "colour"}, 2, "--by: 'colour' is unknown; use part, name, kind, node");
  refuses({"--batchsize", "2"}, 2, "--expect");
  refuses({"--expect", path("trace.json")}, 3, "trace.json");
  refuses({"--expect", path("missing.onnx")}, 3, "missing.onnx");
}

TEST_F(Graph, PrintsADrawingInsteadOfThePage) {
  const Outcome svg = run_npuscope({"graph", path("trace.json"), "--by", "kind", "--svg", "-"});
  EXPECT_EQ(svg.status, 0) << svg.errors;
  EXPECT_THAT(svg.output, ::testing::StartsWith("<"));
  EXPECT_THAT(svg.output, ::testing::Not(HasSubstr("COMPILED GRAPH")));
  const Outcome dot = run_npuscope({"graph", path("trace.json"), "--dot", "-"});
  EXPECT_THAT(dot.output, HasSubstr("digraph"));
  EXPECT_EQ(run_npuscope({"graph", path("trace.json"), "--dot", "-", "--svg", "-"}).status, 2);
}

// An optrace set lists all operators of the model by name; most of them are no ops of the graph.
TEST_F(Graph, TellsFusedAndFoldedNodesOnAnHtpToo) {
  const std::string model = NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx";
  for (const char* name : {"bin", "traces"}) std::filesystem::create_directory(path(name));
  ASSERT_EQ(run_npuscope({"compile", "-m", model, "-target=htp-v75", "-stats-level=70",
                          "-convert-to-fp16", "-aic-binary-dir=" + path("bin")})
                .status,
            0);
  ASSERT_EQ(run_npuscope({"run", "-t", path("bin"), "-n", "2", "-S", "1", "--emit", "qnn",
                          "--emit-dir", path("traces")})
                .status,
            0);
  const Outcome outcome = run_npuscope({"graph", path("traces"), "--expect", model, "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const auto facts = nlohmann::json::parse(outcome.output)["profiles"][0]["expected"];
  EXPECT_EQ(facts["nodes"], 105);
  EXPECT_EQ(facts["vanished"], 39);  // constants
  EXPECT_EQ(facts["fused"], 26);     // each Relu into its Conv
  EXPECT_EQ(facts["unmatched"], 0);
  EXPECT_EQ(facts["dependencies_missing"], 0);
}

// Every node of a model is explained by what the reference NPU's compiler made of it.
TEST_F(Graph, ExplainsEveryNodeOfAModel) {
  const auto explains = [&](const std::string& model, std::size_t nodes) {
    const std::string folder = path("binaries");
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    const Outcome compiled =
        run_npuscope({"compile", "-m", model, "-aic-binary-dir=" + folder, "-stats-level=70",
                      "-convert-to-fp16", "-aic-num-cores=4"});
    ASSERT_EQ(compiled.status, 0) << compiled.errors;
    const Outcome outcome =
        run_npuscope({"graph", folder + "/programqpc.bin", "--expect", model, "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const auto facts = nlohmann::json::parse(outcome.output)["profiles"][0]["expected"];
    EXPECT_EQ(facts["nodes"], nodes);
    EXPECT_EQ(facts["unmatched"], 0) << model;
    EXPECT_EQ(facts["unmatched_ops"], 0) << model;
    EXPECT_EQ(facts["dependencies_missing"], 0) << model;
    EXPECT_EQ(facts["dependencies_unexpected"], 0) << model;
    EXPECT_GT(facts["split"], 30) << model;
    EXPECT_GT(facts["fused"], 20) << model;
    EXPECT_GT(facts["vanished"], 30) << model;
  };
  const std::string models = std::string(NPUSCOPE_SOURCE_DIR) + "/models/";
  explains(models + "light_squeezenet.onnx", 105);
  explains(models + "light_resnet50.onnx", 415);
  const std::string bert = path("bert.onnx");
  const Outcome made = run_npuscope_model({"bert-base", "--seq", "64", "-o", bert});
  ASSERT_EQ(made.status, 0) << made.errors;
  explains(bert, 627);
}

}  // namespace
}  // namespace npuscope::cli::graph_test
