// Whatever breaks while a batch is added: nothing is lost, nothing is there twice, and what is not
// whole is not seen.
#include <future>
#include <thread>

#include "fleet/clickhouse_fixture.hpp"
#include "fleet/cutting_proxy.hpp"

namespace npuscope::fleet::clickhouse_faults_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t runs_of_batch = 60;

class ClickHouseFaults : public OnClickHouse {
 protected:
  void SetUp() override {
    OnClickHouse::SetUp();
    if (cluster == nullptr) return;
    proxy = std::make_unique<CuttingProxy>(cluster->http_port());
    ASSERT_TRUE(opened(url()));  // its tables
  }

  std::string through_proxy(const std::string& more = "") const {
    return cluster->url(database, proxy->port(), more);
  }

  // Bytes of requests that a batch costs.
  std::size_t bytes_of(const Batch& batch) {
    const auto store = opened(cluster->url(database + "_whole", proxy->port()));
    proxy->cut_requests_after(0, 0);
    EXPECT_TRUE(store->add(batch));
    return proxy->request_bytes();
  }

  std::unique_ptr<CuttingProxy> proxy;
};

TEST_F(ClickHouseFaults, AConnectionThatBreaksAnywhereCostsNothing) {
  const Batch first = large_batch(1, runs_of_batch);
  const std::size_t bytes = bytes_of(first);
  ASSERT_GT(bytes, 10'000u);
  const auto store = opened(through_proxy("&patience=60"), StoreMode::write);
  const auto direct = opened(url(), StoreMode::read);
  std::vector<Batch> batches;
  std::vector<const Batch*> all;
  batches.reserve(20);
  for (std::uint64_t i = 0; i < 12; ++i) {
    batches.push_back(large_batch(1 + i * runs_of_batch, runs_of_batch));
    all.push_back(&batches.back());
    // The first batch also makes what later ones find.
    proxy->cut_requests_after(bytes * i / 15 + 1, 1);
    const auto added = store->add(batches.back());
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_EQ(added->runs, runs_of_batch);
    EXPECT_EQ(proxy->left(), 0) << "batch " << i << " was not cut: it sent "
                                << proxy->request_bytes() << " bytes, the first " << bytes;
  }
  EXPECT_EQ(all_rows(*direct), rows_in_sqlite(all));
}

TEST_F(ClickHouseFaults, ABatchThatIsGivenUpIsNotSeenAndIsAddedAgain) {
  const Batch batch = large_batch(1, runs_of_batch);
  const std::size_t bytes = bytes_of(batch);
  const auto store = opened(through_proxy("&patience=0"), StoreMode::write);
  const auto direct = opened(url(), StoreMode::write);
  for (std::size_t i = 1; i < 8; ++i) {
    proxy->cut_requests_after(bytes * i / 8, 1);
    const auto added = store->add(batch);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().kind, ErrorKind::output);
    EXPECT_THAT(TemporaryStore::rows_of(*direct, "SELECT count(*) FROM runs"), ElementsAre("0"));
    EXPECT_THAT(TemporaryStore::rows_of(*direct, "SELECT count(*) FROM op_runs"), ElementsAre("0"));
    EXPECT_THAT(TemporaryStore::rows_of(*direct, "SELECT count(*) FROM tags"), ElementsAre("0"));
  }
  const auto added = store->add(batch);
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(all_rows(*direct), rows_in_sqlite({&batch}));
  // What the attempts left goes with the next removal, a day later; here, runs that are not there.
  EXPECT_NE(TemporaryStore::rows_of(*direct, "SELECT count(*) FROM op_runs_all"),
            TemporaryStore::rows_of(*direct, "SELECT count(*) FROM op_runs"));
  for (const std::string& shard : {ClickHouseCluster::host(0), ClickHouseCluster::host(1)}) {
    EXPECT_EQ(
        cluster->execute(
            fmt::format("ALTER TABLE {}.runs_rows UPDATE added = toDateTime(1) WHERE 1", database),
            shard),
        "");
  }
  for (int look = 0; look < 500; ++look) {
    if (TemporaryStore::rows_of(*direct,
                                "SELECT max(toUnixTimestamp(added)) FROM remote("
                                "'127.0.0.{2,3}:" +
                                    fmt::format("{}', {}.runs_rows)", cluster->tcp_port(),
                                                database)) == std::vector<std::string>{"1"}) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const Id none[] = {4711};
  ASSERT_TRUE(direct->remove(none));
  EXPECT_EQ(TemporaryStore::rows_of(*direct, "SELECT count(*) FROM op_runs_all"),
            TemporaryStore::rows_of(*direct, "SELECT count(*) FROM op_runs"));
  EXPECT_EQ(all_rows(*direct), rows_in_sqlite({&batch}));
}

// The rows arrived, the answer did not: sent again as they are, they would be there twice.
TEST_F(ClickHouseFaults, AnAnswerThatIsLostDoublesNothing) {
  const auto store = opened(through_proxy("&patience=60"), StoreMode::write);
  std::vector<Batch> batches;
  std::vector<const Batch*> all;
  batches.reserve(10);
  for (const char* table : {"runs_rows", "tags_rows", "op_runs_rows", "ops_rows", "batches_rows"}) {
    batches.push_back(large_batch(1 + batches.size() * runs_of_batch, runs_of_batch));
    all.push_back(&batches.back());
    proxy->lose_answers_to(table, 2);
    const auto added = store->add(batches.back());
    ASSERT_TRUE(added) << table << ": " << added.error().message;
    EXPECT_EQ(proxy->left(), 0);
  }
  EXPECT_EQ(all_rows(*opened(url(), StoreMode::read)), rows_in_sqlite(all));
}

TEST_F(ClickHouseFaults, AServerWithTooManyPartsIsWaitedFor) {
  const Batch batch = large_batch(1, runs_of_batch);
  proxy->say_too_many_parts(3);
  const auto added = opened(through_proxy("&patience=60"), StoreMode::write)->add(batch);
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(proxy->left(), 0);
  EXPECT_EQ(all_rows(*opened(url(), StoreMode::read)), rows_in_sqlite({&batch}));
  proxy->say_too_many_parts(1'000);
  const auto refused =
      opened(through_proxy("&patience=1"), StoreMode::write)->add(large_batch(1'000, 3));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the server is busy and stayed so"));
  EXPECT_THAT(refused.error().message, HasSubstr("Too many parts (600)"));
}

TEST_F(ClickHouseFaults, AServerThatIsKilledWithinABatchAndComesBackHasAllOfIt) {
  const std::size_t bytes = bytes_of(large_batch(1, runs_of_batch));
  const auto store = opened(through_proxy("&patience=120"), StoreMode::write);
  std::vector<Batch> batches;
  std::vector<const Batch*> all;
  batches.reserve(10);
  for (std::uint64_t i = 0; i < 4; ++i) {
    ClickHouseServer& server = cluster->shard(i % 2);
    batches.push_back(large_batch(1 + i * runs_of_batch, runs_of_batch));
    all.push_back(&batches.back());
    std::promise<void> killed;
    proxy->cut_requests_after(bytes * (2 * i + 1) / 9, 1, [&] {
      server.kill();
      killed.set_value();
    });
    Result<Added> added;
    std::thread adding([&] { added = store->add(batches.back()); });
    if (killed.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      server.start();
    }
    adding.join();
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_EQ(added->runs, runs_of_batch);
    EXPECT_EQ(proxy->left(), 0);
  }
  for (std::size_t i = 0; i < 2; ++i) ASSERT_TRUE(cluster->shard(i).waits_for_requests());
  EXPECT_EQ(all_rows(*opened(url(), StoreMode::write)), rows_in_sqlite(all));
}

TEST_F(ClickHouseFaults, AServerThatStaysAwayIsSaid) {
  const Batch batch = large_batch(1, runs_of_batch);
  const auto store = opened(cluster->url(database, 0, "&patience=1"), StoreMode::write);
  cluster->shard(1).kill();
  const auto added = store->add(batch);
  const std::string question = error_of(url(), StoreMode::write);
  cluster->shard(1).start();
  ASSERT_TRUE(cluster->shard(1).waits_for_requests());
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("annot be reached"));
  EXPECT_THAT(question, HasSubstr("127.0.0.3"));
  ASSERT_TRUE(opened(url(), StoreMode::write)->add(batch));
  EXPECT_EQ(all_rows(*opened(url(), StoreMode::read)), rows_in_sqlite({&batch}));
}

// A server of its own on a file system of a few megabytes.
TEST_F(ClickHouseFaults, AFullDiskEndsTheBatchAndLeavesTheOnesBefore) {
  TemporaryFolder folder;
  const ClickHousePorts ports = ClickHousePorts::free();
  ClickHouseServer server(folder.path(), environment_of(folder.path(), "127.0.0.2", ports),
                          {.data_mebibytes = 12});
  if (!server.waits_for_requests()) GTEST_SKIP() << "a file system cannot be mounted here";
  const auto store = opened(fmt::format("clickhouse://127.0.0.2:{}/full?patience=0", ports.http));
  ASSERT_TRUE(store);
  std::vector<Batch> batches;
  std::vector<const Batch*> kept;
  batches.reserve(1'000);
  std::string refusal;
  while (refusal.empty() && batches.size() < 999) {
    // Of names that do not compress.
    batches.push_back(large_batch(1 + batches.size() * 20, 20));
    std::uint64_t state = batches.size();
    for (auto& run : batches.back().runs) {
      for (int i = 0; i < 20'000; ++i) {
        state = state * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
        run.files += char('!' + (state >> 58));
      }
    }
    const auto added = store->add(batches.back());
    if (!added) refusal = added.error().message;
    if (added) kept.push_back(&batches.back());
  }
  EXPECT_THAT(refusal, HasSubstr("the server's disk is full"));
  EXPECT_EQ(all_rows(*store), rows_in_sqlite(kept));
  ASSERT_TRUE(std::filesystem::remove(server.own(folder / "data" / "filler")));
  const auto added = store->add(batches.back());
  ASSERT_TRUE(added) << added.error().message;
  kept.push_back(&batches.back());
  EXPECT_EQ(all_rows(*store), rows_in_sqlite(kept));
}

}  // namespace
}  // namespace npuscope::fleet::clickhouse_faults_test
