#include "profile/number_names.hpp"

#include <gtest/gtest.h>

namespace npuscope::number_names_test {
namespace {

Meaning of(MeasureKind kind, std::string_view name) { return number_named(kind, name).meaning; }
Meaning of_count(std::string_view name) { return of(MeasureKind::count, name); }

TEST(NumberNames, TellTrafficInAllFormsAndNotPartsOfIt) {
  EXPECT_EQ(of_count("ddr read bytes").role, NumberRole::ddr_read);
  EXPECT_EQ(of_count("DDR write (bytes)").role, NumberRole::ddr_write);
  EXPECT_EQ(of_count("mem_vtcm_read").role, NumberRole::vtcm_read);
  EXPECT_EQ(of_count("VTCM_written").role, NumberRole::vtcm_write);
  EXPECT_EQ(of_count("ddr read bytes, first inference").role, NumberRole::none);
  EXPECT_EQ(of_count("ddr read stalls").role, NumberRole::none);
  EXPECT_EQ(of_count("ddr vtcm read bytes").role, NumberRole::none);
  EXPECT_EQ(of(MeasureKind::work, "ddr read").role, NumberRole::none);
}

TEST(NumberNames, TellWhatIsCounted) {
  EXPECT_EQ(of_count("dram_read").quantity, NumberQuantity::bytes);
  EXPECT_EQ(of_count("weightBytes").quantity, NumberQuantity::bytes);
  EXPECT_EQ(of_count("effective frequency (Hz)").quantity, NumberQuantity::hertz);
  EXPECT_EQ(of_count("HMX active percent").quantity, NumberQuantity::share);
  EXPECT_EQ(of_count("inferences per second").quantity, NumberQuantity::rate);
  EXPECT_EQ(of_count("packets").quantity, NumberQuantity::count);
  EXPECT_EQ(of(MeasureKind::wall, "bytes").quantity, NumberQuantity::time);
}

TEST(NumberNames, RatesSharesAndDeviationsAreNotAddedUp) {
  EXPECT_TRUE(of_count("ddr read bytes").additive);
  EXPECT_TRUE(of(MeasureKind::work, "ucycles").additive);
  EXPECT_FALSE(of_count("ucycles per KB").additive);
  EXPECT_FALSE(of_count("HMX active percent").additive);
  EXPECT_FALSE(of_count("bytes per cycle").additive);
  EXPECT_FALSE(of_count("standard deviation").additive);
  EXPECT_FALSE(of_count("queue depth").additive);
  EXPECT_FALSE(of(MeasureKind::wall, "device execution").additive);
}

TEST(NumberNames, OfOlderTracesOfOurOwnHaveTheirRoles) {
  EXPECT_EQ(of(MeasureKind::dominant_path, "dominant path").role, NumberRole::dominant_path);
  EXPECT_EQ(of_count("packets").role, NumberRole::packets);
  EXPECT_EQ(number_named(MeasureKind::count, "pmu 0x55").event, 0x55u);
  EXPECT_EQ(of_count("pmu 0x55").role, NumberRole::pmu_event);
}

TEST(NumberNames, OfCountersTellVtcmAndBytesInFlight) {
  EXPECT_EQ(role_of_counter("VTCM alloc: bytes"), NumberRole::vtcm_allocated);
  EXPECT_EQ(role_of_counter("DRAM read bytes in flight"), NumberRole::bytes_in_flight);
  EXPECT_EQ(role_of_counter("clock"), NumberRole::none);
}

}  // namespace
}  // namespace npuscope::number_names_test
