#include <fmt/format.h>

#include <algorithm>

#include "query/schema.hpp"
#include "report/document/document_value.hpp"
#include "report/document/json_text.hpp"
#include "report/document/text_table.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::report {
namespace {

// A line that begins with `head`, the meaning on as many lines as it needs beside it.
void add_entry(std::string& out, const std::string& head, const std::string& meaning,
               std::size_t width) {
  constexpr std::size_t min = 20;
  const std::size_t room = width > head.size() + min ? width - head.size() : min;
  std::string first = head;
  for (const std::string& line : wrapped(meaning, room)) {
    out += first + line + "\n";
    first.assign(head.size(), ' ');
  }
}

void write_table_info(Json& json, const query::TableInfo& table) {
  const bool is_view = !table.view_of.empty();

  json.member("name", table.name);
  json.member("is_view", is_view);
  json.member("meaning", table.meaning);
  json.objects("columns", table.columns, [&](const query::ColumnInfo& column) {
    json.member("name", column.name);
    json.member("type", column.type.empty() ? "any" : column.type);
    json.member("unit", or_null(column.unit));
    json.member("nullable", is_view ? std::nullopt : std::optional(column.is_nullable));
    json.member("meaning", column.meaning);
  });
  json.member("select", or_null(table.view_of));
}

}  // namespace

std::string query_schema_text(const std::vector<query::TableInfo>& shown, std::size_t width,
                              std::string_view wanted) {
  std::string out;
  for (const query::TableInfo& table : shown) {
    if (!wanted.empty() && table.name != wanted) continue;
    out += table.name + (table.view_of.empty() ? ": " : " (view): ") + table.meaning + "\n";
    std::size_t widest = 0;
    for (const query::ColumnInfo& column : table.columns) {
      widest = std::max(widest, column.name.size());
    }
    for (const query::ColumnInfo& column : table.columns) {
      const std::string type = column.type.empty() ? "any" : column.type;
      const std::string unit = column.unit.empty() ? "" : fmt::format(" [{}]", column.unit);
      add_entry(out, fmt::format("  {:{}}  {:7}  ", column.name, widest, type),
                column.meaning + unit, width);
    }
    out += "\n";
  }
  if (!wanted.empty()) return out;
  out += "functions beside SQLite's own\n";
  for (const query::FunctionInfo& function : query::functions()) {
    add_entry(out, fmt::format("  {:20}  ", function.call), function.meaning, width);
  }
  return out;
}

std::string query_schema_json(const std::vector<query::TableInfo>& shown) {
  return json_text([&](Json& json) {
    json.objects("tables", shown,
                 [&](const query::TableInfo& table) { write_table_info(json, table); });
    json.objects("functions", query::functions(), [&](const query::FunctionInfo& function) {
      json.member("call", function.call);
      json.member("meaning", function.meaning);
    });
  });
}

}  // namespace npuscope::report
