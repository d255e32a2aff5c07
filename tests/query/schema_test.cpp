#include "npuscope/query/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "query/random_profile.hpp"
#include "query/rows.hpp"

namespace npuscope::query::schema_test {
namespace {

using ::testing::HasSubstr;

// What is listed is what SQLite sees, and every column of everything can be read.
TEST(Schema, IsWhatSqlSees) {
  const Profile profile = npuscope::test_support::random_profile(7, 50);
  const NamedProfile named{"a", &profile};
  auto database = Database::open({&named, 1}, {});
  ASSERT_TRUE(database);
  std::size_t tables = 0;
  for (const TableInfo& table : schema()) {
    npuscope::test_support::Rows rows;
    ASSERT_TRUE(database->run(fmt::format("SELECT * FROM a.{}", table.name), rows)) << table.name;
    std::vector<std::string> names;
    for (const ColumnInfo& column : table.columns) names.push_back(column.name);
    EXPECT_EQ(rows.names, names) << table.name;
    ++tables;
  }
  const auto known = npuscope::test_support::rows_of(
      *database, "SELECT count(*) FROM a.sqlite_schema WHERE type IN ('table', 'view')");
  EXPECT_EQ(known, std::vector<std::string>{fmt::format("{}", tables)});
}

TEST(Schema, IsDocumented) {
  std::stringstream page;
  page << std::ifstream(NPUSCOPE_SOURCE_DIR "/docs/cli/query.md").rdbuf();
  const std::string text = page.str();
  for (const TableInfo& table : schema()) {
    if (!table.view_of.empty()) {
      EXPECT_THAT(text, HasSubstr(table.name));
      for (const ColumnInfo& column : table.columns) {
        EXPECT_THAT(text, HasSubstr("`" + column.name + "`")) << table.name;
      }
      continue;
    }
    EXPECT_THAT(text, HasSubstr(fmt::format("**{}**: {}\n", table.name, table.meaning)));
    for (const ColumnInfo& column : table.columns) {
      EXPECT_THAT(text,
                  HasSubstr(fmt::format("| {} | {} | {} |", column.name,
                                        column.type.empty() ? "any" : column.type, column.meaning)))
          << table.name;
    }
  }
  for (const FunctionInfo& function : functions())
    EXPECT_THAT(text, HasSubstr("`" + function.call));
}

}  // namespace
}  // namespace npuscope::query::schema_test
