#include "fleet/questions/answer.hpp"

#include <cmath>

#include "base/text.hpp"
#include "base/try.hpp"

namespace npuscope::fleet {
namespace {

class Keep : public query::RowSink {
 public:
  Keep(std::vector<AnswerRow>& rows, std::size_t columns) : rows_(rows), columns_(columns) {}

  bool is_too_much() const { return bytes_ > max_bytes; }
  // How many columns were there, where it is not as many as were asked for.
  std::optional<std::size_t> other_columns() const { return other_columns_; }

  void columns(const std::vector<std::string>& names) override {
    if (names.size() != columns_) other_columns_ = names.size();
  }
  bool row(std::span<const query::Cell> cells) override {
    if (other_columns_) return false;
    struct Owned {
      Value operator()(std::monostate) const { return {}; }
      Value operator()(std::int64_t number) const { return number; }
      // What a division by zero gives in one store and not in another.
      Value operator()(double number) const {
        return std::isfinite(number) ? Value(number) : Value();
      }
      Value operator()(std::string_view text) const { return std::string(text); }
      Value operator()(ByteSpan bytes) const { return valid_utf8(as_text(bytes)); }
    };
    AnswerRow row;
    row.reserve(cells.size());
    bytes_ += sizeof(AnswerRow);
    for (const query::Cell& cell : cells) {
      row.push_back(std::visit(Owned{}, cell));
      const auto* text = std::get_if<std::string>(&row.back());
      bytes_ += sizeof(Value) + (text != nullptr ? text->size() : 0);
    }
    rows_.push_back(std::move(row));
    return !is_too_much();
  }

 private:
  // Medians of 40 million ops of runs.
  static constexpr std::uint64_t max_bytes = std::uint64_t{8} << 30;

  std::vector<AnswerRow>& rows_;
  std::size_t columns_;
  std::optional<std::size_t> other_columns_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<std::vector<AnswerRow>> answer_of(Store& store, std::size_t columns, std::string_view sql) {
  std::vector<AnswerRow> rows;
  Keep keep(rows, columns);
  TRY(store.run(sql, keep));
  if (keep.is_too_much()) {
    return input_error("{}: the answer takes more than 8 GiB; choose fewer runs with --where",
                       store.name());
  }
  if (keep.other_columns()) {
    return input_error("{}: asked for {} columns, it answers with {}; check what runs there",
                       store.name(), columns, *keep.other_columns());
  }
  return rows;
}

Result<AnswerRow> row_of(Store& store, std::size_t columns, std::string_view sql) {
  TRY_AS(rows, answer_of(store, columns, sql));
  if (rows->size() != 1) {
    return input_error("{}: asked for one row, it answers with {}; check what runs there",
                       store.name(), rows->size());
  }
  return std::move(rows->front());
}

std::optional<double> number_at(const AnswerRow& row, std::size_t column) {
  if (const auto* whole = std::get_if<std::int64_t>(&row[column])) return double(*whole);
  if (const auto* real = std::get_if<double>(&row[column])) return *real;
  return std::nullopt;
}

std::int64_t integer_at(const AnswerRow& row, std::size_t column) {
  if (const auto* whole = std::get_if<std::int64_t>(&row[column])) return *whole;
  const auto* real = std::get_if<double>(&row[column]);
  const bool fits = real != nullptr && *real >= -0x1p63 && *real < 0x1p63;
  return fits ? std::int64_t(*real) : 0;
}

std::string text_at(const AnswerRow& row, std::size_t column) {
  return known_at(row, column).value_or("");
}

std::optional<std::string> known_at(const AnswerRow& row, std::size_t column) {
  const auto* text = std::get_if<std::string>(&row[column]);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

}  // namespace npuscope::fleet
