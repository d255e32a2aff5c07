#include "formats/sigmastar/tile_edges.hpp"

#include <gmock/gmock.h>

#include <random>

#include "formats/chrome/events.hpp"
#include "formats/sigmastar/log.hpp"
#include "formats/sigmastar/profile.hpp"
#include "formats/sigmastar/write_timeline.hpp"

namespace npuscope::sigmastar::tile_edges_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr LogEngine load = LogEngine::dma_load, conv = LogEngine::conv,
                    store = LogEngine::dma_store;

const LogLayout& layout() {
  static const LogLayout reference = *layout_of_chip("ipu-muffin");
  return reference;
}

CoreLog core_of(std::vector<LogInterval> intervals) {
  CoreLog log;
  log.intervals = std::move(intervals);
  return log;
}

// "buffer: conv 1 of layer 0, core 0 -> load 3 of layer 0, core 0"
std::vector<std::string> told(const std::vector<CoreLog>& cores, const LogLayout& by = layout()) {
  const auto name = [&](LogPlace place) {
    const LogInterval& each = cores[place.log].intervals[place.interval];
    return fmt::format("{} {} of layer {}, core {}", name_of(each.engine), each.tile, each.layer,
                       place.log);
  };
  std::vector<std::string> lines;
  for (const LogEdge& edge : find_tile_edges(cores, by).edges) {
    lines.push_back(
        fmt::format("{}: {} -> {}", name_of(edge.rule), name(edge.from), name(edge.to)));
  }
  return lines;
}

TEST(TileEdges, ATileGoesFromEngineToEngine) {
  EXPECT_THAT(told({core_of({{0, 10, 0, load, 1}, {10, 20, 0, conv, 1}, {20, 30, 0, store, 1}})}),
              ElementsAre("tile: dma load 1 of layer 0, core 0 -> conv 1 of layer 0, core 0",
                          "tile: conv 1 of layer 0, core 0 -> dma store 1 of layer 0, core 0"));
}

TEST(TileEdges, ABufferIsFreeAgain) {
  EXPECT_THAT(told({core_of({{0, 10, 0, load, 1},
                             {10, 20, 0, load, 2},
                             {10, 30, 0, conv, 1},
                             {30, 40, 0, load, 3}})}),
              ElementsAre("tile: dma load 1 of layer 0, core 0 -> conv 1 of layer 0, core 0",
                          "buffer: conv 1 of layer 0, core 0 -> dma load 3 of layer 0, core 0"));
}

TEST(TileEdges, WhatWasLoadedAheadIsNeeded) {
  EXPECT_THAT(told({core_of({{0, 5, 0, load, 0}, {5, 10, 0, load, 1}, {10, 20, 0, conv, 1}})}),
              ElementsAre("tile: dma load 1 of layer 0, core 0 -> conv 1 of layer 0, core 0",
                          "ahead: dma load 0 of layer 0, core 0 -> conv 1 of layer 0, core 0"));
}

TEST(TileEdges, ALayerWaitsForTheOneBeforeOnEveryCore) {
  EXPECT_THAT(
      told(
          {core_of({{0, 10, 0, store, 1}, {50, 60, 2, load, 1}}), core_of({{0, 40, 0, store, 1}})}),
      ElementsAre("layer: dma store 1 of layer 0, core 0 -> dma load 1 of layer 2, core 0",
                  "layer: dma store 1 of layer 0, core 1 -> dma load 1 of layer 2, core 0"));
}

TEST(TileEdges, InferencesAreApart) {
  EXPECT_THAT(told({core_of({{0, 10, 0, load, 1},
                             {10, 20, 0, conv, 1},
                             {30, 40, 0, load, 1},
                             {40, 50, 0, conv, 1}})}),
              ElementsAre("tile: dma load 1 of layer 0, core 0 -> conv 1 of layer 0, core 0",
                          "tile: dma load 1 of layer 0, core 0 -> conv 1 of layer 0, core 0"));
}

TEST(TileEdges, WhatDidNotHappenSoIsLeftOutAndCounted) {
  const std::vector<CoreLog> cores{core_of({{0, 10, 0, load, 1}, {5, 20, 0, conv, 1}})};
  const TileEdges edges = find_tile_edges(cores, layout());
  EXPECT_THAT(edges.edges, IsEmpty());
  EXPECT_EQ(edges.contradictory, 1u);
}

TEST(TileEdges, NoneWhereTheLayoutDoesNotSay) {
  LogLayout silent = layout();
  silent.tile_order.clear();
  const std::vector<CoreLog> cores{core_of({{0, 10, 0, load, 1}, {10, 20, 0, conv, 1}})};
  EXPECT_THAT(told(cores, silent), IsEmpty());
  EXPECT_THAT(told({core_of({{0, 10, 0, load, 0}, {10, 20, 0, conv, 0}})}), IsEmpty());
}

