#include "fleet/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <thread>

#include "fleet/schema.hpp"
#include "fleet/small_fleet.hpp"

namespace npuscope::fleet::store_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::filesystem::path& path, StoreMode mode = StoreMode::read) {
  const auto opened = open_store(path, mode);
  return opened ? "opened" : opened.error().message;
}

void run_sql(const std::filesystem::path& file, const char* sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(handle);
  sqlite3_close(handle);
}

// Every table as text.
std::vector<std::string> all_rows(TemporaryStore& made) {
  std::vector<std::string> all;
  for (const Table& table : schema()) {
    for (std::string& row : made.rows("SELECT * FROM \"" + table.name + "\" ORDER BY 1, 2, 3")) {
      all.push_back(table.name + ": " + std::move(row));
    }
  }
  return all;
}

TEST(FleetStore, AddingTheSameRunsTwiceChangesNothing) {
  TemporaryStore made;
  const std::vector<SmallRun> runs{{.number = 1, .labels = {"build=1"}, .damaged = true},
                                   {.number = 2, .labels = {"build=2"}}};
  const Added first = made.add(runs);
  EXPECT_EQ(first.runs, 2u);
  EXPECT_EQ(first.known, 0u);
  EXPECT_EQ(first.op_runs, 12u);
  const auto before = all_rows(made);
  const Added second = made.add(runs);
  EXPECT_EQ(second.runs, 0u);
  EXPECT_EQ(second.known, 2u);
  EXPECT_EQ(second.op_runs, 0u);
  EXPECT_TRUE(second.other_tags.empty());
  EXPECT_EQ(all_rows(made), before);
}

TEST(FleetStore, KeepsTheTagsOfAKnownRunAndSaysSo) {
  TemporaryStore made;
  made.add({{.number = 1, .labels = {"build=1"}}});
  EXPECT_THAT(made.add({{.number = 1, .labels = {"build=2"}}}).other_tags, ElementsAre(1));
  EXPECT_THAT(made.rows("SELECT value FROM tags"), ElementsAre("1"));
}

TEST(FleetStore, ABatchIsThereAsAWholeOrNotAtAll) {
  TemporaryStore made;
  Batch batch;
  add_run({.number = 1}, batch);
  add_run({.number = 2}, batch);
  batch.op_runs.push_back(batch.op_runs.back());  // a second row of one key
  EXPECT_FALSE((*made).add(batch));
  made.open(StoreMode::write);
  EXPECT_THAT(made.rows("SELECT count(*) FROM runs"), ElementsAre("0"));
  EXPECT_THAT(made.rows("SELECT count(*) FROM op_runs"), ElementsAre("0"));
}

TEST(FleetStore, TwoRunsOfOneIdAndOtherContentAreRefused) {
  TemporaryStore made;
  made.add({{.number = 1}});
  Batch batch;
  add_run({.number = 1}, batch);
  batch.runs[0].content.back() = 'f';
  const auto added = (*made).add(batch);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("two runs of different content have the id 1"));
  EXPECT_THAT(made.rows("SELECT count(*) FROM runs"), ElementsAre("1"));
}

