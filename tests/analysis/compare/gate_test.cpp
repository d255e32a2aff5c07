// Which gates fail, which pass, and which are left open.
#include "npuscope/analysis/gate.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/findings.hpp"
#include "number_meaning.hpp"

namespace npuscope::analysis::gate_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Gate share_gate(double threshold) {
  Gate gate;
  gate.text = "latency > +x%";
  gate.metric = "latency";
  gate.threshold = threshold;
  return gate;
}

Gate gate_on(const char* name, Gate::Limit limit, double threshold,
             std::optional<MeasuredIn> unit = std::nullopt) {
  Gate gate;
  gate.text = std::string(name) + " > limit";
  gate.metric = name;
  gate.limit = limit;
  gate.threshold = threshold;
  gate.unit = unit;
  return gate;
}

GateResult judged(const Gate& gate, std::vector<double> a, std::vector<double> b) {
  MetricChange metric{"latency", MeasureKind::wall, MeasuredIn::seconds, {}, {}, false};
  metric.estimate = estimate_of(std::move(a), std::move(b));
  return judge(gate, std::move(metric));
}

// Samples that lie as those of a normal distribution do, without chance.
std::vector<double> ideal(std::size_t count, double mean, double deviation) {
  const auto quantile = [](double part) {  // by halving
    double low = -8, high = 8;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (std::erfc(-middle / std::sqrt(2.0)) / 2 < part ? low : high) = middle;
    }
    return low;
  };
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back(mean + deviation * quantile((double(i) + 0.5) / double(count)));
  }
  return samples;
}

class Draw {
 public:
  std::vector<double> normal(std::size_t count, double mean, double deviation) {
    std::vector<double> samples;
    for (std::size_t i = 0; i < count; ++i) {
      double sum = -6;
      for (int k = 0; k < 12; ++k) sum += double(random_()) / double(std::mt19937_64::max());
      samples.push_back(mean + deviation * sum);
    }
    return samples;
  }

 private:
  std::mt19937_64 random_{7};
};

TEST(Gate, OneSampleASideDecidedThoughItsNoiseIsUnknown) {
  for (const double b : {100.0, 101.0, 150.0}) {
    const GateResult result = judged(share_gate(0.03), {100}, {b});
    EXPECT_EQ(result.outcome, GateOutcome::inconclusive) << b;
    EXPECT_EQ(result.doubt, GateDoubt::too_few);
    EXPECT_EQ(result.more_a, 2u);
    EXPECT_EQ(result.more_b, 2u);
  }
}

TEST(Gate, TwoSamplesASideDecidedThoughTheyDoNotMixOnceInSix) {
  EXPECT_EQ(judged(share_gate(0.03), {100, 101}, {120, 121}).doubt, GateDoubt::too_few);
  EXPECT_EQ(judged(share_gate(0.03), {100, 101, 102}, {120, 121, 122}).outcome,
            GateOutcome::failed);
  EXPECT_EQ(judged(share_gate(0.03), {100, 101, 102}, {99, 100, 101}).outcome, GateOutcome::passed);
  // 2 and 5 can be divided in 21 ways.
  EXPECT_EQ(judged(share_gate(0.03), {100, 101}, {120, 121, 122, 120, 121}).outcome,
            GateOutcome::failed);
}

TEST(Gate, WithinNoisePassedThoughTheLimitLayWithinTheInterval) {
  const GateResult result = judged(share_gate(0.03), {100, 120, 90, 110}, {104, 125, 95, 114});
  EXPECT_EQ(result.outcome, GateOutcome::inconclusive);
  EXPECT_EQ(result.doubt, GateDoubt::within_noise);
  ASSERT_TRUE(result.interval);
  EXPECT_LT(result.interval->low, 0.03);
  EXPECT_GT(result.interval->high, 0.03);
  EXPECT_GT(result.more_b.value_or(0), 10u);
}

TEST(Gate, AtTheLimitNoNumberOfSamplesTells) {
  const GateResult result = judged(share_gate(0.05), {99, 100, 101, 100}, {104, 105, 106, 105});
  EXPECT_EQ(result.outcome, GateOutcome::inconclusive);
  EXPECT_EQ(result.measured, 0.05);
  EXPECT_FALSE(result.more_b);
}

