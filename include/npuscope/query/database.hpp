// SQL over profiles, read in place: virtual tables of SQLite on the columns of each profile.
//
//   const query::NamedProfile named{"a", &profile};
//   auto database = query::Database::open({&named, 1}, {});
//   database->run("SELECT op_name, sum(own_duration) FROM spans GROUP BY op_name", sink);
//
//     sink.columns({"op_name", "sum(own_duration)"})
//     sink.row({"MatMul_0", 32707})                    once for each row, as it is found
//
// The tables of the first profile are plain names; with several, each has its own schema:
// `b.spans`. Tables, columns and views: schema.hpp and docs/cli/query.md. Nothing but reading is
// allowed, and what lasts longer than the limits is stopped.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::query {

struct NamedProfile {
  std::string name;  // letters, digits, _; neither "main" nor "temp"
  const Profile* profile = nullptr;
};

inline constexpr std::size_t max_profiles = 10;  // that SQLite attaches

struct Limits {
  std::chrono::milliseconds time{60'000};
  // Of what SQLite allocates, in the whole process; indexes of the tables come on top, four bytes a
  // row and index. Sorts beyond 256 MiB go to temporary files.
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
};

// What run() says when its time is over. It sees that between the steps of a query, neither while
// SQLite sorts nor within one function of SQL: who must not wait for these watches from outside.
Error out_of_time(const Limits& limits);

// Whether the text ends with a whole statement: a semicolon that stands in no string or comment.
bool is_complete(const std::string& sql);

// NULL, integer, real, text (perhaps not UTF-8), blob. Views are valid until row() returns.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string_view, ByteSpan>;

class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void columns(const std::vector<std::string>& names) = 0;  // once, before the rows
  virtual bool row(std::span<const Cell> cells) = 0;                // false: no more
};

class Database {
 public:
  // The profiles must outlive it. A usage error for names that SQL cannot say.
  static Result<Database> open(std::span<const NamedProfile> profiles, const Limits& limits);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // One statement. A usage error that says what SQLite objects to and what there is instead; rows
  // that were found before an error have been handed on.
  Status run(std::string_view sql, RowSink& sink);

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace npuscope::query
