// A value on its way into SQLite. Texts of a profile are handed on where they lie.
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <string_view>

namespace npuscope::query {

class Output {
 public:
  explicit Output(sqlite3_context* context) : context_(context) {}

  void nothing() { sqlite3_result_null(context_); }
  void boolean(bool value) { number(int(value)); }
  void number(std::integral auto value) { sqlite3_result_int64(context_, std::int64_t(value)); }
  void number(double value) { sqlite3_result_double(context_, value); }  // NaN becomes NULL
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
