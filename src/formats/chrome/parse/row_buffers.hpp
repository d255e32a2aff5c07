// Where a chunk's rows gather before their number is known; then they become columns of exactly
// that length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/chrome/parse/chunk_table.hpp"

namespace npuscope::chrome {

struct ArgumentPlace {
  std::uint32_t shape = 0;
  std::uint32_t first = 0;
};

struct SliceRow {
  std::uint32_t thread = 0;
  StringId name{};
  StringId category{};
  ArgumentPlace arguments;
  std::int64_t start = 0;
  std::int64_t duration = 0;
};

struct MarkRow {
  char phase = 0;
  char binding = 0;
  std::uint32_t thread = 0;
  StringId name{};
  StringId category{};
  StringId id{};
  std::uint32_t slices_before = 0;
  ArgumentPlace arguments;
  std::int64_t time = 0;
};

struct EndRow {
  std::uint32_t thread = 0;
  StringId name{};
  std::uint32_t slices_before = 0;
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
};

void take_rows(RowBuffer<SliceRow>& from, Slices& to);
void take_rows(RowBuffer<MarkRow>& from, Marks& to);
void take_rows(RowBuffer<EndRow>& from, Ends& to);

}  // namespace npuscope::chrome
