#include "report/query/query_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace npuscope::report::query_output_test {
namespace {

using query::Cell;
using ::testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Two columns of one name, every type, names that attack.
void fill(query::RowSink& sink) {
  static const std::byte bytes[] = {std::byte{0x00}, std::byte{0xFF}};
  sink.columns({"op", "work", "work", "blob"});
  const Cell rows[][4] = {
      {std::string_view("MatMul \"0\""), std::int64_t{32707}, 0.5, ByteSpan(bytes)},
      {std::string_view("=cmd()\x1b[31m\xff"), std::int64_t{-1}, infinity, std::monostate()},
      {std::monostate(), std::int64_t{9007199254740993}, 12345678.9, std::monostate()},
  };
  for (const auto& row : rows) {
    if (!sink.row(row)) return;
  }
}

TEST(QueryOutput, AsText) {
  QueryTable table({.width = 100});
  fill(table);
  EXPECT_EQ(table.text(), R"(op                              work      work_2  blob
MatMul "0"                     32707         0.5  00ff
=cmd()\x1b[31m\xff                -1         inf  NULL
NULL                9007199254740993  12345678.9  NULL
)");
}

TEST(QueryOutput, TextGivesWayNumbersDoNot) {
  QueryTable table({.width = 40});
  table.columns({"a_long_heading_of_a_number", "path"});
  const Cell row[] = {std::int64_t{1234567890123456789},
                      std::string_view("card 0 > core 3 > the longest of all units")};
  table.row(row);
  EXPECT_EQ(table.text(), R"(a_long_heading_of_a  path
            _number
1234567890123456789  card 0 > core 3 > t
                     he longest of all u
                     nits
)");
}

// Names that are typed again were shortened in the middle.
TEST(QueryOutput, ElidedNamesCouldNotBeTyped) {
  QueryTable table({.width = 30});
  table.columns({"op"});
  for (const char* number : {"7", "11"}) {
    const std::string name =
        std::string("main_dispatch_") + number + "_conv2d > nss_program_0 @L94C11";
    const Cell row[] = {std::string_view(name)};
    table.row(row);
  }
  EXPECT_EQ(table.text(), R"(op
main_dispatch_7_conv2d > nss_p
rogram_0 @L94C11
main_dispatch_11_conv2d > nss_
program_0 @L94C11
)");
}

TEST(QueryOutput, AsCsv) {
  std::string out;
  QueryCsv csv([&](std::string_view text) { out += text; }, {});
  fill(csv);
  csv.finish();
  EXPECT_EQ(out,
            "op,work,work_2,blob\n"
            "\"MatMul \"\"0\"\"\",32707,0.5,00ff\n"
            "\"'=cmd()\x1b[31m\xff\",-1,,\n"
            ",9007199254740993,12345678.9,\n");
}

TEST(QueryOutput, AsJson) {
  std::string out;
  QueryJson json([&](std::string_view text) { out += text; }, {}, "{\n  \"command\": \"query\",");
  fill(json);
  json.finish();
  EXPECT_EQ(out, R"({
  "command": "query",
  "columns": ["op", "work", "work_2", "blob"],
  "rows": [
{"op": "MatMul \"0\"", "work": 32707, "work_2": 0.5, "blob": "00ff"},
{"op": "=cmd()\u001b[31m�", "work": -1, "work_2": null, "blob": null},
{"op": null, "work": 9007199254740993, "work_2": 12345678.9, "blob": null}
],
  "row_count": 3,
  "has_more": false
}
)");
  EXPECT_EQ(nlohmann::json::parse(out).at("rows").size(), 3);
}

TEST(QueryOutput, NoRows) {
  std::string out;
  QueryJson json([&](std::string_view text) { out += text; }, {}, "{");
  json.columns({"a"});
  json.finish();
  EXPECT_EQ(nlohmann::json::parse(out),
            nlohmann::json::parse(
                R"({"columns": ["a"], "rows": [], "row_count": 0, "has_more": false})"));
  QueryTable table({});
  table.columns({"a", "b"});
  EXPECT_EQ(table.text(), "a  b\n");
  EXPECT_FALSE(table.has_more());
}

TEST(QueryOutput, RowsBeyondTheMostAreToldNotPrinted) {
  QueryTable table({.width = 100, .max_rows = 2});
  fill(table);
  EXPECT_TRUE(table.has_more());
  EXPECT_EQ(table.rows(), 2);
  QueryTable all({.width = 100, .max_rows = 3});
  fill(all);
  EXPECT_FALSE(all.has_more());
}

TEST(QueryOutput, TheSchemaIsWholeInTextAndJson) {
  const auto json = nlohmann::json::parse(query_schema_json(query::schema()));
  const std::string text = query_schema_text(query::schema(), 100);
  for (const auto& table : json["tables"]) {
    EXPECT_THAT(text, HasSubstr(table["name"].get<std::string>() +
                                (table["is_view"].get<bool>() ? " (view): " : ": ")));
    EXPECT_EQ(table["is_view"].get<bool>(), !table["select"].is_null());
    EXPECT_FALSE(table["columns"].empty());
  }
  EXPECT_EQ(json["tables"][0]["columns"][4],
            nlohmann::json({{"name", "start"},
                            {"type", "INTEGER"},
                            {"unit", "ticks"},
                            {"nullable", false},
                            {"meaning", "when it begins, by the base clock"}}));
  EXPECT_THAT(text, HasSubstr("when it begins, by the base clock [ticks]"));
  EXPECT_THAT(text, HasSubstr("functions beside SQLite's own\n  median(x)"));
}

}  // namespace
}  // namespace npuscope::report::query_output_test
