#include "formats/qaic/stats/stats_buffer.hpp"

#include <gtest/gtest.h>

#include "formats/qaic/stats/random_buffer.hpp"

namespace npuscope::qaic::stats_buffer_test {
namespace {

using test_support::make_random_case;

struct Levels : ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Levels, SizeIsKnownBeforeTheBufferIsBuilt) {
  for (const std::uint32_t counters : {0u, 3u}) {
    for (const bool ddr_stats : {false, true}) {
      const auto random = make_random_case({.stats_level = GetParam(),
                                            .pmu_counters = counters,
                                            .ddr_stats = ddr_stats,
                                            .network = "odd name"});
      std::uint64_t op_records = 0;
      for (const auto& ops : random.buffer.ops) op_records += ops.size();
      EXPECT_EQ(random.bytes().size(),
                stats_buffer_bytes(random.buffer.identity, ddr_stats, random.buffer.ports.size(),
                                   op_records, "odd name"));
    }
  }
}

TEST_P(Levels, RecordsWhatTheLevelPromisesAndNoMore) {
  const auto random = make_random_case(
      {.cores = 2, .ops_per_group = 9, .stats_level = GetParam(), .pmu_counters = 2});
  const auto bytes = random.bytes();
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, "buffer");
  ASSERT_TRUE(reader) << reader.error().message;
  const auto has = [&](std::uint32_t kind) { return reader->find(kind) != nullptr; };
  EXPECT_TRUE(has(stats_identity));
  EXPECT_TRUE(has(stats_threads));
  EXPECT_FALSE(has(stats_cores)) << "without -ddr-stats";
  EXPECT_EQ(has(stats_ports), GetParam() >= 50);
  EXPECT_EQ(has(stats_ops), GetParam() >= 50);
  EXPECT_EQ(has(stats_op_pmu), GetParam() >= 100);
  const std::uint64_t records = GetParam() < 50 ? 0 : GetParam() < 70 ? 1 : 9;
  for (std::uint32_t key = 0; key < 12; ++key) {
    const SectionEntry* ops = reader->find(stats_ops, key);
    EXPECT_EQ(ops == nullptr ? 0 : ops->count, records);
  }
}

INSTANTIATE_TEST_SUITE_P(StatsBuffer, Levels, ::testing::Values(40, 50, 70, 100));

TEST(StatsBuffer, RecordsComeBackAsWritten) {
  const auto random = make_random_case({.seed = 3, .pmu_counters = 4});
  const auto bytes = random.bytes();
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, "buffer");
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->text(*reader->find(stats_network)), "QAicGraph");
  for (std::uint32_t key = 0; key < 12; ++key) {
    const auto ops = reader->records<StatsOp>(*reader->find(stats_ops, key));
    ASSERT_TRUE(ops) << ops.error().message;
    ASSERT_EQ(ops->size(), random.buffer.ops[key].size());
    EXPECT_EQ(
        std::memcmp(ops->data(), random.buffer.ops[key].data(), ops->size() * sizeof(StatsOp)), 0);
  }
}

TEST(StatsBuffer, SameBufferSameBytes) {
  EXPECT_EQ(make_random_case({.seed = 5}).bytes(), make_random_case({.seed = 5}).bytes());
}

}  // namespace
}  // namespace npuscope::qaic::stats_buffer_test
