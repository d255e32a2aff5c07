#include "formats/tenstorrent/ops_perf.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace npuscope::tenstorrent::ops_perf_test {
namespace {

using testing::HasSubstr;

constexpr const char* older =
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,ATTRIBUTES,MATH FIDELITY,CORE COUNT,HOST DURATION "
    "[ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,OP TO OP LATENCY [ns],DEVICE FW DURATION "
    "[ns],DEVICE KERNEL DURATION [ns],INPUT_0_W,INPUT_0_Z,INPUT_0_Y,INPUT_0_X,INPUT_0_LAYOUT,"
    "INPUT_0_DATATYPE,INPUT_0_MEMORY,OUTPUT_0_W,OUTPUT_0_Z,OUTPUT_0_Y,OUTPUT_0_X,OUTPUT_0_LAYOUT,"
    "OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY,PM IDEAL [ns]\n";

std::string row(const char* code, int device, std::int64_t start, std::int64_t cycles) {
  return fmt::format(
      "{0},tt_dnn_device,1024,{1},{{'a': 'b; c'}},HiFi4,20,100,{2},{3},50,{4},{5},1,1,32,64,TILE,"
      "BFLOAT16,DEV_1_DRAM_INTERLEAVED,1,1,32,64,TILE,BFLOAT8_B,DEV_1_L1_INTERLEAVED,1\n",
      code, device, start, start + cycles, cycles / 2, cycles / 2 - 10);
}
std::string signpost(const char* name) {
  return fmt::format("{},signpost,,,,,,,,,,,,,,,,,,,,,,,,,,\n", name);
}

Result<Profile> open(const std::string& text) {
  EXPECT_TRUE(looks_like_ops_perf(text));
  auto source = open_byte_source(text, "ops_perf.csv");
  return read_ops_perf(**source);
}

// "device 0 op UnaryDeviceOperation 0 0 +1000 0", a line a span.
std::string spans_of(const Profile& profile) {
  std::string text;
  const Spans& spans = profile.spans;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    text += fmt::format(
        "{} {} {} +{}{}\n", profile.text(profile.units[index_of(spans.unit[i])].name),
        profile.text(profile.ops[index_of(spans.op[i])].name), spans.start[i], spans.duration[i],
        spans.instance.empty() ? "" : fmt::format(" of {}", spans.instance[i]));
  }
  return text;
}

bool says(const Profile& profile, std::string_view begin) {
  return std::ranges::any_of(profile.notes,
                             [&](const Note& note) { return note.message.starts_with(begin); });
}

