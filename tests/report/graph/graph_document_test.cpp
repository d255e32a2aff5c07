// The whole pages of a small graph: two branches that share a scratch, one that waits for memory.
#include "report/graph/graph_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/profile_builder.hpp"
#include "npuscope/formats/open.hpp"
#include "report/graph/graph_drawing.hpp"

namespace npuscope::report::graph_document_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Profile small_profile() {
  test_support::ProfileBuilder made;
  made.profile.provenance.files = {"small"};
  made.profile.provenance.format = "QNN HTP optrace";
  const UnitId a = made.unit("HVX 0", Engine::hvx), b = made.unit("HVX 1", Engine::hvx);
  const UnitId dma = made.unit("DMA", Engine::dma);
  made.span(dma, "Load", 0, 20, SpanKind::transfer, "aiccopytovtcm");
  made.span(a, "Diag_0", 20, 70, SpanKind::op, "GdnSolveDiag");
  made.span(a, "Merge_0", 70, 220, SpanKind::op, "GdnMergeHmx");
  made.span(b, "Diag_1", 20, 80, SpanKind::op, "GdnSolveDiag");
  made.span(b, "Merge_1", 220, 320, SpanKind::op, "GdnMergeHmx");
  made.op("Reshape", "q::Reshape");
  for (std::uint32_t i = 0; i < 5; ++i) made.profile.ops[i].output = Bytes{1 << (10 + 2 * i)};
  const auto edge = [&](std::uint32_t from, std::uint32_t to, EdgeKind kind) {
    made.profile.edges.push_back({OpId(from), OpId(to), kind});
  };
  edge(0, 1, EdgeKind::data);
  edge(0, 3, EdgeKind::data);
  edge(1, 2, EdgeKind::data);
  edge(3, 4, EdgeKind::data);
  edge(2, 4, EdgeKind::reuse);
  edge(4, 5, EdgeKind::data);
  edge(4, 99, EdgeKind::data);
  Tensor scratch;
  scratch.name = made.text("$Const_17");
  scratch.shape = made.text("[1,128,128]");
  scratch.type = made.text("Float32");
  scratch.size = Bytes{65536};
  scratch.is_constant = true;
  made.profile.tensors = {scratch};
  made.profile.tensor_uses = {{0, OpId(2)}, {0, OpId(4)}};
  return std::move(made.profile);
}

analysis::ExpectedGraph small_model() {
  using analysis::ExpectedRole;
  analysis::ExpectedGraph model;
  model.name = "gdn";
  model.tensors = {{"in", {4}, false, analysis::no_node},
                   {"d0", {4}, false, 0},
                   {"m0", {4}, false, 1},
                   {"d1", {4}, false, 2},
                   {"m1", {4}, false, 3},
                   {"out", {4}, false, 4}};
  model.nodes = {{"Diag_0", "GdnSolveDiag", ExpectedRole::executes, {0}, {1}},
                 {"Merge_0", "GdnMergeHmx", ExpectedRole::executes, {1}, {2}},
                 {"Diag_1", "GdnSolveDiag", ExpectedRole::executes, {0}, {3}},
                 {"Merge_1", "GdnMergeHmx", ExpectedRole::executes, {3}, {4}},
                 {"Relu", "Relu", ExpectedRole::executes, {4}, {5}}};
  model.outputs = {2, 5};
  return model;
}

