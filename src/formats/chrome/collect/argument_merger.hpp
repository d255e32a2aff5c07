// Makes the arguments of rows from those that one or several rows of other tables have.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/shape_table.hpp"
#include "npuscope/profile/arguments.hpp"

namespace npuscope::chrome {

class ArgumentMerger {
 public:
  // Shapes of `into` are numbered by `shapes`.
  ArgumentMerger(Arguments& into, ShapeTable& shapes) : into_(into), shapes_(shapes) {}

  // More arguments for the next row, behind those that it has; of a key that it has, the new value
  // counts. `shape_of` numbers the shapes of `from` in `shapes`; empty: they are the same.
  void take(const Arguments& from, std::size_t from_row,
            const std::vector<std::uint32_t>& shape_of = {});
  // What was taken is of this row, which comes after the last.
  void put(std::size_t row);

 private:
  void append(std::uint32_t added_shape, const ArgumentRow& added);

  Arguments& into_;
  ShapeTable& shapes_;
  std::uint32_t shape_ = 0;
  std::vector<std::uint64_t> bits_;
};

}  // namespace npuscope::chrome
