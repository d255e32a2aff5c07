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
  for (const TableText& table : schema()) {
    text += fmt::format("\n**{}**: {}\n\n| column | type | NULL | unit | kind | from | is |\n",
                        table.name, table.meaning);
    text += "|---|---|---|---|---|---|---|\n";
    for (const ColumnText& column : table.columns) {
      text += fmt::format(
          "| {}{} | {} | {}| {}| {} | {} | {} |\n", column.name, column.is_key ? " (key)" : "",
          column.type, column.is_nullable ? "yes " : "",
          column.unit.empty() ? "" : column.unit + " ", column.kind, column.from, column.meaning);
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
  for (const TableText& table : schema()) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const ColumnText& column = table.columns[i];
      expected.push_back(fmt::format("{}|{}|{}|{}|{}", table.name, i, column.name, column.type,
                                     int(!column.is_nullable)));
    }
  }
  std::vector<std::string> found;
  for (const TableText& table : schema()) {
    for (const std::string& row :
         made.rows(fmt::format("SELECT '{}', cid, name, type, \"notnull\" FROM "
                               "pragma_table_info('{}')",
                               table.name, table.name))) {
      found.push_back(row);
    }
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace npuscope::fleet::fleet_schema_test
