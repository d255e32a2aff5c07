// A compiled graph made by hand with one of each: kept, split, fused, vanished, inserted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/graph/graph_expected.hpp"
#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::graph_match_test {
namespace {

using test_support::ProfileBuilder;

// A chain of nodes, each with one output of the same shape.
struct Model {
  ExpectedGraph graph;

  Model() { graph.tensors.push_back({"in", {1, 8, 8}, false, no_node}); }

  std::uint32_t node(const char* name, const char* op, std::vector<std::uint32_t> inputs,
                     ExpectedRole role = ExpectedRole::executes,
                     std::vector<std::int64_t> shape = {1, 8, 8}) {
    const auto number = std::uint32_t(graph.nodes.size());
    const auto output = std::uint32_t(graph.tensors.size());
    graph.tensors.push_back({std::string(name) + "_out", std::move(shape), false, number});
    graph.nodes.push_back({name, op, role, std::move(inputs), {output}});
    return output;
  }
};

NodeFate fate(const GraphMatch& match, std::size_t node) { return match.nodes[node].fate; }

TEST(GraphMatch, EveryFateOfANode) {
  Model model;
  const auto conv = model.node("conv", "Conv", {0});
  const auto relu = model.node("relu", "Relu", {conv});
  const auto reshape = model.node("reshape", "Reshape", {relu}, ExpectedRole::view);
  const auto matmul = model.node("matmul", "MatMul", {reshape});
  const auto add = model.node("add", "Add", {matmul});
  model.node("unused", "Exp", {add});
  const auto softmax = model.node("softmax", "Softmax", {add});
  model.graph.outputs = {softmax};

  ProfileBuilder made;
  made.op("conv/__0", "aicconvolutiond32");
  made.op("conv/__1", "aicconvolutiond32");
  made.op("conv", "aiccopytovtcm");
  made.op("matmul+add", "aicconvolutiond32");
  made.op("softmax", "aicsoftmax");
  made.op("statistics", "aicendcyclestats");
  made.profile.edges = {{OpId(2), OpId(0)},
                        {OpId(2), OpId(1)},
                        {OpId(0), OpId(3)},
                        {OpId(1), OpId(3)},
                        {OpId(3), OpId(4)}};
  const auto match = match_graph(made.profile, OpGraph(6, made.profile.edges), model.graph);
  EXPECT_EQ(fate(match, 0), NodeFate::split);
  EXPECT_EQ(match.nodes[0].ops, 2u);
  EXPECT_EQ(fate(match, 1), NodeFate::fused);
  EXPECT_EQ(match.nodes[1].into, 0u);
  EXPECT_EQ(match.nodes[1].evidence, MatchEvidence::position);
  EXPECT_EQ(fate(match, 2), NodeFate::vanished);
  EXPECT_EQ(fate(match, 3), NodeFate::kept);
  EXPECT_EQ(fate(match, 4), NodeFate::fused);
  EXPECT_EQ(match.nodes[4].into, 3u);
  EXPECT_EQ(match.nodes[4].evidence, MatchEvidence::joined_name);
  EXPECT_EQ(fate(match, 5), NodeFate::vanished);
  EXPECT_EQ(fate(match, 6), NodeFate::kept);
  EXPECT_EQ(match.inserted[2], InsertedKind::load);
  EXPECT_EQ(match.inserted[5], InsertedKind::statistics);
  EXPECT_EQ(match.inserted[3], InsertedKind::none);
  EXPECT_TRUE(match.unmatched_ops.empty());
  EXPECT_TRUE(match.missing.empty());
  EXPECT_TRUE(match.unexpected.empty());
  EXPECT_EQ(match.dependencies, 2u);  // conv to matmul, matmul to softmax
}

TEST(GraphMatch, ADependencyThatIsGoneAndOneThatIsNew) {
  Model model;
  const auto a = model.node("a", "Exp", {0});
  const auto b = model.node("b", "Erf", {a});
  const auto c = model.node("c", "Tanh", {0});
  model.graph.outputs = {b, c};
  ProfileBuilder made;
  made.op("a", "elementexp");
  made.op("b", "elementerf");
  made.op("c", "elementtanh");
  made.op("mover", "aicmulticastvtcm");
  made.profile.edges = {{OpId(0), OpId(3)}, {OpId(3), OpId(2)}};  // a, mover, c
  const auto match = match_graph(made.profile, OpGraph(4, made.profile.edges), model.graph);
  EXPECT_THAT(match.missing, ::testing::ElementsAre(NodePair{0, 1}));
  EXPECT_THAT(match.unexpected, ::testing::ElementsAre(NodePair{0, 2}));
}

TEST(GraphMatch, AReuseEdgeIsNoDependencyOfData) {
  Model model;
  const auto a = model.node("a", "Exp", {0});
  const auto b = model.node("b", "Erf", {a});
  const auto c = model.node("c", "Tanh", {0});
  model.graph.outputs = {b, c};
  ProfileBuilder made;
  made.op("a", "elementexp");
  made.op("b", "elementerf");
  made.op("c", "elementtanh");
  made.profile.edges = {{OpId(0), OpId(1), EdgeKind::data}, {OpId(0), OpId(2), EdgeKind::reuse}};
  const auto match = match_graph(made.profile, OpGraph(3, made.profile.edges), model.graph);
  EXPECT_TRUE(match.missing.empty());
  EXPECT_TRUE(match.unexpected.empty());
}

// qnn-profile-viewer lists every operator of the model, those too that were fused or folded.
TEST(GraphMatch, ANameInAListOfTheModelsOperatorsIsNoOpOfTheCompiledGraph) {
  Model model;
  const auto weights = model.node("weights", "ConstantOfShape", {}, ExpectedRole::folded);
  const auto conv = model.node("conv", "Conv", {0, weights});
  const auto relu = model.node("relu", "Relu", {conv});
  const auto pool = model.node("pool", "MaxPool", {relu});
  model.graph.outputs = {pool};
  ProfileBuilder made;
  made.op("conv", "q::ConvLayer");
  made.op("pool", "q::PoolMax2d");
  for (const char* name : {"weights", "conv", "relu", "pool"}) made.op(name);
  made.profile.edges = {{OpId(0), OpId(1), EdgeKind::data}};
  const std::vector<std::uint8_t> compiled{1, 1, 0, 0, 0, 0};
  const auto match =
      match_graph(made.profile, OpGraph(6, made.profile.edges), model.graph, compiled);
  EXPECT_EQ(fate(match, 0), NodeFate::vanished);
  EXPECT_EQ(fate(match, 1), NodeFate::kept);
  EXPECT_EQ(fate(match, 2), NodeFate::fused);
  EXPECT_EQ(match.nodes[2].into, 1u);
  EXPECT_EQ(fate(match, 3), NodeFate::kept);
  EXPECT_TRUE(match.missing.empty());
  EXPECT_EQ(match.dependencies, 1u);
}

// An IPU's log names each layer by what it writes: of a Conv with its Relu that is the Relu's
// result.
TEST(GraphMatch, AProductNamedByTheResultOfItsReluIsTheProduct) {
  Model model;
  const auto conv = model.node("conv", "Conv", {0});
  const auto relu = model.node("relu", "Relu", {conv});
  const auto left = model.node("left", "Conv", {relu});
  const auto left_relu = model.node("left_relu", "Relu", {left});
  const auto right = model.node("right", "Conv", {relu});
  const auto right_relu = model.node("right_relu", "Relu", {right});
  const auto both = model.node("both", "Concat", {left_relu, right_relu});
  model.graph.outputs = {both};
  ProfileBuilder made;
  made.op("relu_out", "CONV_2D");
  made.op("left_relu_out", "CONV_2D");
  made.op("right_relu_out", "CONV_2D");
  made.op("both_out", "CONCATENATION");
  made.profile.edges = {{OpId(0), OpId(1), EdgeKind::flow},
                        {OpId(1), OpId(2), EdgeKind::flow},
                        {OpId(2), OpId(3), EdgeKind::flow}};
  const auto match = match_graph(made.profile, OpGraph(4, made.profile.edges), model.graph);
  for (const std::size_t node : {0, 2, 4}) {
    EXPECT_EQ(fate(match, node), NodeFate::kept) << node;
    EXPECT_EQ(fate(match, node + 1), NodeFate::fused) << node;
    EXPECT_EQ(match.nodes[node + 1].into, node);
  }
  EXPECT_EQ(fate(match, 6), NodeFate::kept);
  EXPECT_TRUE(match.missing.empty());
  EXPECT_TRUE(match.unexpected.empty());  // left before right is the order of a log
}

// Conv, Relu, Reshape, Conv, with a constant that an importer writes as an operator.
struct SourceCase {
  Model model;
  ProfileBuilder made;