// Two cycles are a nanosecond. What lies between ops is the host's time, not idleness.
TEST(TenstorrentOps, HaveTheClockOfTheirCyclesAndWaitForTheHost) {
  const auto profile = open(std::string(older) + row("UnaryDeviceOperation", 0, 5'000'000, 2'000) +
                            row("UnaryDeviceOperation", 0, 5'008'000, 4'000));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(spans_of(*profile),
            "device 0 UnaryDeviceOperation 0 0 +1000\n"
            "device 0 wait for the host 1000 +3000\n"
            "device 0 UnaryDeviceOperation 1 4000 +2000\n");
  EXPECT_EQ(profile->spans.kind[1], SpanKind::wait);
  EXPECT_TRUE(says(*profile, "clock of the devices: 2.000 GHz"));
  ASSERT_FALSE(profile->spans.measures.empty());
  EXPECT_EQ(profile->text(profile->spans.measures[0].what), "kernel time");
  EXPECT_EQ(profile->spans.measures[0].values[2], 1'990);
}

// Signposts that repeat are inferences; what comes before the first belongs to none.
TEST(TenstorrentOps, SignpostsThatRepeatAreInferences) {
  const std::string run = row("MatmulDeviceOperation", 0, 5'010'000, 2'000) + signpost("end");
  const auto profile = open(std::string(older) + row("TilizeDeviceOperation", 0, 5'000'000, 2'000) +
                            signpost("start") + run + signpost("start") +
                            row("MatmulDeviceOperation", 0, 5'020'000, 2'000) + signpost("end"));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->provenance.inferences, 2u);
  EXPECT_TRUE(says(*profile, "inferences: each signpost 'start' begins one"));
  EXPECT_EQ(spans_of(*profile),
            "device 0 TilizeDeviceOperation 0 0 +1000 of 0\n"
            "device 0 wait for the host 1000 +4000 of 0\n"
            "device 0 MatmulDeviceOperation 0 5000 +1000 of 0\n"
            "device 0 MatmulDeviceOperation 0 10000 +1000 of 1\n");
  EXPECT_EQ(profile->spans.kind[0], SpanKind::activation);
  EXPECT_EQ(profile->ops.size(), 3u);  // with the wait: the matmul is one in both
  const auto once = open(std::string(older) + signpost("start") + run);
  ASSERT_TRUE(once);
  EXPECT_TRUE(once->spans.instance.empty());
}

// An op of two devices is one, each device at its own beginning; collectives are communication.
TEST(TenstorrentOps, OfSeveralDevicesAreOne) {
  const auto profile =
      open(std::string(older) + row("AllGatherAsyncDeviceOperation", 1, 9'000'000, 2'000) +
           row("AllGatherAsyncDeviceOperation", 0, 5'000'000, 4'000));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(spans_of(*profile),
            "device 1 AllGatherAsyncDeviceOperation 0 0 +1000\n"
            "device 0 AllGatherAsyncDeviceOperation 0 0 +2000\n");
  EXPECT_EQ(profile->spans.kind[0], SpanKind::communication);
  EXPECT_EQ(profile->ops.back().engine, Engine::communication);
  EXPECT_TRUE(says(*profile, "the counters of the devices are not related"));
}

// What the device's profiler writes itself has names and no types of ops.
TEST(TenstorrentOps, OfTheDevicesOwnReport) {
  const auto profile = open(
      "GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,OP NAME,CORE COUNT,DEVICE FW START CYCLE,DEVICE FW "
      "END CYCLE,DEVICE FW DURATION [ns]\n1024,0,wormhole_b0,Matmul,64,1000,3000,2000\n");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(spans_of(*profile), "device 0 Matmul 0 0 +2000\n");
}

// Lost ops and those of the host are said, not dropped.
TEST(TenstorrentOps, WithoutTimesAreCounted) {
  const std::string lost = "LostDeviceOperation,tt_dnn_device,2048,0,,,,7,,,,,\n";
  const std::string host = "torch.add,tt_dnn_cpu,3072,,,,,4500,,,,,\n";
  const auto profile =
      open(std::string(older) + row("UnaryDeviceOperation", 0, 5'000'000, 2'000) + lost + host);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_TRUE(says(*profile, "ops without times of the device"));
  EXPECT_TRUE(says(*profile, "ops that the host ran"));
  EXPECT_EQ(profile->ops.back().engine, Engine::host);
  EXPECT_EQ(profile->measures.back().value, 4'500);
  const auto none = open(std::string(older) + lost);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no row has times of a device"));
}

// The profiler loses ops of some devices and keeps those of others.
TEST(TenstorrentOps, AfterALostOneWereOthersThanThoseOfTheOtherDevice) {
  const auto profile =
      open(std::string(older) + row("Unary", 0, 5'000'000, 2'000) +
           "Unary,tt_dnn_device,1024,1,,,,7,,,,,\n" + row("Matmul", 0, 5'004'000, 2'000) +
           row("Matmul", 1, 9'000'000, 2'000) + "Unary,tt_dnn_device,1024,2,,,,7,,,,,\n");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(spans_of(*profile),
            "device 0 Unary 0 0 +1000\n"
            "device 0 wait for the host 1000 +1000\n"
            "device 0 Matmul 1 2000 +1000\n"
            "device 1 Matmul 1 0 +1000\n");
  EXPECT_EQ(profile->units.size(), 2u);
}

// A gap below 0 (the counter of another core was read) takes no time, nor adds any.
TEST(TenstorrentOps, BeginAtTheirOwnCyclesWhateverTheGapSays) {
  std::string early = row("Matmul", 0, 5'001'000, 2'000);
  early.replace(early.find(",50,"), 4, ",-500,");
  const auto profile = open(std::string(older) + row("Unary", 0, 5'000'000, 2'000) + early);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(spans_of(*profile), "device 0 Unary 0 0 +1000\ndevice 0 Matmul 1 500 +1000\n");
}

// Newer files pad: "96[27]" is 27; bytes and MACs are of that. A cache that was missed is cold.
TEST(TenstorrentOps, OfNewerFilesAreWithoutPadding) {
  const auto profile = open(
      "OP CODE,OP TYPE,DEVICE ID,DEVICE ARCH,DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE FW "
      "DURATION [ns],INPUT_0_W_PAD[LOGICAL],INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],"
      "INPUT_0_X_PAD[LOGICAL],INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY,"
      "INPUT_1_W_PAD[LOGICAL],INPUT_1_Z_PAD[LOGICAL],INPUT_1_Y_PAD[LOGICAL],"
      "INPUT_1_X_PAD[LOGICAL],INPUT_1_LAYOUT,INPUT_1_DATATYPE,INPUT_1_MEMORY,"
      "OUTPUT_0_W_PAD[LOGICAL],OUTPUT_0_Z_PAD[LOGICAL],OUTPUT_0_Y_PAD[LOGICAL],"
      "OUTPUT_0_X_PAD[LOGICAL],OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY,PROGRAM CACHE "
      "HIT\n"
      "Matmul,tt_dnn_device,0,wormhole_b0,1000,3000,1000,1[1],1[1],64[50],96[27],TILE,BFLOAT16,"
      "DEV_1_DRAM_INTERLEAVED,1[1],1[1],96[27],64[64],TILE,BFLOAT8_B,DEV_1_DRAM_INTERLEAVED,1[1],"
      "1[1],64[50],64[64],TILE,BFLOAT16,DEV_1_L1_HEIGHT_SHARDED,False\n");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->provenance.device, "Tenstorrent wormhole_b0");
  EXPECT_EQ(profile->provenance.temperature, Provenance::Temperature::cold);
  ASSERT_EQ(profile->measures.size(), 1u);
  EXPECT_EQ(profile->measures[0].value, 50 * 27 * 64);
  EXPECT_EQ(profile->spans.measure(NumberRole::ddr_read)->values[0],
            50 * 27 * 2 + 27 * 64 * 17 / 16);
  EXPECT_EQ(profile->spans.measure(NumberRole::ddr_write)->values[0], 0);
  EXPECT_EQ(profile->text(profile->ops[1].shape), "[1,1,50,64]");
}

}  // namespace
}  // namespace npuscope::tenstorrent::ops_perf_test
