// One list of columns for all outputs: `group` here, `thread_group` there, and clocks without their
// offset in CSV were what four lists had come to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "jobs/export/export.hpp"
#include "query/random_profile.hpp"
#include "query/schema.hpp"

namespace npuscope::query::one_schema_test {
namespace {

namespace fs = std::filesystem;

// With a row in every table.
Profile profile_with_everything() {
  Profile profile = npuscope::test_support::random_profile(11, 60);
  Spans& spans = profile.spans;
  spans.processor_cycles.assign(spans.size(), 7);
  spans.instance.assign(spans.size(), 0);
  spans.measures.clear();
  spans.arguments = {};
  profile.ops.emplace_back();
  profile.edges.emplace_back();
  profile.flows.emplace_back();
  profile.tensor_uses.emplace_back();
  profile.measures.emplace_back();
  profile.counters.of.push_back(0);
  profile.counters.time.push_back(0);
  profile.counters.value.push_back(0);
  profile.tensors.emplace_back();
  profile.phases.emplace_back();
  return profile;
}

class OneSchema : public ::testing::Test {
 protected:
  OneSchema() : folder_(fs::temp_directory_path() / fmt::format("npuscope-one-{}", ::getpid())) {
    fs::create_directories(folder_);
  }
  ~OneSchema() override { fs::remove_all(folder_); }

  static std::vector<std::string> columns_of(const TableInfo& table,
                                             std::initializer_list<schema::HeldBy> holders) {
    std::vector<std::string> names;
    for (const ColumnInfo& column : table.columns) {
      if (std::find(holders.begin(), holders.end(), column.held_by) != holders.end()) {
        names.push_back(column.name);
      }
    }
    return names;
  }
  static bool is_of_spans(const std::string& table) {
    return table.starts_with("argument") || table == "span_columns" || table == "span_numbers";
  }

  const fs::path folder_;
  const Profile profile_ = profile_with_everything();
};

TEST_F(OneSchema, CsvHadOtherColumnsThanSql) {
  ASSERT_TRUE(jobs::write_csv(profile_, folder_ / ""));
  for (const TableInfo& table : query::schema()) {
    std::ifstream file(folder_ / (table.name + ".csv"));
    const bool is_file =
        table.view_of.empty() && !is_of_spans(table.name) && table.name != "unit_times";
    ASSERT_EQ(file.good(), is_file) << table.name;
    if (!is_file) continue;
    std::string header;
    std::getline(file, header);
    std::vector<std::string> names;
    std::istringstream cells(header);
    for (std::string cell; std::getline(cells, cell, ',');) names.push_back(cell);
    EXPECT_EQ(names, columns_of(table, {schema::HeldBy::all, schema::HeldBy::names})) << table.name;
  }
}

TEST_F(OneSchema, JsonHadOtherColumnsThanSql) {
  ASSERT_TRUE(jobs::write_json(profile_, folder_ / "p.json"));
  const auto json = nlohmann::ordered_json::parse(std::ifstream(folder_ / "p.json"));
  for (const TableInfo& table : query::schema()) {
    const bool is_member = table.view_of.empty() && !is_of_spans(table.name) &&
                           table.name != "unit_times" && table.name != "profile" &&
                           table.name != "files";
    ASSERT_EQ(json.contains(table.name), is_member) << table.name;
    if (!is_member) continue;
    std::vector<std::string> names, expected = columns_of(table, {schema::HeldBy::all});
    for (const auto& [name, values] : json[table.name].items()) names.push_back(name);
    if (expected.front() == "id") expected.erase(expected.begin());
    if (table.name == "spans") expected.push_back("measures");
    EXPECT_EQ(names, expected) << table.name;
    for (const ColumnInfo& column : table.columns) {
      if (column.is_nullable || !json[table.name].contains(column.name)) continue;
      for (const auto& value : json[table.name][column.name]) {
        EXPECT_TRUE(!value.is_null() || column.type == "REAL") << table.name << column.name;
      }
    }
  }
  EXPECT_EQ(json["provenance"]["temperature"].type(), nlohmann::json::value_t::string);
}

}  // namespace
}  // namespace npuscope::query::one_schema_test
