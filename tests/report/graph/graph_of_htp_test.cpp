// A compiled HTP graph made by hand, with what the real compiler does to a model: ops fused, gone,
// split and inserted, a product given to the reshape behind it, an activation spilled.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "analysis/graph/graph_expected.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/spill.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::report::graph_of_htp_test {
namespace {

using namespace analysis;

// Conv, Relu, Reshape, MatMul, Add, Softmax, Dropout; times the convolution.
ExpectedGraph model() {
  ExpectedGraph graph;
  const auto tensor = [&](std::vector<std::int64_t> shape, bool is_constant = false) {
    graph.tensors.push_back(
        {"t" + std::to_string(graph.tensors.size()), std::move(shape), is_constant, no_node});
    return std::uint32_t(graph.tensors.size() - 1);
  };
  const auto node = [&](const char* name, const char* op, std::vector<std::uint32_t> inputs,
                        std::vector<std::int64_t> shape,
                        ExpectedRole role = ExpectedRole::executes) {
    const std::uint32_t made = tensor(std::move(shape));
    graph.tensors[made].producer = std::uint32_t(graph.nodes.size());
    graph.nodes.push_back({name, op, role, std::move(inputs), {made}});
    return made;
  };
  const auto conv = node("Conv_0", "Conv", {tensor({1, 32, 32, 32}), tensor({32, 32, 3, 3}, true)},
                         {1, 32, 32, 32});
  const auto relu = node("Relu_1", "Relu", {conv}, {1, 32, 32, 32});
  const auto flat = node("Reshape_2", "Reshape", {relu}, {32, 1024}, ExpectedRole::view);
  const auto product = node("MatMul_3", "MatMul", {flat, tensor({1024, 64}, true)}, {32, 64});
  const auto sum = node("Add_4", "Add", {product, tensor({64}, true)}, {32, 64});
  const auto soft = node("Softmax_5", "Softmax", {sum}, {32, 64});
  const auto same = node("Dropout_6", "Dropout", {soft}, {32, 64}, ExpectedRole::view);
  graph.outputs = {node("Mul_7", "Mul", {same, relu}, {1, 32, 32, 64})};
  return graph;
}

struct HtpGraph : ::testing::Test {
  Profile profile;
  void SetUp() override {
    const std::filesystem::path file = NPUSCOPE_TEST_DATA "/graph/htp/fused_htp.json";
    auto opened = open_profiles({&file, 1});
    ASSERT_TRUE(opened) << opened.error().message;
    ASSERT_EQ(opened->profiles.size(), 1u);
    profile = std::move(opened->profiles[0]);
  }
};

TEST_F(HtpGraph, EveryNodeOfTheModelIsExplained) {
  const ExpectedGraph expected = model();
  const GraphMatch match =
      match_graph(profile, OpGraph(profile.ops.size(), profile.edges), expected);
  const auto is = [&](const char* name, NodeFate fate, const char* into = nullptr) {
    for (std::size_t i = 0; i < expected.nodes.size(); ++i) {
      if (expected.nodes[i].name != name) continue;
      const NodeMatch& found = match.nodes[i];
      EXPECT_EQ(found.fate, fate) << name << ": " << found.why;
      if (into == nullptr) continue;
      ASSERT_NE(found.into, no_node) << name;
      EXPECT_EQ(expected.nodes[found.into].name, into);
    }
  };
  is("Conv_0", NodeFate::kept);
  is("Relu_1", NodeFate::fused, "Conv_0");
  is("Reshape_2", NodeFate::vanished);
  is("MatMul_3", NodeFate::kept);
  is("Add_4", NodeFate::fused, "MatMul_3");
  is("Softmax_5", NodeFate::split);
  is("Dropout_6", NodeFate::vanished);
  is("Mul_7", NodeFate::kept);
  EXPECT_TRUE(match.unmatched_ops.empty());
  EXPECT_TRUE(match.missing.empty());
  EXPECT_TRUE(match.unexpected.empty());
  std::map<InsertedKind, int> inserted;
  for (const InsertedKind kind : match.inserted) inserted[kind] += kind != InsertedKind::none;
  EXPECT_EQ(inserted[InsertedKind::spill], 1);
  EXPECT_EQ(inserted[InsertedKind::fill], 1);
  EXPECT_EQ(inserted[InsertedKind::load], 3);
  EXPECT_EQ(inserted[InsertedKind::format_conversion], 2);
}

TEST_F(HtpGraph, SpillIsWhatTheGraphSaysAndPairsByIt) {
  const Spill spill = Analysis(profile).spill();
  EXPECT_EQ(spill.spill.ops, 1u);
  EXPECT_EQ(spill.fill.ops, 1u);
  EXPECT_EQ(at(spill.spill.bytes, Route::ddr_write), 65'536);
  EXPECT_EQ(at(spill.fill.bytes, Route::ddr_read), 65'536);
  ASSERT_EQ(spill.tensors.size(), 1u);
  EXPECT_EQ(spill.tensors[0].written, 65'536);
  EXPECT_EQ(spill.tensors[0].read, 65'536);
  EXPECT_EQ(spill.unpaired_fills + spill.unpaired_spills, 0u);
}

TEST_F(HtpGraph, TheProductOfTheReshapeCountsForTheMatMul) {
  const OpTable table = Analysis(profile).ops({.grouping = Grouping::node, .top = 100});
  EXPECT_EQ(table.moved_owners, 1u);
}

}  // namespace
}  // namespace npuscope::report::graph_of_htp_test
