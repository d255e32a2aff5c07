// Percentiles against an obvious second way, and throughput by hand.
#include "analysis/latency.hpp"
#include "number_meaning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace npuscope::analysis::latency_test {
namespace {

struct Sample {
  std::int64_t round_trip = 0, enqueue = 0, execution = 0, input_wait = 0;
  std::int64_t in_queue = 1;
  std::int64_t queue_depth = 1;
};

// As the reader of latency files makes it, in nanoseconds.
Profile profile_of(const std::vector<Sample>& samples) {
  Profile profile;
  profile.clocks.push_back({profile.strings.intern("ns"), ClockKind::wall, Hertz{1e9}, true, 0});
  profile.units.push_back({});
  profile.ops.push_back({});
  const auto column = [&](const char* what, MeasureKind kind, std::int64_t Sample::*field) {
    MeasureColumn added{profile.strings.intern(what),         kind,       Origin::measured,
                        test_support::meaning_of(kind, what), ClockId{0}, {}};
    for (const Sample& sample : samples) added.values.push_back(sample.*field);
    added.meaning = test_support::meaning_of(added.kind, profile.text(added.what));
    profile.spans.measures.push_back(std::move(added));
  };
  for (const Sample& sample : samples) {
    profile.spans.unit.push_back(UnitId{0});
    profile.spans.op.push_back(OpId{0});
    profile.spans.kind.push_back(SpanKind::host);
    profile.spans.start.push_back(0);
    profile.spans.duration.push_back(sample.round_trip);
    profile.spans.instance.push_back(std::uint32_t(profile.spans.instance.size()));
    Phase phase;
    phase.name = profile.strings.intern("enqueue");
    phase.duration = sample.enqueue;
    profile.phases.push_back(phase);
  }
  column("device execution", MeasureKind::wall, &Sample::execution);
  column("device input wait", MeasureKind::active, &Sample::input_wait);
  column("host round trip", MeasureKind::wall, &Sample::round_trip);
  column("inferences in queue", MeasureKind::count, &Sample::in_queue);
  column("queue depth", MeasureKind::count, &Sample::queue_depth);
  return profile;
}

// Sorted, then walked along: the value at the place percent / 100 of the way from first to last.
double slow_percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  double place = percent / 100 * double(values.size() - 1);
  std::size_t below = 0;
  while (place >= 1 && below + 1 < values.size()) {
    place -= 1;
    ++below;
  }
  const double above = below + 1 < values.size() ? values[below + 1] : values[below];
  return values[below] + (above - values[below]) * place;
}

const LatencyRow* row_named(const Latency& latency, const std::string& name) {
  for (const LatencyRow& row : latency.rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// Four are kept queued: while the first three come in, fewer are under way.
TEST(Throughput, LeavesOutWhatWasSampledWhileTheQueueFilled) {
  std::vector<Sample> samples;
  for (std::int64_t number = 0; number < 6; ++number) {
    const std::int64_t in_queue = std::min<std::int64_t>(number + 1, 4);
    samples.push_back({1000 * in_queue, 0, 1000, 0, in_queue, 4});
  }
  const auto steady = analyse_latency(profile_of(samples));
  ASSERT_TRUE(steady.throughput);
  EXPECT_FALSE(steady.all_of_beginning);
  EXPECT_DOUBLE_EQ(steady.throughput->queue_depth, 4);
  EXPECT_DOUBLE_EQ(steady.throughput->period, 1000);
  EXPECT_EQ(row_named(steady, "total round trip")->samples, 6u);
  samples.resize(3);
  const auto beginning = analyse_latency(profile_of(samples));
  EXPECT_FALSE(beginning.throughput);
  EXPECT_TRUE(beginning.all_of_beginning);
  Profile forged = profile_of(samples);
  for (MeasureColumn& column : forged.spans.measures) column.values.resize(1);
  analyse_latency(forged);
}

// The median of rates times the mean of times was 4.02.
TEST(Throughput, ABatchOfFourIsFour) {
  const std::int64_t times[] = {1100, 1260, 1300, 1290, 1310};
  std::vector<Sample> samples;
  for (const std::int64_t execution : times) samples.push_back({2000, 0, execution, 0, 1, 1});
  Profile profile = profile_of(samples);
  for (std::uint32_t row = 0; row < samples.size(); ++row) {
    profile.add_measure(Measure::Subject::span, row,
                        {"device rate", NumberQuantity::rate, NumberRole::device_rate},
                        Origin::measured, {}, 4e9 / double(times[row]));
  }
  EXPECT_DOUBLE_EQ(analyse_latency(profile).throughput->batch, 4);
}

TEST(Latency, PercentilesAreThoseOfASlowTwin) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<Sample> samples(1 + random() % 60);
    std::vector<double> enqueues, trips;
    for (Sample& sample : samples) {
      sample.round_trip = 1 + random() % 100000;
      sample.enqueue = random() % 3 == 0 ? 7 : random() % 1000;
      sample.execution = 1 + random() % 5000;
      enqueues.push_back(double(sample.enqueue));
      trips.push_back(double(sample.round_trip));
    }
    const Latency latency = analyse_latency(profile_of(samples));
    for (const auto& [name, values] :
         {std::pair{"enqueue", enqueues}, std::pair{"total round trip", trips}}) {
      const LatencyRow* row = row_named(latency, name);
      ASSERT_NE(row, nullptr) << name;
      EXPECT_EQ(row->samples, samples.size());
      EXPECT_EQ(*row->min, *std::min_element(values.begin(), values.end()));
      EXPECT_EQ(*row->max, *std::max_element(values.begin(), values.end()));
      for (std::size_t i = 0; i < latency_percentiles.size(); ++i) {
        EXPECT_NEAR(*row->percentiles[i], slow_percentile(values, latency_percentiles[i]), 1e-6);
      }
    }
  }
}