std::string expected(const std::string& file) {
  std::ifstream in(std::filesystem::path(NPUSCOPE_TEST_DATA) / "graph" / file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(GraphDocument, AsText) {
  const Profile profile = small_profile();
  const analysis::Analysis analysed(profile);
  const GraphView view(analysed);
  const auto model = small_model();
  const auto document = graph_document(view, {.top = 5, .expected = &model});
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document_text(*document, 100), expected("small.txt"));
}

TEST(GraphDocument, PathAndSurroundingsAsText) {
  const Profile profile = small_profile();
  const analysis::Analysis analysed(profile);
  const GraphView view(analysed);
  const auto path = graph_path_document(view, "Load", "Reshape", analysis::EdgeKinds::all());
  ASSERT_TRUE(path) << path.error().message;
  const auto around = graph_around_document(view, "Merge_1", 1, analysis::EdgeKinds::all());
  ASSERT_TRUE(around) << around.error().message;
  EXPECT_EQ(document_text(*path, 100) + document_text(*around, 100), expected("paths.txt"));
}

TEST(GraphDocument, ForMachinesItHasAllNodesEdgesAndTensors) {
  const Profile profile = small_profile();
  const analysis::Analysis analysed(profile);
  const GraphView view(analysed);
  const auto document = graph_document(view, {.top = 1, .whole = true});
  ASSERT_TRUE(document) << document.error().message;
  const auto json = nlohmann::json::parse(documents_json({&*document, 1}, {}))["profiles"][0];
  EXPECT_EQ(json["nodes"]["rows"].size(), 6u);
  EXPECT_EQ(json["edges"]["rows"].size(), 6u);
  EXPECT_EQ(json["edges"]["rows"][0]["from_op"], 0);
  EXPECT_EQ(json["edges"]["rows"][0]["kind"], "data");
  EXPECT_EQ(json["tensors"]["rows"][0]["name"], "$Const_17");
  EXPECT_EQ(json["tensor_uses"]["rows"].size(), 2u);
  EXPECT_EQ(json["graph"]["edges_reuse"], 1);
}

TEST(GraphDocument, NoPathIsAnAnswerAndNoOpIsNot) {
  const Profile profile = small_profile();
  const analysis::Analysis analysed(profile);
  const GraphView view(analysed);
  const auto none = graph_path_document(view, "Merge_1", "Load", analysis::EdgeKinds::all());
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_THAT(document_text(*none, 100), HasSubstr("one leads the other way round"));
  const auto unknown = graph_path_document(view, "Lod", "Load", analysis::EdgeKinds::all());
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("the nearest names: 'Load'"));
  const Profile empty;
  EXPECT_FALSE(graph_document(GraphView(analysis::Analysis(empty)), {}));
}

TEST(GraphDrawing, DotAndSvg) {
  const Profile profile = small_profile();
  const analysis::Analysis analysed(profile);
  const GraphView view(analysed);
  const auto drawing = draw_graph(view, {});
  ASSERT_TRUE(drawing) << drawing.error().message;
  EXPECT_EQ(dot_text(*drawing), expected("small.dot"));
  EXPECT_EQ(svg_text(*drawing), expected("small.svg"));
}

// A kernel with its two transfers of constants, one of them without an edge; an input of the model.
Profile profile_with_loads() {
  test_support::ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx), dma = made.unit("DMA", Engine::dma);
  made.span(dma, "Input", 0, 10, SpanKind::op, "copy");
  made.span(dma, "weights", 10, 30, SpanKind::op, "load");
  made.span(dma, "bias", 30, 35, SpanKind::op, "load");
  made.span(hmx, "MatMul_0", 35, 100, SpanKind::op, "conv");
  for (const std::uint32_t op : {1u, 2u, 3u}) made.profile.ops[op].node = made.text("MatMul_0");
  made.profile.edges = {{OpId(0), OpId(3)}, {OpId(1), OpId(3)}};
  made.profile.tensors.emplace_back();
  made.profile.tensor_uses = {{0, OpId(0)}};
  return std::move(made.profile);
}

