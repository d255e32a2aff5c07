#include "npuscope/analysis/memory.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

#include "analysis/memory/memory_builder.hpp"
#include "analysis/memory/vtcm_peak.hpp"
#include "number_meaning.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::analysis::memory_test {
namespace {

using npuscope::test_support::MemoryBuilder;

MemoryTable table_of(const Profile& profile, const MemoryOptions& options = {}) {
  return Analysis(profile).memory(options);
}

const MemoryRow* row_of(const MemoryTable& table, std::string_view label) {
  for (const MemoryRow& row : table.rows) {
    if (row.label == label) return &row;
  }
  return nullptr;
}

TEST(Memory, ARowIsAnOperatorWithItsTilesAndWhatIsLoadedForIt) {
  MemoryBuilder made("UTIMER", ClockKind::timer, 1e9);
  const UnitId dma = made.unit("DMA", Engine::dma);
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  made.span(dma, "weight_7", 0, 10, SpanKind::op, "aiccopytovtcm");
  made.span(dma, "weight_7", 10, 14, SpanKind::op, "aicmulticastvtcm");
  made.span(hmx, "/layer/MatMul/__0", 5, 20, SpanKind::op, "aicconvolutiond32");
  made.span(hmx, "/layer/MatMul/__1", 30, 40, SpanKind::op, "aicconvolutiond32");
  made.bytes("ddr read bytes", {64, 0, 0, 0});
  made.profile.edges = {{OpId{0}, OpId{1}, EdgeKind::data},
                        {OpId{1}, OpId{3}, EdgeKind::data},
                        {OpId{1}, OpId{2}, EdgeKind::data}};
  const MemoryTable table = table_of(made.profile);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].label, "/layer/MatMul");
  EXPECT_EQ(at(table.rows[0].bytes, Route::ddr_read), 64);
  EXPECT_EQ(table.rows[0].active, 30);  // 0 to 20 and 30 to 40
  EXPECT_EQ(table.rows[0].ops, 4u);
  EXPECT_EQ(table.wall, 40);
}

