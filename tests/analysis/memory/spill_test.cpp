#include "npuscope/analysis/spill.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>

#include "analysis/memory/memory_builder.hpp"
#include "number_meaning.hpp"

namespace npuscope::analysis::spill_test {
namespace {

using npuscope::test_support::MemoryBuilder;

Spill spill_of(const Profile& profile) { return Analysis(profile).spill(); }

void add_dominant_path(MemoryBuilder& made, std::vector<std::int64_t> values) {
  MeasureColumn path;
  path.what = made.text("dominant path");
  path.kind = MeasureKind::dominant_path;
  path.values.assign(values.begin(), values.end());
  path.meaning = test_support::meaning_of(path.kind, made.profile.text(path.what));
  made.profile.spans.measures.push_back(std::move(path));
}

TEST(Spill, OfAnHtpIsExposedHiddenAndAlone) {
  MemoryBuilder made;
  const UnitId main = made.unit("main", Engine::hmx), hvx = made.unit("HVX", Engine::hvx);
  made.span(hvx, "softmax", 0, 10, SpanKind::op, "q::Softmax");
  made.span(main, "conv", 4, 20, SpanKind::op, "@Spill");
  made.span(main, "conv", 50, 60, SpanKind::op, "@Fill");
  made.span(main, "conv", 60, 69, SpanKind::dma_wait, "@Fill");
  made.span(hvx, "softmax", 55, 80, SpanKind::op, "q::Softmax");
  made.bytes("ddr write bytes", {0, 100, 0, 0, 0});
  made.bytes("ddr read bytes", {0, 0, 90, 0, 0});
  made.bytes("vtcm read bytes", {0, 100, 0, 0, 0});
  made.bytes("vtcm write bytes", {0, 0, 90, 0, 0});
  add_dominant_path(made, {10, 10, 5, 0, 20});
  made.profile.edges = {{OpId{1}, OpId{2}, EdgeKind::data}};
  const Spill spill = spill_of(made.profile);
  EXPECT_EQ(spill.spill.work, 16);
  EXPECT_EQ(spill.spill.exposed, 10);
  EXPECT_EQ(spill.spill.hidden(), 6);
  EXPECT_EQ(spill.spill.alone, 10);
  EXPECT_EQ(spill.fill.work, 10);
  EXPECT_EQ(spill.fill.hidden(), 5);
  EXPECT_EQ(spill.fill.alone, 5);
  EXPECT_EQ(spill.fill.waited, 9);
  EXPECT_EQ(at(spill.spill.bytes, Route::ddr_write), at(spill.spill.bytes, Route::vtcm_read));
  ASSERT_EQ(spill.tensors.size(), 1u);
  EXPECT_EQ(spill.tensors[0].written, 100);
  EXPECT_EQ(spill.tensors[0].read, 90);
  EXPECT_EQ(spill.tensors[0].away, 30);
  EXPECT_EQ(spill.unpaired_fills + spill.unpaired_spills, 0u);
}

TEST(Spill, PartsThatAnOpJoinsWithoutRunningAreOneTensor) {
  MemoryBuilder made;
  const UnitId main = made.unit("main", Engine::hmx);
  made.span(main, "0", 0, 5, SpanKind::op, "@Spill");
  made.span(main, "1", 5, 10, SpanKind::op, "@Spill");
  made.span(main, "2", 20, 25, SpanKind::op, "@Fill");
  made.span(main, "3", 25, 30, SpanKind::op, "@Fill");
  made.span(main, "4", 35, 40, SpanKind::op, "@Fill");
  made.bytes("ddr write bytes", {7, 8, 0, 0, 0});
  made.bytes("ddr read bytes", {0, 0, 7, 8, 99});
  const OpId joined = made.op("joined", "q::Concat");
  for (const std::uint32_t op : {0u, 1u}) {
    made.profile.edges.push_back({OpId{op}, joined, EdgeKind::data});
  }
  for (const std::uint32_t op : {2u, 3u}) {
    made.profile.edges.push_back({joined, OpId{op}, EdgeKind::data});
  }
  const Spill spill = spill_of(made.profile);
  ASSERT_EQ(spill.tensors.size(), 1u);
  EXPECT_EQ(spill.tensors[0].op, joined);
  EXPECT_EQ(spill.tensors[0].spills, 2u);
  EXPECT_EQ(spill.tensors[0].fills, 2u);
  EXPECT_EQ(spill.tensors[0].written, 15);
  EXPECT_EQ(spill.tensors[0].read, 15);
  EXPECT_EQ(spill.tensors[0].away, 10);
  EXPECT_EQ(spill.unpaired_fills, 1u);
}

TEST(Spill, OfCloudAi100AreCopiesOutWhoseDataComesBack) {
  MemoryBuilder made;
  const UnitId issue = made.unit("DMAIssue", Engine::dma_issue),
               dma = made.unit("DMA", Engine::dma);
  const auto copy = [&](const char* name, std::int64_t start, const char* kind) {
    made.span(issue, name, start, start + 1, SpanKind::op, kind);
    made.span(dma, name, start, start + 10, SpanKind::transfer, kind);
    made.at(made.op(name, kind)).output = Bytes{100};
  };
  copy("x/__0", 0, "aiccopyfromvtcm");
  copy("x/__1", 10, "aiccopyfromvtcm");
  copy("y", 20, "aiccopytovtcm");
  copy("result", 40, "aiccopyfromvtcm");
  copy("weights", 60, "aiccopytovtcm");
  made.profile.edges = {{OpId{1}, OpId{2}, EdgeKind::data}, {OpId{0}, OpId{2}, EdgeKind::reuse}};
  const Spill spill = spill_of(made.profile);
  EXPECT_EQ(spill.spill.ops, 2u);
  EXPECT_EQ(spill.spill.instances, 2u);
  EXPECT_EQ(spill.spill.work, 20);
  EXPECT_EQ(at(spill.spill.bytes, Route::ddr_write), 200);
  EXPECT_EQ(spill.fill.ops, 1u);
  EXPECT_EQ(at(spill.fill.bytes, Route::ddr_read), 100);
  ASSERT_EQ(spill.tensors.size(), 1u);
  EXPECT_EQ(spill.tensors[0].spills, 2u);
  EXPECT_FALSE(spill.spill.exposed);
}

TEST(Spill, AnOpThatFillsWithAConstantIsNone) {
  MemoryBuilder made;
  made.at(made.op("zeros", "q::Fill")).engine = Engine::hvx;
  made.span(made.unit("HVX", Engine::hvx), "zeros", 0, 5, SpanKind::op, "q::Fill");
  EXPECT_FALSE(spill_of(made.profile).any());
  EXPECT_FALSE(spill_of(Profile()).any());
}

}  // namespace
}  // namespace npuscope::analysis::spill_test