TEST(GraphDrawing, LoadsAreDrawnWithTheOpThatNeedsThem) {
  const Profile profile = profile_with_loads();
  const analysis::Analysis analysed(profile);
  const GraphView view(analysed);
  const auto folded = draw_graph(view, {});
  ASSERT_TRUE(folded);
  ASSERT_EQ(folded->nodes.size(), 2u);
  EXPECT_EQ(folded->nodes[0].name, "Input");  // not a load: it brings data
  EXPECT_EQ(folded->nodes[1].loads, 2u);
  EXPECT_EQ(folded->nodes[1].work, 65 + 20 + 5);
  EXPECT_EQ(folded->work, 100);
  EXPECT_THAT(svg_text(*folded), HasSubstr("90, 90.0 %, 2 loads, conv"));
  const auto whole = draw_graph(view, {.loads = true});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->nodes.size(), 4u);
  std::int64_t work = 0;
  for (const DrawnNode& node : whole->nodes) work += node.work;
  EXPECT_EQ(work, whole->work);
}

TEST(GraphDrawing, WhatAnOpIsDrawnAroundKeepsItsLoads) {
  const Profile profile = profile_with_loads();
  const analysis::Analysis analysed(profile);
  const GraphView view(analysed);
  const auto drawing = draw_graph(view, {.only = {OpId(3)}});
  ASSERT_TRUE(drawing);
  ASSERT_EQ(drawing->nodes.size(), 1u);
  EXPECT_EQ(drawing->nodes[0].loads, 2u);
  // Alone it was an empty picture.
  const auto load = draw_graph(view, {.only = {OpId(1)}});
  ASSERT_TRUE(load);
  EXPECT_EQ(load->nodes.size(), 1u);
}

TEST(GraphDrawing, NamesAreDataInEitherLanguage) {
  test_support::ProfileBuilder made;
  made.op("a\"];evil [label=\"", "k\\n\x1b[31m");
  made.op("<script>alert('&')</script>", "");
  made.profile.edges = {{OpId(0), OpId(1)}, {OpId(1), OpId(0)}};
  const analysis::Analysis analysed(made.profile);
  const GraphView view(analysed);
  const auto drawing = draw_graph(view, {});
  ASSERT_TRUE(drawing) << drawing.error().message;
  EXPECT_THAT(dot_text(*drawing), HasSubstr("label=\"a\\\"];evil [label=\\\"\\n"));
  EXPECT_THAT(dot_text(*drawing), Not(HasSubstr("\x1b")));
  const std::string svg = svg_text(*drawing);
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;"));
}

TEST(GraphDrawing, TooManyBoxesAreRefusedWithTheWayOut) {
  test_support::ProfileBuilder made;
  for (std::size_t i = 0; i <= max_drawn; ++i) {
    Op op;
    op.kind = made.text("same");
    made.profile.ops.push_back(op);
  }
  const analysis::Analysis analysed(made.profile);
  const GraphView view(analysed);
  const auto refused = draw_graph(view, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_THAT(refused.error().message, HasSubstr("2001 boxes"));
  const auto condensed = draw_graph(view, {.by = DrawBy::kind});
  ASSERT_TRUE(condensed);
  EXPECT_EQ(condensed->nodes.size(), 1u);
  EXPECT_EQ(condensed->nodes[0].ops, max_drawn + 1);
}

// The real graph of eight products in a row.
TEST(GraphDocument, OfTheChainOfEight) {
  const std::filesystem::path folder =
      std::filesystem::path(NPUSCOPE_SHARED_DIR) / "data/qnn/chain8";
  if (!std::filesystem::exists(folder)) GTEST_SKIP();
  const std::vector<std::filesystem::path> paths{folder};
  const auto opened = open_profiles(paths, {});
  ASSERT_TRUE(opened) << opened.error().message;
  const analysis::Analysis analysed(opened->profiles.at(0));
  const GraphView view(analysed);
  EXPECT_EQ(view.facts.ops, 47u);
  EXPECT_EQ(view.facts.ran, 45u);  // the two reshapes have nothing to run
  EXPECT_EQ(view.facts.levels, 14u);
  const auto shared = analysis::shared_tensors(view.profile, view.graph, view.times);
  EXPECT_TRUE(shared.findings.empty());  // its shared constants are benign
  EXPECT_GE(shared.small, 2u);
}

}  // namespace
}  // namespace npuscope::report::graph_document_test
