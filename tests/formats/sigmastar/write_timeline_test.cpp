#include "formats/sigmastar/write_timeline.hpp"

#include <gmock/gmock.h>

#include "formats/sigmastar/log.hpp"
#include "formats/sigmastar/profile.hpp"
#include "formats/sigmastar/samples.hpp"

namespace npuscope::sigmastar::write_timeline_test {
namespace {

using ::testing::ElementsAre;

constexpr double hertz = 800e6;

CoreLog log_of(const std::vector<std::array<std::uint64_t, 4>>& rows) {
  const LogLayout layout = *layout_of_chip("ipu-muffin");
  LogWriter log(layout, default_log_bytes);
  for (const auto& [engine, mark, layer, cycles] : rows) {
    log.write(LogEngine(engine), LogMark(mark), std::uint32_t(layer), cycles);
  }
  return *decode_log(as_byte_span(log.bytes()), layout, "log");
}

// Two cores whose clock wraps between their first records, and the control.
IpuTimeline sample() {
  const LogLayout layout = *layout_of_chip("ipu-muffin");
  constexpr std::uint64_t t = 0xfffffff0;
  std::vector<CoreLog> cores{
      log_of({{0, 0, 0, t},
              {1, 0, 0, t + 8},
              {1, 1, 0, t + 40},
              {0, 1, 0, t + 80},
              {0, 0, 1, t + 80},
              {4, 0, 1, t + 80},
              {4, 1, 1, t + 100},
              {0, 1, 1, t + 120}}),
      log_of({{0, 0, 0, t + 32}, {3, 0, 0, t + 32}, {3, 1, 0, t + 48}, {0, 1, 0, t + 64}})};
  return join_logs(std::move(cores), {0, 1}, log_of({{6, 0, 0, t - 8}, {6, 1, 0, t + 152}}), layout,
                   hertz);
}

std::string text_of(const IpuTimeline& timeline, bool layers_only) {
  std::string text;
  write_timeline(timeline, {"ipu-muffin", layers_only},
                 [&](std::string_view piece) { text += piece; });
  return text;
}

TEST(WriteIpuTimeline, LayersWithTheirPercentages) {
  EXPECT_EQ(text_of(sample(), true),
            R"({"otherData":{"writer":"ipu timeline","chip":"ipu-muffin","mhz":800},"traceEvents":[
{"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"core 0"}},
{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"layers"}},
{"ph":"X","name":"layer 0","pid":0,"tid":0,"ts":0.010,"dur":0.100,"args":{"index":0,"total_cycle":80,"conv_cycle_percent":40.000,"vector_cycle_percent":0.000,"dma_load_cycle_percent":0.000,"dma_store_cycle_percent":0.000}},
{"ph":"X","name":"layer 1","pid":0,"tid":0,"ts":0.110,"dur":0.050,"args":{"index":1,"total_cycle":40,"conv_cycle_percent":0.000,"vector_cycle_percent":0.000,"dma_load_cycle_percent":0.000,"dma_store_cycle_percent":50.000}},
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"core 1"}},
{"ph":"M","name":"thread_name","pid":1,"tid":0,"args":{"name":"layers"}},
{"ph":"X","name":"layer 0","pid":1,"tid":0,"ts":0.050,"dur":0.040,"args":{"index":0,"total_cycle":32,"conv_cycle_percent":0.000,"vector_cycle_percent":0.000,"dma_load_cycle_percent":50.000,"dma_store_cycle_percent":0.000}},
{"ph":"M","name":"process_name","pid":1000,"tid":0,"args":{"name":"corectrl"}},
{"ph":"M","name":"thread_name","pid":1000,"tid":6,"args":{"name":"run"}},
{"ph":"X","name":"inference","pid":1000,"tid":6,"ts":0.000,"dur":0.200,"args":{"inference":0}}
]}
)");
}

TEST(WriteIpuTimeline, OpCostReadsItBack) {
  const LayerTimeline timeline = test_support::read_text(text_of(sample(), false));
  ASSERT_EQ(timeline.layers.size(), 3u);
  EXPECT_EQ(timeline.cores, 2u);
  EXPECT_EQ(timeline.layers[2].core, 1u);
  EXPECT_EQ(timeline.layers[2].cycles, 32);
}