TEST(Gate, ALimitOfBItselfNeedsFiveSamples) {
  const Gate gate = gate_on("latency", Gate::Limit::value, 0.005, MeasuredIn::seconds);
  EXPECT_EQ(judged(gate, {}, {0.001, 0.001, 0.001, 0.001}).more_b, 1u);
  EXPECT_FALSE(judged(gate, {}, {0.001, 0.001, 0.001, 0.001}).more_a);
  EXPECT_EQ(judged(gate, {}, {0.001, 0.001, 0.001, 0.002, 0.001}).outcome, GateOutcome::passed);
  EXPECT_EQ(judged(gate, {}, {0.006, 0.007, 0.006, 0.006, 0.006}).outcome, GateOutcome::failed);
}

// What repeats exactly needs no second sample: a compiler's estimate, bytes, counts.
TEST(Gate, WhatRepeatsIsAPlainNumber) {
  MetricChange metric{"wall", MeasureKind::wall, MeasuredIn::cycles, {}, {}, true};
  metric.estimate = estimate_of({100}, {104});
  EXPECT_EQ(judge(share_gate(0.03), metric).outcome, GateOutcome::failed);
  EXPECT_EQ(judge(share_gate(0.04), metric).outcome, GateOutcome::passed);
  EXPECT_FALSE(judge(share_gate(0.04), metric).has_noise_rule);
}

TEST(Gate, ColdAgainstWarmDecided) {
  MetricChange metric{"wall", MeasureKind::wall, MeasuredIn::cycles, {}, {}, false};
  metric.estimate = estimate_of({200, 201, 202, 203}, {100, 101, 102, 103});
  metric.estimate.cold_a = true;
  const GateResult result = judge(share_gate(0.03), metric);
  EXPECT_EQ(result.outcome, GateOutcome::inconclusive);
  EXPECT_EQ(result.doubt, GateDoubt::temperature);
}

// --- how many samples

// With as many samples as a gate asks for it is decided about four times in five, with a quarter of
// them hardly ever.
TEST(Gate, AsManySamplesAsItAsksForDecideIt) {
  struct Case {
    double mean_b, deviation, limit;
    GateOutcome expected;
  };
  constexpr int trials = 300;
  for (const Case& each :
       {Case{100, 5, 0.02, GateOutcome::passed}, Case{107, 5, 0.04, GateOutcome::failed},
        Case{101, 8, 0.06, GateOutcome::passed}}) {
    const GateResult pilot = judged(share_gate(each.limit), ideal(10, 100, each.deviation),
                                    ideal(10, each.mean_b, each.deviation));
    ASSERT_EQ(pilot.outcome, GateOutcome::inconclusive);
    ASSERT_TRUE(pilot.more_b);
    EXPECT_EQ(pilot.more_a, pilot.more_b);
    const std::size_t needed = 10 + *pilot.more_b;
    const auto decided = [&](std::size_t samples) {
      Draw draw;
      int count = 0;
      for (int trial = 0; trial < trials; ++trial) {
        const auto a = draw.normal(samples, 100, each.deviation);
        const auto b = draw.normal(samples, each.mean_b, each.deviation);
        count += judged(share_gate(each.limit), a, b).outcome == each.expected;
      }
      return double(count) / trials;
    };
    EXPECT_GT(decided(needed), 0.65) << needed;
    EXPECT_LT(decided(std::max<std::size_t>(3, needed / 4)), 0.5) << needed;
  }
}

// Where the change is just what is allowed, a gate fails or passes wrongly at most once in twenty.
TEST(Gate, AtTheLimitItIsRarelyDecided) {
  constexpr int trials = 400;
  for (const std::size_t samples : {3u, 5u, 12u, 40u}) {
    Draw draw;
    int failed = 0, passed = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const auto a = draw.normal(samples, 100, 4), b = draw.normal(samples, 105, 4.2);
      const GateOutcome outcome = judged(share_gate(0.05), a, b).outcome;
      failed += outcome == GateOutcome::failed;
      passed += outcome == GateOutcome::passed;
    }
    EXPECT_LT(failed, trials * 0.075) << samples;
    EXPECT_LT(passed, trials * 0.075) << samples;
  }
}

