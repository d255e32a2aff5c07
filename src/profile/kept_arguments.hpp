// Some of the arguments of rows, kept as the table of other rows: a reader that has put into
// columns what its files say as arguments keeps what no column says. Rows are looked at part by
// part on all cores, and packed at the end on all cores too:
//
//   KeptArguments kept(events.slices.arguments, rows.size());
//   parallel_for(kept.parts(), [&](std::size_t number) {
//     KeptArguments::Part& part = kept.part(number);
//     for (std::size_t row = part.rows().first; row < part.rows().last; ++row) {
//       part.keep(row, {rows[row], shape}, places);   // of that row of the events
//     }
//   });
//   profile.spans.arguments = kept.finish();
//
// The table does not depend on how many cores there are: what rows keep is numbered in the order of
// the first rows that keep it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "npuscope/profile/arguments.hpp"

namespace npuscope {

class KeptArguments {
 public:
  // A shape of the arguments, and the places of it that stay.
  using Form = std::pair<std::uint32_t, std::vector<std::uint32_t>>;

  // A row of the other table, and its shape there.
  struct FromRow {
    std::size_t row = 0;
    std::uint32_t shape = 0;
  };

  class Part {
   public:
    explicit Part(RowRange rows);
    RowRange rows() const { return rows_; }

    // `places` of the arguments that row `from` of the other table has. A row that is not told
    // keeps none.
    void keep(std::size_t row, FromRow from, const std::vector<std::uint32_t>& places);

   private:
    friend class KeptArguments;
    friend class KeptRows;
    using Forms = std::map<Form, std::uint32_t>;
    std::uint32_t number_of(std::uint32_t shape, const std::vector<std::uint32_t>& places);

    RowRange rows_;
    Column<std::uint32_t> form_of_row_;  // in `in_order_`, and 1 more; 0: keeps none
    Column<std::uint32_t> from_row_;
    Forms forms_;
    std::vector<const Forms::value_type*> in_order_;  // of their first rows
    std::array<const Forms::value_type*, 2> recent_{};
  };

  // Both stay where they are until finish(). Of up to 2^32 - 1 rows.
  KeptArguments(const Arguments& from, std::size_t rows);

  std::size_t parts() const { return parts_.size(); }
  Part& part(std::size_t number) { return parts_[number]; }

  // Empty where no row keeps any.
  Arguments finish();

 private:
  const Arguments& from_;
  std::vector<Part> parts_;
};

}  // namespace npuscope
