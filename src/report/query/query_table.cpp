#include <fmt/format.h>
#include <algorithm>

#include "base/text.hpp"
#include "query/schema.hpp"
#include "report/document/document.hpp"
#include "report/document/document_json.hpp"
#include "report/document/document_value.hpp"
#include "report/document/text_table.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::report {
namespace {

constexpr std::size_t column_gap = 2;
// A column that gives way keeps so much of its texts and of its heading, whatever the width.
constexpr std::size_t min_text = 16;
constexpr std::size_t min_heading = 10;
constexpr std::size_t max_kept = 1'000;  // bytes of a cell

// Of a cell that is kept only to be shown.
std::string kept(std::string text) {
  if (text.size() > max_kept) text = text.substr(0, max_kept) + "...";
  return printable(text);
}

struct Width {
  std::size_t wanted = 0;
  std::size_t min = 0;  // numbers are never shortened
};

// The widest give way first, all down to the same width.
std::vector<std::size_t> fitted(const std::vector<Width>& columns, std::size_t width) {
  std::vector<std::size_t> widths;
  for (const Width& column : columns) widths.push_back(column.wanted);
  const auto sum = [&] {
    std::size_t total = widths.empty() ? 0 : column_gap * (widths.size() - 1);
    for (const std::size_t w : widths) total += w;
    return total;
  };
  for (std::size_t max = widths.empty() ? 0 : *std::max_element(widths.begin(), widths.end());
       max > 1 && sum() > width; --max) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::min(widths[i], std::max(columns[i].min, max - 1));
    }
  }
  return widths;
}

}  // namespace

bool QuerySink::takes_row() {
  if (max_rows_ > 0 && rows_ == max_rows_) {
    has_more_ = true;
    return false;
  }
  ++rows_;
  return true;
}

void QueryTable::columns(const std::vector<std::string>& names) {
  for (const std::string& name : distinct_names(names)) names_.push_back(kept(name));
  is_text_.assign(names_.size(), false);
}

bool QueryTable::row(std::span<const query::Cell> cells) {
  if (!takes_row()) return false;
  auto& row = rows_.emplace_back();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    row.push_back(kept(cell_text(cells[i])));
    is_text_[i] = is_text_[i] || std::holds_alternative<std::string_view>(cells[i]) ||
                  std::holds_alternative<ByteSpan>(cells[i]);
  }
  return true;
}

std::string QueryTable::text() const {
  std::vector<Width> columns;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::size_t widest = 1;
    for (const auto& row : rows_) widest = std::max(widest, columns_of(row[i]));
    const std::size_t wanted = std::max(widest, columns_of(names_[i]));
    const std::size_t cells = is_text_[i] ? std::min(widest, min_text) : widest;
    columns.push_back({wanted, std::max(cells, std::min(columns_of(names_[i]), min_heading))});
  }
  const std::vector<std::size_t> widths = fitted(columns, width_);
  std::string out;
  // Texts are typed again, so they stay whole: over several lines of their column.
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::vector<std::vector<std::string>> parts;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      parts.push_back(cut_into_lines(cells[i], widths[i]));
      lines = std::max(lines, parts.back().size());
    }
    for (std::size_t at = 0; at < lines; ++at) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = at < parts[i].size() ? parts[i][at] : std::string();
        const std::string blanks(widths[i] - columns_of(cell), ' ');
        line += (i > 0 ? std::string(column_gap, ' ') : "") +
                (is_text_[i] ? cell + blanks : blanks + cell);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
  };
  add_line(names_);
  for (const auto& row : rows_) add_line(row);
  return out;
}

std::string QueryTable::markdown() const {
  std::string out = "|";
  for (const std::string& name : names_) out += " " + markdown_escaped(name) + " |";
  out += "\n|";
  for (const bool is_text : is_text_) out += is_text ? "---|" : "---:|";
  out += "\n";
  for (const auto& row : rows_) {
    out += "|";
    for (const std::string& cell : row) out += " " + markdown_escaped(cell) + " |";
    out += "\n";
  }
  return out;
}

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
