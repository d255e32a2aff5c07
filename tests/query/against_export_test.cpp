// The same questions to a profile and to the SQLite file that convert writes of it: the answers
// must be equal, whatever plan SQLite makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "query/exported_file.hpp"
#include "query/random_profile.hpp"
#include "query/rows.hpp"
#include "query/schema.hpp"
#include "sanitized.hpp"

namespace npuscope::query::against_export_test {
namespace {

using npuscope::test_support::ExportedFile;
using npuscope::test_support::random_profile;

// Answers in no order of their own.
constexpr const char* unordered[] = {
    "SELECT id, unit, op, kind, start, duration, processor_cycles, inference FROM spans",
    "SELECT * FROM span_arguments",
    "SELECT kind, count(*), min(start), max(duration) FROM spans GROUP BY kind",
    "SELECT unit, kind, count(*), sum(id) FROM spans GROUP BY unit, kind",
    "SELECT DISTINCT op, inference FROM spans",
    "SELECT DISTINCT kind FROM spans",
    "SELECT op, count(*) FROM named_spans WHERE kind = 'op' GROUP BY op",
    "SELECT unit, op, count(*) FROM named_spans GROUP BY unit, op HAVING count(*) > 1",
    "SELECT unit_engine, max(duration) FROM named_spans GROUP BY unit_engine",
    "SELECT * FROM named_spans WHERE start >= 100 AND start < 900.5 AND kind <> 'op'",
    "SELECT * FROM named_spans WHERE start <= 99.5 AND start > -3.5 AND duration > 10",
    "SELECT * FROM named_spans WHERE op = 'op_3' AND unit IS NOT NULL",
    "SELECT id FROM named_spans WHERE op = '3'",
    "SELECT id FROM named_spans WHERE op = 3",
    "SELECT id FROM named_spans WHERE kind = 'OP' COLLATE NOCASE",
    "SELECT id FROM spans WHERE unit = '3' OR op = 2.0",
    "SELECT id FROM spans WHERE unit = 2 AND op = 3 AND kind = 'sync'",
    "SELECT id FROM spans WHERE unit = NULL OR unit = -1 OR unit = 4294967295",
    "SELECT id FROM spans WHERE unit IS NULL",
    "SELECT id FROM spans WHERE kind IN ('op', 'sync', 'nonsense') AND inference IN (0, 2)",
    "SELECT id FROM spans WHERE id = 5 OR id = 7.0 OR id = '9' OR id = 99999 OR rowid = 11",
    "SELECT id FROM spans WHERE id BETWEEN 10 AND 20 AND start = 40",
    "SELECT spans.id, units.name FROM units JOIN spans ON spans.unit = units.id",
    "SELECT ops.name, sum(spans.id) FROM ops JOIN spans ON spans.op = ops.id GROUP BY ops.name",
    "SELECT a.name, b.name FROM edges JOIN ops a ON a.id = from_op JOIN ops b ON b.id = to_op",
    "SELECT ops.id, count(edges.kind) FROM ops LEFT JOIN edges ON edges.to_op = ops.id GROUP BY 1",
    "SELECT f.name, a.kind, b.kind FROM flows f JOIN spans a ON a.id = f.from_span"
    " JOIN spans b ON b.id = f.to_span",
    "SELECT a.id, b.id FROM spans a JOIN spans b ON b.unit = a.unit AND b.start > a.start"
    " AND b.op = a.op",
    "SELECT spans.id, value FROM spans JOIN span_arguments ON span = spans.id WHERE unit = 1",
    "SELECT * FROM span_arguments WHERE name = 'key_2' AND span > 4",
    "SELECT * FROM arguments WHERE span = 3 OR span = 4.0 OR span = 'x'",
    "SELECT * FROM span_measures WHERE name = 'ddr read bytes' AND span = 6",
    "SELECT * FROM span_numbers WHERE span = 3 AND column_id = 1",
    "SELECT * FROM span_numbers WHERE column_id = -1 OR column_id = 7",
    "SELECT name, inference, clock, value FROM measures WHERE subject = 'op' AND subject_id = 2",
    "SELECT series, avg(value) FROM counter_samples GROUP BY series",
    "SELECT count(*) FROM spans WHERE unit = (SELECT max(id) FROM units)",
    "SELECT id FROM ops WHERE name > 'op_4' AND core < 2",
    "SELECT count(*), count(DISTINCT op), count(DISTINCT kind) FROM spans",
    "WITH RECURSIVE chain(op, depth) AS (SELECT 0, 0 UNION SELECT to_op, depth + 1 FROM chain"
    " JOIN edges ON from_op = op WHERE depth < 4) SELECT * FROM chain",
};

// Answers whose order is asked for.
constexpr const char* ordered[] = {
    "SELECT id, kind FROM spans ORDER BY kind, id",
    "SELECT id, kind FROM spans ORDER BY kind DESC, id",
    "SELECT id FROM spans ORDER BY unit, op DESC, inference, id LIMIT 20",
    "SELECT id FROM spans ORDER BY op DESC, unit, id DESC",
    "SELECT start FROM spans ORDER BY start",
    "SELECT start FROM spans ORDER BY start DESC",
    "SELECT kind, start FROM spans ORDER BY kind, start",
    "SELECT kind, count(*) FROM spans GROUP BY kind ORDER BY kind DESC",
    "SELECT op, kind, count(*) FROM named_spans GROUP BY op, kind ORDER BY op, kind DESC",
    "SELECT DISTINCT op FROM named_spans ORDER BY op",
    "SELECT DISTINCT unit, kind FROM named_spans ORDER BY unit DESC, kind",
    "SELECT id FROM spans WHERE unit = 1 ORDER BY kind, id",
    "SELECT id FROM spans WHERE unit = 2 AND start > 100 ORDER BY op DESC, id",
    "SELECT id FROM spans WHERE unit = 2 AND kind IN ('op', 'slice') ORDER BY op, id",
    "SELECT name, id FROM ops ORDER BY name, kind, id",
    "SELECT o.name, s.id FROM ops o JOIN spans s ON s.op = o.id ORDER BY o.name, s.id",
    "SELECT id FROM spans ORDER BY kind COLLATE NOCASE, id",
    "SELECT id, row_number() OVER (PARTITION BY unit ORDER BY start, id) FROM spans ORDER BY id",
};

class AgainstExport : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  AgainstExport()
      : profile_(random_profile(GetParam(), GetParam() % 5 == 0 ? 0 : 40 * (GetParam() % 7))),
        file_(profile_) {}

