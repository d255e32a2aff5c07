#include "npuscope/query/database.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/units.hpp"
#include "number_meaning.hpp"
#include "profile/self_times.hpp"
#include "query/random_profile.hpp"
#include "query/rows.hpp"
#include "query/schema.hpp"

namespace npuscope::query::database_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using npuscope::test_support::random_profile;
using npuscope::test_support::Rows;
using npuscope::test_support::rows_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// HMX with a slice inside another and a wait, HVX beside it.
Profile two_units() {
  ProfileBuilder made;
  const UnitId core = made.unit("core 0", Engine::core);
  const UnitId hmx = made.unit("HMX", Engine::hmx, core);
  const UnitId hvx = made.unit("HVX", Engine::hvx, core);
  made.span(hmx, "Outer", 0, 100, SpanKind::slice, "block");
  made.span(hmx, "Inner", 20, 50, SpanKind::slice, "kernel");
  made.span(hmx, "Inner", 110, 130, SpanKind::dma_wait, "kernel");
  made.span(hvx, "Inner", 10, 20, SpanKind::slice, "kernel");
  made.profile.spans.instance = {0, 0, 0, 1};
  return std::move(made.profile);
}

// "integer overflow; npuscope query --schema lists tables and columns".
TEST(QueriesOfAbsurdTimes, EndedInAnOverflowWithoutAWordOfWhatToDo) {
  ProfileBuilder made;
  const std::int64_t absurd = 4'500'000'000'000'000'000;
  for (int i = 0; i < 3; ++i) {
    made.span(made.unit(fmt::format("HVX {}", i).c_str(), Engine::hvx), "Long", 0, absurd,
              SpanKind::slice, "kernel");
  }
  const NamedProfile named{"a", &made.profile};
  auto database = Database::open({&named, 1}, {});
  ASSERT_TRUE(database);
  const auto of_view = rows_of(*database, "SELECT work FROM kind_times");
  ASSERT_FALSE(of_view);
  EXPECT_EQ(of_view.error().kind, ErrorKind::usage);
  EXPECT_THAT(of_view.error().message,
              StartsWith("SQL: a sum of whole numbers exceeds 64 bits, times in the file are that "
                         "long; ask for total(x) instead of sum(x)"));
  const auto total = rows_of(*database, "SELECT total(own_duration) = 13.5e18 FROM spans");
  ASSERT_TRUE(total) << total.error().message;
  EXPECT_THAT(*total, ElementsAre("1"));
}

class Queries : public ::testing::Test {
 protected:
  Queries() : profile_(two_units()) {}

  std::vector<std::string> ask(std::string_view sql, const Limits& limits = {}) {
    auto rows = try_to_ask(sql, limits);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows.value_or(std::vector<std::string>());
  }
  std::string error_of(std::string_view sql, const Limits& limits = {}) {
    const auto rows = try_to_ask(sql, limits);
    if (rows) return "no error";
    EXPECT_EQ(rows.error().kind, ErrorKind::usage);
    return rows.error().message;
  }

  Profile profile_;

 private:
  Result<std::vector<std::string>> try_to_ask(std::string_view sql, const Limits& limits) {
    const NamedProfile named{"a", &profile_};
    auto database = Database::open({&named, 1}, limits);
    if (!database) return tl::unexpected(database.error());
    return rows_of(*database, sql);
  }
};

TEST_F(Queries, SpansSayTheirNames) {
  EXPECT_THAT(
      ask("SELECT unit_path, unit_engine, op_name, op_kind, \"end\", engine, role, own_duration "
          "FROM spans"),
      ElementsAre("'core 0 > HMX 0'|'hmx'|'Outer'|'block'|100|'hmx'|'work'|70",
                  "'core 0 > HMX 0'|'hmx'|'Inner'|'kernel'|50|'hmx'|'work'|30",
                  "'core 0 > HMX 0'|'hmx'|'Inner'|'kernel'|130|'hmx'|'wait'|20",
                  "'core 0 > HVX 0'|'hvx'|'Inner'|'kernel'|20|'hvx'|'work'|10"));
}

TEST_F(Queries, ViewsAnswerCommonQuestions) {
  EXPECT_THAT(
      ask("SELECT op, kind, spans, work, least, mean, most FROM op_times ORDER BY op"),
      ElementsAre("'Inner'|'kernel'|2|40|10|real 20|30", "'Outer'|'block'|1|70|100|real 100|100"));
  EXPECT_THAT(ask("SELECT kind, spans, work FROM kind_times"),
              ElementsAre("'block'|1|70", "'kernel'|2|40"));
  EXPECT_THAT(ask("SELECT * FROM node_times"),
              ElementsAre("NULL|3|110|10|real 46.666666666666664|100"));
  EXPECT_THAT(ask("SELECT * FROM waits"),
              ElementsAre("'core 0 > HMX 0'|'dma_wait'|'Inner'|1|20|20"));
  EXPECT_THAT(ask("SELECT * FROM inferences"), ElementsAre("0|0|130|130|3|100", "1|10|20|10|1|10"));
  EXPECT_THAT(ask("SELECT id, duration FROM longest_spans"), ElementsAre("0|100", "1|30", "3|10"));
  EXPECT_THAT(ask("SELECT path, busy, waiting, work, spans FROM unit_times"),
              ElementsAre("'core 0 > HMX 0'|100|20|100|2", "'core 0 > HVX 0'|10|0|10|1"));
}

