// The events of a chunk as rows, in file order, and the values of their arguments next to each
// other.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "npuscope/base/string_pool.hpp"
#include "npuscope/profile/arguments.hpp"

namespace npuscope::chrome {

// The duration of a slice whose end has not been met.
constexpr std::int64_t unfinished = std::numeric_limits<std::int64_t>::min();

struct SliceRow {
  std::uint32_t thread = 0;
  StringId name{};
  StringId category{};
  ArgumentPlace arguments;
  std::int64_t start = 0;
  std::int64_t duration = 0;  // or unfinished
};

struct MarkRow {
  char phase = 0;
  char binding = 0;  // as in Marks
  std::uint32_t thread = 0;
  StringId name{};
  StringId category{};
  StringId id{};
  std::uint32_t slices_before = 0;
  ArgumentPlace arguments;
  std::int64_t time = 0;
};

// An E event, which ends a slice that a B event has begun.
struct EndRow {
  std::uint32_t thread = 0;
  StringId name{};
  std::uint32_t slices_before = 0;  // in the chunk
  ArgumentPlace arguments;
  std::int64_t time = 0;
};

template <class Row>
struct RowBuffer {
  std::vector<Row> rows;
  std::vector<std::uint64_t> values;

  void clear() {
    rows.clear();
    values.clear();
  }
  void add(Row row, std::uint32_t shape, std::span<const std::uint64_t> row_values) {
    row.arguments = {shape, std::uint32_t(values.size())};
    values.insert(values.end(), row_values.begin(), row_values.end());
    rows.push_back(row);
  }
  // What is there; room for as much is left.
  RowBuffer take() {
    RowBuffer taken = std::move(*this);
    rows.reserve(taken.rows.size());
    values.reserve(taken.values.size());
    return taken;
  }
};

}  // namespace npuscope::chrome