TEST(Gate, APercentileNeedsSamplesBeyondIt) {
  std::vector<double> a, b;
  for (int i = 0; i < 58; ++i) {
    a.push_back(100 + i % 10);
    b.push_back(120 + i % 10);
  }
  const auto tail = [&](const Gate& gate) {
    MetricChange metric{"p95", MeasureKind::wall, MeasuredIn::seconds, {}, {}, false};
    metric.estimate = estimate_of_percentile(a, b, 95);
    return judge(gate, std::move(metric));
  };
  EXPECT_EQ(tail(share_gate(0.05)).more_b, 1u);
  a.push_back(100);
  b.push_back(120);
  EXPECT_EQ(tail(share_gate(0.05)).outcome, GateOutcome::failed);
  EXPECT_EQ(tail(share_gate(0.30)).outcome, GateOutcome::passed);
  EXPECT_EQ(tail(share_gate(0.05)).metric.estimate.a, percentile_of(a, 95));
  EXPECT_FALSE(tail(share_gate(0.05)).p);  // the rank test is about the middle
}

// --- what the formats have

void add_number(Profile& profile, const char* name, MeasureKind kind, double value,
                std::uint32_t instance) {
  Measure measure;
  measure.what = profile.strings.intern(name);
  measure.kind = kind;
  measure.value = value;
  measure.instance = instance;
  measure.clock = ClockId{std::uint32_t(profile.clocks.size() - 1)};
  measure.meaning = test_support::meaning_of(measure.kind, profile.text(measure.what));
  profile.measures.push_back(measure);
}

