#include "formats/ggml/coverage.hpp"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include "formats/ggml/log.hpp"
#include "formats/ggml/profile.hpp"

namespace npuscope::ggml::coverage_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A line is printed in pieces, each of which may have a prefix.
TEST(Coverage, OpsOfAGraphByBackend) {
  Coverage coverage;
  EXPECT_TRUE(coverage.take("## SPLIT #0: HTP0 # 2 inputs: [inp (   4K)]"));
  coverage.take(
      "0.01.000.001 D node #  0 (  RMS_NORM):               norm-0 (   4K) [ HTP0         ] "
      "use=1,c=1:0.01.000.002 D  inp_embd (   4K)0.01.000.003 D node #  1 (       MUL): "
      "attn_norm-0 "
      "(   4K)");
  coverage.take("## SPLIT #1: CPU # 1 inputs");
  coverage.take("node # 12 (  SSM_CONV): conv_output-0 (   6K) [  CPU         ] use=1,c=1:");
  EXPECT_FALSE(coverage.take("common_perf_print: prompt eval time = 1 ms"));
  ASSERT_EQ(coverage.last_graph(), 0u);
  const PlacedGraph& graph = coverage.graphs()[0];
  EXPECT_EQ(graph.ops, 3u);
  EXPECT_EQ(graph.splits, 2u);
  EXPECT_EQ(graph.by_backend.at("HTP0"), 2u);
  ASSERT_EQ(graph.elsewhere.size(), 1u);
  EXPECT_EQ(graph.elsewhere[0].op, "SSM_CONV");
  EXPECT_EQ(graph.elsewhere[0].tensor, "conv_output-0");
  EXPECT_EQ(graph.elsewhere[0].backend, "CPU");
}

// A model's graph is printed for each token.
TEST(Coverage, TheSameGraphIsKeptOnce) {
  Coverage coverage;
  for (int token = 0; token < 1000; ++token) {
    coverage.take("## SPLIT #0: CPU # 0 inputs");
    coverage.take(fmt::format("node #  0 (   MUL_MAT): result_{} (   4K) [  CPU ]", token % 2));
    EXPECT_EQ(coverage.last_graph(), std::uint32_t(token % 2));
  }
  EXPECT_EQ(coverage.graphs().size(), 2u);
}

// The scheduler cuts names.
TEST(Coverage, Reasons) {
  Coverage coverage;
  const PlacedOp placed{"MUL_MAT", "a_tensor_of_many_cha", "CPU"};
  EXPECT_THAT(coverage.reason_of(placed), HasSubstr("not in the log"));
  coverage.refuse("SSM_CONV|x -> y|1:1 -> 1:1|f32 -> f32|4 -> 4|HTP0 -> HTP0|no");
  EXPECT_EQ(coverage.reason_of(placed), "CPU: MUL_MAT, which the NPU did not refuse");
  coverage.refuse("MUL_MAT : w x a -> other : 8:8 x 8:1 -> 8:1 : q5_1 x f32 -> f32 : 4 : b : no");
  EXPECT_EQ(coverage.reason_of(placed), "CPU: MUL_MAT, which the NPU refuses of other tensors");
  coverage.refuse(
      "MUL_MAT|w x a -> a_tensor_of_many_characters-3|8:8 x 8:1 -> 8:1|q6_K x f32 -> f32|4|b|no");
  EXPECT_EQ(coverage.reason_of(placed), "CPU: the NPU refuses MUL_MAT of q6_K x f32");
  // While weights are loaded, of no graph.
  coverage.refuse("MUL_MAT|w x a -> |8:8 x 8:1 -> 8:1|q6_K x f32 -> f32|4|b|no");
  EXPECT_EQ(coverage.refused_ops().size(), 3u);
  EXPECT_EQ(coverage.refused().at("MUL_MAT"), 3u);
}

constexpr std::string_view op =
    "ggml-hex: HTP0 profile-op MUL_MAT|blk.0.q.weight x norm-0 -> Qcur-0|64:64 x 64:{0} -> "
    "64:{0}|q4_0 x f32 -> f32|1|hmx-tiled vtcm 8|usec 9 cycles 20000 start {1} mhz 2222.2\n";

std::string batch(int rows, int start) {
  return fmt::format(
             "ggml-hex: HTP0 profile-op OPBATCH|----|n-ops 1|----|----|----|usec 10 cycles 21000 "
             "start {} mhz 2100.0\n",
             start) +
         fmt::format(fmt::runtime(op), rows, start + 100);
}

std::vector<Profile> profiles_of(const std::string& text) {
  const auto source = open_byte_source(text, "file");
  auto log = read_log(**source);
  EXPECT_TRUE(log);
  return log ? make_profiles(*log) : std::vector<Profile>{};
}

std::vector<std::string> elsewhere(const Profile& profile) {
  std::vector<std::string> ops;
  for (const Op& each : profile.ops) {
    if (each.engine != Engine::host) continue;
    ops.push_back(fmt::format("{}: {}", profile.text(each.label()), profile.text(each.attributes)));
  }
  return ops;
}

double ops_of_graph(const Profile& profile) {
  for (const Measure& measure : profile.measures) {
    if (measure.meaning.role == NumberRole::model_nodes) return measure.value;
  }
  return 0;
}

// A graph that is only planned, one of the prompt, one of a token.
TEST(Coverage, IsOfThePhaseWhoseGraphItWas) {
  const std::string text =
      "## SPLIT #0: CPU # 0 inputs\nnode #  0 (   ARGSORT): planned-0 (   4K) [  CPU ]\n"
      "## SPLIT #0: HTP0 # 0 inputs\nnode #  0 (   MUL_MAT): Qcur-0 (   4K) [ HTP0 ]\n"
      "## SPLIT #1: CPU # 0 inputs\nnode #  1 (  SSM_CONV): conv-3 (   4K) [  CPU ]\n" +
      batch(32, 1000) +
      "## SPLIT #0: HTP0 # 0 inputs\nnode #  0 (   MUL_MAT): Qcur-0 (   4K) [ HTP0 ]\n" +
      batch(1, 50'000);
  const std::vector<Profile> profiles = profiles_of(text);
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_THAT(elsewhere(profiles[0]),
              ElementsAre("blk.3.conv: CPU: SSM_CONV, reason not in the log "
                          "(GGML_HEXAGON_VERBOSE=1)"));
  EXPECT_EQ(ops_of_graph(profiles[0]), 2);
  EXPECT_THAT(elsewhere(profiles[1]), ElementsAre());
  EXPECT_EQ(ops_of_graph(profiles[1]), 1);
}

TEST(Coverage, RefusalsAloneTellWhichOpsRanElsewhere) {
  const std::string refusal =
      "ggml-hex: HTP0 supports-op SSM_CONV|a -> conv-3|1:1 -> 1:1|f32 -> f32|4 -> 4|b|no\n";
  EXPECT_THAT(elsewhere(profiles_of(refusal + refusal + batch(1, 1000))[0]),
              ElementsAre("blk.3.conv: CPU or GPU: the NPU refuses SSM_CONV of f32"));
  // Of several sessions another may have taken it.
  EXPECT_THAT(elsewhere(profiles_of(refusal +
                                    "ggml-hex: HTP1 hwinfo: threads 6, hvx 6, hmx 1, vtcm 8 MB\n" +
                                    batch(1, 1000))[0]),
              ElementsAre());
}

}  // namespace
}  // namespace npuscope::ggml::coverage_test
