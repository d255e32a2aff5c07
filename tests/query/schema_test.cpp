#include "query/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
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
  for (const TableInfo& table : query::schema()) {
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

std::string text_of(const std::string& path) {
  std::stringstream page;
  page << std::ifstream(path).rdbuf();
  return page.str();
}

const char* holders(schema::HeldBy held_by) {
  switch (held_by) {
    case schema::HeldBy::all: return "all";
    case schema::HeldBy::names: return "CSV, query";
    case schema::HeldBy::query: break;
  }
  return "query";
}

// The tables as docs/formats/exports.md has them.
std::string documented_tables() {
  std::string text;
  for (const TableInfo& table : query::schema()) {
    if (!table.view_of.empty()) continue;
    text += fmt::format("\n**{}**: {}\n\n| column | type | NULL | unit | in | is |\n", table.name,
                        table.meaning);
    text += "|---|---|---|---|---|---|\n";
    for (const ColumnInfo& column : table.columns) {
      const auto cell = [](const std::string& of) { return of.empty() ? of : of + " "; };
      text +=
          fmt::format("| {} | {} | {}| {}| {} | {} |\n", column.name,
                      column.type.empty() ? "any" : column.type, column.is_nullable ? "yes " : "",
                      cell(column.unit), holders(column.held_by), column.meaning);
    }
  }
  return text;
}

// `./dev docs` writes the page instead.
TEST(Schema, TablesOfThePageDriftedFromWhatIsWritten) {
  const std::string path = NPUSCOPE_SOURCE_DIR "/docs/formats/exports.md";
  const std::string begin = "<!-- tables: written by ./dev docs -->\n", end = "\n<!-- end -->";
  std::string page = text_of(path);
  const std::size_t first = page.find(begin) + begin.size(), last = page.find(end, first);
  ASSERT_NE(last, std::string::npos);
  const std::string expected = documented_tables();
  if (std::getenv("NPUSCOPE_WRITE_DOCS") != nullptr) {
    std::ofstream(path) << page.replace(first, last - first, expected);
  } else {
    EXPECT_TRUE(page.substr(first, last - first) == expected) << "run ./dev docs";
  }
}

TEST(Schema, ViewsAndFunctionsAreDocumented) {
  const std::string text = text_of(NPUSCOPE_SOURCE_DIR "/docs/cli/query.md");
  for (const TableInfo& table : query::schema()) {
    if (table.view_of.empty()) continue;
    EXPECT_THAT(text, HasSubstr(table.name));
    for (const ColumnInfo& column : table.columns) {
      EXPECT_THAT(text, HasSubstr("`" + column.name + "`")) << table.name;
    }
  }
  for (const FunctionInfo& function : functions())
    EXPECT_THAT(text, HasSubstr("`" + function.call));
}

}  // namespace
}  // namespace npuscope::query::schema_test
