// A value on its way into SQLite. Texts of a profile are handed on where they lie.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <limits>
#include <string_view>

namespace npuscope::query {

class Output {
 public:
  explicit Output(sqlite3_context* context) : context_(context) {}

  void nothing() { sqlite3_result_null(context_); }
  void integer(std::int64_t value) { sqlite3_result_int64(context_, value); }
  void real(double value) { sqlite3_result_double(context_, value); }  // NaN becomes NULL
  // A row that does not exist is NULL.
  void id(std::uint32_t value) {
    if (value == std::numeric_limits<std::uint32_t>::max()) return nothing();
    integer(value);
  }
  // The text outlives the database.
  void text(std::string_view text) { set(text, SQLITE_STATIC); }
  void copy(std::string_view text) { set(text, SQLITE_TRANSIENT); }

 private:
  void set(std::string_view text, sqlite3_destructor_type lifetime) {
    sqlite3_result_text64(context_, text.data() != nullptr ? text.data() : "", text.size(),
                          lifetime, SQLITE_UTF8);
  }

  sqlite3_context* context_;
};

}  // namespace npuscope::query
