#include "fleet/schema.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "fleet/small_fleet.hpp"

namespace npuscope::fleet::fleet_schema_test {
namespace {

std::string documented_tables() {
  std::string text;
  for (const Table& table : schema()) {
    text += fmt::format("\n**{}**: {}\n\n| column | type | NULL | unit | kind | from | is |\n",
                        table.name, table.meaning);
    text += "|---|---|---|---|---|---|---|\n";
    for (const Column& column : table.columns) {
      const std::string unit = name_of(column.unit);
      text += fmt::format("| {}{} | {} | {}| {}| {} | {} | {} |\n", column.name,
                          column.is_key ? " (key)" : "", sql_name(column.type),
                          column.is_nullable ? "yes " : "", unit.empty() ? unit : unit + " ",
                          column.kind, name_of(column.from), column.meaning);
    }
  }
  return text;
}

// `./dev docs` writes the page instead.
TEST(FleetSchema, TablesOfThePageDriftedFromWhatIsStored) {
  const std::string path = NPUSCOPE_SOURCE_DIR "/docs/fleet.md";
  const std::string begin = "<!-- tables: written by ./dev docs -->\n", end = "\n<!-- end -->";
  std::ifstream in(path);
  std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::size_t first = page.find(begin) + begin.size(), last = page.find(end, first);
  ASSERT_NE(last, std::string::npos);
  const std::string expected = documented_tables();
  if (std::getenv("NPUSCOPE_WRITE_DOCS") != nullptr) {
    std::ofstream(path) << page.replace(first, last - first, expected);
  } else {
    EXPECT_TRUE(page.substr(first, last - first) == expected) << "run ./dev docs";
  }
}

TEST(FleetSchema, IsWhatSqlSees) {
  TemporaryStore made;
  std::vector<std::string> expected;
  for (const Table& table : schema()) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      expected.push_back(fmt::format("{}|{}|{}|{}|{}", table.name, i, column.name,
                                     sql_name(column.type), int(!column.is_nullable)));
    }
  }
  std::vector<std::string> found;
  for (const Table& table : schema()) {
    for (const std::string& row :
         made.rows(fmt::format("SELECT '{}', cid, name, type, \"notnull\" FROM "
                               "pragma_table_info('{}')",
                               table.name, table.name))) {
      found.push_back(row);
    }
  }
  EXPECT_EQ(found, expected);
}

// The cells of a row as text; NULL as "-".
struct Taken {
  std::string taken;

  void nothing() { taken += "- "; }
  void boolean(bool value) { taken += value ? "true " : "false "; }
  void number(auto value) { taken += fmt::format("{} ", value); }
  void text(std::string_view value) { taken += fmt::format("'{}' ", value); }
};

TEST(FleetSchema, ColumnsReadTheRowsOfABatch) {
  Batch batch;
  OpRun op;
  op.run = 7, op.inference = 3, op.op = 9, op.cold = true, op.ops = 2, op.work = 0.5;
  batch.op_runs.push_back(op);
  batch.spans.push_back({.run = 7, .unit = 5, .op = std::nullopt, .kind = "op", .start = -4});
  Taken op_run, span;
  for (const Column& column : schema_of("op_runs").columns) {
    schema::add_cell(column.get(batch, 0), op_run);
  }
  for (const Column& column : schema_of("spans").columns) {
    schema::add_cell(column.get(batch, 0), span);
  }
  EXPECT_EQ(op_run.taken, "7 3 9 true 2 0.5 - - - - - ");
  EXPECT_EQ(span.taken, "7 0 5 - 'op' -4 0 ");
}

TEST(FleetSchema, RowsMoveToAnotherBatchWithoutThoseOfSomeRuns) {
  Batch from, to;
  add_run({.number = 1}, from);
  add_run({.number = 2}, from);
  const std::size_t ops = from.ops.size(), op_runs = from.op_runs.size();
  for (const Table& table : schema()) table.move(table, from, {1}, to);
  ASSERT_EQ(to.runs.size(), 1u);
  EXPECT_EQ(to.runs[0].id, 2);
  EXPECT_EQ(to.op_runs.size(), op_runs / 2);
  EXPECT_EQ(to.ops.size(), ops);  // of both, and may be there twice
  EXPECT_TRUE(from.runs.empty() && from.op_runs.empty() && from.ops.empty());
}

}  // namespace
}  // namespace npuscope::fleet::fleet_schema_test