TEST(WriteIpuTimeline, OfAnIncompleteLogDidNotSaySo) {
  IpuTimeline cut = sample();
  EXPECT_FALSE(test_support::read_text(text_of(cut, true)).is_incomplete);
  cut.is_incomplete = true;
  const LayerTimeline timeline = test_support::read_text(text_of(cut, true));
  EXPECT_TRUE(timeline.is_incomplete);
  EXPECT_THAT(timeline.inferences, ElementsAre(Interval{0, 200}));
}

TEST(WriteIpuTimeline, LogsOfTwoRunsWereJoined) {
  const LogLayout layout = *layout_of_chip("ipu-muffin");
  const auto log_at = [](std::uint64_t begin) {
    return log_of(
        {{0, 0, 0, begin}, {0, 1, 0, begin + 10}, {0, 0, 1, begin + 10}, {0, 1, 1, begin + 20}});
  };
  EXPECT_TRUE(check_one_run(sample()));
  EXPECT_TRUE(
      check_one_run(join_logs({log_at(5), log_at(7)}, {0, 1}, std::nullopt, layout, hertz)));
  const auto apart =
      check_one_run(join_logs({log_at(5), log_at(90)}, {0, 1}, std::nullopt, layout, hertz));
  ASSERT_FALSE(apart);
  EXPECT_THAT(apart.error().message, ::testing::HasSubstr("2 of the 2 layers that it shares"));
  const auto outside = check_one_run(
      join_logs({log_at(90)}, {0}, log_of({{6, 0, 0, 5}, {6, 1, 0, 60}}), layout, hertz));
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, ::testing::HasSubstr("2 of the 2 layers in the logs"));
}

Profile profile_of(const std::string& text) {
  const auto source = open_byte_source(text, "log_ctrl0.json");
  auto events = chrome::read_events(**source);
  EXPECT_TRUE(is_ipu_timeline(*events));
  return make_ipu_profile(std::move(*events));
}

TEST(IpuProfile, LayersOfTwoCoresInCycles) {
  const Profile profile = profile_of(text_of(sample(), true));
  EXPECT_EQ(profile.provenance.format, timeline_format);
  const Clock& clock = profile.clocks[index_of(profile.base_clock)];
  EXPECT_EQ(clock.kind, ClockKind::unit_cycles);
  EXPECT_EQ(clock.rate.value, hertz);
  ASSERT_EQ(profile.checks.size(), 1u);
  EXPECT_EQ(profile.checks[0].outcome, Check::Outcome::passed);
  const Spans& spans = profile.spans;
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans.start[0], 8);
  EXPECT_EQ(spans.duration[0], 80);
  EXPECT_EQ(spans.start[1], 88);
  EXPECT_EQ(spans.kind[1], SpanKind::op);
  const Unit& core = profile.units[index_of(spans.unit[2])];
  EXPECT_EQ(core.engine, Engine::core);
  EXPECT_EQ(core.core, 1u);
  const MeasureColumn* conv = spans.measure(*profile.strings.find("conv busy"));
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->kind, MeasureKind::work);
  EXPECT_THAT(conv->values, ElementsAre(32, 0, 0, MeasureColumn::missing));
}

TEST(IpuProfile, EnginesWhereTheTimelineHasThem) {
  const Profile profile = profile_of(text_of(sample(), false));
  std::vector<std::string> work;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const SpanKind kind = profile.spans.kind[row];
    if (kind != SpanKind::op) continue;
    work.emplace_back(profile.text(profile.units[index_of(profile.spans.unit[row])].name));
  }
  EXPECT_THAT(work, ElementsAre("conv", "dma store", "dma load"));
  EXPECT_EQ(std::count(profile.spans.kind.begin(), profile.spans.kind.end(), SpanKind::async), 3);
  EXPECT_EQ(profile.spans.kind[profile.spans.size() - 1], SpanKind::inference);
  EXPECT_EQ(profile.provenance.device, "SigmaStar IPU (ipu-muffin)");
}