TEST_F(Queries, TrafficIsOfSpansOrOfOps) {
  EXPECT_THAT(ask("SELECT * FROM op_traffic"), IsEmpty());
  MeasureColumn column;
  column.what = profile_.strings.intern("ddr read bytes");
  column.values = {64, MeasureColumn::missing, MeasureColumn::missing, MeasureColumn::missing};
  column.meaning = test_support::meaning_of(column.kind, profile_.text(column.what));
  profile_.spans.measures.push_back(column);
  Measure measure;
  measure.subject = Measure::Subject::op;
  measure.subject_id = 1;
  measure.what = profile_.strings.intern("vtcm write bytes");
  measure.value = 7;
  measure.meaning = test_support::meaning_of(measure.kind, profile_.text(measure.what));
  profile_.measures.push_back(measure);
  EXPECT_THAT(ask("SELECT * FROM op_traffic"), ElementsAre("'Outer'|'spans'|64|NULL|NULL|NULL",
                                                           "'Inner'|'ops'|NULL|NULL|NULL|real 7"));
}

TEST_F(Queries, FunctionsForSamples) {
  EXPECT_THAT(
      ask("SELECT median(duration), percentile(duration, 50), percentile(duration, 0), "
          "percentile(duration, 100), round(percentile(duration, 90), 9), median(NULL) FROM spans"),
      ElementsAre("real 25|real 25|real 10|real 100|real 79|NULL"));
  EXPECT_THAT(ask("SELECT stddev(id) FROM spans WHERE id = 0"), ElementsAre("NULL"));
  EXPECT_THAT(ask("WITH t(x) AS (VALUES (1), (2), (3), (4)) SELECT round(stddev(x), 6) FROM t"),
              ElementsAre("real 1.290994"));
  EXPECT_THAT(ask("SELECT id FROM spans WHERE op_name REGEXP '^In.*r$' AND unit_path REGEXP 'HVX'"),
              ElementsAre("3"));
  EXPECT_THAT(error_of("SELECT 1 WHERE 'a' REGEXP '('"), HasSubstr("not a regular expression"));
  EXPECT_THAT(error_of("SELECT percentile(id, 101) FROM spans"), HasSubstr("from 0 to 100"));
  EXPECT_THAT(error_of("SELECT percentile(id, id) FROM spans"), HasSubstr("must be the same"));
  EXPECT_THAT(error_of("SELECT median(kind) FROM spans"), HasSubstr("take numbers"));
}

TEST_F(Queries, SeveralProfilesHaveSchemasOfTheirNames) {
  const Profile other = [] {
    ProfileBuilder made;
    made.span(made.unit("HVX", Engine::hvx), "Add", 0, 7);
    return std::move(made.profile);
  }();
  const NamedProfile both[] = {{"a", &profile_}, {"after", &other}};
  auto database = Database::open(both, {});
  ASSERT_TRUE(database);
  EXPECT_THAT(rows_of(*database,
                      "SELECT (SELECT count(*) FROM spans), "
                      "(SELECT count(*) FROM a.spans), (SELECT work FROM after.op_times)"),
              ::testing::Eq(std::vector<std::string>{"4|4|7"}));
}

// SQLite was told of all tables and views, of each schema, for every query; now of those named.
TEST_F(Queries, NameTablesInAnyLettersAndQuotes) {
  for (const char* name : {"spans", "SPANS", "\"Spans\"", "[spans]", "`spans`", "'spans'",
                           "main.spans", "A.spans", "\"a\".\"sPans\"", "Named_Spans"}) {
    EXPECT_THAT(ask(fmt::format("SELECT count(*) FROM {}", name)), ElementsAre("4")) << name;
  }
  EXPECT_THAT(ask("WITH ops AS (SELECT 7 AS id) SELECT id FROM ops"), ElementsAre("7"));
  EXPECT_THAT(error_of("SELECT * FROM b.spans"), HasSubstr("no such table: b.spans"));
}