// A set as Qualcomm's tools write it: ops of the first inference, cold and recorded; phases and the
// host's times of all of them. `factor`: how much slower its warm inferences are.
Profile qnn_set(double factor, int inferences = 5) {
  ProfileBuilder made("PCYCLE");
  made.profile.clocks.push_back({made.text("us"), ClockKind::wall, Hertz{1e6}, false, 0});
  made.profile.provenance.format = "QNN HTP optrace set";
  made.profile.provenance.temperature = Provenance::Temperature::cold_then_warm;
  made.profile.provenance.inferences = std::uint32_t(inferences);
  const UnitId hvx = made.unit("HVX", Engine::hvx);
  made.span(hvx, "MatMul_0", 0, 60'000, SpanKind::op, "q::ConvLayer");
  made.profile.spans.instance.push_back(0);
  const OpId node = made.op("MatMul_0:OpId_18");
  for (int i = 0; i < inferences; ++i) {
    const double each = i == 0 ? 1 : factor * (1 + 0.002 * (i % 3));
    const auto instance = std::uint32_t(i);
    made.phase("Graph Execute", instance, 0, 20'000, i == 0 ? 86 : 20 * each);
    add_number(made.profile, "QNN (execute) time", MeasureKind::wall, i == 0 ? 3900 : 2400 * each,
               instance);
    add_number(made.profile, "RPC (execute) time", MeasureKind::wall, i == 0 ? 3700 : 2300 * each,
               instance);
    Measure cycles;
    cycles.subject = Measure::Subject::op;
    cycles.subject_id = index_of(node);
    cycles.what = made.text("node cycles");
    cycles.kind = MeasureKind::work;
    cycles.value = i == 0 ? 32'000 : 7000 * each;
    cycles.instance = instance;
    cycles.meaning = test_support::meaning_of(cycles.kind, made.profile.text(cycles.what));
    made.profile.measures.push_back(cycles);
  }
  return std::move(made.profile);
}

struct Pair {
  Pair(Profile of_a, Profile of_b) : a(std::move(of_a)), b(std::move(of_b)) {
    runs_a.emplace_back(a);
    runs_b.emplace_back(b);
  }
  Comparer comparer() const { return *Comparer::make(runs_a, runs_b); }

  Profile a, b;
  std::vector<RunSamples> runs_a, runs_b;
};

TEST(Gate, JudgedOneColdInstrumentedSampleWhereWarmOnesWereThere) {
  const Pair pair(qnn_set(1), qnn_set(1.2));
  const auto comparer = Comparer::make(pair.runs_a, pair.runs_b);
  const Comparison comparison = comparer->compare({});
  ASSERT_NE(comparison.headline(), nullptr);
  EXPECT_EQ(comparison.headline()->name, "latency");
  EXPECT_EQ(comparison.headline()->source, "QNN (execute) time");
  EXPECT_EQ(comparison.samples[0], 4u);
  EXPECT_FALSE(comparison.cold[0]);
  std::vector<std::string> names;
  for (const MetricChange& metric : comparison.call) names.push_back(metric.name);
  EXPECT_THAT(names, ElementsAre("latency", "RPC (execute) time", "device_latency"));
  for (const char* name : {"latency", "device_latency", "phase('Graph Execute')"}) {
    const GateResult result = *judge(gate_on(name, Gate::Limit::share, 0.03), *comparer);
    EXPECT_EQ(result.outcome, GateOutcome::failed) << name;
    EXPECT_EQ(result.metric.estimate.samples_a.size(), 4u) << name;
    EXPECT_NEAR(result.measured, 0.2, 1e-9) << name;
  }
  const GateResult wall = *judge(gate_on("wall", Gate::Limit::share, 0.03), *comparer);
  EXPECT_EQ(wall.outcome, GateOutcome::inconclusive);
  EXPECT_EQ(wall.doubt, GateDoubt::too_few);
  EXPECT_THAT(wall.warm_instead, ElementsAre("latency", "device_latency"));
}

TEST(Gate, ThroughputWasThatOfTheColdInferenceThatASummaryStates) {
  Profile profile = qnn_set(1);
  profile.add_measure(Measure::Subject::profile, 0,
                      {"inferences per second", NumberQuantity::rate, NumberRole::run_rate},
                      Origin::measured, {}, 1e6 / 3900);
  const Pair pair(profile, profile);
  const auto comparer = Comparer::make(pair.runs_a, pair.runs_b);
  const Gate gate = gate_on("throughput", Gate::Limit::value, 400);
  EXPECT_NEAR(judge(gate, *comparer)->measured, 416, 2);  // 1 / 2.4 ms
}

TEST(Gate, OpsAreJudgedByWarmCyclesOfTheirNodes) {
  const Pair pair(qnn_set(1), qnn_set(1.2));
  const auto comparer = Comparer::make(pair.runs_a, pair.runs_b);
  Gate gate = gate_on("", Gate::Limit::share, 0.03);
  gate.op = *Pattern::compile("test", "MatMul_0");
  const GateResult result = *judge(gate, *comparer);
  EXPECT_EQ(result.metric.name, "node cycles");
  EXPECT_EQ(result.metric.estimate.samples_b.size(), 4u);
  EXPECT_EQ(result.outcome, GateOutcome::failed);
  // A kernel has none: its cold work is what there is, and no sum of nothing.
  gate.op = *Pattern::compile("test", "q::ConvLayer");
  const GateResult kernel = *judge(gate, *comparer);
  EXPECT_EQ(kernel.metric.name, "work");
  EXPECT_EQ(kernel.metric.estimate.a, 60'000);
  EXPECT_EQ(kernel.outcome, GateOutcome::inconclusive);
  gate.op = *Pattern::compile("test", "MatMull");
  gate.op_text = "MatMull";
  EXPECT_THAT(judge(gate, *comparer).error().message,
              HasSubstr("no op of either side matches; the nearest names: 'MatMul_0'"));
}

TEST(Gate, TwoRunTracesAreComparedByWarmGraphExecute) {
  const auto run_trace = [](double factor) {
    ProfileBuilder made("PCYCLE");
    made.profile.provenance.format = "RUN_TRACE";
    for (int i = 0; i < 5; ++i) {
      const double each = i == 0 ? 4 : factor * (1 + 0.001 * i);
      made.phase("QNN DSP Execute", std::uint32_t(i), 0, 90'000, 40 * each + 300);
      made.phase("Graph Execute", std::uint32_t(i), 0, 20'000, 20 * each);
    }
    return std::move(made.profile);
  };
  const Pair pair(run_trace(1), run_trace(1.1));
  const Comparison comparison = Comparer::make(pair.runs_a, pair.runs_b)->compare({});
  ASSERT_NE(comparison.headline(), nullptr);
  EXPECT_EQ(comparison.headline()->name, "device_latency");
  EXPECT_EQ(comparison.headline()->source, "phase('Graph Execute')");
  EXPECT_EQ(comparison.headline()->estimate.samples_a.size(), 4u);
  EXPECT_NEAR(*comparison.headline()->estimate.relative(), 0.1, 1e-9);
}

TEST(Gate, PercentilesAndThroughputAreOfLatency) {
  const Pair pair(qnn_set(1, 101), qnn_set(1.2, 101));
  const auto comparer = Comparer::make(pair.runs_a, pair.runs_b);
  const GateResult tail = *judge(gate_on("p95", Gate::Limit::share, 0.03), *comparer);
  EXPECT_EQ(tail.outcome, GateOutcome::failed);
  EXPECT_NEAR(tail.metric.estimate.a, 2400 * 1.004e-6, 1e-12);
  EXPECT_EQ(tail.metric.source, "latency: QNN (execute) time");
  Gate rate = gate_on("throughput", Gate::Limit::share, -0.03);
  rate.comparator = Gate::Comparator::less;
  const GateResult lower = *judge(rate, *comparer);
  EXPECT_EQ(lower.outcome, GateOutcome::failed);
  EXPECT_EQ(lower.metric.source, "1 / latency");
  EXPECT_NEAR(lower.metric.estimate.a, 1 / (2400e-6 * 1.002), 1e-6);
}

TEST(Gate, CountsFindings) {
  const Pair pair(qnn_set(1), qnn_set(1.2));
  const auto comparer = Comparer::make(pair.runs_a, pair.runs_b);
  const auto count = [&](const char* name) {
    const auto metric = comparer->metric(name);
    EXPECT_TRUE(metric) << metric.error().message;
    return metric ? metric->estimate.b : -1;
  };
  const double all = count("findings");
  EXPECT_GT(all, 0);
  EXPECT_EQ(all, count("findings(high)") + count("findings(medium)") + count("findings(low)"));
  const Diagnosis diagnosis = Analysis(pair.b).findings();
  EXPECT_EQ(all, double(diagnosis.findings.size()));
  EXPECT_GE(count(("findings('" + diagnosis.findings.front().rule + "')").c_str()), 1);
  EXPECT_EQ(judge(gate_on("findings", Gate::Limit::value, all - 1), *comparer)->outcome,
            GateOutcome::failed);
  EXPECT_EQ(judge(gate_on("findings", Gate::Limit::change, 0), *comparer)->outcome,
            GateOutcome::passed);
  EXPECT_THAT(comparer->metric("findings(worst)").error().message,
              HasSubstr("'worst' is neither a weight (high, medium, low) nor a rule"));
}

TEST(Gate, ALimitOfATimeWithoutAUnitIsRefused) {
  const Pair pair(qnn_set(1), qnn_set(1.2));
  const auto comparer = Comparer::make(pair.runs_a, pair.runs_b);
  Gate gate = gate_on("latency", Gate::Limit::value, 3);
  gate.text = "latency > 3";
  EXPECT_EQ(judge(gate, *comparer).error().message,
            "its limit has no unit; write 'latency > 3ms', or 'latency > +3%' for a share of A");
  gate = gate_on("wall", Gate::Limit::change, 3);
  gate.text = "wall>+3";
  EXPECT_EQ(judge(gate, *comparer).error().message,
            "its limit has no unit; write 'wall>+3cyc', or 'wall>+3%' for a share of A");
}

TEST(Gate, ANameThatIsNotThereIsAnsweredWithTheNearest) {
  const Pair pair(qnn_set(1), qnn_set(1.2));
  const auto comparer = Comparer::make(pair.runs_a, pair.runs_b);
  EXPECT_THAT(comparer->metric("latenzy").error().message,
              HasSubstr("the nearest names: 'latency'"));
  EXPECT_THAT(comparer->metric("rpc").error().message, HasSubstr("'RPC (execute) time'"));
  EXPECT_THAT(comparer->metric("graph execute").error().message,
              HasSubstr("'phase('Graph Execute')'"));
}

// Raw buffers know the device alone; the runner's latency file in the same folder knows the rest.
TEST(Gate, WhatIsInAnotherFileOfTheFolderIsFound) {
  const auto buffer = [](std::int64_t cycles) {
    ProfileBuilder made;
    const UnitId core = made.unit("core", Engine::core);
    for (std::uint32_t i = 0; i < 5; ++i) {
      made.span(core, "conv", 1000 * i, 1000 * i + cycles + i);
      made.profile.spans.instance.push_back(i);
    }
    return std::move(made.profile);
  };
  const auto latency = [](double factor) {
    ProfileBuilder made("ns", ClockKind::wall, 1e9);
    const UnitId host = made.unit("host", Engine::host);
    MeasureColumn trip{made.text("host round trip"),
                       MeasureKind::wall,
                       Origin::measured,
                       test_support::meaning_of(MeasureKind::wall, "host round trip"),
                       {},
                       {}};
    MeasureColumn device{made.text("device execution"),
                         MeasureKind::wall,
                         Origin::measured,
                         test_support::meaning_of(MeasureKind::wall, "device execution"),
                         {},
                         {}};
    for (std::uint32_t i = 0; i < 5; ++i) {
      made.span(host, "", 0, std::int64_t(2e6 * factor) + i, SpanKind::host);
      made.profile.spans.instance.push_back(i);
      trip.values.push_back(1'900'000);
      device.values.push_back(1'500'000);
    }
    made.profile.spans.measures = {std::move(trip), std::move(device)};
    return std::move(made.profile);
  };
  const Profile a = buffer(500), b = buffer(510), log_a = latency(1), log_b = latency(1.5);
  const RunSamples run_a(a), run_b(b), beside_a(log_a), beside_b(log_b);
  const auto alone = Comparer::make({&run_a, 1}, {&run_b, 1});
  EXPECT_THAT(alone->metric("latency").error().message, HasSubstr("'device_latency'"));
  const auto comparer = Comparer::make({&run_a, 1}, {&run_b, 1}, {&beside_a, 1}, {&beside_b, 1});
  const GateResult result = *judge(gate_on("latency", Gate::Limit::share, 0.1), *comparer);
  EXPECT_EQ(result.metric.source, "total round trip");
  EXPECT_EQ(result.outcome, GateOutcome::failed);
  EXPECT_EQ(result.metric.estimate.samples_a.size(), 4u);
  EXPECT_EQ(comparer->metric("device_latency")->source, "wall");
  EXPECT_EQ(comparer->metric("device_latency")->estimate.samples_a.size(), 4u);
}

// Inferences one after another, of ops that take what `cycles` says.
Profile run_of(const std::vector<std::vector<std::int64_t>>& cycles) {
  ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  std::int64_t now = 0;
  for (std::uint32_t inference = 0; inference < cycles.size(); ++inference) {
    for (const std::int64_t each : cycles[inference]) {
      made.span(hmx, "op", now, now + each, SpanKind::op, "kernel");
      made.profile.spans.instance.push_back(inference);
      now += each;
    }
    now += 10;
  }
  return std::move(made.profile);
}

// Of 1,000 sets of samples: what is above the limit, by hand.
TEST(Gate, OfTheMinAndMaxIsThePlainNumber) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1'000; ++i) {
    std::vector<std::vector<std::int64_t>> cycles{{500}};  // cold, apart
    for (std::size_t n = 1 + random() % 6; n > 0; --n)
      cycles.push_back({std::int64_t(random() % 9)});
    const Profile profile = run_of(cycles);
    const RunSamples run(profile);
    const auto comparer = Comparer::alone({&run, 1});
    Gate gate = gate_on("work", Gate::Limit::value, 5);
    gate.unit = comparer->metric("work")->unit;
    gate.comparator = Gate::Comparator::more;
    gate.statistic = Gate::Statistic::max;
    const bool any =
        std::any_of(cycles.begin() + 1, cycles.end(), [](auto& of) { return of[0] > 5; });
    EXPECT_EQ(judge(gate, *comparer)->outcome, any ? GateOutcome::failed : GateOutcome::passed);
    gate.statistic = Gate::Statistic::min;
    const bool all =
        std::all_of(cycles.begin() + 1, cycles.end(), [](auto& of) { return of[0] > 5; });
    EXPECT_EQ(judge(gate, *comparer)->outcome, all ? GateOutcome::failed : GateOutcome::passed);
  }
}

TEST(Gate, OnAChangeOfTheMaxIsRefused) {
  const Profile profile = run_of({{5}, {5}, {6}, {7}});
  const RunSamples run(profile);
  const auto comparer = Comparer::make({&run, 1}, {&run, 1});
  Gate gate = gate_on("work", Gate::Limit::share, 0.03);
  gate.statistic = Gate::Statistic::max;
  EXPECT_THAT(judge(gate, *comparer).error().message, HasSubstr("or gate 'work.p95'"));
}

TEST(Gate, OfBAloneIsJudgedAsWithABeside) {
  const Profile profile = run_of({{50}, {5}, {6}, {7}, {8}, {9}, {10}});
  const RunSamples run(profile);
  const auto alone = Comparer::alone({&run, 1}), both = Comparer::make({&run, 1}, {&run, 1});
  for (const double limit : {3.0, 7.0, 20.0}) {
    Gate gate = gate_on("work", Gate::Limit::value, limit);
    gate.unit = both->metric("work")->unit;
    const GateResult a = *judge(gate, *alone), b = *judge(gate, *both);
    EXPECT_EQ(a.outcome, b.outcome);
    EXPECT_EQ(a.doubt, b.doubt);
    EXPECT_EQ(a.measured, b.measured);
    EXPECT_EQ(a.interval->low, b.interval->low);
    EXPECT_EQ(a.more_b, b.more_b);
  }
  EXPECT_THAT(judge(gate_on("work", Gate::Limit::share, 0.03), *alone).error().message,
              HasSubstr("a change needs a baseline"));
  EXPECT_EQ(alone->compare({}).ops.rows.size(), 0u);
}

TEST(Gate, SharesAreOfEachInferencesWall) {
  ProfileBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma), hmx = made.unit("HMX", Engine::hmx);
  for (std::uint32_t inference = 0; inference < 3; ++inference) {
    const std::int64_t at = 1'000 * inference;
    made.span(hmx, "op", at, at + 100, SpanKind::op, "k");
    made.span(dma, "copy", at + 80, at + 110 + 10 * inference, SpanKind::transfer, "t");
    for (int span = 0; span < 2; ++span) made.profile.spans.instance.push_back(inference);
  }
  const RunSamples run(made.profile);
  const auto comparer = Comparer::alone({&run, 1});
  EXPECT_EQ(comparer->metric("share(DMA)")->estimate.samples_b,
            (std::vector<double>{40.0 / 120, 50.0 / 130}));  // the first is cold
  EXPECT_EQ(comparer->metric("share(dma)")->name, "share(DMA)");
  EXPECT_EQ(comparer->metric("share(active(DMA))")->estimate.b,
            comparer->metric("share(DMA)")->estimate.b);
  EXPECT_EQ(comparer->metric("SHARE(Idle)")->estimate.b, 0);
  EXPECT_FALSE(comparer->metric("share(HVX)"));
}

TEST(Gate, ColdInferencesAloneDecidedALimitOfATime) {
  Profile profile = run_of({{5}, {5}, {5}, {5}, {5}, {5}});
  profile.provenance.temperature = Provenance::Temperature::cold;
  const RunSamples run(profile);
  const auto comparer = Comparer::alone({&run, 1});
  Gate gate = gate_on("work", Gate::Limit::value, 100);
  gate.unit = comparer->metric("work")->unit;
  const GateResult result = *judge(gate, *comparer);
  EXPECT_EQ(result.outcome, GateOutcome::inconclusive);
  EXPECT_EQ(result.doubt, GateDoubt::cold);
  EXPECT_FALSE(result.more_b);
}

}  // namespace
}  // namespace npuscope::analysis::gate_test
