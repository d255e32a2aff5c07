#include "analysis/graph/false_dependencies.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/ops/op_times.hpp"
#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::false_dependencies_test {
namespace {

using test_support::ProfileBuilder;

// Two branches, Diag to Merge each; both Merges use one constant.
struct Branches : ProfileBuilder {
  OpId merge_0, merge_1;

  explicit Branches(std::int64_t bytes, std::int64_t second_begins = 200,
                    const char* kind = "GdnMergeHmx") {
    const UnitId a = unit("HVX 0", Engine::hvx), b = unit("HVX 1", Engine::hvx);
    span(a, "Diag_0", 0, 50, SpanKind::op, "GdnSolveDiag");
    span(a, "Merge_0", 50, 200, SpanKind::op, kind);
    span(b, "Diag_1", 0, 60, SpanKind::op, "GdnSolveDiag");
    span(b, "Merge_1", second_begins, second_begins + 100, SpanKind::op, kind);
    merge_0 = op("Merge_0", kind);
    merge_1 = op("Merge_1", kind);
    profile.edges = {{op("Diag_0", "GdnSolveDiag"), merge_0},
                     {op("Diag_1", "GdnSolveDiag"), merge_1}};
    Tensor scratch;
    scratch.name = text("$Const_17");
    scratch.size = Bytes{bytes};
    scratch.is_constant = true;
    profile.tensors = {scratch};
    profile.tensor_uses = {{0, merge_0}, {0, merge_1}};
  }

  SharedTensors find() const {
    return shared_tensors(profile, op_graph(profile), Analysis(profile).op_times());
  }
};

TEST(SharedTensors, AScratchThatOrdersIndependentBranchesIsFoundWithItsCost) {
  const auto found = Branches(65536).find();
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].verdict, SharingVerdict::waited);
  EXPECT_EQ(found.findings[0].waited, 140);  // ready at 60, the first ends at 200
  EXPECT_FALSE(found.findings[0].ordered_by_compiler);
}

TEST(SharedTensors, AnOrderEdgeBetweenThemIsEvidenceNotAnExcuse) {
  Branches made(65536);
  made.profile.edges.push_back({made.merge_0, made.merge_1, EdgeKind::order});
  const auto found = made.find();
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_TRUE(found.findings[0].ordered_by_compiler);
}

TEST(SharedTensors, BranchesThatOverlapAreNone) {
  const auto found = Branches(65536, 100).find();
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.overlapping, 1u);
}

TEST(SharedTensors, SmallConstantsAreControl) {
  const auto found = Branches(8).find();
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.small, 1u);
}

TEST(SharedTensors, TheVendorsKernelsOnlyReadTheirConstants) {
  const auto found = Branches(65536, 200, "q::ConvLayer_s1.opt").find();
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.read_only, 1u);
}

TEST(SharedTensors, OpsThatDependAnywayAreNone) {
  Branches made(65536);
  made.profile.edges.push_back({made.merge_0, made.merge_1, EdgeKind::data});
  const auto found = made.find();
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.dependent, 1u);
}

TEST(SharedTensors, OnOneUnitTheTimesShowNothing) {
  Branches made(65536);
  for (UnitId& unit : made.profile.spans.unit) unit = UnitId(0);
  const auto found = made.find();
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].verdict, SharingVerdict::unit_busy);
}

TEST(SharedTensors, WithoutARunTheGraphAloneCannotTell) {
  Branches made(65536);
  made.profile.spans = {};
  const auto found = made.find();
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings[0].verdict, SharingVerdict::untimed);
}

TEST(SharedTensors, UsesOfNothingAreNoObstacle) {
  Branches made(65536);
  made.profile.tensor_uses.push_back({5, made.merge_0});
  made.profile.tensor_uses.push_back({0, OpId::none});
  EXPECT_EQ(made.find().findings.size(), 1u);
}

TEST(ReuseWaits, CostIsWhatOnlyTheReuseExplains) {
  ProfileBuilder made;
  const UnitId a = made.unit("HMX", Engine::hmx), b = made.unit("HVX", Engine::hvx);
  made.span(b, "producer", 0, 30);
  made.span(a, "owner", 0, 100);
  made.span(b, "next", 100, 120);
  made.span(a, "same unit", 100, 130);
  made.profile.edges = {{made.op("producer"), made.op("next"), EdgeKind::data},
                        {made.op("owner"), made.op("next"), EdgeKind::reuse},
                        {made.op("owner"), made.op("same unit"), EdgeKind::reuse},
                        {made.op("next"), made.op("producer"), EdgeKind::reuse}};
  const ReuseWaits found = reuse_waits(op_graph(made.profile), Analysis(made.profile).op_times());
  ASSERT_EQ(found.waits.size(), 1u);
  EXPECT_EQ(found.waits[0].op, made.op("next"));
  EXPECT_EQ(found.waits[0].waits_for, made.op("owner"));
  EXPECT_EQ(found.waits[0].ready, 30);
  EXPECT_EQ(found.waits[0].waited, 70);
  EXPECT_EQ(found.sum, 70);
  EXPECT_EQ(found.active, 70);
  EXPECT_EQ(found.edges, 3u);
  EXPECT_EQ(found.not_kept, 1u);
}

TEST(KnownKernels, AreTheVendorsOwnAndUsualOperators) {
  EXPECT_TRUE(is_known_kernel("q::ConvLayer.opt.weights_to_vtcm"));
  EXPECT_TRUE(is_known_kernel("aicconvolutiond32"));
  EXPECT_TRUE(is_known_kernel("package::MatMul"));
  EXPECT_FALSE(is_known_kernel("GdnMergeHmx"));
  EXPECT_FALSE(is_known_kernel("package::GdnMergeHmx"));
}

}  // namespace
}  // namespace npuscope::analysis::false_dependencies_test
