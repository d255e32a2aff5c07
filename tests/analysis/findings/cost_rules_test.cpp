// What ops cost: each rule where it applies, with its numbers, and where it nearly does.
#include <algorithm>
#include <map>
#include <random>

#include "analysis/findings/finding_tester.hpp"
#include "number_meaning.hpp"

namespace npuscope::analysis::cost_rules_test {
namespace {

using test_support::CoreBuilder;
using test_support::MemoryBuilder;
using test_support::ProfileBuilder;
using test_support::Tried;

// One kernel of this kind at the beginning of 1,000 ticks on one thread.
CoreBuilder beginning_with(const char* kind, std::int64_t ticks) {
  CoreBuilder made;
  made.span(made.hvx, "first", 0, ticks, SpanKind::op, kind);
  made.span(made.hvx, "rest", ticks, 1000, SpanKind::op, "q::mul");
  return made;
}

TEST(Spill, ByItsTimeAloneAndByItsBytes) {
  CoreBuilder made;
  made.span(made.hvx, "a", 0, 500, SpanKind::op, "q::mul");
  made.span(made.hvx, "s", 500, 506, SpanKind::op, "@Spill");
  made.span(made.hvx, "f", 506, 510, SpanKind::op, "@Fill");
  made.span(made.hvx, "b", 510, 1000, SpanKind::op, "q::mul");
  made.bytes("ddr read bytes", {300, 0, 100, 0});
  made.bytes("ddr write bytes", {0, 100, 0, 0});
  const Tried tried("spill", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("spill_instances"), 1);
  EXPECT_EQ(tried.value("spill_ddr_bytes"), 100);
  EXPECT_EQ(tried.value("spill_work"), 6);
  EXPECT_EQ(tried.value("fill_alone"), 4);
  EXPECT_EQ(tried.value("fill_share_of_ddr_read"), 0.25);
  EXPECT_EQ(tried.gain(), 10);
}

// On an HTP a lane shows the issue of a transfer; its length is the wait for it.
TEST(Spill, GainsTheWaitsForFillsWhereNothingWorks) {
  CoreBuilder made;
  made.span(made.hvx, "a", 0, 300, SpanKind::op, "q::mul");
  made.span(made.hmx, "f", 300, 310, SpanKind::op, "@Fill");
  made.span(made.hvx, "f", 310, 900, SpanKind::dma_wait, "@Fill");
  made.span(made.hmx, "c", 310, 400, SpanKind::op, "q::conv");
  made.span(made.hvx, "b", 900, 1000, SpanKind::op, "q::mul");
  const Tried tried("spill", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("waited_alone"), 500);
  EXPECT_GE(tried.gain(), 500);
  EXPECT_LE(tried.gain(), 510);
  EXPECT_EQ(tried.finding().weight, Weight::high);
}

TEST(Spill, NotForAShortOne) {
  EXPECT_TRUE(Tried("spill", beginning_with("@Spill", 9).profile).is_quiet());
  EXPECT_TRUE(Tried("spill", beginning_with("@Spill", 10).profile).found());
  EXPECT_TRUE(Tried("spill", beginning_with("q::add", 500).profile).is_quiet());
}

// Six ops one after the other; the times that they took, and what was estimated, in other units.
struct EstimateBuilder : CoreBuilder {
  void estimated(const std::vector<std::pair<std::int64_t, std::int64_t>>& times,
                 Origin origin = Origin::estimated) {
    const ClockId clock = ClockId(profile.clocks.size());
    profile.clocks.push_back({text("estimated"), ClockKind::unit_cycles, Hertz{0}, false, 0});
    MeasureColumn column{text("estimate"),
                         MeasureKind::span,
                         origin,
                         test_support::meaning_of(MeasureKind::span, "estimate"),
                         clock,
                         {}};
    std::int64_t at = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      span(hvx, "op" + std::to_string(i), at, at + times[i].first, SpanKind::op, "q::mul");
      at += times[i].first;
      column.values.push_back(times[i].second);
    }
    column.meaning = test_support::meaning_of(column.kind, profile.text(column.what));
    profile.spans.measures.push_back(std::move(column));
  }
};

TEST(SlowerThanEstimated, OpsThatTookTenTimesTheirEstimateWereNoFinding) {
  EstimateBuilder made;
  made.estimated({{200, 20}, {100, 10}, {110, 11}, {600, 6}, {90, 9}, {40, 2}});
  const Tried tried("slower-than-estimated", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().title,
            "2 ops take longer than their estimates say; op3 10.0 times");  // the median is 10
  EXPECT_EQ(tried.value("measured", "op3"), 600);
  EXPECT_EQ(tried.value("by_the_estimate", "op3"), 60);
  EXPECT_EQ(tried.value("ratio_to_median", "op5"), 2);
  EXPECT_EQ(tried.value("beyond"), 540 + 20);
  EXPECT_EQ(tried.gain(), 540 + 20);  // a chain: by the longest path too
}

TEST(SlowerThanEstimated, NotBelowItsThresholds) {
  EstimateBuilder nearly;
  nearly.estimated({{2000, 200}, {100, 10}, {110, 11}, {190, 10}, {90, 9}, {20, 2}});
  EXPECT_TRUE(Tried("slower-than-estimated", nearly.profile).is_quiet());
  EstimateBuilder small;
  small.estimated({{2000, 200}, {100, 10}, {110, 11}, {20, 1}, {90, 9}, {20, 2}});
  EXPECT_TRUE(Tried("slower-than-estimated", small.profile).is_quiet());
}

TEST(SlowerThanEstimated, NeedsEstimatesByTheirOrigin) {
  EstimateBuilder few;
  few.estimated({{200, 20}, {100, 10}, {600, 6}});
  EXPECT_EQ(Tried("slower-than-estimated", few.profile).missing(), "estimates of five ops or more");
  EstimateBuilder counted;
  counted.estimated({{200, 20}, {100, 10}, {110, 11}, {600, 6}, {90, 9}}, Origin::counter);
  EXPECT_EQ(Tried("slower-than-estimated", counted.profile).missing(),
            "a compiler's estimate beside measured times");
}

TEST(BoundaryTax, OfGlueOfSeveralSorts) {
  CoreBuilder made;
  made.span(made.hvx, "in", 0, 40, SpanKind::op, "q::*InputSlice");
  made.span(made.hvx, "flat", 40, 100, SpanKind::op, "q::ForceFormat_Flat");
  made.span(made.hvx, "rest", 100, 1000, SpanKind::op, "q::mul");
  const Tried tried("boundary-tax", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("share", "input and output slices"), 0.04);
  EXPECT_EQ(tried.value("share", "format conversion"), 0.06);
  EXPECT_EQ(tried.gain(), 100);
  EXPECT_EQ(tried.finding().gain->share, 0.1);
  EXPECT_TRUE(
      Tried("boundary-tax", beginning_with("q::ForceFormat_Crouton", 99).profile).is_quiet());
}

TEST(Kernels, TransposesAndSoftmaxFromATenthOn) {
  for (const auto& [rule, kind] : {std::pair{"transpose", "q::Transpose_impl"},
                                   {"transpose", "aictranspose"},
                                   {"softmax", "q::Softmax"},
                                   {"softmax", "SOFTMAX"}}) {
    const Tried tried(rule, beginning_with(kind, 100).profile);
    ASSERT_TRUE(tried.found()) << kind;
    EXPECT_EQ(tried.value("time"), 100) << kind;
    EXPECT_EQ(tried.value("share"), 0.1) << kind;
    EXPECT_EQ(tried.value("runs"), 1) << kind;
    EXPECT_EQ(tried.gain(), 100) << kind;
    EXPECT_TRUE(Tried(rule, beginning_with(kind, 99).profile).is_quiet()) << kind;
  }
}

TEST(Kernels, OfATableWithoutTimelineByTheirPartOfAllOps) {
  MemoryBuilder made("UTIMER", ClockKind::timer, 19.2e6);
  for (const auto& [kind, ticks] : {std::pair{"aicsoftmax", 118.0}, {"aicconvolutiond32", 882}}) {
    made.measure(Measure::Subject::op, index_of(made.op(kind, kind)), "ucycles", ticks);
    made.profile.measures.back().kind = MeasureKind::work;
  }
  const Tried tried("softmax", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("share"), 0.118);
  EXPECT_EQ(tried.finding().evidence[0].kind, MeasureKind::work);
  EXPECT_EQ(tried.finding().no_gain, "the profile has no timeline to compute it on");
}

TEST(Kernels, OfAHostsTimelineDoNotSayThatThereIsNone) {
  MemoryBuilder made;
  made.span(made.unit("CPU", Engine::host), "softmax", 0, 100, SpanKind::op, "Softmax");
  const Tried tried("softmax", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().no_gain, "all work on the timeline is the host's");
  EXPECT_EQ(tried.finding().advice.find("vector unit"), std::string::npos);
}

CoreBuilder transfers(int small) {
  CoreBuilder made;
  std::vector<std::int64_t> bytes;
  std::int64_t at = 0;
  for (int i = 0; i < 192; ++i) {
    made.span(made.dma, "big" + std::to_string(i), at, at + 10, SpanKind::transfer);
    at += 10;
    bytes.push_back(4096);
  }
  for (int i = 0; i < small; ++i) {
    made.span(made.dma, "small" + std::to_string(i), at, at + 5, SpanKind::transfer);
    at += 5;
    bytes.push_back(64);
  }
  made.bytes("ddr read bytes", bytes);
  return made;
}

TEST(TinyDma, ManyTransfersBelow4KiB) {
  const Tried tried("tiny-dma", transfers(64).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("small_transfers"), 64);
  EXPECT_EQ(tried.value("small_share_of_transfers"), 0.25);
  EXPECT_EQ(tried.value("small_bytes"), 4096);
  EXPECT_EQ(tried.value("small_work"), 320);
  EXPECT_EQ(tried.value("small_share_of_work"), 320.0 / 2240);
  EXPECT_EQ(tried.gain(), 320);
  EXPECT_TRUE(Tried("tiny-dma", transfers(63).profile).is_quiet());
}

TEST(TinyDma, NeedsBytes) {
  CoreBuilder made;
  made.transfer("t", 0, 5);
  EXPECT_EQ(Tried("tiny-dma", made.profile).missing(), "bytes of transfers");
}

struct TwoCores : ProfileBuilder {
  UnitId cores[2], hvx[2], dma[2];
  TwoCores() {
    for (std::uint32_t i = 0; i < 2; ++i) {
      cores[i] = unit("core", Engine::core);
      hvx[i] = unit("HVX", Engine::hvx, cores[i]);
      dma[i] = unit("DMA", Engine::dma, cores[i]);
      for (const UnitId each : {cores[i], hvx[i], dma[i]}) profile.units[index_of(each)].core = i;
    }
  }
};

TEST(OneCore, AnOpThatTheOthersCouldShare) {
  TwoCores made;
  made.span(made.hvx[0], "alone", 0, 40, SpanKind::op, "aicgather");
  made.span(made.hvx[0], "both", 40, 1000, SpanKind::op, "elementadd");
  made.span(made.hvx[1], "both", 40, 1000, SpanKind::op, "elementadd");
  made.profile.edges = {{made.op("alone", "aicgather"), made.op("both", "elementadd")}};
  const Tried tried("one-core-op", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("cores"), 2);
  EXPECT_EQ(tried.value("one_core_ops"), 1);
  EXPECT_EQ(tried.value("active", "alone"), 40);
  EXPECT_EQ(tried.value("active_share_of_wall"), 0.04);
  EXPECT_EQ(tried.gain(), 20);
}

TEST(OneCore, NotForWhatIsShortOrOnlyMoves) {
  TwoCores shorter;
  shorter.span(shorter.hvx[0], "alone", 0, 9, SpanKind::op, "aicgather");
  shorter.span(shorter.hvx[0], "both", 9, 1000, SpanKind::op, "elementadd");
  shorter.span(shorter.hvx[1], "both", 9, 1000, SpanKind::op, "elementadd");
  EXPECT_TRUE(Tried("one-core-op", shorter.profile).is_quiet());
  TwoCores moving;  // one core fetches, all get it
  moving.span(moving.dma[0], "weights", 0, 500, SpanKind::transfer, "aiccopytovtcm");
  moving.span(moving.hvx[0], "both", 500, 1000, SpanKind::op, "elementadd");
  moving.span(moving.hvx[1], "both", 500, 1000, SpanKind::op, "elementadd");
  EXPECT_TRUE(Tried("one-core-op", moving.profile).is_quiet());
}

TEST(OneThread, AKernelThatIsNotSliced) {
  const auto made = [](std::int64_t alone) {
    CoreBuilder core;
    core.span(core.hvx, "first", 0, alone, SpanKind::op, "q::ForceFormat_Flat");
    core.span(core.hvx, "rest", alone, 1000, SpanKind::op, "q::mul");
    core.span(core.hvx1, "rest", alone, 1000, SpanKind::op, "q::mul");
    core.profile.edges = {{core.op("first", "q::ForceFormat_Flat"), core.op("rest", "q::mul")}};
    return core;
  };
  const Tried tried("one-thread-op", made(50).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("hvx_threads"), 2);
  EXPECT_EQ(tried.value("active", "q::ForceFormat_Flat"), 50);
  EXPECT_EQ(tried.value("active_share_of_wall"), 0.05);
  EXPECT_EQ(tried.gain(), 25);
  EXPECT_TRUE(Tried("one-thread-op", made(49).profile).is_quiet());
}

// Three tiles on two threads: one thread takes two of them, and a product waits for all.
TEST(UnevenThreads, NobodyTellsThatTheLastWaveOfTilesRunsOnOneThread) {
  const auto made = [](std::int64_t first_wave) {
    CoreBuilder core;
    core.span(core.hvx, "solve", 0, first_wave, SpanKind::op, "Pack::Solve");
    core.span(core.hvx1, "solve", 0, first_wave, SpanKind::op, "Pack::Solve");
    core.span(core.hvx, "solve", first_wave, 200, SpanKind::op, "Pack::Solve");
    core.span(core.hmx, "MatMul", 200, 260, SpanKind::op, "q::ConvLayer_s1.opt");
    core.profile.edges = {
        {core.op("solve", "Pack::Solve"), core.op("MatMul", "q::ConvLayer_s1.opt")}};
    return core;
  };
  const Tried tried("uneven-threads", made(100).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("hvx_threads"), 2);
  EXPECT_EQ(tried.value("one_thread_alone"), 100);
  EXPECT_EQ(tried.value("tiles_per_run", "Pack::Solve"), 3);
  EXPECT_EQ(tried.value("excess", "Pack::Solve"), 50);  // 200 where 300 / 2 were even
  EXPECT_DOUBLE_EQ(tried.gain(), 50);
  EXPECT_TRUE(Tried("uneven-threads", made(180).profile).is_quiet());  // 200 of 190
}

// As everywhere, it is an empty one: it makes no thread's share less.
TEST(UnevenThreads, ASpanThatEndsBeforeItStartsWasTakenOffItsThreadsShare) {
  CoreBuilder core;
  core.span(core.hvx, "solve", 0, 200, SpanKind::op, "Pack::Solve");
  core.span(core.hvx, "solve", 200, 110, SpanKind::op, "Pack::Solve");
  core.span(core.hvx1, "solve", 0, 100, SpanKind::op, "Pack::Solve");
  core.span(core.hmx, "MatMul", 200, 260, SpanKind::op, "q::ConvLayer_s1.opt");
  core.profile.edges = {
      {core.op("solve", "Pack::Solve"), core.op("MatMul", "q::ConvLayer_s1.opt")}};
  const Tried tried("uneven-threads", core.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("excess", "Pack::Solve"), 50);  // 200 where 300 / 2 were even
}

// Excess and tiles of each execution of an op, counted span by span.
TEST(UnevenThreads, TilesOfAnyInferencesInAnyOrderAreCountedOnce) {
  std::mt19937 random(7);
  int found = 0;
  for (int round = 0; round < 50; ++round) {
    CoreBuilder core;
    std::map<std::uint32_t, std::map<UnitId, double>> of_thread;
    std::map<std::uint32_t, double> tiles;
    std::int64_t now = 0;
    for (int i = 0; i < 40; ++i) {
      const UnitId unit = random() % 3 == 0 ? core.hvx1 : core.hvx;
      const auto length = std::int64_t(1 + random() % 100);
      const auto inference = std::uint32_t(random() % 4);
      core.span(unit, "solve", now, now + length, SpanKind::op, "Pack::Solve");
      core.profile.spans.instance.push_back(inference);
      of_thread[inference][unit] += double(length);
      tiles[inference] += 1;
      now += length;
    }
    double excess = 0, uneven_tiles = 0, runs = 0;
    for (const auto& [inference, threads] : of_thread) {
      if (threads.size() < 2) continue;
      const double a = threads.begin()->second, b = threads.rbegin()->second, even = (a + b) / 2;
      if (std::max(a, b) <= 1.15 * even) continue;
      excess += std::max(a, b) - even;
      uneven_tiles += tiles[inference];
      runs += 1;
    }
    const Tried tried("uneven-threads", core.profile);
    if (!tried.found()) continue;  // the gain of a path may be small
    found += 1;
    EXPECT_EQ(tried.value("excess", "Pack::Solve"), excess) << round;
    EXPECT_EQ(tried.value("tiles_per_run", "Pack::Solve"), uneven_tiles / runs) << round;
  }
  EXPECT_GT(found, 10);
}

// Cycles and packets of three kernels; a product waits for all.
CoreBuilder with_packets(const char* kind, std::int64_t packets) {
  CoreBuilder made;
  const char* const others[] = {"q::mul", "q::add"};
  made.span(made.hvx, "slow", 0, 3'600, SpanKind::op, kind);
  made.span(made.hvx, "mul", 3'600, 4'800, SpanKind::op, others[0]);
  made.span(made.hvx, "add", 4'800, 6'000, SpanKind::op, others[1]);
  MeasureColumn column;
  column.what = made.text("packets");
  for (const std::int64_t each : {packets, std::int64_t{500}, std::int64_t{480}}) {
    column.values.push_back(each);
  }
  column.meaning = test_support::meaning_of(column.kind, made.profile.text(column.what));
  made.profile.spans.measures.push_back(std::move(column));
  return made;
}

TEST(SlowPackets, NobodyTellsOfAKernelWhosePacketsStall) {
  const Tried tried("slow-packets", with_packets("Pack::Solve", 1'000).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_DOUBLE_EQ(tried.value("cycles_per_packet", "Pack::Solve"), 3.6);
  EXPECT_DOUBLE_EQ(tried.value("cycles_per_packet_of_others"), 2.45);  // of 2.4 and 2.5
  EXPECT_NEAR(tried.gain(), 3'600 * (1 - 2.45 / 3.6), 1e-6);
  EXPECT_NE(tried.finding().advice.find("inner loop"), std::string::npos);
  const Tried vendors("slow-packets", with_packets("q::Softmax", 1'000).profile);
  ASSERT_TRUE(vendors.found());
  EXPECT_EQ(vendors.finding().advice.find("inner loop"), std::string::npos);
  EXPECT_TRUE(Tried("slow-packets", with_packets("q::Softmax", 1'060).profile).is_quiet());
  CoreBuilder none;
  none.span(none.hvx, "a", 0, 10);
  EXPECT_EQ(Tried("slow-packets", none.profile).missing(), "instruction packets of kernels");
}

TEST(FirstCalls, AreTakenForWhatAKernelCosts) {
  const auto made = [](std::int64_t first, Provenance::Temperature temperature) {
    CoreBuilder core;
    std::int64_t at = 0;
    for (const std::int64_t cycles :
         {first, std::int64_t{100}, std::int64_t{100}, std::int64_t{104}}) {
      core.span(core.hmx, std::to_string(at), at, at + cycles, SpanKind::op, "q::ConvLayer_s1.opt");
      at += cycles;
    }
    core.profile.provenance.temperature = temperature;
    return core;
  };
  using Temperature = Provenance::Temperature;
  const Tried tried("first-calls", made(400, Temperature::warm).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("first_call", "q::ConvLayer_s1.opt"), 400);
  EXPECT_EQ(tried.value("later_calls", "q::ConvLayer_s1.opt"), 100);
  EXPECT_EQ(tried.value("excess"), 300);
  EXPECT_DOUBLE_EQ(tried.gain(), 300);
  const Tried cold("first-calls", made(400, Temperature::cold).profile);
  ASSERT_TRUE(cold.found());
  EXPECT_FALSE(cold.finding().gain);  // a warm call has none
  EXPECT_TRUE(Tried("first-calls", made(150, Temperature::warm).profile).is_quiet());
}

TEST(Imbalance, TheMostLoadedCoreDecides) {
  const auto made = [](std::int64_t first, std::int64_t second) {
    TwoCores cores;
    cores.span(cores.hvx[0], "a", 0, first);
    cores.span(cores.hvx[1], "b", 0, second);
    return cores;
  };
  const Tried tried("imbalance", made(1200, 800).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_DOUBLE_EQ(tried.value("excess_of_mean", "core 0"), 0.2);
  EXPECT_EQ(tried.value("most_work"), 1200);
  EXPECT_EQ(tried.value("mean_work"), 1000);
  EXPECT_EQ(tried.value("least_work", "core 1"), 800);
  EXPECT_EQ(tried.gain(), 200);
  EXPECT_TRUE(Tried("imbalance", made(1150, 850).profile).is_quiet());
}

// Two branches whose second ops use one scratch of this size.
ProfileBuilder branches(std::int64_t bytes) {
  ProfileBuilder made;
  const UnitId a = made.unit("HVX 0", Engine::hvx), b = made.unit("HVX 1", Engine::hvx);
  const char *diag = "GdnSolveDiag", *merge = "GdnMergeHmx";
  made.span(a, "Diag_0", 0, 50, SpanKind::op, diag);
  made.span(a, "Merge_0", 50, 200, SpanKind::op, merge);
  made.span(b, "Diag_1", 0, 60, SpanKind::op, diag);
  made.span(b, "Merge_1", 200, 300, SpanKind::op, merge);
  made.profile.edges = {{made.op("Diag_0", diag), made.op("Merge_0", merge)},
                        {made.op("Diag_1", diag), made.op("Merge_1", merge)}};
  Tensor scratch;
  scratch.name = made.text("$Const_17");
  scratch.size = Bytes{bytes};
  scratch.is_constant = true;
  made.profile.tensors = {scratch};
  made.profile.tensor_uses = {{0, made.op("Merge_0", merge)}, {0, made.op("Merge_1", merge)}};
  return made;
}

TEST(FalseDependency, AScratchThatOrdersIndependentBranches) {
  const Tried tried("false-dependency", branches(65'536).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("waited", "$Const_17"), 140);  // ready at 60, the first ends at 200
  EXPECT_EQ(tried.value("tensor_bytes"), 65'536);
  EXPECT_EQ(tried.gain(), 140);
  EXPECT_TRUE(Tried("false-dependency", branches(8).profile).is_quiet());
}

// So many steps of 5 ticks, each after a gap, at the end of 1,000 ticks.
CoreBuilder dispatched(int steps, std::int64_t gap) {
  CoreBuilder made;
  std::int64_t at = 1000 - steps * (gap + 5);
  made.span(made.hvx, "big", 0, at);
  for (int i = 0; i < steps; ++i) {
    made.span(made.hvx, "tiny" + std::to_string(i), at + gap, at + gap + 5);
    at += gap + 5;
  }
  return made;
}

TEST(DispatchBound, StepsThatWaitLongerThanTheyWork) {
  const Tried tried("dispatch-bound-ops", dispatched(8, 15).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("steps"), 8);
  EXPECT_EQ(tried.value("gaps"), 120);
  EXPECT_EQ(tried.value("work"), 40);
  EXPECT_EQ(tried.gain(), 120);
  EXPECT_TRUE(Tried("dispatch-bound-ops", dispatched(7, 15).profile).is_quiet());
  EXPECT_TRUE(Tried("dispatch-bound-ops", dispatched(20, 5).profile).is_quiet());
  EXPECT_TRUE(Tried("dispatch-bound-ops", dispatched(8, 6).profile).is_quiet());  // 48 of 1,000
}

TEST(DispatchBound, NeedsToKnowWhatWaitsForWhat) {
  CoreBuilder made = dispatched(8, 15);
  made.span(made.hmx, "MatMul", 0, 5);
  EXPECT_EQ(Tried("dispatch-bound-ops", made.profile).missing(), "dependencies between ops");
}

}  // namespace
}  // namespace npuscope::analysis::cost_rules_test