TEST_F(Queries, ListAllTablesInTheirOrderWhateverWasAskedBefore) {
  const NamedProfile named{"a", &profile_};
  auto database = Database::open({&named, 1}, {});
  ASSERT_TRUE(database);
  for (const char* list :
       {"SELECT name FROM sqlite_schema", "SELECT name FROM a.SQLITE_MASTER", "PRAGMA table_list",
        "SELECT schema, name FROM pragma_table_list", "PRAGMA database_list",
        "SELECT count(*) FROM dbstat", "EXPLAIN SELECT 1"}) {
    auto asked = Database::open({&named, 1}, {});
    ASSERT_TRUE(asked);
    EXPECT_THAT(rows_of(*asked, "SELECT count(*) FROM files"),
                ::testing::Eq(std::vector<std::string>{"0"}));
    EXPECT_THAT(rows_of(*asked, "SELECT count(*) FROM a.op_times"),
                ::testing::Eq(std::vector<std::string>{"2"}));
    const auto rows = rows_of(*asked, list);
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_FALSE(rows->empty());
    EXPECT_EQ(*rows, rows_of(*database, list).value()) << list;
  }
  EXPECT_EQ(ask("SELECT name FROM sqlite_schema").size(), query::schema().size());
}

TEST_F(Queries, NamesOfProfilesMustBeSayable) {
  const auto error_for = [&](const char* first, const char* second) {
    const NamedProfile both[] = {{first, &profile_}, {second, &profile_}};
    const auto database = Database::open(both, {});
    return database ? "no error" : database.error().message;
  };
  EXPECT_THAT(error_for("a", "A"), HasSubstr("two profiles are called 'A'"));
  EXPECT_THAT(error_for("a", "Main"), HasSubstr("SQLite's own"));
  EXPECT_THAT(error_for("a", "x; DROP TABLE y"), HasSubstr("is not a name for a profile"));
  EXPECT_THAT(error_for("a", "1a"), HasSubstr("no digit first"));
  EXPECT_THAT(error_for("", "b"), HasSubstr("is not a name"));
  EXPECT_EQ(error_for("a", "select_1"), "no error");
  const std::vector<NamedProfile> many(11, {"a", &profile_});
  EXPECT_THAT(Database::open(many, {}).error().message, HasSubstr("11 profiles are more"));
  EXPECT_FALSE(Database::open({}, {}));
}

TEST_F(Queries, NothingIsWritten) {
  for (const char* sql : {"INSERT INTO spans(id) VALUES (1)",
                          "DELETE FROM spans",
                          "UPDATE ops SET name = 'x'",
                          "UPDATE sqlite_master SET sql = ''",
                          "UPDATE a.sqlite_master SET name = 'x'",
                          "CREATE TABLE t(x)",
                          "CREATE TEMP TABLE t(x)",
                          "CREATE TEMP VIEW v AS SELECT 1",
                          "CREATE VIRTUAL TABLE t USING fts5(x)",
                          "DROP TABLE spans",
                          "DROP VIEW op_times",
                          "ALTER TABLE ops RENAME TO x",
                          "ATTACH 'x.db' AS x",
                          "DETACH a",
                          "VACUUM",
                          "VACUUM INTO 'x.db'",
                          "BEGIN",
                          "SAVEPOINT s",
                          "PRAGMA journal_mode = OFF",
                          "PRAGMA temp_store_directory = '/'",
                          "PRAGMA writable_schema = 1",
                          "ANALYZE",
                          "REINDEX",
                          "SELECT load_extension('x.so')",
                          "SELECT * FROM pragma_journal_mode"}) {
    EXPECT_THAT(error_of(sql),
                ::testing::AnyOf(HasSubstr("a query changes nothing"), HasSubstr("syntax error")))
        << sql;
  }
  EXPECT_THAT(error_of("SELECT readfile('/etc/passwd')"), HasSubstr("no such function"));
  EXPECT_THAT(ask("PRAGMA table_info(edges)"), ::testing::SizeIs(3));
  EXPECT_THAT(ask("SELECT name FROM pragma_table_info('files')"), ElementsAre("'name'"));
  EXPECT_THAT(ask("SELECT value FROM json_each('[1, 2]')"), ElementsAre("1", "2"));
  EXPECT_THAT(ask("VALUES (1)"), ElementsAre("1"));
  EXPECT_FALSE(ask("EXPLAIN SELECT 1").empty());
}

