// What bounds a run: each rule where it applies, with its numbers, and where it nearly does.
#include "analysis/findings/finding_tester.hpp"

namespace npuscope::analysis::bound_rules_test {
namespace {

using test_support::CoreBuilder;
using test_support::MemoryBuilder;
using test_support::Tried;

CoreBuilder memory_bound(std::int64_t hmx_until, std::int64_t dma_until) {
  CoreBuilder made;
  made.transfer("weights", 0, dma_until);
  made.span(made.hmx, "MatMul", 0, hmx_until);
  made.span(made.hvx, "Add", 90, 100);
  return made;
}

TEST(MemoryBound, LowComputeBesideBusyDma) {
  const Tried tried("memory-bound", memory_bound(49, 65).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("dma_domain_share_of_wall"), 0.65);
  EXPECT_EQ(tried.value("hmx_domain_share_of_wall"), 0.49);
  EXPECT_EQ(tried.value("hvx_domain_share_of_wall"), 0.1);
  EXPECT_EQ(tried.gain(), 16);  // from 49 to 65 data moves and nothing computes
  EXPECT_EQ(tried.finding().gain->share, 0.16);
}

// HMX alone was called compute, which HVX is too.
TEST(MemoryBound, ComputeInTheTitleIsOfAllEngines) {
  const Tried tried("memory-bound", memory_bound(49, 70).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().title,
            "Memory bound: DMA works for 70.0 % of the wall, compute for 59.0 %");
}

TEST(MemoryBound, NotWhereDmaIsALittleLessBusyOrComputeIsNotLow) {
  EXPECT_TRUE(Tried("memory-bound", memory_bound(49, 64).profile).is_quiet());
  EXPECT_TRUE(Tried("memory-bound", memory_bound(50, 65).profile).is_quiet());
}

// 1,000 ns; the peak is one byte a nanosecond.
Tried of_bytes(std::int64_t bytes) {
  CoreBuilder made(0, "time", ClockKind::wall, 1e9);
  made.span(made.hmx, "MatMul", 0, 600);
  made.span(made.hvx, "Add", 600, 900);
  made.span(made.hmx, "MatMul", 900, 1000, SpanKind::dma_wait);
  made.bytes("ddr read bytes", {bytes, 0, 0});
  DiagnoseOptions options;
  options.peaks.source = "target toy";
  options.peaks.ddr_bytes_per_s = 1e9;
  return Tried("memory-bound", made.profile, options);
}

TEST(MemoryBound, ByTheBytesWhereThePeakIsKnown) {
  const Tried tried = of_bytes(650);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("ddr_share_of_peak"), 0.65);
  EXPECT_EQ(tried.gain(), 100);
  EXPECT_EQ(tried.finding().evidence[0].source, "memory: ROOFLINE, target toy");
  EXPECT_TRUE(of_bytes(640).is_quiet());
}

TEST(MemoryBound, OfUnitsThatComputeAndHaveNoNameOfTheirOwn) {
  CoreBuilder made;
  made.transfer("weights", 0, 90);
  made.span(made.unit("slice", Engine::compute, made.core), "Conv", 60, 100);
  const Tried tried("memory-bound", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("compute_domain_share_of_wall"), 0.4);
  EXPECT_EQ(tried.gain(), 60);
}

TEST(MemoryBound, NeedsTransfersOrAPeak) {
  CoreBuilder made;
  made.span(made.hmx, "MatMul", 0, 600);
  EXPECT_EQ(Tried("memory-bound", made.profile).missing(),
            "transfers of DMA engines, or the DDR's peak (--target)");
}

// A summary: frames of inferences, utilisation of threads, ticks of kernels over all cores.
MemoryBuilder summary(double hmx_percent, double copy_ticks) {
  MemoryBuilder made("UTIMER", ClockKind::timer, 19.2e6);
  const UnitId core = made.unit("core 0", Engine::core);
  const UnitId hvx = made.unit("HVX 0", Engine::hvx, core);
  const UnitId hmx = made.unit("HMX 4", Engine::hmx, core);
  const UnitId issue = made.unit("DMAIssue 5", Engine::dma_issue, core);
  made.span(core, "", 0, 1000, SpanKind::inference);
  made.measure(Measure::Subject::unit, index_of(hvx), "utilization percent", 1);
  made.measure(Measure::Subject::unit, index_of(hmx), "utilization percent", hmx_percent);
  made.measure(Measure::Subject::unit, index_of(issue), "utilization percent", 5);
  const auto work = [&](const char* kind, double ticks) {
    made.measure(Measure::Subject::op, index_of(made.op(kind, kind)), "ucycles", ticks);
    made.profile.measures.back().kind = MeasureKind::work;
  };
  work("aiccopytovtcm", copy_ticks);
  work("aiccopysamevtcm", 300);
  work("aicconvolutiond32", 200);
  return made;
}

TEST(MemoryBound, OfASummaryByItsUtilisationAndItsCopies) {
  const Tried tried("memory-bound", summary(4, 650).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("dma_work_share_of_cores_time"), 0.65);
  EXPECT_EQ(tried.value("hmx_stated_use"), 0.04);
  EXPECT_EQ(tried.value("hvx_stated_use"), 0.01);
  EXPECT_FALSE(tried.finding().gain);
  EXPECT_TRUE(Tried("memory-bound", summary(50, 650).profile).is_quiet());
  EXPECT_TRUE(Tried("memory-bound", summary(4, 640).profile).is_quiet());
}

TEST(DmaIssue, IsNotHowBusyDmaIs) {
  const Tried summed("dma-issue-utilisation", summary(4, 160).profile);
  ASSERT_TRUE(summed.found());
  EXPECT_EQ(summed.value("issue_stated_use"), 0.05);
  EXPECT_EQ(summed.value("dma_work_share_of_cores_time"), 0.16);
  EXPECT_TRUE(Tried("dma-issue-utilisation", summary(4, 140).profile).is_quiet());

  CoreBuilder made;
  made.span(made.issue, "copy", 0, 10);
  made.transfer("copy", 10, 40);
  made.span(made.hmx, "MatMul", 40, 100);
  const Tried timed("dma-issue-utilisation", made.profile);
  ASSERT_TRUE(timed.found());
  EXPECT_EQ(timed.value("issue_domain_share_of_wall"), 0.1);
  EXPECT_EQ(timed.value("dma_domain_share_of_wall"), 0.3);
}

CoreBuilder exposed(std::int64_t dma_until) {
  CoreBuilder made;
  made.span(made.hmx, "MatMul_0", 0, 50);
  made.transfer("weights", 40, dma_until);
  made.span(made.hmx, "MatMul_1", 60, 100);
  return made;
}

TEST(ExposedDma, IsWhatNoWorkHides) {
  CoreBuilder made = exposed(57);
  made.span(made.hmx, "MatMul_1", 50, 60, SpanKind::dma_wait);
  const Tried tried("exposed-dma", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("movement_alone"), 7);
  EXPECT_EQ(tried.value("waiting_for_dma_alone"), 3);
  EXPECT_EQ(tried.value("exposed_share_of_wall"), 0.1);
  EXPECT_EQ(tried.value("dma_wait", "core > HMX 0"), 10);
  EXPECT_EQ(tried.value("dma_wait_share_of_wall"), 0.1);
  EXPECT_EQ(tried.gain(), 10);  // HMX must still work for 90
}

TEST(ExposedDma, NotBelowATenth) {
  EXPECT_TRUE(Tried("exposed-dma", exposed(59).profile).is_quiet());
}

TEST(ExposedDma, GainsNoMoreThanTheBusiestUnitLeaves) {
  CoreBuilder made;
  made.transfer("weights", 0, 60);
  made.span(made.hmx, "MatMul", 60, 100);
  const Tried tried("exposed-dma", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("movement_alone"), 60);
  EXPECT_EQ(tried.gain(), 40);  // the transfers alone take 60
}

TEST(ExposedDma, NotWhereBandwidthIsTheBound) {
  EXPECT_TRUE(Tried("exposed-dma", memory_bound(10, 90).profile).is_quiet());
}

TEST(NoUnitBusy, WhereEachWaitsForTheOthers) {
  CoreBuilder made;
  made.span(made.hmx, "MatMul", 0, 40);
  made.span(made.hvx, "Add", 50, 100);
  EXPECT_TRUE(Tried("no-unit-busy", made.profile).is_quiet());  // HVX for half of it
  made.profile.spans.duration[1] = 41;
  made.span(made.hvx1, "Add", 91, 100);
  const Tried tried("no-unit-busy", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("domain_share_of_wall", "core > HMX 0"), 0.4);
  EXPECT_EQ(tried.value("domain_share_of_wall", "core > HVX 0"), 0.41);
  EXPECT_EQ(tried.value("idle_share_of_wall"), 0.1);
  EXPECT_FALSE(tried.finding().gain);
}

// Dispatch and compilation on the host: a larger batch was advised.
TEST(NoUnitBusy, WhereMostIsWaitingItIsNotTheOrderOfTheOps) {
  CoreBuilder made;
  made.span(made.hmx, "MatMul", 0, 10);
  made.span(made.hmx, "wait for the host", 10, 100, SpanKind::wait);
  const Tried tried("no-unit-busy", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("waiting_share_of_wall"), 0.9);
  EXPECT_EQ(tried.finding().advice.find("batch"), std::string::npos);
}

// A softmax, then a product, `between` them an edge.
CoreBuilder taking_turns(std::int64_t hmx_start, std::optional<EdgeKind> between) {
  CoreBuilder made;
  made.span(made.hvx, "Softmax", 0, 50);
  made.span(made.hmx, "MatMul", hmx_start, hmx_start + 50);
  if (between) made.profile.edges = {{made.op("Softmax"), made.op("MatMul"), *between}};
  return made;
}

TEST(Serialised, UnitsThatTakeTurnsForTheSakeOfMemory) {
  const Tried tried("serialised-hvx-hmx", taking_turns(50, EdgeKind::reuse).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("hvx_active"), 50);
  EXPECT_EQ(tried.value("hmx_active"), 50);
  EXPECT_EQ(tried.value("both"), 0);
  EXPECT_EQ(tried.gain(), 50);
}

TEST(Serialised, PromisedAGainOnAChainInWhichEachNeedsTheOneBefore) {
  EXPECT_TRUE(Tried("serialised-hvx-hmx", taking_turns(50, EdgeKind::data).profile).is_quiet());
  // Two products whose softmax lies between: only the second edge is false.
  CoreBuilder made = taking_turns(50, EdgeKind::data);
  made.span(made.hvx, "Norm", 100, 150);
  made.profile.edges.push_back({made.op("MatMul"), made.op("Norm"), EdgeKind::reuse});
  const Tried tried("serialised-hvx-hmx", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.gain(), 50);
}

TEST(Serialised, StatesNoGainWhereNoDependenciesAreKnown) {
  const Tried tried("serialised-hvx-hmx", taking_turns(41, std::nullopt).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("both"), 9);
  EXPECT_EQ(tried.value("both_share_of_smaller"), 0.18);
  EXPECT_FALSE(tried.finding().gain);
  EXPECT_TRUE(Tried("serialised-hvx-hmx", taking_turns(40, std::nullopt).profile).is_quiet());
}

TEST(Serialised, NotWhereOneOfThemHardlyWorks) {
  CoreBuilder made;
  made.span(made.hvx, "Softmax", 0, 9);
  made.span(made.hmx, "MatMul", 10, 100);
  EXPECT_TRUE(Tried("serialised-hvx-hmx", made.profile).is_quiet());
}

// An HTP whose lane waits for weights most of the time: its files do not say how busy the DDR is.
Tried waiting_for_weights(const char* rule, std::int64_t waited, double peak) {
  CoreBuilder made;
  made.profile.provenance.platform = Provenance::Platform::hexagon;
  made.span(made.hmx, "MatMul", 0, 1000 - waited);
  made.span(made.hvx, "Add", 0, 100);
  made.span(made.hmx, "MatMul", 1000 - waited, 1000, SpanKind::dma_wait);
  made.profile.spans.duration[0] = 300;
  made.bytes("ddr read bytes", {900, 0, 0});
  DiagnoseOptions options;
  options.peaks.ddr_bytes_per_s = peak;
  options.rate = Hertz{1e9};
  return Tried(rule, made.profile, options);
}

TEST(NoUnitBusy, DoesNotRuleOutABandwidthThatNobodyKnows) {
  const Tried unknown = waiting_for_weights("no-unit-busy", 700, 0);
  EXPECT_FALSE(unknown.found());
  EXPECT_NE(unknown.missing(), "");
  EXPECT_TRUE(waiting_for_weights("no-unit-busy", 700, 1e9).is_quiet());
  ASSERT_TRUE(waiting_for_weights("no-unit-busy", 700, 9e9).found());
  const Tried mostly_order = waiting_for_weights("no-unit-busy", 300, 0);
  ASSERT_TRUE(mostly_order.found());
  EXPECT_EQ(mostly_order.finding().advice.find("nor the bandwidth"), std::string::npos);
}

TEST(ExposedDma, SaysThatFewerBytesMayBeTheOnlyHelpWhereTheBandwidthIsNotKnown) {
  const std::string word = "only fewer bytes help";
  const Tried unknown = waiting_for_weights("exposed-dma", 700, 0);
  ASSERT_TRUE(unknown.found());
  EXPECT_NE(unknown.finding().advice.find(word), std::string::npos);
  const Tried known = waiting_for_weights("exposed-dma", 700, 9e9);
  ASSERT_TRUE(known.found());
  EXPECT_EQ(known.finding().advice.find(word), std::string::npos);
}

// Three inferences of 100 with pauses between.
CoreBuilder paused(std::int64_t pause, std::vector<std::uint32_t> numbers = {0, 1, 2}) {
  CoreBuilder made;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::int64_t start = std::int64_t(i) * (100 + pause);
    made.span(made.hmx, "MatMul", start, start + 100);
    made.profile.spans.instance.push_back(numbers[i]);
  }
  return made;
}

