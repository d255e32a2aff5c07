// What becomes of the arguments of rows, found once for all that have the same keys: words that say
// what the data model knows of a span or of its op, numbers that are measured, and others, which
// stay.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/perfetto/about.hpp"
#include "formats/perfetto/known_words.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

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

}  // namespace npuscope::perfetto