// Every frequency gives back the cycles that were written, whatever nanoseconds round away.
TEST(IpuProfile, CyclesSurviveTheText) {
  for (const double rate : {400e6, 750e6, 800e6, 900e6, 1050e6, 2700e6}) {
    std::vector<std::array<std::uint64_t, 4>> rows;
    std::uint64_t now = 12345;
    std::vector<std::int64_t> lengths;
    for (std::uint64_t layer = 0; layer < 300; ++layer) {
      const std::uint64_t length = 1 + layer * 7919 % 4001;
      rows.push_back({0, 0, layer, now});
      rows.push_back({0, 1, layer, now += length});
      lengths.push_back(std::int64_t(length));
    }
    std::vector<CoreLog> cores{log_of(rows)};
    const Profile profile = profile_of(text_of(
        join_logs(std::move(cores), {0}, std::nullopt, *layout_of_chip("ipu-muffin"), rate), true));
    EXPECT_EQ(profile.clocks[index_of(profile.base_clock)].rate.value, rate);
    ASSERT_EQ(profile.spans.size(), lengths.size());
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      EXPECT_EQ(profile.spans.duration[row], lengths[row]);
      if (row == 0) continue;
      EXPECT_GE(profile.spans.start[row],
                profile.spans.start[row - 1] + profile.spans.duration[row - 1]);
    }
  }
}

// Layers that overlap, and engines that work for two layers at once, lie on lanes of the same core.
TEST(IpuProfile, LanesBelongToTheirCore) {
  const LogLayout layout = *layout_of_chip("ipu-muffin");
  std::vector<CoreLog> cores{log_of({{0, 0, 0, 0},
                                     {1, 0, 0, 10},
                                     {0, 0, 1, 50},
                                     {1, 0, 1, 60},
                                     {1, 1, 0, 70},
                                     {0, 1, 0, 80},
                                     {1, 1, 1, 90},
                                     {0, 1, 1, 95}})};
  const Profile profile =
      profile_of(text_of(join_logs(std::move(cores), {1}, std::nullopt, layout, hertz), false));
  ASSERT_EQ(profile.spans.size(), 4u);
  std::size_t lanes = 0;
  for (const UnitId unit : profile.spans.unit) {
    const Unit& found = profile.units[index_of(unit)];
    EXPECT_EQ(found.core, 1u);
    EXPECT_NE(found.engine, Engine::thread);
    lanes += found.lane > 0;
  }
  EXPECT_EQ(lanes, 2u);
}

TEST(IpuProfile, CyclesStandApartWhereDurationsDisagree) {
  const Profile profile = profile_of("[" + test_support::layer_event("layer_0", 0, 0, 10) + R"(,
      {"ph":"X","name":"layer_1","pid":"core0","tid":0,"ts":10,"dur":9,"args":{"total_cycle":"77","conv_cycle_percent":"x"}}])");
  EXPECT_EQ(profile.clocks[index_of(profile.base_clock)].kind, ClockKind::wall);
  EXPECT_EQ(profile.checks[0].outcome, Check::Outcome::failed);
  EXPECT_THAT(profile.spans.processor_cycles, ElementsAre(10, 77));
  EXPECT_EQ(profile.spans.duration[1], 9'000);
}

TEST(IpuProfile, TheModelNamesItsLayers) {
  Profile profile = profile_of("[" + test_support::layer_event("layer_7", 0, 0, 10) + "," +
                               test_support::layer_event("layer_8", 0, 10, 20) + "]");
  Model model = test_support::make_model({{"CONV_2D", 2}, {"ADD", 3}, {"SOFTMAX", 1}});
  model.operators[1].fusion = Fusion::member;
  for (std::size_t i = 0; i < 3; ++i) model.operators[i].label = "out" + std::to_string(i);
  ASSERT_TRUE(add_model(profile, model, "fixed.sim"));
  const Op& last = profile.ops[index_of(profile.spans.op[1])];
  EXPECT_EQ(profile.text(last.kind), "SOFTMAX");
  EXPECT_EQ(profile.text(last.node), "2 out2");
  EXPECT_EQ(profile.text(last.name), "layer_8");
  const auto wrong = add_model(profile, test_support::make_model({}), "other.sim");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, ::testing::HasSubstr("give the model that was running"));
}

}  // namespace
}  // namespace npuscope::sigmastar::write_timeline_test