TEST_F(Queries, ErrorsSayWhereAndWhatThereIs) {
  EXPECT_EQ(error_of("SELECT foo\nFROM files"),
            "SQL, line 1, column 8: no such column: foo; files has name");
  EXPECT_THAT(
      error_of("SELECT 1,\n  spans.foo FROM spans"),
      AllOf(StartsWith("SQL, line 2, column 3: no such column: spans.foo; spans has id, unit"),
            HasSubstr("own_duration")));
  EXPECT_THAT(error_of("SELECT * FROM span"), HasSubstr("the tables and views are spans, ops"));
  EXPECT_THAT(error_of("SELECT p95(1)"), HasSubstr("percentile(x, p)"));
  EXPECT_THAT(error_of("SELEC 1"), HasSubstr("line 1, column 1: near \"SELEC\""));
  EXPECT_THAT(error_of(""), HasSubstr("SQL: no statement"));
  EXPECT_THAT(error_of(" -- nothing\n;"), HasSubstr("SQL: no statement"));
  EXPECT_THAT(error_of("SELECT 1; SELECT 2"), HasSubstr("a second statement"));
  EXPECT_THAT(error_of("SELECT 1; nonsense"), HasSubstr("a second statement"));
  EXPECT_THAT(ask("SELECT 1; -- the end"), ElementsAre("1"));
  EXPECT_THAT(error_of("SELECT ?"), HasSubstr("has parameters"));
  EXPECT_THAT(error_of(std::string_view("SELECT 1\0SELECT", 15)), HasSubstr("zero byte"));
  EXPECT_THAT(error_of(std::string(2 << 20, ' ')), HasSubstr("longer than"));
}

TEST_F(Queries, WhatNeverEndsIsStopped) {
  const Limits limits{.time = std::chrono::milliseconds(50)};
  const std::string said = "SQL: stopped after 0.05 s; ask for less, or allow more with --timeout";
  EXPECT_EQ(error_of("WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) "
                     "SELECT count(*) FROM r",
                     limits),
            said);
  EXPECT_EQ(error_of("SELECT count(*) FROM spans a, spans b, spans c, spans d, spans e, spans f, "
                     "spans g, spans h, spans i, spans j, spans k, spans l, spans m, spans n",
                     limits),
            said);
}

TEST_F(Queries, MemoryIsBounded) {
  const Limits limits{.memory_bytes = 32 << 20};
  EXPECT_THAT(
      error_of("WITH RECURSIVE r(x) AS (SELECT zeroblob(1000000) UNION ALL SELECT "
               "zeroblob(1000000) FROM r LIMIT 100) SELECT count(*), group_concat(x) FROM r",
               limits),
      HasSubstr("needs more than the 32 MiB"));
  EXPECT_THAT(error_of("SELECT length(zeroblob(100000000))"), HasSubstr("64 MiB"));
  EXPECT_THAT(ask("SELECT 1"), ElementsAre("1"));  // the limit is as it is asked for
}

TEST_F(Queries, ASinkCanHaveEnough) {
  const NamedProfile named{"a", &profile_};
  auto database = Database::open({&named, 1}, {});
  Rows rows;
  rows.max = 2;
  ASSERT_TRUE(database->run("SELECT id AS number FROM spans", rows));
  EXPECT_THAT(rows.rows, ElementsAre("0", "1"));
  EXPECT_THAT(rows.names, ElementsAre("number"));
}

TEST_F(Queries, AnEmptyProfileHasEmptyTables) {
  profile_ = {};
  for (const char* table : {"spans", "units", "unit_times", "clocks", "arguments", "op_times",
                            "inferences", "op_traffic", "span_measures", "files"}) {
    EXPECT_THAT(ask(fmt::format("SELECT * FROM {}", table)), IsEmpty()) << table;
  }
  EXPECT_THAT(ask("SELECT name FROM profile WHERE value IS NOT NULL"),
              ElementsAre("'schema'", "'temperature'"));
}

// What only the program's tables have, against the analyses that they are of.
TEST(UnitTimes, AreThoseOfTheAnalysis) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Profile profile = random_profile(seed, 60);
    const NamedProfile named{"a", &profile};
    auto database = Database::open({&named, 1}, {});
    ASSERT_TRUE(database);
    const auto own = analysis::Analysis(profile).self_times();
    std::vector<std::string> expected;
    const analysis::Analysis analysed(profile);
    for (const auto& row : analysed.units().units) {
      const std::uint32_t unit = index_of(row.unit);
      expected.push_back(fmt::format(
          "{}|{}|{}|{}|{}", unit == index_of(UnitId::none) ? "NULL" : fmt::format("{}", unit),
          row.busy, row.waiting, row.work, row.spans));
    }
    EXPECT_EQ(rows_of(*database, "SELECT unit, busy, waiting, work, spans FROM unit_times"),
              expected);
    std::vector<std::string> of_spans;
    for (std::size_t i = 0; i < own.size(); ++i) {
      of_spans.push_back(fmt::format(
          "{}|'{}'", own[i],
          analysis::role_of(profile.spans.kind[i]) == analysis::Role::work ? "work" : "other"));
    }
    EXPECT_EQ(rows_of(*database,
                      "SELECT own_duration, CASE role WHEN 'work' THEN role ELSE 'other' "
                      "END FROM spans"),
              of_spans);
  }
}

}  // namespace
}  // namespace npuscope::query::database_test
