#include "npuscope/analysis/roofline.hpp"

#include <gtest/gtest.h>

namespace npuscope::analysis::roofline_test {
namespace {

// One core at 1 GHz: 100 MACs and 10 bytes a cycle.
Peaks small_peaks() {
  Peaks peaks;
  peaks.ddr_bytes_per_s = 10e9;
  peaks.macs_per_cycle = {200, 100, 10};
  peaks.hmx_dispatch_cycles = 50;
  return peaks;
}

Roofs small_roofs() { return make_roofs(small_peaks(), Hertz{1e9}, true, 1); }

Work matrix_work(double ticks, double fp16_macs, double bytes) {
  Work work;
  work.ticks = ticks;
  work.macs[std::size_t(Precision::fp16)] = fp16_macs;
  work.macs_known = true;
  work.ddr_bytes = bytes;
  work.hmx_ticks = ticks / 2;
  work.hmx_units = 1;
  return work;
}

TEST(Roofline, TheLargestShareAboveTheBoundDecides) {
  const Placement compute = place_under(small_roofs(), matrix_work(1000, 70'000, 3'000));
  EXPECT_EQ(compute.verdict, RooflineVerdict::compute);
  EXPECT_EQ(compute.largest, Resource::macs);
  EXPECT_DOUBLE_EQ(*compute.of(Resource::macs), 0.7);
  EXPECT_DOUBLE_EQ(*compute.of(Resource::ddr), 0.3);
  EXPECT_DOUBLE_EQ(*compute.intensity, 70.0 / 3);
  EXPECT_DOUBLE_EQ(*compute.ridge, 10);
  EXPECT_DOUBLE_EQ(*compute.macs_per_s, 70e9);
  EXPECT_DOUBLE_EQ(*compute.ddr_bytes_per_s, 3e9);

  const Placement memory = place_under(small_roofs(), matrix_work(1000, 30'000, 6'500));
  EXPECT_EQ(memory.verdict, RooflineVerdict::memory);
  const Placement latency = place_under(small_roofs(), matrix_work(1000, 30'000, 6'400));
  EXPECT_EQ(latency.verdict, RooflineVerdict::latency);
  EXPECT_EQ(latency.largest, Resource::ddr);
}

TEST(Roofline, ADdrThatOthersKeepBusyBoundsWhatMostlyMoves) {
  Work work = matrix_work(1000, 1'000, 2'000);
  work.ddr_bytes_of_all = 8'000;
  work.moving_ticks = 640;
  EXPECT_EQ(place_under(small_roofs(), work).verdict, RooflineVerdict::latency);
  work.moving_ticks = 660;
  const Placement placement = place_under(small_roofs(), work);
  EXPECT_EQ(placement.verdict, RooflineVerdict::memory);
  EXPECT_EQ(placement.largest, Resource::ddr);
  EXPECT_DOUBLE_EQ(*placement.of(Resource::ddr), 0.2);
  EXPECT_DOUBLE_EQ(*placement.ddr_share_of_all, 0.8);
  work.ddr_bytes_of_all = 6'400;
  EXPECT_EQ(place_under(small_roofs(), work).verdict, RooflineVerdict::latency);
  work.ddr_bytes_of_all = 10'150;  // spread evenly over spans that overlap in part
  EXPECT_EQ(*place_under(small_roofs(), work).ddr_share_of_all, 1);
  work.ddr_bytes_of_all = 13'000;  // more than is possible
  EXPECT_EQ(place_under(small_roofs(), work).verdict, RooflineVerdict::latency);
  EXPECT_DOUBLE_EQ(*place_under(small_roofs(), work).ddr_share_of_all, 1.3);
  work.ddr_bytes_of_all = 8'000;
  work.ddr_bytes = 0;  // none of them are its own
  EXPECT_EQ(place_under(small_roofs(), work).verdict, RooflineVerdict::latency);
}

TEST(Roofline, StartingKernelsCanTakeTheTime) {
  Work work = matrix_work(1000, 1'000, 100);
  work.dispatch_ticks = 15 * *small_roofs().hmx_dispatch_ticks;
  EXPECT_EQ(place_under(small_roofs(), work).verdict, RooflineVerdict::dispatch);
}

// A kernel that waits for memory keeps its thread busy.
TEST(Roofline, APeakThatIsReachedCountsBeforeBusyThreads) {
  Work work = matrix_work(1000, 0, 7'000);
  work.hvx_ticks = 3900;
  work.hvx_units = 4;
  EXPECT_EQ(place_under(small_roofs(), work).verdict, RooflineVerdict::memory);
  work.ddr_bytes = 100;
  const Placement placement = place_under(small_roofs(), work);
  EXPECT_EQ(placement.verdict, RooflineVerdict::compute);
  EXPECT_EQ(placement.largest, Resource::hvx);
}

TEST(Roofline, MoreThanIsPossibleIsNoVerdict) {
  EXPECT_EQ(place_under(small_roofs(), matrix_work(1000, 100, 12'000)).verdict,
            RooflineVerdict::memory);
  const Placement placement = place_under(small_roofs(), matrix_work(1000, 100, 13'000));
  EXPECT_EQ(placement.verdict, RooflineVerdict::unknown);
  EXPECT_EQ(placement.largest, Resource::ddr);
}

TEST(Roofline, WithoutAPeakThatMattersThereIsNoVerdict) {
  Peaks peaks = small_peaks();
  peaks.ddr_bytes_per_s.reset();
  EXPECT_EQ(place_under(make_roofs(peaks, Hertz{1e9}, true, 1), matrix_work(1000, 10, 10)).verdict,
            RooflineVerdict::unknown);
  Work unknown_macs = matrix_work(1000, 0, 10);
  unknown_macs.macs_known = false;
  unknown_macs.hmx_ticks = 0;
  EXPECT_EQ(place_under(small_roofs(), unknown_macs).verdict, RooflineVerdict::unknown);
  EXPECT_EQ(place_under(small_roofs(), Work()).verdict, RooflineVerdict::unknown);
}

TEST(Roofline, CyclesNeedNoRateForMacsButBytesASecondDo) {
  const Roofs roofs = make_roofs(small_peaks(), Hertz{0}, true, 3);
  EXPECT_FALSE(roofs.ddr_bytes_per_tick);
  EXPECT_EQ(roofs.macs_per_tick[std::size_t(Precision::fp16)], 300);
  const Roofs timer = make_roofs(small_peaks(), Hertz{19.2e6}, false, 1);
  EXPECT_FALSE(timer.macs_per_tick[0]);  // nobody knows the cores' clock
}

TEST(Roofline, CoresShareTheDdrAndEachDrawsSoMuch) {
  Peaks peaks = small_peaks();
  peaks.ddr_bytes_per_s_per_core = 4e9;
  EXPECT_EQ(make_roofs(peaks, Hertz{1e9}, true, 2).ddr_bytes_per_tick, 8);
  EXPECT_EQ(make_roofs(peaks, Hertz{1e9}, true, 3).ddr_bytes_per_tick, 10);
  EXPECT_TRUE(make_roofs(peaks, Hertz{1e9}, true, 2).ddr_is_of_cores);
  EXPECT_FALSE(make_roofs(peaks, Hertz{1e9}, true, 3).ddr_is_of_cores);
}

TEST(Roofline, TypesOfOperandsDecideThePeak) {
  EXPECT_EQ(precision_of("float16, i8"), Precision::fp16);
  EXPECT_EQ(precision_of("QUInt8"), Precision::int8);
  EXPECT_EQ(precision_of("i8"), Precision::int8);
  EXPECT_EQ(precision_of("Float32"), Precision::fp32);
  EXPECT_EQ(precision_of(""), Precision::fp16);
}

}  // namespace
}  // namespace npuscope::analysis::roofline_test