TEST(TileEdges, BecomeFlowsAndBytesOfTheProfile) {
  LogWriter log(layout(), default_log_bytes);
  const auto write = [&](LogEngine engine, std::uint64_t begin, std::uint64_t end,
                         std::uint32_t bytes) {
    log.write({engine, LogMark::begin, 0, begin, 1, bytes});
    log.write({engine, LogMark::end, 0, end, 1, bytes});
  };
  write(LogEngine::layer, 0, 400, 0);
  write(load, 0, 100, 4096);
  write(conv, 100, 300, 0);
  write(store, 300, 400, 1024);
  const IpuTimeline timeline = join_logs({*decode_log(as_byte_span(log.bytes()), layout(), "log")},
                                         {0}, std::nullopt, layout(), 900e6);
  std::string text;
  write_timeline(timeline, {"ipu-muffin"}, [&](std::string_view piece) { text += piece; });
  const auto source = open_byte_source(text, "log_ctrl0.json");
  const Profile profile = make_ipu_profile(*chrome::read_events(**source));
  ASSERT_EQ(profile.flows.size(), 2u);
  const auto unit = [&](SpanId span) {
    return std::string(
        profile.text(profile.units[index_of(profile.spans.unit[index_of(span)])].name));
  };
  EXPECT_EQ(unit(profile.flows[0].from), "dma load");
  EXPECT_EQ(unit(profile.flows[0].to), "conv");
  EXPECT_EQ(unit(profile.flows[1].to), "dma store");
  std::vector<std::pair<std::string, std::int64_t>> bytes;
  for (const MeasureColumn& column : profile.spans.measures) {
    for (const std::int64_t value : column.values) {
      if (value != MeasureColumn::missing && column.kind == MeasureKind::count) {
        bytes.emplace_back(profile.text(column.what), value);
      }
    }
  }
  EXPECT_THAT(bytes,
              ElementsAre(std::pair("ddr read bytes", 4096), std::pair("ddr write bytes", 1024)));
  std::string layers;
  write_timeline(timeline, {"ipu-muffin", true}, [&](std::string_view piece) { layers += piece; });
  EXPECT_THAT(layers, Not(HasSubstr("waits")));
}

// What is recorded of a run of two inferences, with `last_end` of the second one's work.
Profile two_inferences(std::uint64_t last_end) {
  LogWriter core(layout(), default_log_bytes), control(layout(), default_log_bytes);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint64_t start = 1000 * i;
    control.write({LogEngine::run, LogMark::begin, i, start});
    core.write({LogEngine::layer, LogMark::begin, 0, start + 100});
    core.write({conv, LogMark::begin, 0, start + 100, 1});
    core.write({conv, LogMark::end, 0, i == 0 ? 600 : last_end, 1});
    core.write({LogEngine::layer, LogMark::end, 0, i == 0 ? 600 : last_end});
    control.write({LogEngine::run, LogMark::end, i, start + 700});
  }
  const auto log = [](const LogWriter& from) {
    return *decode_log(as_byte_span(from.bytes()), layout(), "log");
  };
  std::string text;
  write_timeline(join_logs({log(core)}, {0}, log(control), layout(), 900e6), {"ipu-muffin"},
                 [&](std::string_view piece) { text += piece; });
  const auto source = open_byte_source(text, "log_ctrl0.json");
  return make_ipu_profile(*chrome::read_events(**source));
}

TEST(IpuInferences, AreNumberedWhereTheCoreControlTellsThemApart) {
  const Profile profile = two_inferences(1600);
  ASSERT_EQ(profile.spans.instance.size(), profile.spans.size());
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    EXPECT_EQ(profile.spans.instance[row], profile.spans.start[row] < 900 ? 0u : 1u);
  }
  EXPECT_EQ(two_inferences(1800).spans.instance.size(), 0u);  // work after the interrupt
}

// Whatever stands in a log, its arrows lead from an end to a begin that is not before it.
TEST(TileEdges, OfAnyBytesLeadForward) {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::vector<CoreLog> cores;
    for (int core = 0; core < 2; ++core) {
      LogWriter log(layout(), default_log_bytes);
      for (unsigned n = random() % 200 + 1; n > 0; --n) {
        log.write({LogEngine(random() % 7), LogMark(random() % 2), std::uint32_t(random() % 3),
                   random() % 10000, std::uint16_t(random() % 5), std::uint32_t(random())});
      }
      cores.push_back(*decode_log(as_byte_span(log.bytes()), layout(), "log"));
    }
    for (const LogEdge& edge : find_tile_edges(cores, layout()).edges) {
      EXPECT_LE(cores[edge.from.log].intervals[edge.from.interval].end,
                cores[edge.to.log].intervals[edge.to.interval].begin);
    }
  }
}

}  // namespace
}  // namespace npuscope::sigmastar::tile_edges_test