TEST(IdleBetweenInferences, IsThePauseFromOneToTheNext) {
  const Tried tried("idle-between-inferences", paused(50).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("between_inferences"), 100);
  EXPECT_EQ(tried.value("between_inferences_share_of_wall"), 0.25);
  EXPECT_EQ(tried.value("gaps_between"), 2);
  EXPECT_EQ(tried.value("longest_between"), 50);
  EXPECT_DOUBLE_EQ(tried.gain(), 100.0 / 3);  // of one of the three
  EXPECT_EQ(tried.finding().gain->of, "the wall");
  EXPECT_TRUE(Tried("idle-between-inferences", paused(16).profile).is_quiet());
}

TEST(IdleBetweenInferences, NotWhereOthersMayHaveRunThatNobodyRecorded) {
  const Tried tried("idle-between-inferences", paused(500, {3, 5, 9}).profile);
  EXPECT_EQ(tried.missing(), "two inferences that follow one another");
}

TEST(IdleBetweenInferences, NotWhereAnotherIsInFlight) {
  CoreBuilder made;
  made.span(made.hmx, "MatMul", 0, 1000);
  made.span(made.hvx, "Add", 100, 200);
  made.span(made.hvx, "Add", 600, 700);
  made.profile.spans.instance = {0, 1, 2};
  EXPECT_TRUE(Tried("idle-between-inferences", made.profile).is_quiet());
}

CoreBuilder vectors(std::int64_t matrix, std::int64_t vector) {
  CoreBuilder made;
  made.span(made.hmx, "MatMul", 0, matrix, SpanKind::op, "conv");
  made.span(made.hvx, "Softmax", 100 - vector, 100, SpanKind::op, "softmax");
  return made;
}

TEST(VectorBound, WhereHvxIsBusierThanHmx) {
  const Tried tried("vector-bound", vectors(20, 80).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("hvx_domain_share_of_wall"), 0.8);
  EXPECT_EQ(tried.value("hmx_domain_share_of_wall"), 0.2);
  EXPECT_EQ(tried.value("active_share_of_wall", "softmax"), 0.8);
  EXPECT_EQ(tried.gain(), 40);  // half of 80 is left
}

TEST(VectorBound, NotBelowHalfOfTheWallNorBelowHmxNorWithoutIt) {
  EXPECT_TRUE(Tried("vector-bound", vectors(20, 49).profile).is_quiet());
  EXPECT_TRUE(Tried("vector-bound", vectors(60, 60).profile).is_quiet());
  EXPECT_TRUE(Tried("vector-bound", vectors(0, 80).profile).is_quiet());
}

}  // namespace
}  // namespace npuscope::analysis::bound_rules_test
