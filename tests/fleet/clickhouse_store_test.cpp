// A store on a cluster of two shards holds and refuses what one in a file does.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "fleet/clickhouse_fixture.hpp"
#include "fleet/questions/choice.hpp"

namespace npuscope::fleet::clickhouse_store_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ClickHouseStoreTest : public OnClickHouse {};

TEST_F(ClickHouseStoreTest, HoldsTheRowsThatASqliteStoreHolds) {
  const Batch batch =
      batch_of({{.number = 1, .labels = {"build=1", "lab=b\t\\'\n\"x"}, .damaged = true},
                {.number = 2, .labels = {"build=2"}},
                {.number = 3, .hertz = 19.2e6}});
  const auto store = opened(url());
  const auto added = store->add(batch);
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->runs, 3u);
  EXPECT_EQ(added->op_runs, 18u);
  EXPECT_EQ(all_rows(*store), rows_in_sqlite({&batch}));
}

TEST_F(ClickHouseStoreTest, BothShardsHaveRowsAndThoseOfARunLieTogether) {
  const auto store = opened(url());
  ASSERT_TRUE(store->add(large_batch(1, 40)));
  std::set<std::string> first, second;
  for (std::size_t shard = 0; shard < 2; ++shard) {
    const auto alone = fmt::format("remote('{}:{}', {}.op_runs_rows)",
                                   ClickHouseCluster::host(shard), cluster->tcp_port(), database);
    for (const std::string& run :
         TemporaryStore::rows_of(*store, "SELECT DISTINCT run FROM " + alone)) {
      (shard == 0 ? first : second).insert(run);
    }
  }
  EXPECT_GT(first.size(), 0u);
  EXPECT_GT(second.size(), 0u);
  EXPECT_EQ(first.size() + second.size(), 40u);
  for (const std::string& run : first) EXPECT_FALSE(second.contains(run));
}

TEST_F(ClickHouseStoreTest, AddingTheSameRunsTwiceChangesNothing) {
  const Batch batch = large_batch(1, 20);
  const auto store = opened(url());
  ASSERT_TRUE(store->add(batch));
  const auto before = all_rows(*store);
  const auto again = opened(url())->add(batch);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->runs, 0u);
  EXPECT_EQ(again->known, 20u);
  EXPECT_EQ(again->op_runs, 0u);
  EXPECT_EQ(all_rows(*store), before);
}

TEST_F(ClickHouseStoreTest, KeepsTheTagsOfAKnownRunAndSaysSo) {
  const auto store = opened(url());
  ASSERT_TRUE(store->add(batch_of({{.number = 1, .labels = {"build=1"}}})));
  const auto added = store->add(batch_of({{.number = 1, .labels = {"build=2"}}, {.number = 2}}));
  ASSERT_TRUE(added);
  EXPECT_THAT(added->other_tags, ElementsAre(1));
  EXPECT_THAT(TemporaryStore::rows_of(*store, "SELECT value FROM tags"), ElementsAre("1"));
}

TEST_F(ClickHouseStoreTest, TwoRunsOfOneIdAndOtherContentAreRefused) {
  const auto store = opened(url());
  ASSERT_TRUE(store->add(batch_of({{.number = 1}})));
  Batch batch = batch_of({{.number = 1}});
  batch.runs[0].content.back() = 'f';
  const auto added = store->add(batch);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("two runs of different content have the id 1"));
}

