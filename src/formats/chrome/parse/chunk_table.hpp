// The events of one chunk. Strings, threads and shapes are numbered within the chunk.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/chrome/numbering.hpp"
#include "formats/chrome/parse/raw_strings.hpp"
#include "formats/chrome/problems.hpp"
#include "formats/chrome/text/chunk.hpp"
#include "npuscope/base/string_pool.hpp"
#include "npuscope/profile/arguments.hpp"

namespace npuscope::chrome {

// The events of a chunk as rows, in file order, and the values of their arguments next to each
// other.

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

// An M event of a kind that the format knows.
struct Metadata {
  enum class What : std::uint8_t {
    process_name,
    process_labels,
    process_sort_index,
    thread_name,
    thread_sort_index,
  };
  What what = What::process_name;
  StringId process_id{};
  StringId thread_id{};
  StringId text{};
  std::int64_t number = 0;
};

struct ChunkTable {
  Chunk chunk;
  std::vector<TextBuffer> other_buffers;  // where texts stand that do not stand in the chunk
  std::deque<std::string> composed;
  RawStrings::Texts strings;
  PairTable threads;  // process and thread id
  std::vector<ArgumentShape> shapes;
  RowBuffer<SliceRow> slices;
  RowBuffer<MarkRow> marks;
  RowBuffer<EndRow> ends;
  std::vector<Metadata> metadata;
  Problems problems;
  bool has_begins = false;  // some slices are unfinished
};

}  // namespace npuscope::chrome