// What an op reads and multiplies is of its window, however many spans the engines have in it; of
// an op whose window says nothing it is unknown.
TEST(Memory, OfOpsWithWindowsIsThatOfTheWindows) {
  MemoryBuilder made("time", ClockKind::wall, 1e9);
  const UnitId core = made.unit("HTP0", Engine::core);
  const UnitId hmx = made.unit("HMX queue", Engine::hmx, core);
  const UnitId dma = made.unit("DMA", Engine::dma, core);
  const UnitId hvx = made.unit("HVX thread 0", Engine::hvx, core);
  const auto part = [&](UnitId unit, const char* node, std::int64_t begin, std::int64_t end,
                        SpanKind kind) {
    made.span(unit, fmt::format("{} {}", node, index_of(unit)), begin, end, kind);
    made.profile.ops[index_of(made.profile.spans.op[made.profile.spans.size() - 1])].node =
        made.text(node);
  };
  MeasureColumn windows;
  windows.kind = MeasureKind::dominant_path;
  windows.meaning =
      NamedNumber("op window", MeasureKind::dominant_path, NumberRole::op_window).meaning;
  for (const std::int64_t begin : {0, 100}) {
    part(core, "product", begin, begin + 90, SpanKind::annotation);
    part(dma, "product", begin, begin + 40, SpanKind::transfer);
    for (const int job : {0, 1, 2}) {
      part(hmx, "product", begin + 40 + 10 * job, begin + 50 + 10 * job, SpanKind::op);
    }
    part(core, "norm", begin + 90, begin + 100, SpanKind::annotation);
    part(hvx, "norm", begin + 91, begin + 99, SpanKind::op);
  }
  for (std::size_t row = 0; row < made.profile.spans.size(); ++row) {
    const bool is_window = made.profile.spans.kind[row] == SpanKind::annotation;
    windows.values.push_back(is_window ? made.profile.spans.duration[row] : MeasureColumn::missing);
  }
  constexpr std::int64_t none = MeasureColumn::missing;
  made.bytes("ddr read bytes", {500, none, none, none, none, none, none, 500});
  made.profile.spans.measures.push_back(windows);
  made.measure(Measure::Subject::op, index_of(made.profile.spans.op[0]), "macs", 3'000);
  made.profile.measures.back().meaning.quantity = NumberQuantity::macs;
  const MemoryTable table = table_of(made.profile);
  const MemoryRow* product = row_of(table, "product");
  ASSERT_NE(product, nullptr);
  EXPECT_EQ(at(product->bytes, Route::ddr_read), 1'000);
  EXPECT_EQ(product->work.all_macs(), 6'000);
  EXPECT_EQ(product->active, 2 * 70);
  EXPECT_TRUE(table.work.macs_known);
  const MemoryRow* norm = row_of(table, "norm");
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(at(norm->bytes, Route::ddr_read), std::nullopt);
  EXPECT_EQ(table.matrix_ops_without_macs, 0u);
}

TEST(Memory, ByKindTransfersStayWhatTheyAre) {
  MemoryBuilder made;
  made.span(made.unit("DMA", Engine::dma), "w", 0, 10, SpanKind::op, "aiccopytovtcm");
  made.span(made.unit("HMX", Engine::hmx), "m", 10, 20, SpanKind::op, "aicconvolutiond32");
  made.profile.edges = {{OpId{0}, OpId{1}, EdgeKind::data}};
  MemoryOptions options;
  options.grouping = MemoryGrouping::kind;
  EXPECT_EQ(table_of(made.profile, options).rows.size(), 2u);
  EXPECT_EQ(table_of(made.profile).rows.size(), 1u);
}

// 7 of 16 rows of a decoder's page were layers of one projection.
TEST(Memory, TheSameNodeOfRepeatedLayersIsOneRowWithTheSumOfAll) {
  MemoryBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  made.span(hmx, "/model/layers.0/up_proj/MatMul", 0, 10);
  made.span(hmx, "/model/layers.1/up_proj/MatMul/__0", 10, 25);
  made.span(hmx, "/model/layers.1/up_proj/MatMul/__1", 25, 30);
  made.span(hmx, "/lm_head/MatMul", 30, 50);
  made.bytes("ddr read bytes", {100, 50, 50, 7});
  MemoryOptions options;
  options.model = {{"/model/layers.0/up_proj/MatMul", 5}, {"/model/layers.1/up_proj/MatMul", 6}};
  EXPECT_EQ(table_of(made.profile, options).rows.size(), 3u);
  options.grouping = MemoryGrouping::op;
  const MemoryTable table = table_of(made.profile, options);
  const MemoryRow* row = row_of(table, "/model/layers.*/up_proj/MatMul");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->layers, 2u);
  EXPECT_EQ(row->ops, 3u);
  EXPECT_EQ(at(row->bytes, Route::ddr_read), 200);
  EXPECT_EQ(row->active, 30);
  EXPECT_EQ(row->work.all_macs(), 11);
  EXPECT_EQ(table.model_nodes_matched, 2u);
  options.model.pop_back();  // one of two says nothing of both
  EXPECT_FALSE(row_of(table_of(made.profile, options), row->label)->macs_of_model);
}

TEST(Memory, WaitsForDmaAreTimeOfTheOpButSyncsAreNot) {
  MemoryBuilder made;
  const UnitId lane = made.unit("main", Engine::hmx);
  made.span(lane, "a", 0, 10, SpanKind::dma_wait);
  made.span(lane, "a", 10, 15);
  made.span(lane, "a", 15, 40, SpanKind::sync);
  made.bytes("ddr read bytes", {0, 5, 0});
  EXPECT_EQ(row_of(table_of(made.profile), "a")->active, 15);
}

// A kernel at 87 % of the HMX's peak came out as memory-bound: the bytes of its weights, which were
// issued while others computed, were set against its own time.
TEST(Memory, AKernelWhoseWeightsCameAheadOfTimeIsComputeBound) {
  MemoryBuilder made;
  const UnitId lane = made.unit("HMX 256", Engine::hmx);
  const auto span = [&](const char* node, std::int64_t begin, std::int64_t end, Engine engine,
                        SpanKind kind = SpanKind::op) {
    const std::string kernel = engine == Engine::dma ? "weights" : "conv";
    const SpanId added =
        made.span(lane, std::string(node) + " " + kernel, begin, end, kind, kernel);
    Op& op = made.at(made.profile.spans.op[index_of(added)]);
    op.node = made.text(node);
    op.engine = engine;
  };
  span("a", 0, 100, Engine::dma);
  span("b", 100, 200, Engine::dma);
  span("a", 200, 1'200, Engine::hmx);
  span("b", 1'200, 2'200, Engine::hmx);
  span("c", 2'200, 2'300, Engine::dma);  // waits for its own weights
  span("c", 2'300, 3'300, Engine::dma, SpanKind::dma_wait);
  span("c", 3'300, 3'500, Engine::hmx);
  made.bytes("ddr read bytes", {100'000, 100'000, 0, 0, 100'000, 0, 0});
  made.bytes("vtcm write bytes", {100'000, 100'000, 7, 7, 100'000, 0, 7});
  MemoryOptions options;
  options.rate = Hertz{1e9};
  options.peaks.ddr_bytes_per_s = 100e9;
  options.peaks.macs_per_cycle = {1, 1, 1};
  options.model = {{"a", 870}, {"b", 870}, {"c", 170}};
  const MemoryTable table = table_of(made.profile, options);
  const MemoryRow* b = row_of(table, "b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->active, 1'000);
  EXPECT_EQ(b->placement.of(Resource::macs), 0.87);
  EXPECT_DOUBLE_EQ(*b->placement.of(Resource::ddr), 1'000. / 2'100);  // 100 to 2,200
  EXPECT_EQ(b->placement.verdict, RooflineVerdict::compute);
  EXPECT_DOUBLE_EQ(*b->placement.ddr_bytes_per_s, 100'000 / 2'100e-9);
  EXPECT_EQ(b->work.vtcm_bytes, 7);
  EXPECT_EQ(row_of(table, "a")->placement.verdict, RooflineVerdict::compute);
  const MemoryRow* c = row_of(table, "c");
  EXPECT_EQ(c->active, 1'300);
  EXPECT_DOUBLE_EQ(*c->placement.of(Resource::ddr), 1'000. / 1'300);
  EXPECT_EQ(c->placement.verdict, RooflineVerdict::memory);
}

// A trace in nanoseconds is no processor at 1 GHz; a clock of cycles beside it is.
TEST(Memory, TheProcessorsRateIsNeverThatOfAClockOfTime) {
  MemoryBuilder made("nanoseconds", ClockKind::wall, 1e9);
  made.span(made.unit("HMX", Engine::hmx), "a", 0, 1'000);
  made.bytes("ddr read bytes", {500});
  MemoryOptions options;
  options.peaks.macs_per_cycle = {1, 1, 1};
  EXPECT_FALSE(table_of(made.profile, options).processor);
  EXPECT_FALSE(table_of(made.profile, options).roofs.macs_per_tick[0]);
  options.rate = Hertz{2e9};
  const MemoryTable given = table_of(made.profile, options);
  EXPECT_EQ(given.rate->value, 1e9);
  EXPECT_EQ(given.processor->rate.value, 2e9);
  EXPECT_EQ(given.roofs.macs_per_tick[0], 2);
  options.rate.reset();
  made.profile.clocks.push_back({made.text("PCYCLE"), ClockKind::unit_cycles, Hertz{0}});
  made.profile.clocks.back().derived_rate = Hertz{1.4e9};
  made.profile.clocks.back().derived_error = 0.01;
  const MemoryTable beside = table_of(made.profile, options);
  ASSERT_TRUE(beside.processor);
  EXPECT_EQ(beside.processor->rate.value, 1.4e9);
  EXPECT_EQ(beside.processor->origin, Origin::derived);
  EXPECT_EQ(beside.rate->value, 1e9);
}

// Two threads of four looked twice as busy as they were, because the others had no span.
TEST(Memory, ThreadsWithoutWorkCountAsThreadsThereAre) {
  MemoryBuilder made;
  const UnitId hvx = made.unit("HVX 0", Engine::hvx);
  made.span(hvx, "a", 0, 100);
  made.bytes("ddr read bytes", {64});
  EXPECT_EQ(table_of(made.profile).work.hvx_units, 1u);
  MemoryOptions options;
  options.peaks.hvx_threads = 4;
  EXPECT_EQ(Analysis(made.profile).memory(options).work.hvx_units, 4u);
  made.measure(Measure::Subject::profile, 0, "Number of HVX threads used", 6);
  EXPECT_EQ(table_of(made.profile).work.hvx_units, 6u);
  made.profile.measures.back().value = 1e300;
  EXPECT_EQ(table_of(made.profile).work.hvx_units, 4'096u);
}

TEST(Memory, SeveralInferencesGiveTheMedianAfterTheFirst) {
  MemoryBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma);
  const std::int64_t lengths[] = {500, 10, 30, 20};
  std::vector<std::int64_t> bytes;
  std::int64_t start = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    made.span(dma, "a", start, start + lengths[i]);
    made.profile.spans.instance.push_back(i + 5);
    bytes.push_back(1000 + i);
    start += 1000;
  }
  made.bytes("ddr read bytes", bytes);
  const MemoryTable table = table_of(made.profile);
  EXPECT_TRUE(table.first_apart);
  ASSERT_EQ(table.inferences.size(), 4u);
  EXPECT_EQ(table.inferences[0].instance, 5u);
  EXPECT_EQ(table.wall, 20);
  EXPECT_EQ(table.walls.first, 500);
  EXPECT_EQ(at(table.bytes, Route::ddr_read), 1002);
  EXPECT_EQ(table.rows[0].active, 20);
  EXPECT_EQ(at(table.rows[0].bytes, Route::ddr_read), 1002);
}

// So many that they are added up in parts, and those of an inference are in each of them.
// The median of a run of JAX was that of its steps and of a stray call of the host.
TEST(Memory, WhatIsOfNoInferenceIsNone) {
  MemoryBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  made.span(hmx, "m", 0, 10);
  made.span(hmx, "m", 10, 30);
  made.span(hmx, "stray", 90, 91);
  made.profile.spans.instance = {0, 1, every_instance};
  made.bytes("ddr read bytes", {64, 32, 7});
  const MemoryTable table = table_of(made.profile);
  ASSERT_EQ(table.inferences.size(), 2u);
  EXPECT_EQ(table.wall, 20);
  EXPECT_EQ(table.walls.min, 10);
}

TEST(Memory, BytesOfAnInferenceAreOfAllItsSpansWhereverTheyAre) {
  constexpr std::uint32_t inferences = 5, spans = 200'000;
  std::mt19937_64 random(7);
  MemoryBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma);
  std::vector<std::int64_t> bytes, expected(inferences, 0);
  made.span(dma, "a", 0, 1);
  Spans& all = made.profile.spans;
  for (std::uint32_t i = 0; i < spans; ++i) {
    if (i > 0) {
      all.unit.push_back(all.unit[0]);
      all.op.push_back(all.op[0]);
      all.kind.push_back(all.kind[0]);
      all.start.push_back(i);
      all.duration.push_back(1);
    }
    const auto inference = std::uint32_t(random() % inferences);
    all.instance.push_back(10 + inference);
    bytes.push_back(std::int64_t(random() % 1000));
    expected[inference] += bytes.back();
  }
  made.bytes("ddr read bytes", bytes);
  const MemoryTable table = table_of(made.profile);
  ASSERT_EQ(table.inferences.size(), inferences);
  for (std::uint32_t i = 0; i < inferences; ++i) {
    EXPECT_EQ(table.inferences[i].instance, 10 + i);
    EXPECT_EQ(at(table.inferences[i].bytes, Route::ddr_read), expected[i]);
  }
}

// Of 0, 0, 40, 60: an op that ran in two of the four inferences after the first.
TEST(Memory, AnInferenceWithoutTheOpCountsAsNothingOfIt) {
  MemoryBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma);
  for (std::uint32_t i = 0; i < 5; ++i) {
    made.span(dma, "always", 1000 * i, 1000 * i + 10);
    made.profile.spans.instance.push_back(i);
  }
  for (const std::uint32_t i : {2u, 4u}) {
    made.span(dma, "sometimes", 1000 * i + 20, 1000 * i + 40 + 10 * i);
    made.profile.spans.instance.push_back(i);
  }
  made.bytes("ddr read bytes", {1, 1, 1, 1, 1, 40, 60});
  const MemoryTable table = table_of(made.profile);
  EXPECT_EQ(row_of(table, "sometimes")->active, 20);  // between 0 and 40
  EXPECT_EQ(at(row_of(table, "sometimes")->bytes, Route::ddr_read), 20);
  EXPECT_EQ(row_of(table, "always")->active, 10);
}

TEST(Memory, MacsOfTheModelAreMatchedByNameWhateverItsSigns) {
  MemoryBuilder made("cycles", ClockKind::unit_cycles, 1e9);
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  made.span(hmx, "_encoder_layer_0_MatMul", 0, 100);
  made.span(hmx, "other", 100, 101);
  made.bytes("ddr read bytes", {1000, 0});
  MemoryOptions options;
  options.peaks.ddr_bytes_per_s = 100e9;
  options.peaks.macs_per_cycle[std::size_t(Precision::fp16)] = 100;
  options.model = {{"/encoder/layer.0/MatMul", 9000}, {"/gone", 1000}, {"/reshape", 0}};
  const MemoryTable table = table_of(made.profile, options);
  EXPECT_EQ(table.model_nodes, 2u);
  EXPECT_EQ(table.model_nodes_matched, 1u);
  EXPECT_EQ(table.model_macs_matched, 9000);
  const MemoryRow* row = row_of(table, "_encoder_layer_0_MatMul");
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(row->macs_of_model);
  EXPECT_DOUBLE_EQ(*row->placement.of(Resource::macs), 0.9);
  EXPECT_DOUBLE_EQ(*row->placement.of(Resource::ddr), 0.1);
  EXPECT_EQ(row->placement.verdict, RooflineVerdict::compute);
  EXPECT_DOUBLE_EQ(*row->placement.intensity, 9);
}

// The thread of the matrix unit ends with a kernel of the profiler's own, which has no MACs.
TEST(Memory, TheProfilersOwnKernelMadeTheMacsUnknown) {
  MemoryBuilder made("cycles", ClockKind::unit_cycles, 1e9);
  const UnitId hvx = made.unit("HVX", Engine::hvx), hmx = made.unit("HMX", Engine::hmx);
  made.span(hvx, "softmax", 0, 100, SpanKind::op, "aicsoftmax");
  made.span(hmx, "aicendcyclestats", 90, 100, SpanKind::op, "aicendcyclestats");
  EXPECT_TRUE(table_of(made.profile).work.macs_known);
  made.span(hmx, "MatMul", 50, 90, SpanKind::op, "aicconvolutiond32");
  EXPECT_FALSE(table_of(made.profile).work.macs_known);
  MemoryOptions options;
  options.model = {{"MatMul", 9000}};
  EXPECT_TRUE(table_of(made.profile, options).work.macs_known);
}

// A track may show several threads as one.
TEST(Memory, ATrackOfSeveralThreadsCountsForAllOfThem) {
  MemoryBuilder made("UTIMER", ClockKind::timer, 1e9);
  const UnitId hvx = made.unit("HVX", Engine::hvx), hmx = made.unit("HMX", Engine::hmx);
  made.span(hvx, "softmax", 0, 60, SpanKind::op, "aicsoftmax");
  made.span(hmx, "MatMul", 60, 100, SpanKind::op, "aicconvolutiond32");
  MemoryOptions options;
  options.peaks.hvx_threads = 4;
  EXPECT_DOUBLE_EQ(*table_of(made.profile, options).placement.of(Resource::hvx), 0.15);
  made.profile.measures.push_back(
      {Measure::Subject::unit, index_of(hvx), made.text(threads_of_unit.name), MeasureKind::count,
       Origin::derived, test_support::meaning_of(MeasureKind::count, threads_of_unit.name),
       ClockId{}, 4});
  const MemoryTable table = table_of(made.profile, options);
  EXPECT_DOUBLE_EQ(*table.placement.of(Resource::hvx), 0.6);
  EXPECT_DOUBLE_EQ(*table.placement.of(Resource::hmx), 0.4);
  EXPECT_EQ(table.placement.largest, Resource::hvx);
}

// Streams of weights, one after another on two engines that share the DDR: each has half of it
// while it runs, and some were called latency bound, others DDR bound, as they happened to overlap.
TEST(Memory, IdenticalStreamsOfWeightsHadDifferentVerdicts) {
  MemoryBuilder made("cycles", ClockKind::unit_cycles, 1e9);
  const UnitId engines[] = {made.unit("DMA 0", Engine::dma), made.unit("DMA 1", Engine::dma)};
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  std::vector<std::int64_t> bytes;
  for (std::int64_t i = 0; i < 8; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const std::int64_t begin = 50 * i, end = begin + (i % 2 == 0 ? 100 : 90);
    made.span(engines[i % 2], name, begin, end, SpanKind::transfer, "copy");
    made.span(hmx, name, end, end + 10, SpanKind::op, "matmul");
    bytes.insert(bytes.end(), {500, 0});
  }
  made.bytes("ddr read bytes", bytes);
  MemoryOptions options;
  options.peaks.ddr_bytes_per_s = 10e9;
  const MemoryTable table = table_of(made.profile, options);
  ASSERT_EQ(table.rows.size(), 8u);
  double of_all = 0;
  for (const MemoryRow& row : table.rows) {
    EXPECT_EQ(row.placement.verdict, RooflineVerdict::memory) << row.label;
    EXPECT_EQ(row.placement.largest, Resource::ddr) << row.label;
    EXPECT_LT(*row.placement.of(Resource::ddr), bound_share) << row.label;
    of_all += *row.work.ddr_bytes_of_all;
  }
  EXPECT_GT(of_all, 4'000);  // each moment of two rows counts for both
  EXPECT_EQ(row_of(table, "layer2")->work.moving_ticks, 100);
  EXPECT_EQ(row_of(table, "layer2")->active, 110);
  // layer2 from 100 to 210: its own 500, of layer1 the last 40 of 90 ticks, of layer3 60 of 90, of
  // layer4 10 of 100; a tick has whole bytes.
  EXPECT_NEAR(*row_of(table, "layer2")->work.ddr_bytes_of_all,
              500 + 500.0 * 40 / 90 + 500.0 * 60 / 90 + 50, 10);
}

// Sums over rows are those of the spans, and active times those of ticks counted one by one.
TEST(Memory, EqualsASlowTwin) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    MemoryBuilder made;
    const UnitId units[] = {made.unit("HVX 0", Engine::hvx), made.unit("HVX 1", Engine::hvx),
                            made.unit("DMA", Engine::dma)};
    const char* names[] = {"a", "b", "c/__0", "c/__1", ""};
    std::vector<std::int64_t> bytes;
    std::map<std::string, std::set<std::int64_t>> ticks, others;
    std::map<std::string, std::int64_t> sums;
    const int spans = 1 + int(random() % 12);
    for (int i = 0; i < spans; ++i) {
      const std::string name = names[random() % 5];
      const auto start = std::int64_t(random() % 30), length = std::int64_t(random() % 12);
      const SpanKind kind = random() % 5 == 0 ? SpanKind::sync : SpanKind::op;
      const std::size_t unit = random() % 3;
      made.span(units[unit], name, start, start + length, kind);
      bytes.push_back(std::int64_t(random() % 1000));
      const std::string label = name.substr(0, 1);
      if (kind == SpanKind::sync) bytes.back() = 0;
      sums[label] += bytes.back();
      for (std::int64_t tick = start; kind == SpanKind::op && tick < start + length; ++tick) {
        ticks[label].insert(tick);
        if (unit < 2) others[label].insert(tick);
      }
    }
    made.bytes("ddr write bytes", bytes);
    MemoryOptions with_movement;
    with_movement.movement = true;
    const MemoryTable table = table_of(made.profile, with_movement);
    std::int64_t all = 0;
    for (const MemoryRow& row : table.rows) {
      ASSERT_EQ(row.active, double(ticks[row.label].size())) << row.label;
      ASSERT_EQ(row.work.moving_ticks, row.active - double(others[row.label].size())) << row.label;
      ASSERT_EQ(at(row.bytes, Route::ddr_write), sums[row.label]);
      all += sums[row.label];
    }
    ASSERT_EQ(at(table.bytes, Route::ddr_write), all);
    MemoryOptions options;
    options.active_of_rows = false;
    const MemoryTable without = table_of(made.profile, options);
    ASSERT_EQ(at(without.bytes, Route::ddr_write), all);
    ASSERT_EQ(without.work.hvx_ticks, table.work.hvx_ticks);
    ASSERT_EQ(without.placement.verdict, table.placement.verdict);
    ASSERT_EQ(without.placement.share, table.placement.share);
    std::int64_t of_engines = 0;
    for (const EngineTraffic& row : table.engines) {
      of_engines += at(row.bytes, Route::ddr_write).value_or(0);
    }
    ASSERT_EQ(of_engines, all);
  }
}

TEST(Memory, RowsThatAreAskedForAreAsInTheWholeTable) {
  MemoryBuilder made;
  const UnitId hvx = made.unit("HVX 0", Engine::hvx), dma = made.unit("DMA", Engine::dma);
  std::vector<std::int64_t> bytes;
  std::mt19937_64 random(5);
  for (std::uint32_t i = 0; i < 60; ++i) {
    const auto start = std::int64_t(20 * i);
    made.span(i % 2 == 0 ? hvx : dma, std::string(1, char('a' + random() % 4)), start,
              start + 1 + std::int64_t(random() % 30));
    made.profile.spans.instance.push_back(i / 20);
    bytes.push_back(std::int64_t(random() % 100));
  }
  made.bytes("ddr read bytes", bytes);
  MemoryOptions options;
  options.peaks.ddr_bytes_per_s = 10e9;
  const MemoryTable whole = table_of(made.profile, options);
  options.only_rows = {"b", "d", "no such row"};
  const MemoryTable some = table_of(made.profile, options);
  EXPECT_EQ(some.bytes, whole.bytes);
  ASSERT_EQ(some.rows.size(), 2u);
  for (const MemoryRow& row : some.rows) {
    const MemoryRow* const expected = row_of(whole, row.label);
    ASSERT_NE(expected, nullptr);
    EXPECT_EQ(row.bytes, expected->bytes);
    EXPECT_EQ(row.active, expected->active);
    EXPECT_EQ(row.spans, expected->spans);
    EXPECT_EQ(row.work.hvx_ticks, expected->work.hvx_ticks);
    EXPECT_EQ(row.placement.verdict, expected->placement.verdict);
    EXPECT_EQ(row.placement.largest, expected->placement.largest);
    EXPECT_EQ(row.work.moving_ticks, expected->work.moving_ticks);
    EXPECT_EQ(row.work.ddr_bytes_of_all, expected->work.ddr_bytes_of_all);
  }
}

TEST(Memory, NothingAndNonsenseAreAnswered) {
  EXPECT_TRUE(table_of(Profile()).rows.empty());
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  MemoryBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma);
  for (int i = 0; i < 4; ++i) made.span(dma, "a", 0, 10);
  made.bytes("ddr read bytes", {max, max, -1, 3});
  Spans& spans = made.profile.spans;
  spans.start = {-max, max, 0, max};
  spans.duration = {max, max, -7, 1};
  spans.op = {OpId{77}, OpId::none, OpId{0}, OpId{0}};
  spans.unit = {UnitId{99}, UnitId::none, dma, dma};
  spans.instance = {4'000'000'000u, 0, 7, 7};
  made.profile.edges = {{OpId{0}, OpId{0}, EdgeKind::data}, {OpId{5}, OpId{0}, EdgeKind::data}};
  const MemoryTable table = table_of(made.profile);
  EXPECT_EQ(table.inferences.size(), 3u);
  for (const MemoryRow& row : table.rows) EXPECT_GE(row.active, 0);
}

TEST(VtcmPeak, OfCountersAndNumbersTheFullest) {
  MemoryBuilder made;
  made.profile.counters.series.resize(2);
  made.profile.counters.series[0].name = made.text("VTCM alloc");
  made.profile.counters.series[0].role = NumberRole::vtcm_allocated;
  made.profile.counters.series[1].name = made.text("VTCM read bytes in flight");
  made.profile.counters.of = {0, 1, 0, 0};
  made.profile.counters.time = {0, 1, 2, 3};
  made.profile.counters.value = {10, 9999, 500, 20};
  made.measure(Measure::Subject::profile, 0, "peak VTCM bytes", 510);
  const auto peaks = vtcm_peaks(made.profile);
  ASSERT_EQ(peaks.size(), 2u);
  EXPECT_EQ(peaks[0].bytes, 500);
  EXPECT_EQ(peaks[0].origin, Origin::counter);
  EXPECT_EQ(peaks[1].bytes, 510);
}

}  // namespace
}  // namespace npuscope::analysis::memory_test
