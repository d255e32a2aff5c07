// Values that go between SQLite and the tables of a profile.
#pragma once

#include <sqlite3.h>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "query/table.hpp"

namespace npuscope::query {

// A value out of a query that a column is compared with, as far as it can be compared here. SQLite
// checks every row again, so what cannot be told leaves all rows in.
enum class Fit : std::uint8_t {
  all,    // cannot be told
  none,   // no row can compare so: NULL, a number out of range
  these,  // those that compare so with the bound
};

struct Bound {
  Fit fit = Fit::all;
  char comparison = '=';  // as in row_plan.hpp
  std::int64_t number = 0;
};

// For a column of integers.
inline Bound bound_of(char comparison, sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL: return {Fit::none, comparison, 0};
    case SQLITE_INTEGER: return {Fit::these, comparison, sqlite3_value_int64(value)};
    case SQLITE_FLOAT: break;
    default: return {};
  }
  constexpr double exact = 9007199254740992.0;  // 2^53
  const double number = sqlite3_value_double(value);
  if (!(std::abs(number) < exact) || comparison == '=') return {};
  // x < 1.5 is x < 2, x >= 1.5 is x >= 2; x > 1.5 is x > 1, x <= 1.5 is x <= 1
  const bool up = comparison == '<' || comparison == 'g';
  return {Fit::these, comparison, std::int64_t(up ? std::ceil(number) : std::floor(number))};
}

struct KeyBound {
  Fit fit = Fit::all;
  std::uint32_t key = no_key;
};

inline KeyBound key_bound_of(const Field& column, const Source& source, sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  if (type == SQLITE_NULL) return {Fit::none, no_key};
  if (!is_text(column.type)) {
    if (type != SQLITE_INTEGER) return {};
    const std::int64_t number = sqlite3_value_int64(value);
    if (number < 0 || number >= std::int64_t(no_key)) return {Fit::none, no_key};
    return {Fit::these, std::uint32_t(number)};
  }
  if (type != SQLITE_TEXT) return {};
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  const auto size = std::size_t(sqlite3_value_bytes(value));
  if (text == nullptr) return {};
  const auto key = find_key(source, column, std::string_view(text, size));
  return key ? KeyBound{Fit::these, *key} : KeyBound{Fit::none, no_key};
}

// A value on its way into SQLite. Texts of a profile are handed on where they lie.
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
