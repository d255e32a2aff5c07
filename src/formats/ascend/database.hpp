// A SQLite file that somebody else made, read and never trusted: tables row by row in their own
// order, nothing else. Views, triggers, extensions and generated columns of the file have no
// effect, and no more rows are read than its bytes can hold.
//
//   auto database = ascend::Database::open("ascend_pytorch_profiler_0.db");
//   database->has_table("TASK")
//   database->each("TASK", {"startNs", "endNs", "blockDim|block_dim"}, [&](const Row& row) {
//     row.integer(0);       // none where the file lacks the column or the value
//   });
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "npuscope/base/result.hpp"

namespace npuscope::ascend {

class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}

  std::optional<std::int64_t> integer(int column) const;  // of texts that are numbers, too
  std::optional<double> number(int column) const;
  std::string_view text(int column) const;  // until the next row

 private:
  sqlite3_stmt* statement_;
};

class Database {
 public:
  static Result<Database> open(const std::filesystem::path& path);

  bool has_table(std::string_view table) const;
  // Columns by name, with other names after bars. An error where the file is damaged or has more
  // rows than it can hold; the rows before stay.
  Status each(std::string_view table, std::initializer_list<std::string_view> columns,
              const std::function<void(const Row&)>& take);

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::vector<std::string> columns_of(std::string_view table) const;

  std::string name_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::uint64_t rows_left_ = 0;
};

bool looks_like_database(std::string_view head);

}  // namespace npuscope::ascend
