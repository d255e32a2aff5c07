// All rows of a query as text, so that two can be compared:  "3|op|NULL|2.5".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "npuscope/query/database.hpp"

namespace npuscope::test_support {

struct Rows : query::RowSink {
  std::vector<std::string> names;
  std::vector<std::string> rows;
  std::size_t max = ~std::size_t{0};

  void columns(const std::vector<std::string>& with) override { names = with; }
  bool row(std::span<const query::Cell> cells) override {
    struct Print {
      std::string operator()(std::monostate) const { return "NULL"; }
      std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
      std::string operator()(double number) const { return fmt::format("real {}", number); }
      std::string operator()(std::string_view text) const { return fmt::format("'{}'", text); }
      std::string operator()(ByteSpan bytes) const { return fmt::format("{} bytes", bytes.size()); }
    };
    std::string text;
    for (const query::Cell& cell : cells)
      text += (text.empty() ? "" : "|") + std::visit(Print{}, cell);
    rows.push_back(text);
    return rows.size() < max;
  }
};

inline Result<std::vector<std::string>> rows_of(query::Database& database, std::string_view sql) {
  Rows rows;
  if (const Status done = database.run(sql, rows); !done) return tl::unexpected(done.error());
  return rows.rows;
}

}  // namespace npuscope::test_support