// Each with a connection of its own, as programs have.
TEST(FleetStore, TakesSeveralWritersAtOnceAndLosesNothing) {
  TemporaryFolder folder;
  constexpr std::uint64_t writers = 4, batches = 8;
  std::vector<std::thread> threads;
  for (std::uint64_t writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      auto store = open_store(folder / "fleet.db", StoreMode::make);
      ASSERT_TRUE(store) << store.error().message;
      for (std::uint64_t i = 0; i < batches; ++i) {
        Batch batch;
        add_run({.number = 1 + writer * batches + i}, batch);
        add_run({.number = 1'000 + i}, batch);  // all of them add this one
        const auto added = (*store)->add(batch);
        ASSERT_TRUE(added) << added.error().message;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto store = open_store(folder / "fleet.db", StoreMode::read);
  ASSERT_TRUE(store);
  EXPECT_THAT(TemporaryStore::rows_of(**store, "SELECT count(*) FROM runs"), ElementsAre("40"));
  EXPECT_THAT(TemporaryStore::rows_of(**store, "SELECT count(*) FROM op_runs"), ElementsAre("240"));
}

TEST(FleetStore, RefusesWhatIsNoStoreAndLeavesItAsItWas) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of(folder / "none.db"),
              HasSubstr("no such store; npuscope fleet add makes one"));
  EXPECT_THAT(
      error_of("postgres://user:secret@host/db"),
      testing::AllOf(HasSubstr("an unknown kind of store"), testing::Not(HasSubstr("secret"))));
  EXPECT_THAT(error_of("/dev/null"), HasSubstr("a device or pipe, not a store"));
  const std::string text(5'000, 'x');
  std::ofstream(folder / "text.json") << text;
  run_sql(folder / "other.db", "CREATE TABLE songs(title TEXT)");
  const auto bytes = [&](const char* name) {
    std::ifstream in(folder / name, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const std::string other = bytes("other.db");
  for (const StoreMode mode : {StoreMode::read, StoreMode::write, StoreMode::make}) {
    EXPECT_THAT(error_of(folder / "text.json", mode), HasSubstr("not a fleet's store"));
    EXPECT_THAT(error_of(folder / "other.db", mode),
                HasSubstr("a SQLite file that is not a fleet's store"));
  }
  EXPECT_EQ(bytes("text.json"), text);
  EXPECT_EQ(bytes("other.db"), other);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.db"));
}

TEST(FleetStore, RefusesAnotherVersionOfTheSchema) {
  TemporaryStore made;
  run_sql(made.file(), "PRAGMA user_version=2");
  EXPECT_THAT(error_of(made.file()),
              HasSubstr("schema version 2, this npuscope has version 1; use the npuscope"));
}

TEST(FleetStore, RefusesTablesOfAnotherForm) {
  TemporaryStore made;
  run_sql(made.file(), "ALTER TABLE op_runs ADD COLUMN mine TEXT");
  EXPECT_THAT(error_of(made.file()), HasSubstr("the table op_runs is not as npuscope makes it"));
}

// Whatever bytes are lost: an answer or a sentence.
TEST(FleetStore, ThatIsDamagedIsRefusedOrAnswers) {
  TemporaryStore made;
  std::vector<SmallRun> runs;
  for (std::uint64_t i = 1; i <= 40; ++i) runs.push_back({.number = i, .labels = {"build=1"}});
  made.add(runs);
  TemporaryFolder folder;
  ASSERT_TRUE((*made).copy_to(folder / "copy.db"));
  std::ifstream in(folder / "copy.db", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto try_bytes = [&](const std::string& bytes) {
    std::ofstream(folder / "damaged.db", std::ios::binary) << bytes;
    const auto store = open_store(folder / "damaged.db", StoreMode::read);
    if (!store) {
      EXPECT_FALSE(store.error().message.empty());
      return;
    }
    for (const char* sql : {"SELECT * FROM op_runs JOIN ops ON ops.id = op",
                            "SELECT count(*), sum(work) FROM op_runs", "SELECT * FROM tags"}) {
      const auto rows = any_answer_of(**store, sql);
      EXPECT_TRUE(rows || !rows.error().message.empty());
    }
  };
  for (std::size_t cut = 0; cut < whole.size(); cut += whole.size() / 12) {
    try_bytes(whole.substr(0, cut));
  }
  std::uint64_t state = 3;
  for (int round = 0; round < 60; ++round) {
    std::string bytes = whole;
    for (int flip = 0; flip < 40; ++flip) {
      state = state * 6'364'136'223'846'793'005u + 1'442'695'040'888'963'407u;
      bytes[100 + (state >> 20) % (bytes.size() - 100)] ^= char(state >> 56);
    }
    try_bytes(bytes);
  }
}

TEST(FleetStore, RemovesRunsWithAllTheirRows) {
  TemporaryStore made, other;
  made.add({{.number = 1, .labels = {"build=1"}, .damaged = true}, {.number = 2}});
  other.add({{.number = 2}});
  const Id gone[] = {1};
  const auto removed = (*made).remove(gone);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->runs, 1u);
  EXPECT_EQ(removed->op_runs, 6u);
  EXPECT_EQ(all_rows(made), all_rows(other));
}

TEST(FleetStore, SqlOnlyReads) {
  TemporaryStore made;
  for (const char* sql : {"DELETE FROM runs", "DROP TABLE runs", "ATTACH 'x' AS y",
                          "PRAGMA user_version=7", "INSERT INTO tags VALUES(1,'a','b',NULL)"}) {
    const auto rows = any_answer_of(*made, sql);
    ASSERT_FALSE(rows) << sql;
    EXPECT_EQ(rows.error().kind, ErrorKind::usage);
  }
  const auto rows = any_answer_of(*made, "SELECT nam FROM ops");
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().message,
            "SQL, line 1, column 8: no such column: nam; ops has id, name, kind");
}

}  // namespace
}  // namespace npuscope::fleet::store_test
