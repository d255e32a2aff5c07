#include "npuscope/analysis/traffic.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "analysis/memory/memory_builder.hpp"

namespace npuscope::analysis::traffic_test {
namespace {

using npuscope::test_support::MemoryBuilder;
using Subject = Measure::Subject;

TEST(OpTraffic, OfSpansAndTheRunIsComparedNotAdded) {
  MemoryBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma);
  made.span(dma, "a", 0, 10);
  made.span(dma, "b", 10, 30);
  made.bytes("ddr read bytes", {100, 23});
  made.measure(Subject::profile, 0, "DDR read bytes", 130);
  const OpTraffic traffic(made.profile);
  const TrafficTotal& total = traffic.total(Route::ddr_read);
  EXPECT_EQ(total.of_ops, 123);
  EXPECT_EQ(total.told, 130);
  EXPECT_EQ(total.level, TrafficLevel::spans);
  EXPECT_EQ(total.told_by, TrafficLevel::run);
  EXPECT_EQ(total.best(), 130);
  EXPECT_EQ(traffic.of_span(Route::ddr_read, 1), 23);
  EXPECT_FALSE(traffic.of_ops_known(Route::ddr_write));
}

TEST(OpTraffic, OfCloudAi100IsWhatItsCopiesPutOutOncePerTransfer) {
  MemoryBuilder made;
  const UnitId issue = made.unit("DMAIssue", Engine::dma_issue);
  const UnitId dma = made.unit("DMA", Engine::dma);
  const UnitId hvx = made.unit("HVX", Engine::hvx);
  made.span(issue, "w", 0, 2, SpanKind::op, "aiccopytovtcm");
  made.span(dma, "w", 0, 20, SpanKind::transfer, "aiccopytovtcm");
  made.span(issue, "out", 30, 50, SpanKind::op,
            "aiccopyfromvtcm");  // without a transfer of its own
  made.span(issue, "send", 50, 60, SpanKind::op, "aicmulticastvtcm");
  made.span(hvx, "rows", 60, 70, SpanKind::op, "aicgather");
  made.span(hvx, "sum", 70, 80, SpanKind::op, "elementadd");
  for (Op& op : made.profile.ops) op.output = Bytes{1000 + std::int64_t(index_of(op.name))};
  made.at(made.op("rows", "aicgather")).memory = made.text("DDR");
  const auto output = [&](const char* name, const char* kind) {
    return made.at(made.op(name, kind)).output.value;
  };
  const OpTraffic traffic(made.profile);
  EXPECT_EQ(traffic.total(Route::ddr_read).of_ops,
            output("w", "aiccopytovtcm") + output("rows", "aicgather"));
  EXPECT_EQ(traffic.total(Route::ddr_write).of_ops, output("out", "aiccopyfromvtcm"));
  EXPECT_EQ(traffic.total(Route::multicast).of_ops, output("send", "aicmulticastvtcm"));
  EXPECT_EQ(traffic.of_span(Route::ddr_read, 0), 0);
  EXPECT_EQ(traffic.of_span(Route::ddr_read, 1), output("w", "aiccopytovtcm"));
  EXPECT_EQ(traffic.total(Route::ddr_read).origin, Origin::derived);
}

TEST(OpTraffic, CountersOfCoresAddUpAndADevicesOwnIncludesThem) {
  MemoryBuilder made;
  const UnitId device = made.unit("device", Engine::device);
  const UnitId core0 = made.unit("core 0", Engine::core, device);
  const UnitId core1 = made.unit("core 1", Engine::core, device);
  made.measure(Subject::unit, index_of(core0), "ddr read bytes", 10);
  made.measure(Subject::unit, index_of(core1), "ddr read bytes", 20);
  EXPECT_EQ(OpTraffic(made.profile).total(Route::ddr_read).told, 30);
  made.measure(Subject::unit, index_of(device), "ddr read bytes", 33);
  EXPECT_EQ(OpTraffic(made.profile).total(Route::ddr_read).told, 33);
}

TEST(OpTraffic, BytesInFlightAreNoTraffic) {
  MemoryBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma);
  made.span(dma, "a", 0, 10);
  made.bytes("DRAM read bytes in flight", {100});
  EXPECT_FALSE(OpTraffic(made.profile).any());
}

TEST(OpTraffic, NonsenseSaturatesAndCountsAsNone) {
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
  MemoryBuilder made;
  const UnitId dma = made.unit("DMA", Engine::dma);
  for (int i = 0; i < 3; ++i) made.span(dma, "a", 0, 10);
  made.bytes("ddr read bytes", {max, max, -5});
  made.measure(Subject::profile, 0, "ddr read bytes", std::numeric_limits<double>::quiet_NaN());
  made.measure(Subject::unit, 77, "ddr read bytes", 5);
  made.measure(Subject::op, 77, "ddr write bytes", 5);
  const OpTraffic traffic(made.profile);
  EXPECT_EQ(traffic.total(Route::ddr_read).of_ops, max);
  EXPECT_EQ(traffic.total(Route::ddr_read).told, 0);
  EXPECT_FALSE(traffic.of_ops_known(Route::ddr_write));
}

}  // namespace
}  // namespace npuscope::analysis::traffic_test
