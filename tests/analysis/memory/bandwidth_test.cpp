#include "npuscope/analysis/bandwidth.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

#include "analysis/memory/memory_builder.hpp"

namespace npuscope::analysis::bandwidth_test {
namespace {

using npuscope::test_support::MemoryBuilder;
using ::testing::ElementsAre;

const std::vector<std::int64_t>& reads(const BandwidthSeries& series) {
  return series.bytes[std::size_t(Route::ddr_read)];
}

TEST(Bandwidth, BytesAreSpreadOverTheirSpan) {
  MemoryBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma);
  made.span(dma, "a", 0, 20);
  made.span(dma, "b", 35, 40);
  made.span(dma, "moment", 25, 25);
  made.bytes("ddr read bytes", {200, 50, 7});
  const BandwidthSeries series = Analysis(made.profile).bandwidth(4);
  EXPECT_EQ(series.width, 10);
  EXPECT_THAT(reads(series), ElementsAre(100, 100, 7, 50));
}

TEST(Bandwidth, WithoutBytesThereIsNoSeries) {
  MemoryBuilder made;
  made.span(made.unit("DMA", Engine::dma), "a", 0, 20);
  EXPECT_EQ(Analysis(made.profile).bandwidth(10).buckets(), 0u);
  EXPECT_EQ(Analysis(Profile()).bandwidth(10).buckets(), 0u);
}

// The slow twin looks at every tick of every span.
TEST(Bandwidth, EqualsEveryTickOnItsOwnToAByteASpanAndLosesNone) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    MemoryBuilder made;
    const UnitId dma = made.unit("DMA", Engine::dma);
    std::vector<std::int64_t> bytes;
    const int spans = 1 + int(random() % 6);
    for (int i = 0; i < spans; ++i) {
      const auto start = std::int64_t(random() % 60) - 20;
      made.span(dma, "a", start, start + std::int64_t(random() % 50));
      bytes.push_back(std::int64_t(random() % (round % 2 == 0 ? 10 : 100'000)));
    }
    made.bytes("ddr read bytes", bytes);
    const OpTraffic traffic(made.profile);
    const std::size_t wanted = 1 + random() % 20;
    const BandwidthSeries series = Analysis(made.profile).bandwidth(wanted);
    if (length_of(series.timeline) == 0) continue;
    ASSERT_LE(series.buckets(), wanted);
    std::vector<double> slow(series.buckets(), 0);
    const auto bucket_of = [&](std::int64_t time) {
      return std::min(std::size_t((time - series.timeline.begin) / series.width), slow.size() - 1);
    };
    for (std::size_t i = 0; i < bytes.size() && !slow.empty(); ++i) {
      const Interval span = interval_of(made.profile.spans, i);
      if (length_of(span) == 0) slow[bucket_of(span.begin)] += double(bytes[i]);
      for (std::int64_t tick = span.begin; tick < span.end; ++tick) {
        slow[bucket_of(tick)] += double(bytes[i]) / double(length_of(span));
      }
    }
    for (std::size_t i = 0; i < slow.size(); ++i) {
      ASSERT_NEAR(double(reads(series)[i]), slow[i], 1.0 * spans + 1e-6);
    }
    ASSERT_EQ(std::accumulate(reads(series).begin(), reads(series).end(), std::int64_t{0}),
              *traffic.total(Route::ddr_read).of_ops);
  }
}

TEST(Bandwidth, ForgedTimesNeitherCrashNorHang) {
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  MemoryBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma);
  made.span(dma, "a", min / 2, min / 2 + 5);
  made.span(dma, "b", 0, 1);
  made.profile.spans.start[0] = min;
  made.profile.spans.duration[0] = max;
  made.profile.spans.start[1] = max - 3;
  made.profile.spans.duration[1] = max;
  made.bytes("ddr read bytes", {max, max});
  for (const std::size_t buckets : {0u, 1u, 7u, 1000u}) {
    const auto series = Analysis(made.profile).bandwidth(buckets);
    EXPECT_LE(series.buckets(), std::max<std::size_t>(1, buckets));
  }
}

TEST(Transfers, AreCountedBySizeAndOnlyThoseOfDma) {
  MemoryBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma);
  const UnitId hvx = made.unit("HVX", Engine::hvx);
  made.span(dma, "a", 0, 20);
  made.span(dma, "b", 20, 25);
  made.span(dma, "c", 30, 90);
  made.span(hvx, "d", 0, 9);
  made.bytes("ddr read bytes", {4095, 4096, 0, 500});
  made.bytes("ddr write bytes", {0, 1, 1 << 24, 0});
  const auto sizes = Analysis(made.profile).transfers();
  ASSERT_EQ(sizes.size(), 3u);
  EXPECT_EQ(sizes[0].transfers, 1u);
  EXPECT_EQ(sizes[0].below, small_transfer);
  EXPECT_EQ(sizes[0].ticks, 20);
  EXPECT_EQ(sizes[1].bytes, 4097);
  EXPECT_EQ(sizes[2].min, 1 << 24);
  EXPECT_EQ(sizes[2].below, 0);
}

}  // namespace
}  // namespace npuscope::analysis::bandwidth_test
