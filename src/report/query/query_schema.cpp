#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "query/schema.hpp"
#include "report/document/document_value.hpp"
#include "report/document/json_text.hpp"
#include "report/document/text_table.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::report {
namespace {

using Json = nlohmann::ordered_json;

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
  Json tables = Json::array();
  for (const query::TableInfo& table : shown) {
    Json columns = Json::array();
    for (const query::ColumnInfo& column : table.columns) {
      const bool is_of_view = !table.view_of.empty();
      columns.push_back({{"name", column.name},
                         {"type", column.type.empty() ? "any" : column.type},
                         {"unit", column.unit.empty() ? Json(nullptr) : Json(column.unit)},
                         {"nullable", is_of_view ? Json(nullptr) : Json(column.is_nullable)},
                         {"meaning", column.meaning}});
    }
    Json entry{{"name", table.name},
               {"is_view", !table.view_of.empty()},
               {"meaning", table.meaning},
               {"columns", std::move(columns)}};
    entry["select"] = table.view_of.empty() ? Json(nullptr) : Json(table.view_of);
    tables.push_back(std::move(entry));
  }
  Json functions = Json::array();
  for (const query::FunctionInfo& function : query::functions()) {
    functions.push_back({{"call", function.call}, {"meaning", function.meaning}});
  }
  return json_text({{"tables", std::move(tables)}, {"functions", std::move(functions)}});
}

}  // namespace npuscope::report