  void compare(const std::string& sql, bool in_order) {
    const NamedProfile named{"a", &profile_};
    auto database = Database::open({&named, 1}, {});
    ASSERT_TRUE(database) << database.error().message;
    npuscope::test_support::Rows answer, expected = file_.rows(sql);
    const Status asked = database->run(sql, answer);
    ASSERT_TRUE(asked) << sql << ": " << asked.error().message;
    if (!in_order) {
      std::sort(answer.rows.begin(), answer.rows.end());
      std::sort(expected.rows.begin(), expected.rows.end());
    }
    EXPECT_EQ(answer.names, expected.names) << sql;
    EXPECT_EQ(answer.rows, expected.rows) << sql;
  }

  Profile profile_;
  ExportedFile file_;
};

// A table of the exported file has the columns that the schema says it has.
TEST_P(AgainstExport, TablesAreEqualRowByRow) {
  for (const TableInfo& table : query::schema()) {
    if (table.name == "unit_times") continue;
    std::string columns;
    for (const ColumnInfo& column : table.columns) {
      if (column.held_by != schema::HeldBy::all) continue;
      columns += (columns.empty() ? "\"" : ", \"") + column.name + '"';
    }
    if (table.view_of.empty()) {
      EXPECT_EQ(file_.rows("SELECT * FROM " + table.name).names,
                file_.rows(fmt::format("SELECT {} FROM {}", columns, table.name)).names);
      compare(fmt::format("SELECT {} FROM {}", columns, table.name), true);
    }
  }
  for (const char* view : {"named_spans", "span_measures"}) {
    compare(fmt::format("SELECT * FROM {}", view), true);
  }
}

TEST_P(AgainstExport, AnswersAreEqual) {
  for (const char* sql : unordered) compare(sql, false);
}

TEST_P(AgainstExport, OrdersAreEqual) {
  for (const char* sql : ordered) compare(sql, true);
}

INSTANTIATE_TEST_SUITE_P(RandomProfiles, AgainstExport,
                         ::testing::Range<std::uint64_t>(0, test_support::rounds(60)));

}  // namespace
}  // namespace npuscope::query::against_export_test
