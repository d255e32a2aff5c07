#include "formats/sigmastar/timeline.hpp"

#include <gmock/gmock.h>

#include "formats/sigmastar/layer_rows.hpp"
#include "formats/sigmastar/samples.hpp"

namespace npuscope::sigmastar::timeline_test {
namespace {

using test_support::error_of;
using test_support::layer_event;
using test_support::read_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LayerKeys, NumbersMayBeQuotedAndHaveAPercentSign) {
  EXPECT_EQ(number_in("12.5"), 12.5);
  EXPECT_EQ(number_in(" \"12.5 %\" "), 12.5);
  EXPECT_EQ(number_in("\"7\"\n"), 7);
  EXPECT_FALSE(number_in("\"many\""));
  EXPECT_FALSE(number_in("1e999"));
  EXPECT_FALSE(number_in(""));
}

TEST(LayerKeys, IndicesInNames) {
  const auto index = [](std::string_view name) {
    const auto found = index_in(name);
    return found ? std::int64_t(found->index) : -1;
  };
  EXPECT_EQ(index("12"), 12);
  EXPECT_EQ(index("12 CONV_2D"), 12);
  EXPECT_EQ(index("layer_12"), 12);
  EXPECT_EQ(index("Layer12"), 12);
  EXPECT_EQ(index("Conv_12"), 12);
  EXPECT_EQ(index("CONV_2D"), -1);
  EXPECT_EQ(index("player12"), -1);
  EXPECT_EQ(index("v1.5"), -1);
  EXPECT_EQ(index("1.5 ms"), -1);
  EXPECT_EQ(index("99999999999999999999"), -1);
  EXPECT_EQ(index(""), -1);
}

TEST(LayerKeys, CoresInNames) {
  EXPECT_EQ(core_in("IPU core1"), 1u);
  EXPECT_EQ(core_in("Core: 0"), 0u);
  EXPECT_EQ(core_in("log_core1.bin"), 1u);
  EXPECT_FALSE(core_in("corectrl0"));
  EXPECT_FALSE(core_in("core"));
  EXPECT_FALSE(core_in("core 99999999999"));
}

TEST(LayerTimeline, ArrayAndObjectSayTheSame) {
  const std::string events =
      layer_event("layer_0", 0, 10, 5) + "," + layer_event("layer_1", 1, 15, 7);
  for (const std::string& text :
       {"[" + events + "]", "{\"traceEvents\":[" + events + "],\"other\":{\"a\":[1]}}",
        "\xEF\xBB\xBF[" + events + ",", "[" + events + "\n"}) {
    const LayerTimeline timeline = read_text(text);
    ASSERT_EQ(timeline.layers.size(), 2u) << text << error_of(text);
    EXPECT_EQ(timeline.cores, 2u);
    EXPECT_EQ(timeline.layers[1].core, 1u);
    EXPECT_EQ(timeline.layers[1].index, 1u);
    EXPECT_EQ(timeline.layers[1].start, 15'000);
    EXPECT_EQ(timeline.layers[1].duration, 7'000);
    EXPECT_EQ(timeline.layers[1].cycles, 7);
  }
}

TEST(LayerTimeline, CoresByTheNamesOfTracks) {
  const LayerTimeline timeline = read_text(R"([
    {"ph":"X","name":"0","pid":3,"tid":1,"ts":0,"dur":1,"args":{"total_cycle":1}},
    {"ph":"X","name":"0","pid":3,"tid":2,"ts":0,"dur":1,"args":{"total_cycle":1}},
    {"ph":"M","name":"thread_name","pid":3,"tid":1,"args":{"name":"core 1"}},
    {"ph":"M","name":"thread_name","pid":3,"tid":2,"args":{"name":"core 0"}}])");
  ASSERT_EQ(timeline.layers.size(), 2u);
  EXPECT_EQ(timeline.layers[0].core, 1u);
  EXPECT_EQ(timeline.layers[1].core, 0u);
}

TEST(LayerTimeline, WhatIsNoLayerIsLeftOut) {
  const LayerTimeline timeline = read_text(R"([7, null, "x", [], {},
    {"ph":"X","name":"inference","pid":0,"tid":0,"ts":0,"dur":9},
    {"ph":"X","name":"no time","pid":0,"tid":0,"args":{"total_cycle":1}},
    {"ph":"X","name":"backwards","pid":0,"tid":0,"ts":0,"dur":-4,"args":{"total_cycle":1}},
    {"ph":"X","name":"beyond","pid":0,"tid":0,"ts":1e300,"dur":1,"args":{"total_cycle":1}},
    {"ph":"X","pid":0,"tid":0,"ts":0,"dur":4,"args":{"dma_load_cycle_percent":"3%"}}])");
  ASSERT_EQ(timeline.layers.size(), 1u);
  EXPECT_FALSE(timeline.layers[0].index);
  ASSERT_EQ(timeline.notes.size(), 1u);
  EXPECT_EQ(timeline.notes[0].count, 3u);
}

TEST(LayerTimeline, Errors) {
  EXPECT_THAT(error_of(""), HasSubstr("log.json: an empty file"));
  EXPECT_THAT(error_of(" "), HasSubstr("log.json: no sound JSON"));
  EXPECT_THAT(error_of("[]"), HasSubstr("no event has total_cycle"));
  EXPECT_THAT(error_of("{}"), HasSubstr("has no traceEvents"));
  EXPECT_THAT(error_of("{\"traceEvents\":7}"), HasSubstr("has no traceEvents"));
  const std::string whole = "{\"traceEvents\":[" + layer_event("0", 0, 1, 2) + "]}";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(error_of(whole.substr(0, length)), "") << length;
  }
}

TEST(LayerTimeline, RenumberedChangesNothingElse) {
  const std::string text =
      R"([ {"ph":"X","name":"layer_7 ","ts":0.50,"dur":1,"args":{"total_cycle":1}},
 {"ph":"X","name":"Conv_12","ts":2,"dur":1e0,"args":{"total_cycle":"1","index":"12"}},
 {"ph":"X","name":"Conv_3","ts":2,"dur":1,"args":{"total_cycle":1,"index": 8}},
 {"ph":"X","name":"plain","ts":2,"dur":1,"args":{"total_cycle":1}},
 {"ph":"X","name":"5","ts":2,"dur":1,"args":{"total_cycle":1}}]
)";
  const LayerTimeline timeline = read_text(text);
  ASSERT_EQ(timeline.layers.size(), 5u) << error_of(text);
  EXPECT_EQ(renumbered(timeline, std::vector<std::optional<std::uint32_t>>{}), text);
  const std::vector<std::optional<std::uint32_t>> index{100, 101, 102, 103, std::nullopt};
  EXPECT_EQ(renumbered(timeline, index),
            R"([ {"ph":"X","name":"100 layer_7 ","ts":0.50,"dur":1,"args":{"total_cycle":1}},
 {"ph":"X","name":"Conv_101","ts":2,"dur":1e0,"args":{"total_cycle":"1","index":"101"}},
 {"ph":"X","name":"Conv_3","ts":2,"dur":1,"args":{"total_cycle":1,"index": 102}},
 {"ph":"X","name":"103 plain","ts":2,"dur":1,"args":{"total_cycle":1}},
 {"ph":"X","name":"5","ts":2,"dur":1,"args":{"total_cycle":1}}]
)");
}

}  // namespace
}  // namespace npuscope::sigmastar::timeline_test
