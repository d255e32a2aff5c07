// The call as the host sees it, from the numbers that each format has of it.
#include "npuscope/analysis/call.hpp"

#include <gtest/gtest.h>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/samples.hpp"
#include "number_meaning.hpp"

namespace npuscope::analysis::call_test {
namespace {

using test_support::ProfileBuilder;

struct CallBuilder : ProfileBuilder {
  ClockId ns;
  CallBuilder() : ProfileBuilder("PCYCLE") {
    profile.clocks.push_back({text("ns"), ClockKind::wall, Hertz{1e9}, false, 0});
    ns = ClockId(std::uint32_t(profile.clocks.size() - 1));
  }
  void number(const char* what, double value, std::uint32_t instance) {
    Measure measure;
    measure.what = text(what);
    measure.kind = MeasureKind::wall;
    measure.clock = ns;
    measure.value = value;
    measure.instance = instance;
    measure.meaning = test_support::meaning_of(measure.kind, profile.text(measure.what));
    profile.measures.push_back(measure);
  }
};

CallBuilder calls_of_an_htp(std::uint32_t count) {
  CallBuilder made;
  made.profile.provenance.temperature =
      count > 1 ? Provenance::Temperature::cold_then_warm : Provenance::Temperature::cold;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double more = i == 0 ? 5 : 1 + 0.1 * i;
    made.number("QNN (execute) time", 1000 * more, i);
    made.number("RPC (execute) time", 900 * more, i);
    made.number("Accelerator (execute) time", 100 * more, i);
    made.phase("Graph Execute", i, 1000 * i, 1000 * i + 80, 0.04 * more);
  }
  return made;
}

TEST(Call, GoesFromTheHostToTheGraphWithoutTheFirstCall) {
  const auto call = analyse_call(calls_of_an_htp(4).profile);
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->warm);
  EXPECT_EQ(call->count, 3u);
  ASSERT_EQ(call->layers.size(), 4u);
  EXPECT_NEAR(call->seconds(), 1200e-9, 1e-15);
  EXPECT_NEAR(call->device_seconds(), 120e-9, 1e-15);
  EXPECT_EQ(call->device, 2u);
  EXPECT_EQ(call->layers[3].name, "Graph Execute");
  double own = 0;
  for (const CallLayer& layer : call->layers) own += layer.own;
  EXPECT_NEAR(own, call->seconds(), 1e-15);
  EXPECT_NEAR(*call->graph_hertz, 80 / 0.048e-6, 1e3);
}

// The call was of the mean, `latency` of the same file of the median.
TEST(Call, OfALatencyTableWasAnotherNumberThanItsLatency) {
  CallBuilder made;
  for (const auto& [name, value] : {std::pair{"device execution, mean", 23'000.0},
                                    {"total round trip, mean", 40'000.0},
                                    {"device execution, 50%", 22'000.0},
                                    {"total round trip, 50%", 30'000.0}}) {
    made.number(name, value, every_instance);
  }
  const auto call = analyse_call(made.profile);
  ASSERT_TRUE(call);
  EXPECT_NEAR(call->seconds(), 30e-6, 1e-12);
  EXPECT_NEAR(call->device_seconds(), 22e-6, 1e-12);
  const RunSamples run(made.profile);
  const Metric* latency = run.metric("latency");
  ASSERT_NE(latency, nullptr);
  EXPECT_EQ(latency->source, call->layers.front().name);
}

TEST(Call, OfOneColdInferenceIsNotWarm) {
  const auto call = analyse_call(calls_of_an_htp(1).profile);
  ASSERT_TRUE(call);
  EXPECT_FALSE(call->warm);
  EXPECT_FALSE(call->graph_ticks);
}

// `check` and `diff` had a latency of such files, the first page had none.
TEST(Call, WithoutTheDevicesPartIsACallAllTheSame) {
  CallBuilder host;
  host.number("QNN (execute) time", 10, 0);
  const auto call = analyse_call(host.profile);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->layers.size(), 1u);
  EXPECT_FALSE(call->has_device());
}

TEST(Call, IsNoneWhereCallsQueueOrAPartTakesLongerThanTheWhole) {
  CallBuilder queued = calls_of_an_htp(3);
  Measure depth;
  depth.what = queued.text("queue depth");
  depth.value = 4;
  depth.meaning = test_support::meaning_of(depth.kind, queued.profile.text(depth.what));
  queued.profile.measures.push_back(depth);
  EXPECT_FALSE(analyse_call(queued.profile));
  CallBuilder odd;  // the part takes longer than the whole
  odd.number("QNN (execute) time", 10, 0);
  odd.number("Accelerator (execute) time", 20, 0);
  EXPECT_FALSE(analyse_call(odd.profile));
}

TEST(WarmNodeCycles, AreTheMedianOfAllButTheFirstForEveryOpOfTheNode) {
  ProfileBuilder made("PCYCLE");
  const OpId node = made.op("MatMul"), part = made.op("conv");
  made.profile.ops[index_of(part)].node = made.text("MatMul");
  made.op("other");
  for (const auto& [instance, value] : {std::pair{0u, 900.0}, {1u, 10.0}, {2u, 30.0}, {3u, 20.0}}) {
    Measure measure;
    measure.subject = Measure::Subject::op;
    measure.subject_id = index_of(node);
    measure.what = made.text("node cycles");
    measure.kind = MeasureKind::work;
    measure.value = value;
    measure.instance = instance;
    measure.meaning = test_support::meaning_of(measure.kind, made.profile.text(measure.what));
    made.profile.measures.push_back(measure);
  }
  const auto cycles = warm_node_cycles(made.profile);
  EXPECT_EQ(cycles[index_of(node)], 20);
  EXPECT_EQ(cycles[index_of(part)], 20);
  EXPECT_EQ(cycles[2], std::nullopt);
}

}  // namespace
}  // namespace npuscope::analysis::call_test
