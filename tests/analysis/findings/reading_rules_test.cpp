// What misleads in a run's numbers: each rule where it applies, and where it nearly does.
#include <gmock/gmock.h>

#include "analysis/findings/finding_tester.hpp"
#include "number_meaning.hpp"

namespace npuscope::analysis::reading_rules_test {
namespace {

using test_support::CoreBuilder;
using test_support::MemoryBuilder;
using test_support::ProfileBuilder;
using test_support::Tried;

Measure& add(ProfileBuilder& made, const char* what, MeasureKind kind, ClockId clock, double value,
             std::uint32_t instance = every_instance) {
  Measure measure;
  measure.what = made.text(what);
  measure.kind = kind;
  measure.clock = clock;
  measure.value = value;
  measure.instance = instance;
  measure.meaning = test_support::meaning_of(measure.kind, made.profile.text(measure.what));
  made.profile.measures.push_back(measure);
  return made.profile.measures.back();
}

ClockId nanoseconds(ProfileBuilder& made) {
  made.profile.clocks.push_back({made.text("ns"), ClockKind::wall, Hertz{1e9}, false, 0});
  return ClockId(std::uint32_t(made.profile.clocks.size() - 1));
}

TEST(UncountedWaits, InALaneThatTheFileCallsBusy) {
  const auto made = [](double stated) {
    CoreBuilder core;
    core.span(core.hmx, "MatMul", 0, 40);
    core.span(core.hmx, "weights", 40, 60, SpanKind::dma_wait);
    core.span(core.hvx, "Add", 60, 100);
    core.measure(Measure::Subject::unit, index_of(core.hmx), "utilization percent, waits included",
                 stated);
    return core;
  };
  const Tried tried("uncounted-waits", made(60).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("stated_utilisation"), 0.6);
  EXPECT_EQ(tried.value("busy_share_of_wall"), 0.4);
  EXPECT_EQ(tried.value("waiting"), 20);
  EXPECT_EQ(tried.value("domain_share_of_wall"), 0.4);
  EXPECT_TRUE(Tried("uncounted-waits", made(44).profile).is_quiet());
}

// An execution of 10 us at this clock, whose printed cycles are these.
ProfileBuilder executed(double cycles, double clock_hz) {
  ProfileBuilder made("PCYCLE");
  made.phase("Graph Execute", 0, 0, std::int64_t(clock_hz * 10e-6), 10);
  add(made, "Accelerator (execute) time (cycles)", MeasureKind::work, ClockId{}, cycles, 0);
  return made;
}

TEST(AggregateReadAsWall, CyclesByTimeAboveTheClock) {
  const Tried tried("aggregate-read-as-wall", executed(20'600, 2e9).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("cycles"), 20'600);
  EXPECT_DOUBLE_EQ(tried.value("execution_seconds"), 10e-6);
  EXPECT_DOUBLE_EQ(tried.value("implied_hz"), 2.06e9);
  EXPECT_DOUBLE_EQ(tried.value("clock_hz"), 2e9);
  EXPECT_TRUE(Tried("aggregate-read-as-wall", executed(20'300, 2e9).profile).is_quiet());
}

TEST(AggregateReadAsWall, WithoutAClockAboveAnyThatWasSeen) {
  const auto made = [](double cycles) {
    ProfileBuilder viewer("PCYCLE");
    const ClockId ns = nanoseconds(viewer);
    add(viewer, "Accelerator (execute excluding wait) time", MeasureKind::wall, ns, 10'000, 0);
    add(viewer, "Accelerator (execute) time (cycles)", MeasureKind::work, ClockId{}, cycles, 0);
    return viewer;
  };
  const Tried tried("aggregate-read-as-wall", made(30'000).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_DOUBLE_EQ(tried.value("implied_hz"), 3e9);
  EXPECT_TRUE(Tried("aggregate-read-as-wall", made(20'000).profile).is_quiet());
  EXPECT_EQ(Tried("aggregate-read-as-wall", ProfileBuilder().profile).missing(),
            "cycles of an execution as a tool sums them");
}

TEST(ColdInference, ByThePhasesOfEachInference) {
  const auto made = [](double first) {
    ProfileBuilder runs("PCYCLE");
    for (std::uint32_t i = 0; i < 3; ++i) {
      const double microseconds = i == 0 ? first : 10;
      const std::int64_t cycles = i == 0 ? 12'000 : 20'000;
      runs.phase("Graph Execute", i, 50'000 * i, 50'000 * i + cycles, microseconds);
    }
    return runs;
  };
  const Tried tried("cold-inference", made(12).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_DOUBLE_EQ(tried.value("first_seconds", "Graph Execute"), 12e-6);
  EXPECT_DOUBLE_EQ(tried.value("median_of_rest_seconds", "Graph Execute"), 10e-6);
  EXPECT_DOUBLE_EQ(tried.value("first_hz"), 1e9);
  EXPECT_DOUBLE_EQ(tried.value("median_of_rest_hz"), 2e9);
  EXPECT_EQ(tried.finding().weight, Weight::low);
  EXPECT_TRUE(Tried("cold-inference", made(11.9).profile).is_quiet());
}

// What took longer, and what came before all inferences.
TEST(ColdInference, NamesTheOpsThatTookLonger) {
  ProfileBuilder run("ns", ClockKind::wall, 1e9);
  const UnitId host = run.unit("worker", Engine::host);
  const auto add = [&](const char* op, std::int64_t start, std::int64_t end, std::uint32_t in,
                       SpanKind kind = SpanKind::host) {
    run.span(host, op, start, end, kind);
    run.profile.spans.instance.resize(run.profile.spans.size(), in);
  };
  add("load", 0, 5'000, every_instance, SpanKind::activation);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::int64_t begin = 10'000 + 10'000 * i, conv = i == 0 ? 4'000 : 500;
    add("conv", begin, begin + conv, i);
    add("relu", begin + conv, begin + conv + 200 - 50 * i, i);
  }
  run.profile.provenance.inferences = 3;
  const Tried tried("cold-inference", run.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("setting_up"), 5'000);
  EXPECT_EQ(tried.value("op_excess_of_first", "conv"), 3'500);
  EXPECT_TRUE(std::isnan(tried.value("op_excess_of_first", "relu")));  // 75 of 3,575: too little
}

// A log of one inference has a phase for each of its dispatches: the first is another dispatch, no
// other inference.
TEST(ColdInference, IsNotSeenInPhasesThatRepeatWithinAnInference) {
  ProfileBuilder run("PCYCLE");
  for (std::uint32_t i = 0; i < 3; ++i) {
    run.phase("DISPATCH", 0, 50'000 * i, 50'000 * i + 20'000, i == 0 ? 500 : 10);
  }
  EXPECT_FALSE(Tried("cold-inference", run.profile).found());
}

// A runtime log in microseconds: one of its calls took two in the first inference, one later.
TEST(ColdInference, IsNotSeenInACallThatIsNothingBesideTheInference) {
  const auto made = [](double call) {
    ProfileBuilder log("monotonic", ClockKind::wall, 1e6);
    for (std::uint32_t i = 0; i < 3; ++i) {
      log.phase("EXECUTE", i, 50'000 * i, 50'000 * i + 40'000, 40'000);
      log.phase("SIGNAL", i, 50'000 * i + 40'000, 50'000 * i + 40'002, i == 0 ? call : 1);
    }
    return log;
  };
  EXPECT_TRUE(Tried("cold-inference", made(2).profile).is_quiet());
  EXPECT_TRUE(Tried("cold-inference", made(2001).profile).found());
}

TEST(ColdInference, ByTheWallsOfInferences) {
  const auto made = [](std::int64_t first) {
    CoreBuilder runs;
    for (std::uint32_t i = 0; i < 3; ++i) {
      runs.span(runs.hmx, "MatMul", 1000 * i, 1000 * i + (i == 0 ? first : 100));
      runs.profile.spans.instance.push_back(i);
    }
    return runs;
  };
  const Tried tried("cold-inference", made(120).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("first_wall"), 120);
  EXPECT_EQ(tried.value("median_wall_of_rest"), 100);
  EXPECT_TRUE(Tried("cold-inference", made(119).profile).is_quiet());
}

TEST(ColdInference, WhereOnlyTheColdOneHasOps) {
  CoreBuilder made;
  made.span(made.hmx, "MatMul", 0, 100);
  EXPECT_EQ(Tried("cold-inference", made.profile).missing(),
            "a second inference to compare the first with");
  made.profile.provenance.temperature = Provenance::Temperature::cold;
  const Tried tried("cold-inference", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("recorded_inferences"), 1);
  EXPECT_EQ(tried.finding().weight, Weight::high);
}

// Phases at this clock in the first and the last inferences after a cold one.
ProfileBuilder clocked(std::int64_t early, std::int64_t late, std::uint32_t inferences = 7) {
  ProfileBuilder made("PCYCLE");
  for (std::uint32_t i = 0; i < inferences; ++i) {
    const std::int64_t cycles = i == 0 ? 500 : i < inferences / 2 + 1 ? early : late;
    made.phase("Graph Execute", i, 10'000 * i, 10'000 * i + cycles, 1);
  }
  return made;
}

TEST(ThrottledClock, FallingOverTheInferences) {
  const Tried tried("throttled-clock", clocked(2000, 1900).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_DOUBLE_EQ(tried.value("early_hz"), 2e9);
  EXPECT_DOUBLE_EQ(tried.value("late_hz"), 1.9e9);
  EXPECT_TRUE(Tried("throttled-clock", clocked(2000, 1901).profile).is_quiet());
  EXPECT_EQ(Tried("throttled-clock", clocked(2000, 1000, 6).profile).missing(),
            "the nominal clock (--target), or phases of seven inferences");
}

TEST(ThrottledClock, BelowTheNominalOne) {
  DiagnoseOptions options;
  options.peaks.source = "target toy";
  options.peaks.core_hz = 2e9;
  const Tried tried("throttled-clock", clocked(1899, 1899, 3).profile, options);
  ASSERT_TRUE(tried.found());
  EXPECT_DOUBLE_EQ(tried.value("effective_hz"), 1.899e9);
  EXPECT_DOUBLE_EQ(tried.value("nominal_hz"), 2e9);
  EXPECT_FALSE(tried.finding().gain);  // without a timeline
  EXPECT_TRUE(Tried("throttled-clock", clocked(1900, 1900, 3).profile, options).is_quiet());
}

TEST(ThrottledClock, GainsNoMoreThanWhatComputesWouldAtTheNominalOne) {
  DiagnoseOptions options;
  options.peaks.core_hz = 2e9;
  CoreBuilder made;
  made.span(made.hmx, "MatMul", 0, 400);
  made.span(made.dma, "load", 400, 1000);
  const StringId hertz = made.profile.strings.intern("effective frequency (Hz)");
  made.profile.measures.push_back(
      {Measure::Subject::unit, index_of(made.hmx), hertz, MeasureKind::count, Origin::measured,
       test_support::meaning_of(MeasureKind::count, "effective frequency (Hz)"), ClockId{}, 1.5e9});
  const Tried tried("throttled-clock", made.profile, options);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.finding().weight, Weight::low);
  ASSERT_TRUE(tried.finding().gain);
  EXPECT_DOUBLE_EQ(tried.finding().gain->ticks, 100);  // a quarter of 400
  EXPECT_DOUBLE_EQ(tried.finding().gain->share, 0.1);
}

ProfileBuilder called(double host, double device) {
  ProfileBuilder made("PCYCLE");
  const ClockId ns = nanoseconds(made);
  for (std::uint32_t i = 0; i < 3; ++i) {
    add(made, "QNN (execute) time", MeasureKind::wall, ns, i == 0 ? 9e6 : host, i);
    add(made, "Accelerator (execute) time", MeasureKind::wall, ns, i == 0 ? 1e6 : device, i);
  }
  return made;
}

TEST(HostOverhead, IsWhatTheDeviceDoesNotTake) {
  const Tried tried("host-overhead", called(2e6, 0.5e6).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_DOUBLE_EQ(tried.value("host_seconds"), 2e-3);
  EXPECT_DOUBLE_EQ(tried.value("device_seconds"), 0.5e-3);
  EXPECT_DOUBLE_EQ(tried.value("beyond_seconds"), 1.5e-3);
  EXPECT_DOUBLE_EQ(tried.value("beyond_share"), 0.75);
  EXPECT_FALSE(tried.finding().gain->of_wall);
  EXPECT_TRUE(Tried("host-overhead", called(2e6, 1.81e6).profile).is_quiet());
}

TEST(HostOverhead, NotOfInferencesThatQueue) {
  ProfileBuilder made = called(2e6, 0.5e6);
  add(made, "queue depth", MeasureKind::count, ClockId{}, 2);
  EXPECT_NE(Tried("host-overhead", made.profile).missing(), "");
}

TEST(HostOverhead, NamesWhatTheHostDoesAndAdvisesForCopies) {
  CoreBuilder made;
  const UnitId host = made.unit("host", Engine::host);
  made.span(host, "start 1", 0, 5, SpanKind::host, "NSS_START");
  made.span(made.hmx, "MatMul", 5, 40);
  made.span(host, "copy 2", 40, 100, SpanKind::host, "HOST_COPY");
  const Tried tried("host-overhead", made.profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("host_alone"), 65);
  EXPECT_EQ(tried.value("host_kind_active", "HOST_COPY"), 60);
  EXPECT_EQ(tried.value("host_kind_active", "NSS_START"), 5);
  EXPECT_THAT(tried.finding().advice, ::testing::HasSubstr("layout that its reader wants"));
}

TEST(HostOverhead, OfATimelineTheHostAlone) {
  const auto made = [](std::int64_t until) {
    CoreBuilder core;
    const UnitId host = core.unit("host", Engine::host);
    core.span(host, "copy", 0, until, SpanKind::host);
    core.span(core.hmx, "MatMul", until, 100);
    return core;
  };
  const Tried tried("host-overhead", made(10).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("host_alone"), 10);
  EXPECT_EQ(tried.gain(), 10);
  EXPECT_TRUE(Tried("host-overhead", made(9).profile).is_quiet());
}

TEST(AllZero, AClassOfUnitsThatNeverTookTime) {
  const auto made = [](std::int64_t last) {
    CoreBuilder core;
    core.span(core.hmx, "MatMul", 0, 100);
    for (int i = 0; i < 8; ++i) core.transfer("weights", 5 * i, 5 * i + (i == 7 ? last : 0));
    return core;
  };
  const Tried tried("all-zero", made(0).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("spans_without_time", "DMA"), 8);
  EXPECT_TRUE(Tried("all-zero", made(1).profile).is_quiet());
}

TEST(AllZero, TransfersWithoutBytes) {
  const auto made = [](std::int64_t last) {
    CoreBuilder core;
    std::vector<std::int64_t> bytes(8, 0);
    bytes.back() = last;
    for (int i = 0; i < 8; ++i) core.transfer("weights", 5 * i, 5 * i + 5);
    core.bytes("ddr read bytes", bytes);
    core.bytes("ddr write bytes", {0, 0, 0, 0, 0, 0, 0, 0});
    return core;
  };
  const Tried tried("all-zero", made(0).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("transfers_without_bytes"), 8);
  EXPECT_TRUE(Tried("all-zero", made(1).profile).is_quiet());
}

TEST(AllZero, UtilisationOfEveryUnit) {
  const auto made = [](double second) {
    CoreBuilder core;
    core.measure(Measure::Subject::unit, index_of(core.hmx), "utilization percent", 0);
    core.measure(Measure::Subject::unit, index_of(core.hvx), "utilization percent", second);
    return core;
  };
  const Tried tried("all-zero", made(0).profile);
  ASSERT_TRUE(tried.found());
  EXPECT_EQ(tried.value("units_at_zero", "utilization percent"), 2);
  EXPECT_TRUE(Tried("all-zero", made(0.1).profile).is_quiet());
}

}  // namespace
}  // namespace npuscope::analysis::reading_rules_test
