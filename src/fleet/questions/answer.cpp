#include "fleet/questions/answer.hpp"

#include "base/text.hpp"

namespace npuscope::fleet {
namespace {

class Keep : public query::RowSink {
 public:
  explicit Keep(std::vector<AnswerRow>& rows) : rows_(rows) {}

  bool is_too_much() const { return bytes_ > max_bytes; }

  void columns(const std::vector<std::string>&) override {}
  bool row(std::span<const query::Cell> cells) override {
    struct Owned {
      Value operator()(std::monostate) const { return {}; }
      Value operator()(std::int64_t number) const { return number; }
      Value operator()(double number) const { return number; }
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
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<std::vector<AnswerRow>> answer_of(Store& store, std::string_view sql) {
  std::vector<AnswerRow> rows;
  Keep keep(rows);
  if (const Status done = store.run(sql, keep); !done) return tl::unexpected(done.error());
  if (keep.is_too_much()) {
    return input_error("{}: the answer takes more than 8 GiB; choose fewer runs with --where",
                       store.name());
  }
  return rows;
}

std::optional<double> number_at(const AnswerRow& row, std::size_t column) {
  if (const auto* whole = std::get_if<std::int64_t>(&row[column])) return double(*whole);
  if (const auto* real = std::get_if<double>(&row[column])) return *real;
  return std::nullopt;
}

std::int64_t integer_at(const AnswerRow& row, std::size_t column) {
  if (const auto* whole = std::get_if<std::int64_t>(&row[column])) return *whole;
  if (const auto* real = std::get_if<double>(&row[column])) return std::int64_t(*real);
  return 0;
}

std::string text_at(const AnswerRow& row, std::size_t column) {
  return known_at(row, column).value_or("");
}

std::optional<std::string> known_at(const AnswerRow& row, std::size_t column) {
  const auto* text = std::get_if<std::string>(&row[column]);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

}  // namespace npuscope::fleet