  SourceCase() {
    const auto shape = model.node("shape", "ConstantOfShape", {}, ExpectedRole::folded);
    const auto a = model.node("a", "Conv", {0, shape});
    const auto relu = model.node("relu", "Relu", {a});
    const auto view = model.node("view", "Reshape", {relu}, ExpectedRole::view);
    const auto b = model.node("b", "Conv", {view});
    model.graph.outputs = {b};
  }
  void source(std::vector<std::pair<const char*, const char*>> operators) {
    for (const auto& [name, kind] : operators) {
      made.profile.source_operators.push_back({made.text(name), made.text(kind)});
    }
  }
  void op(const char* name, const char* node) {
    made.profile.ops[index_of(made.op(name, "conv2d"))].node = made.text(node);
  }
  GraphMatch match() const {
    return match_graph(made.profile, OpGraph(made.profile.ops.size(), {}), model.graph);
  }
};

TEST(GraphMatch, OpsThatNameOperatorsByTheirLinesInTheSourceFoundNoNode) {
  SourceCase tried;
  tried.source({{"onnx.Constant@L3", "Constant"},
                {"onnx.Constant@L4", "Constant"},
                {"onnx.Conv@L5", "Conv"},
                {"onnx.Relu@L6", "Relu"},
                {"onnx.Reshape@L7", "Reshape"},
                {"onnx.Conv@L8", "Conv"}});
  tried.op("program 0", "onnx.Conv@L5 onnx.Relu@L6");
  tried.op("program 1", "onnx.Conv@L8");
  const GraphMatch match = tried.match();
  EXPECT_EQ(match.node_of_op[0], 1u);
  EXPECT_EQ(match.nodes[1].evidence, MatchEvidence::source);
  EXPECT_EQ(fate(match, 2), NodeFate::fused);
  EXPECT_EQ(match.nodes[2].into, 1u);
  EXPECT_EQ(match.node_of_op[1], 4u);
}

// A table of what ran names neither constants nor views.
TEST(GraphMatch, OperatorsThatRanInTheOrderOfTheNodes) {
  SourceCase tried;
  tried.source({{"onnx.Conv@L5", "Conv"}, {"onnx.Relu@L6", "Relu"}, {"onnx.Conv@L8", "Conv"}});
  tried.op("program 0", "onnx.Conv@L5");
  tried.op("program 1", "onnx.Conv@L8");
  const GraphMatch match = tried.match();
  EXPECT_EQ(match.node_of_op[0], 1u);
  EXPECT_EQ(match.node_of_op[1], 4u);
}

TEST(GraphMatch, TheSourceOfAnotherModelNamesNoNode) {
  SourceCase tried;
  tried.source({{"onnx.Relu@L5", "Relu"}, {"onnx.Conv@L6", "Conv"}, {"onnx.Conv@L7", "Conv"}});
  tried.op("program 0", "onnx.Conv@L6");
  const GraphMatch match = tried.match();
  EXPECT_EQ(match.node_of_op[0], no_node);
}

TEST(GraphMatch, NamesAsConvertersChangeThem) {
  Model model;
  const auto a = model.node("/layer.0/attn/MatMul", "MatMul", {0});
  const auto b = model.node("MatMul_1", "MatMul", {a});
  model.graph.outputs = {b};
  ProfileBuilder made;
  made.op("_layer_0_attn_MatMul", "q::ConvLayer");
  made.op("MatMul_1_post_reshape", "q::ConvLayer");
  made.op("MatMul_1_out", "q::ForceFormat_Flat");
  made.profile.edges = {{OpId(0), OpId(1)}};
  const auto match = match_graph(made.profile, OpGraph(3, made.profile.edges), model.graph);
  EXPECT_EQ(match.nodes[0].evidence, MatchEvidence::derived_name);
  EXPECT_EQ(match.node_of_op[1], 1u);
  EXPECT_EQ(match.node_of_op[2], 1u);
  EXPECT_EQ(match.inserted[2], InsertedKind::format_conversion);
}

TEST(GraphMatch, WithoutNamesByNeighboursAndOrder) {
  Model model;
  const auto a = model.node("a", "Conv", {0});
  const auto b = model.node("b", "Softmax", {a});
  const auto c = model.node("c", "Erf", {b});
  const auto d = model.node("d", "Erf", {c}, ExpectedRole::executes, {4, 4});
  model.graph.outputs = {d};
  ProfileBuilder made;
  made.op("a", "aicconvolutiond32");
  made.op("x1", "aicsoftmax");
  made.op("x2", "elementerf");
  made.op("x3", "elementerf");
  made.op("x4", "elementmystery");
  const char* shapes[] = {"", "[1,8,8]", "Dest [8 x 8], Src [3]", "[4,4]", "[2,2]"};
  for (std::size_t i = 0; i < 5; ++i) made.shape(made.profile.ops[i], shapes[i]);
  made.profile.edges = {{OpId(0), OpId(1)}, {OpId(4), OpId(2)}, {OpId(2), OpId(3)}};
  const auto match = match_graph(made.profile, OpGraph(5, made.profile.edges), model.graph);
  EXPECT_EQ(match.node_of_op[1], 1u);
  EXPECT_EQ(match.nodes[1].evidence, MatchEvidence::neighbours);
  EXPECT_EQ(match.node_of_op[2], 2u);
  EXPECT_EQ(match.nodes[2].evidence, MatchEvidence::order);
  EXPECT_EQ(match.node_of_op[3], 3u);
  EXPECT_THAT(match.unmatched_ops, ::testing::ElementsAre(OpId(4)));
}

TEST(GraphMatch, WhatCannotBeExplainedSaysWhy) {
  Model model;
  const auto a = model.node("a", "Exp", {0});
  const auto lost = model.node("lost", "Softmax", {a});
  const auto b = model.node("b", "Erf", {lost});
  model.graph.outputs = {b};
  ProfileBuilder made;
  made.op("a", "elementexp");
  made.op("b", "elementerf");
  made.op("stranger", "elementmystery");
  made.profile.edges = {{OpId(0), OpId(2)}};
  const auto match = match_graph(made.profile, OpGraph(3, made.profile.edges), model.graph);
  EXPECT_EQ(fate(match, 1), NodeFate::unmatched);
  EXPECT_STREQ(match.nodes[1].why,
               "no op bears its name, and no data leads straight from its producer's ops to its "
               "consumer's");
}

TEST(GraphMatch, CyclesAndEmptyGraphsAreNoObstacle) {
  Model model;
  const auto a = model.node("a", "Exp", {0});
  model.graph.outputs = {a};
  ProfileBuilder made;
  made.op("a", "elementexp");
  for (int i = 0; i < 200; ++i) made.op("m" + std::to_string(i), "aicmulticastvtcm");
  for (std::uint32_t i = 0; i < 201; ++i) {
    made.profile.edges.push_back({OpId(i), OpId((i + 1) % 201)});
    made.profile.edges.push_back({OpId((i + 7) % 201), OpId(i)});
  }
  EXPECT_EQ(match_graph(made.profile, OpGraph(201, made.profile.edges), model.graph).nodes[0].fate,
            NodeFate::kept);
  const Profile empty;
  EXPECT_EQ(match_graph(empty, OpGraph(0, {}), model.graph).nodes[0].fate, NodeFate::unmatched);
  EXPECT_TRUE(match_graph(empty, OpGraph(0, {}), {}).nodes.empty());
}

}  // namespace
}  // namespace npuscope::analysis::graph_match_test
