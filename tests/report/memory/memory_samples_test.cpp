// Figures that are known of real files, by other arithmetic than the program's.
#include <gtest/gtest.h>

#include <filesystem>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/bandwidth.hpp"
#include "npuscope/analysis/memory.hpp"
#include "npuscope/formats/open.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::report::memory_samples_test {
namespace {

using analysis::Route;

Profile open_one(const std::filesystem::path& path) {
  const std::filesystem::path paths[] = {path};
  auto opened = open_profiles(paths);
  EXPECT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->profiles.size(), 1u);
  return std::move(opened->profiles.at(0));
}

std::filesystem::path shared(const char* path) {
  return std::filesystem::path(NPUSCOPE_SHARED_DIR) / path;
}

// Eight FullyConnected layers of 256 x 256 weights in int8 on an input of 256 x 256: each reads its
// weights of 64 KiB and 2 KiB of bias once, the input comes and the output goes.
TEST(MemorySamples, EightLayersReadTheirWeightsOnce) {
  if (!std::filesystem::exists(shared("data/qnn/chain8"))) GTEST_SKIP();
  const Profile profile = open_one(shared("data/qnn/chain8"));
  const analysis::OpTraffic traffic(profile);
  constexpr std::int64_t matrix = 256 * 256;
  const auto& read = traffic.total(Route::ddr_read);
  EXPECT_EQ(read.of_ops, 8 * (matrix + 2048) + matrix);
  EXPECT_EQ(read.told, read.of_ops);
  EXPECT_EQ(traffic.total(Route::ddr_write).of_ops, matrix);
  // DMA: what it reads from DDR it writes to VTCM; chain8 has no other writers but ops' results.
  EXPECT_EQ(traffic.total(Route::vtcm_read).told, traffic.total(Route::vtcm_read).of_ops);

  analysis::MemoryOptions options;
  const auto found = find_peaks(profile, {.target = "htp-v75"});
  ASSERT_TRUE(found);
  options.peaks = found->peaks;
  const auto table = analysis::Analysis(profile).memory(options);
  EXPECT_EQ(table.wall, 64'829);
  const double macs = 8.0 * 256 * 256 * 256;
  EXPECT_EQ(table.work.all_macs(), macs);
  EXPECT_DOUBLE_EQ(*table.placement.of(analysis::Resource::macs), macs / 16384 / 64'829);
  const double graph_seconds = 69'591 / (69'591 / 86.30e-6);
  const double clock = 69'591 / graph_seconds;
  EXPECT_NEAR(*table.placement.ddr_bytes_per_s, double(10 * matrix + 8 * 2048) / 64'829 * clock,
              0.001 * *table.placement.ddr_bytes_per_s);
  EXPECT_EQ(table.placement.verdict, analysis::RooflineVerdict::latency);
  // Of products at 87 % of the HMX's peak, whose weights were loaded before the first of them.
  for (const auto& row : table.rows) {
    const bool product = row.label.starts_with("MatMul_") && row.label != "MatMul_0" &&
                         row.label != "MatMul_3";  // which came first, which waited
    if (!product) continue;
    EXPECT_EQ(row.placement.verdict, analysis::RooflineVerdict::compute) << row.label;
    EXPECT_GT(*row.placement.of(analysis::Resource::macs), 0.75) << row.label;
    EXPECT_LT(*row.placement.of(analysis::Resource::ddr), 0.1) << row.label;
  }
  double of_rows = 0;
  for (const auto& row : table.rows) of_rows += double(at(row.bytes, Route::ddr_read).value_or(0));
  EXPECT_EQ(of_rows, double(*read.of_ops));
  const auto series = analysis::Analysis(profile).bandwidth(77);
  std::int64_t in_buckets = 0;
  for (const std::int64_t bytes : series.bytes[std::size_t(Route::ddr_read)]) in_buckets += bytes;
  EXPECT_EQ(in_buckets, *read.of_ops);
}

// The compiler's log of the same program says 168,077 KB of constants are read, and 166,554 KB
// sent.
TEST(MemorySamples, SizesOfTransfersOfBertAreTheCompilersFigures) {
  const std::filesystem::path folder = std::filesystem::path(NPUSCOPE_TEST_DATA) / "qaic";
  const Profile profile = open_one(folder / "bert-base-cased_b8_2core.opstats.summary.txt");
  const analysis::OpTraffic traffic(profile);
  constexpr double kilobyte = 1024;
  EXPECT_NEAR(double(*traffic.total(Route::ddr_read).of_ops) / kilobyte, 168'077, 1);
  EXPECT_NEAR(double(*traffic.total(Route::multicast).of_ops) / kilobyte, 166'554, 15);

  const Profile log = open_one(folder / "bert-base-cased_b8_2core.compile.log");
  EXPECT_NEAR(*analysis::OpTraffic(log).total(Route::ddr_read).told / kilobyte, 168'941, 1);
  double beyond = 0;
  for (const auto& unit : analysis::constant_traffic(log)) {
    if (log.units[index_of(unit.unit)].engine == Engine::device) {
      beyond = unit.ddr_read - unit.constants;
    }
  }
  EXPECT_NEAR(beyond / kilobyte, 864, 1);  // the statistics buffer
}

TEST(MemorySamples, SpillOfAnLlmIsNotAllThatIsReadBeyondConstants) {
  if (!std::filesystem::exists(shared("data/qaic"))) GTEST_SKIP();
  const Profile prefill = open_one(shared("data/qaic/amber-7b_prefill32_14core.compile.log"));
  for (const auto& unit : analysis::constant_traffic(prefill)) {
    if (prefill.units[index_of(unit.unit)].engine != Engine::device) continue;
    EXPECT_NEAR((unit.ddr_read - unit.constants) / 1024, 131'135, 1);
    EXPECT_NEAR(unit.ddr_write / 1024, 131'135, 1);
  }
}

}  // namespace
}  // namespace npuscope::report::memory_samples_test
