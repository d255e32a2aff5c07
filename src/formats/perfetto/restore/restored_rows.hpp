// Some rows of a trace as what their arguments say: kinds, inferences, cycles and columns of
// numbers in place, other numbers and the ops in lists, for what comes after all rows. Several
// parts of the rows are restored at once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/parallel.hpp"
#include "formats/perfetto/about.hpp"
#include "formats/perfetto/known_words.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

// What becomes of the arguments of rows, found once for all that have the same keys: words that say
// what the data model knows of a span or of its op, numbers that are measured, and others, which
// stay.

// By their places among the arguments of a row.
struct RowPlan {
  struct PlacedWord {
    std::uint32_t place;
    Word word;
  };
  struct PlacedNumber {
    std::uint32_t place;
    const NumberMeaning* number;
    std::size_t column = 0;  // of those that are columns: in the measures of the spans
  };
  std::vector<PlacedWord> of_span;  // its kind, inference and cycles
  std::vector<PlacedWord> of_op;
  std::vector<PlacedNumber> columns;   // of numbers that every span has
  std::vector<PlacedNumber> measures;  // of others
  std::vector<std::uint32_t> staying;

  bool has_numbers() const { return !columns.empty() || !measures.empty(); }
  bool restores() const { return !of_span.empty() || !of_op.empty() || has_numbers(); }
};

// By shape. `numbers`, which stays where it is: what arguments are that are no words.
std::vector<RowPlan> row_plans(const Profile& profile, const std::vector<NumberMeaning>& numbers);

// What an op of rows becomes.
struct RestoredOp {
  OpId was{};
  std::optional<SpanKind> wait;      // rows that wait so, which their names begin with
  std::vector<std::uint64_t> words;  // what they say of it: words, each with its value
  auto operator<=>(const RestoredOp&) const = default;
};

// What all parts share. The columns that its plans name are there.
struct RestorePlan {
  std::vector<RowPlan> plans;                                       // by shape
  std::array<std::optional<StringId>, span_kind_count> kind_texts;  // none: not in the trace
};

class RestoredRows {
 public:
  RestoredRows(Profile& profile, const RestorePlan& plan, RowRange rows);
  // The op of a row becomes its number in ops().
  void restore();

  RowRange rows() const { return rows_; }
  // In the order of their first rows; valid until restore() is called again.
  const std::vector<const RestoredOp*>& ops() const { return in_order_; }
  std::vector<Measure>& measures() { return measures_; }

 private:
  struct RecentOp {
    const RestoredOp* op = nullptr;
    std::uint32_t number = 0;
    OpId was = OpId::none;  // as that of `op`
    bool is_plain = false;  // neither waits nor has words, as most
  };

  inline void take(const RowPlan::PlacedWord& word, const ArgumentRow& arguments, std::size_t row);
  inline SpanKind kind_of(StringId text, SpanKind otherwise);
  void take_numbers(const RowPlan& plan, const ArgumentRow& arguments, std::size_t row);
  std::uint32_t number_of(OpId was, std::optional<SpanKind> wait, const RowPlan& plan,
                          const ArgumentRow& arguments);
  RecentOp& recent_of(OpId was) { return recent_[index_of(was) & (recent_.size() - 1)]; }

  Profile& profile_;
  const RestorePlan& plan_;
  RowRange rows_;
  std::map<RestoredOp, std::uint32_t> numbers_;
  std::vector<const RestoredOp*> in_order_;
  std::vector<RecentOp> recent_;  // what rows of an op became last, by some bits of its number
  std::vector<Measure> measures_;
  std::optional<StringId> last_text_;
  std::optional<SpanKind> last_kind_;  // of that text
  RestoredOp op_;                      // of the row at hand
};

}  // namespace npuscope::perfetto
