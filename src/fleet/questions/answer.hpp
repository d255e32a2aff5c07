// Rows that a store answered a question with, kept: few, because the store adds up.
//
//   const auto answer = answer_of(store, 2, "SELECT build, percentile(wall, 50) FROM …");
//   number_at(answer->at(0), 1)      // 64829.0
//
// What answers may be anything that speaks HTTP, and another program may have written the file: the
// number of columns is checked, and a value of another type is none, as a real that is not finite.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fleet/store.hpp"

namespace npuscope::fleet {

// NULL, integer, real or text.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;
using AnswerRow = std::vector<Value>;

Result<std::vector<AnswerRow>> answer_of(Store& store, std::size_t columns, std::string_view sql);
// Of a question that has one row for an answer, as one for sums.
Result<AnswerRow> row_of(Store& store, std::size_t columns, std::string_view sql);

std::optional<double> number_at(const AnswerRow& row, std::size_t column);
std::int64_t integer_at(const AnswerRow& row, std::size_t column);  // 0 for none
std::string text_at(const AnswerRow& row, std::size_t column);      // "" for NULL
std::optional<std::string> known_at(const AnswerRow& row, std::size_t column);

// The first columns: what the row is of.
inline std::vector<Value> first_of(const AnswerRow& row, std::size_t count) {
  return {row.begin(), row.begin() + std::ptrdiff_t(count)};
}

}  // namespace npuscope::fleet
