// What tests of stores on ClickHouse share: the cluster, a database for each test, a SQLite store
// next to it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/clickhouse_cluster.hpp"
#include "fleet/schema.hpp"
#include "fleet/small_fleet.hpp"

namespace npuscope::fleet {

class OnClickHouse : public testing::Test {
 protected:
  void SetUp() override {
    cluster = ClickHouseCluster::get();
    if (cluster == nullptr) GTEST_SKIP() << ClickHouseCluster::why_not();
    database = testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  std::string url() const { return cluster->url(database); }

  static std::unique_ptr<Store> opened(const std::string& path, StoreMode mode = StoreMode::make) {
    auto store = open_store(path, mode);
    EXPECT_TRUE(store) << store.error().message;
    return store ? std::move(*store) : nullptr;
  }
  static std::string error_of(const std::string& path, StoreMode mode = StoreMode::read) {
    const auto store = open_store(path, mode);
    return store ? "opened" : store.error().message;
  }

  static Batch batch_of(const std::vector<SmallRun>& runs) {
    Batch batch;
    for (const SmallRun& run : runs) add_run(run, batch);
    return batch;
  }
  // Many runs, so that a batch is more than a packet.
  static Batch large_batch(std::uint64_t first, std::uint64_t runs) {
    std::vector<SmallRun> all;
    for (std::uint64_t i = 0; i < runs; ++i) {
      all.push_back({.number = first + i,
                     .labels = {fmt::format("build={}", i % 7)},
                     .work = {std::int64_t(10 + i % 13), 20, std::int64_t(30 + i % 5)}});
    }
    return batch_of(all);
  }

  // Every table as text.
  static std::vector<std::string> all_rows(Store& store) {
    std::vector<std::string> all;
    for (const Table& table : schema()) {
      for (std::string& row : TemporaryStore::rows_of(store, select_sql(table))) {
        all.push_back(table.name + ": " + std::move(row));
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  static std::vector<std::string> rows_in_sqlite(const std::vector<const Batch*>& batches) {
    TemporaryStore made;
    for (const Batch* batch : batches) EXPECT_TRUE((*made).add(*batch));
    return all_rows(*made);
  }

  ClickHouseCluster* cluster = nullptr;
  std::string database;
};

}  // namespace npuscope::fleet