TEST_F(ClickHouseStoreTest, TakesSeveralWritersAtOnceAndHasEachRunOnce) {
  constexpr std::uint64_t writers = 4, batches = 4;
  std::vector<std::thread> threads;
  for (std::uint64_t writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      const auto store = opened(url());
      for (std::uint64_t i = 0; store && i < batches; ++i) {
        // All of them add the second one.
        const auto added =
            store->add(batch_of({{.number = 1 + writer * batches + i}, {.number = 1'000 + i}}));
        ASSERT_TRUE(added) << added.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto store = opened(url(), StoreMode::read);
  EXPECT_THAT(TemporaryStore::rows_of(*store, "SELECT count(*), count(DISTINCT id) FROM runs"),
              ElementsAre("20|20"));
  EXPECT_THAT(TemporaryStore::rows_of(*store, "SELECT count(*) FROM op_runs"), ElementsAre("120"));
}

TEST_F(ClickHouseStoreTest, RemovesRunsWithAllTheirRows) {
  const Batch both =
      batch_of({{.number = 1, .labels = {"build=1"}, .damaged = true}, {.number = 2}});
  const Batch other = batch_of({{.number = 2}});
  const auto store = opened(url());
  ASSERT_TRUE(store->add(both));
  const Id gone[] = {1};
  const auto removed = store->remove(gone);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->runs, 1u);
  EXPECT_EQ(removed->op_runs, 6u);
  EXPECT_EQ(all_rows(*store), rows_in_sqlite({&other}));
  EXPECT_THAT(TemporaryStore::rows_of(*store, "SELECT count(*) FROM op_runs_all"),
              ElementsAre("6"));
}

TEST_F(ClickHouseStoreTest, IsCopiedIntoOneSqliteFile) {
  const Batch batch =
      batch_of({{.number = 1, .labels = {"build=1"}, .damaged = true}, {.number = 2}});
  const auto store = opened(url());
  ASSERT_TRUE(store->add(batch));
  TemporaryFolder folder;
  const Status copied = store->copy_to(folder / "copy.db");
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(all_rows(*opened(folder / "copy.db", StoreMode::read)), rows_in_sqlite({&batch}));
}

TEST_F(ClickHouseStoreTest, RowsOfSomeRunsAreThoseOfSqlite) {
  Batch batch = large_batch(1, 9);
  batch.ops.push_back({77, "alone", "of no run"});
  TemporaryStore sqlite;
  ASSERT_TRUE((*sqlite).add(batch));
  const auto store = opened(url());
  ASSERT_TRUE(store->add(batch));
  for (const char* where : {"build = 3", "build < 3", "build = 99"}) {
    const auto here = ChosenRuns::of(*store, {where, {}}),
               there = ChosenRuns::of(*sqlite, {where, {}});
    ASSERT_TRUE(here && there);
    for (const Table& table : schema()) {
      EXPECT_EQ(TemporaryStore::rows_of(*store, select_sql(table, here->sql())),
                sqlite.rows(select_sql(table, there->sql())))
          << table.name << " where " << where;
    }
  }
}

TEST_F(ClickHouseStoreTest, PercentilesAreThoseOfSqlite) {
  Batch batch = batch_of({{.number = 1}, {.number = 2}});
  const OpRun like = batch.op_runs[0];
  std::uint64_t state = 5;
  for (std::int64_t group = 0; group < 30; ++group) {
    for (std::int64_t i = 0; i < group * 3; ++i) {
      state = state * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
      OpRun row = like;
      row.run = 1 + i % 2, row.inference = 100 + i, row.op = group;
      if (state % 7 != 0) row.work = double(state >> 40) / 3;
      if (state % 7 == 0) row.work = std::nullopt;
      batch.op_runs.push_back(row);
    }
  }
  TemporaryStore sqlite;
  ASSERT_TRUE((*sqlite).add(batch));
  const auto store = opened(url());
  ASSERT_TRUE(store->add(batch));
  const auto rows = [](Store& of) {
    std::string select = "SELECT op";
    for (const double percent : {50, 90, 95, 99})
      select +=
          ", " + of.percentiles("work", {percent, 20})[0] + ", " + of.percentile("work", percent);
    return TemporaryStore::rows_of(of, select + " FROM op_runs GROUP BY op ORDER BY op");
  };
  EXPECT_EQ(rows(*store), rows(*sqlite));
}

TEST_F(ClickHouseStoreTest, SqlOnlyReads) {
  const auto store = opened(url());
  for (const char* sql : {"DROP TABLE runs", "INSERT INTO tags_rows VALUES(1,'a','b',NULL,1)",
                          "ALTER TABLE runs_rows DELETE WHERE 1", "CREATE DATABASE x"}) {
    const auto rows = any_answer_of(*store, sql);
    ASSERT_FALSE(rows) << sql;
    EXPECT_EQ(rows.error().kind, ErrorKind::usage) << rows.error().message;
  }
  const auto rows = any_answer_of(*store, "SELECT nam FROM ops");
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("SQL: "));
  EXPECT_THAT(rows.error().message, HasSubstr("nam"));
  const auto other = any_answer_of(*store, "SELECT 1 FORMAT JSON");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("write no FORMAT"));
}

TEST_F(ClickHouseStoreTest, AnswersOfAllTypesAreRead) {
  const auto store = opened(url());
  EXPECT_THAT(TemporaryStore::rows_of(
                  *store,
                  "SELECT 4611686018427387903 AS id, 0.1 + 0.2, 'a\\tb\\n\\\\', NULL, toDate(0), "
                  "toInt8(-3), toUInt64(18446744073709551615), 0/0, [1,2], CAST(NULL AS "
                  "Nullable(Float64)), 'x;' -- a comment"),
              ElementsAre("4611686018427387903|0.30000000000000004|a\tb\n\\|NULL|0000-00-00|-3|"
                          "18446744073709551615|NULL|[1,2]|NULL|x;"));
}

TEST_F(ClickHouseStoreTest, StopsAQuestionWhenItsTimeIsOver) {
  opened(url());
  auto store = open_store(url(), StoreMode::read, {.time = std::chrono::milliseconds(900)});
  ASSERT_TRUE(store);
  const auto rows =
      any_answer_of(**store, "SELECT count() FROM system.numbers WHERE number % 3 = 7");
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("stopped after 0.9 s"));
}

TEST_F(ClickHouseStoreTest, ThatIsMissingIsSaidInASentence) {
  EXPECT_THAT(error_of(url()), HasSubstr("no such store on 127.0.0.2"));
  EXPECT_THAT(error_of(fmt::format("clickhouse://127.0.0.2:{}/x?cluster=lab", cluster->http_port()),
                       StoreMode::make),
              HasSubstr("the server knows no cluster 'lab'; there are fleet"));
  opened(url());
  EXPECT_THAT(error_of(fmt::format("clickhouse://127.0.0.2:{}/{}", cluster->http_port(), database)),
              HasSubstr("?cluster=fleet"));
  EXPECT_THAT(error_of(fmt::format("clickhouse://127.0.0.2:{}/x", ClickHousePorts::free().http)),
              HasSubstr("the server cannot be reached"));
  EXPECT_THAT(error_of(fmt::format("clickhouse://127.0.0.2:{}/x", cluster->tcp_port())),
              HasSubstr("127.0.0.2"));
}

TEST_F(ClickHouseStoreTest, OfAnotherSchemaIsRefused) {
  opened(url());
  EXPECT_EQ(cluster->execute(fmt::format("DROP TABLE {}.fleet_version", database)), "");
  EXPECT_EQ(
      cluster->execute(fmt::format(
          "CREATE VIEW {}.fleet_version AS SELECT 7 AS version, 'fleet' AS cluster", database)),
      "");
  EXPECT_THAT(error_of(url()), HasSubstr("schema version 7, this npuscope has version 1"));
}

TEST_F(ClickHouseStoreTest, WithoutAClusterIsOnOneServer) {
  const Batch batch = large_batch(1, 12);
  const std::string alone =
      fmt::format("clickhouse://127.0.0.3:{}/{}", cluster->http_port(), database);
  const auto store = opened(alone);
  ASSERT_TRUE(store->add(batch));
  EXPECT_EQ(all_rows(*store), rows_in_sqlite({&batch}));
  const Id gone[] = {1};
  EXPECT_TRUE(store->remove(gone));
  EXPECT_THAT(TemporaryStore::rows_of(*store, "SELECT count(*) FROM runs"), ElementsAre("11"));
}

}  // namespace
}  // namespace npuscope::fleet::clickhouse_store_test