// Two under way, 1000 ns each: one every 500 ns. The device takes 400 and waits 90 for inputs.
TEST(Latency, GapIsBlamedOnTheLargestWait) {
  const std::vector<Sample> samples(3, {1000, 0, 400, 90, 2});
  const Latency latency = analyse_latency(profile_of(samples));
  ASSERT_TRUE(latency.throughput);
  EXPECT_DOUBLE_EQ(latency.throughput->device, 1e9 / 400);
  EXPECT_DOUBLE_EQ(latency.throughput->system, 1e9 / 500);
  EXPECT_NEAR(latency.throughput->gap_share, 0.2, 1e-12);
  EXPECT_EQ(latency.throughput->cause, ThroughputGap::input_wait);
  EXPECT_EQ(analyse_latency(profile_of({{1000, 0, 490, 5, 2}})).throughput->cause,
            ThroughputGap::none);
  EXPECT_EQ(analyse_latency(profile_of({{1000, 0, 400, 5, 2}})).throughput->cause,
            ThroughputGap::other);
}

TEST(Latency, HostileNumbersGiveNoThroughput) {
  EXPECT_TRUE(analyse_latency(Profile{}).rows.empty());
  EXPECT_FALSE(analyse_latency(profile_of({{1000, 0, 0, 0, 2}})).throughput);
  EXPECT_FALSE(analyse_latency(profile_of({{0, 0, 100, 0, 2}})).throughput);
  EXPECT_FALSE(analyse_latency(profile_of({{1000, 0, 100, 0, 0}})).throughput);
}

// As the reader of runner logs makes it, in microseconds.
Profile log_of(double batches, double microseconds, double batch, double execution,
               double input_wait) {
  Profile profile;
  const auto what = [&](const char* name) { return profile.strings.intern(name); };
  profile.clocks.push_back({what("microseconds"), ClockKind::wall, Hertz{1e6}, true, 0});
  Unit device;
  device.name = what("device 0");
  profile.units.push_back(device);
  const auto of_run = [&](const char* name, MeasureKind kind, double value) {
    profile.measures.push_back({Measure::Subject::profile, 0, what(name), kind, Origin::measured,
                                test_support::meaning_of(kind, name), ClockId{0}, value});
  };
  of_run("run", MeasureKind::wall, microseconds);
  of_run("inferences", MeasureKind::count, batches);
  of_run("batch size", MeasureKind::count, batch);
  of_run("inferences per second", MeasureKind::count, batches * batch / microseconds * 1e6);
  const auto of_device = [&](const char* name, double value) {
    profile.measures.push_back({Measure::Subject::unit, 0, what(name), MeasureKind::wall,
                                Origin::measured, test_support::meaning_of(MeasureKind::wall, name),
                                ClockId{0}, value});
  };
  of_device("execution, average", execution);
  of_device("execution, maximum", execution * 1.1);
  of_device("input wait, average", input_wait);
  of_device("output wait, average", 0.1);
  return profile;
}

// Figures of a real log of Amber 7B: a token at a time, one activation.
TEST(Throughput, OfARunnersLogWasRefused) {
  const Latency latency = analyse_latency(log_of(10, 2242274, 1, 124826.111, 103266.866));
  ASSERT_TRUE(latency.throughput);
  EXPECT_EQ(latency.throughput->activations, 1);
  EXPECT_NEAR(latency.throughput->device_inferences(), 8.0111, 1e-3);
  EXPECT_NEAR(latency.throughput->system_inferences(), 4.4598, 1e-3);
  EXPECT_NEAR(latency.throughput->gap_share, 1 - 4.4598 / 8.0111, 1e-4);
  EXPECT_EQ(latency.throughput->cause, ThroughputGap::input_wait);
  EXPECT_EQ(latency.rows.at(0).name, "device execution");
  EXPECT_EQ(latency.rows.at(0).mean, 124826.111);
  EXPECT_NEAR(*latency.rows.at(0).max, 137308.7, 0.1);
  EXPECT_FALSE(latency.rows.at(0).percentiles[0]);
}

// Figures of a real log of BERT: batches of 8, and a rate that seven activations explain.
TEST(Throughput, OfSevenActivationsIsTheirSum) {
  const Latency latency = analyse_latency(log_of(5787, 20018960, 8, 22777.262, 1403.48));
  ASSERT_TRUE(latency.throughput);
  EXPECT_EQ(latency.throughput->activations, 7);
  EXPECT_NEAR(latency.throughput->system_inferences(), 2312.608, 0.01);
  EXPECT_NEAR(latency.throughput->device_inferences(), 7 * 8 / 0.022777262, 0.01);
  EXPECT_NEAR(latency.throughput->system, 2312.608 / 56, 0.001);
}

}  // namespace
}  // namespace npuscope::analysis::latency_test
