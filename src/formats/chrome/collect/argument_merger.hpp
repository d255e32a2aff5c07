// Brings rows of arguments from one table into another: as they are, or behind those that a row
// has already.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/shape_table.hpp"
#include "npuscope/profile/arguments.hpp"

namespace npuscope::chrome {

class ArgumentMerger {
 public:
  // `into` has `rows` rows, or none has arguments yet; its shapes are numbered by `shapes`.
  ArgumentMerger(Arguments& into, std::size_t rows, ShapeTable& shapes)
      : into_(into), rows_(rows), shapes_(shapes) {}

  // `shape_of` numbers the shapes of `from` in `shapes`; empty: they are the same.
  void merge(std::size_t row, const Arguments& from, std::size_t from_row,
             const std::vector<std::uint32_t>& shape_of = {});

 private:
  Arguments& into_;
  std::size_t rows_;
  ShapeTable& shapes_;
  ArgumentShape keys_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace npuscope::chrome
