// The values of one column in one group of rows, as they come; then as the pages of a column chunk.
//
//   ColumnValues work({"work", Type::real, true});
//   work.add(32'707.0);
//   work.add({});                                     // NULL
//   const Chunk chunk = work.take_chunk();            // pages, compressed, and what the footer
//   says of them
//
// A column of few different values has these in a dictionary page and their places in the data
// pages, another one has its values as they are. Sources: the Parquet project's README.md,
// Encodings.md and parquet.thrift.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::parquet {

// Small numbers as runs of equal ones and groups of eight that are packed bit by bit: Parquet's
// encoding of levels and of places in a dictionary.
//
//   append_run_lengths(page, places, 3)               // numbers of three bits
//
// Source: the Parquet project's Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".

// All of `values` are below 2^bits; bits is at most 32.
void append_run_lengths(std::string& to, std::span<const std::uint32_t> values, int bits);

enum class Type : std::uint8_t { integer, real, text };  // INT64, DOUBLE, BYTE_ARRAY of UTF-8

struct Column {
  std::string name;
  Type type = Type::integer;
  bool is_nullable = false;
};

// Nothing is NULL.
using Value = std::variant<std::monostate, std::int64_t, double, std::string_view>;

// Of a chunk; left out where the values have no order (NaN) or are long.
struct Statistics {
  std::int64_t nulls = 0;
  std::optional<std::string> min, max;  // in the plain encoding, texts without their length
};

struct Chunk {
  std::string pages;
  std::size_t dictionary_bytes =
      0;                    // of the dictionary page with its head, the first; 0: there is none
  std::int64_t values = 0;  // NULL counted
  std::int64_t uncompressed_bytes = 0;
  Statistics statistics;
};

class ColumnValues {
 public:
  explicit ColumnValues(Column column);

  const Column& column() const { return column_; }

  // An input error for a value of another type, or NULL where it may not be; an integer is a real
  // value, too.
  Status add(const Value& value);

  // Of memory, about.
  std::size_t bytes() const {
    return plain_.size() + ends_.size() * sizeof(std::size_t) + levels_.size() * 4;
  }

  // All that was added since the last one.
  Result<Chunk> take_chunk();

 private:
  struct Dictionary;
  // Of present values, in the plain encoding.
  std::string_view plain(std::size_t value) const {
    const std::size_t begin = value == 0 ? 0 : ends_[value - 1];
    return std::string_view(plain_).substr(begin, ends_[value] - begin);
  }
  Statistics statistics() const;
  std::optional<Dictionary> dictionary() const;
  std::size_t page_end(std::size_t row, std::size_t value) const;
  void clear();

  Column column_;
  std::vector<std::uint32_t> levels_;  // of each row: 1 for a value, 0 for NULL
  std::string plain_;                  // the values, one after another
  std::vector<std::size_t> ends_;      // of each value in plain_
};

}  // namespace npuscope::parquet
