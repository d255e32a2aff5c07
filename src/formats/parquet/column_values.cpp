#include "formats/parquet/column_values.hpp"

#include <zstd.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/try.hpp"
#include "formats/parquet/compact_protocol.hpp"

namespace npuscope::parquet {
namespace {

constexpr std::size_t group = 8;  // values that are packed together

void append_repeated(std::string& to, std::uint32_t value, std::size_t times, int bits) {
  append_varint(to, std::uint64_t(times) << 1);
  for (int written = 0; written < bits; written += 8) to += char(value >> written);
}

// In whole groups: the last is filled up with zeros, which readers leave out by the count of
// values.
void append_packed(std::string& to, std::span<const std::uint32_t> values, int bits) {
  if (values.empty()) return;
  const std::size_t groups = (values.size() + group - 1) / group;
  append_varint(to, std::uint64_t(groups) << 1 | 1);
  const std::size_t end = to.size() + groups * std::size_t(bits);
  std::uint64_t word = 0;
  int filled = 0;
  for (const std::uint32_t value : values) {
    word |= std::uint64_t(value) << filled;
    for (filled += bits; filled >= 8; filled -= 8, word >>= 8) to += char(word);
  }
  if (filled > 0) to += char(word);
  to.resize(end, '\0');
}

}  // namespace

void append_run_lengths(std::string& to, std::span<const std::uint32_t> values, int bits) {
  std::size_t packed_from = 0;
  for (std::size_t at = 0; at < values.size();) {
    std::size_t end = at + 1;
    while (end < values.size() && values[end] == values[at]) ++end;
    // Values before a run are whole groups: the run gives what they lack.
    const std::size_t lacking = (group - (at - packed_from) % group) % group;
    if (end - at >= lacking + group) {
      append_packed(to, values.subspan(packed_from, at + lacking - packed_from), bits);
      append_repeated(to, values[at], end - at - lacking, bits);
      packed_from = end;
    }
    at = end;
  }
  append_packed(to, values.subspan(packed_from), bits);
}

namespace {

// Readers hold a page at once; these are the sizes that Parquet's own writers choose.
constexpr std::size_t rows_of_page = 20'000;
constexpr std::size_t bytes_of_page = std::size_t{1} << 20;
constexpr std::size_t most_of_dictionary = std::size_t{1} << 20;
constexpr std::size_t longest_text = std::size_t{1} << 30;
constexpr std::size_t longest_bound = 64;  // of a text that is a minimum or maximum
constexpr int compression = 3;

template <class Number>
void append_plain(std::string& to, Number value) {
  static_assert(std::endian::native == std::endian::little);
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Number>
Number number_of(std::string_view plain) {
  Number value{};
  std::memcpy(&value, plain.data(), sizeof value);
  return value;
}

Result<std::string> compressed(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), compression);
  if (ZSTD_isError(size) != 0) {
    return output_error("a page cannot be compressed: {}", ZSTD_getErrorName(size));
  }
  out.resize(size);
  return out;
}

// The page with its head, compressed, to the end of the chunk.
Status append_page(Chunk& chunk, PageType type, std::string_view bytes, const CompactStruct& kind,
                   int field_of_kind) {
  TRY_AS(packed, compressed(bytes));
  CompactStruct head;
  head.i32(1, std::int32_t(type));
  head.i32(2, std::int32_t(bytes.size()));
  head.i32(3, std::int32_t(packed->size()));
  head.structure(field_of_kind, kind);
  const std::string head_bytes = head.bytes();
  chunk.pages += head_bytes;
  chunk.pages += *packed;
  chunk.uncompressed_bytes += std::int64_t(head_bytes.size() + bytes.size());
  return {};
}

Status append_dictionary_page(Chunk& chunk, std::string_view values, std::size_t count) {
  CompactStruct kind;
  kind.i32(1, std::int32_t(count));
  kind.i32(2, std::int32_t(Encoding::plain));
  return append_page(chunk, PageType::dictionary, values, kind, 7);
}

Status append_data_page(Chunk& chunk, std::string_view bytes, std::size_t rows, Encoding encoding) {
  CompactStruct kind;
  kind.i32(1, std::int32_t(rows));
  kind.i32(2, std::int32_t(encoding));
  kind.i32(3, std::int32_t(Encoding::run_lengths));  // of levels
  kind.i32(4, std::int32_t(Encoding::run_lengths));
  return append_page(chunk, PageType::data, bytes, kind, 5);
}

// With the length before them, as data pages of version 1 have them.
void append_levels(std::string& page, std::span<const std::uint32_t> levels) {
  std::string packed;
  append_run_lengths(packed, levels, 1);
  append_plain(page, std::uint32_t(packed.size()));
  page += packed;
}

template <class Number>
void take_bounds(Number value, Number& min, Number& max) {
  if (value < min) min = value;
  if (max < value) max = value;
}

}  // namespace

// Different values, and for each value its place among them.
struct ColumnValues::Dictionary {
  std::string values;
  std::size_t count = 0;
  std::vector<std::uint32_t> places;

  int bits() const { return std::max(1, int(std::bit_width(count - 1))); }
};

ColumnValues::ColumnValues(Column column) : column_(std::move(column)) {}

Status ColumnValues::add(const Value& value) {
  const auto refused = [&](std::string_view what) -> Status {
    return input_error("column {}: {}, which it cannot hold", column_.name, what);
  };
  if (std::holds_alternative<std::monostate>(value)) {
    if (!column_.is_nullable) return refused("NULL");
    levels_.push_back(0);
    return {};
  }
  if (column_.type == Type::text) {
    const auto* text = std::get_if<std::string_view>(&value);
    if (text == nullptr) return refused("a number");
    if (text->size() > longest_text) return refused("a text of more than 1 GiB");
    append_plain(plain_, std::uint32_t(text->size()));
    plain_ += *text;
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (column_.type == Type::integer) {
      append_plain(plain_, *integer);
    } else {
      append_plain(plain_, double(*integer));
    }
  } else if (const auto* real = std::get_if<double>(&value)) {
    if (column_.type == Type::integer) return refused("a real number");
    append_plain(plain_, *real);
  } else {
    return refused("a text");
  }
  ends_.push_back(plain_.size());
  levels_.push_back(1);
  return {};
}

Statistics ColumnValues::statistics() const {
  Statistics found;
  found.nulls = std::int64_t(levels_.size() - ends_.size());
  if (ends_.empty()) return found;
  const auto bounds = [&](auto of) {
    auto min = of(plain(0)), max = min;
    for (std::size_t i = 1; i < ends_.size(); ++i) take_bounds(of(plain(i)), min, max);
    return std::pair(min, max);
  };
  const auto say = [&](auto min, auto max) {
    append_plain(found.min.emplace(), min);
    append_plain(found.max.emplace(), max);
  };
  switch (column_.type) {
    case Type::integer: {
      const auto [min, max] = bounds(number_of<std::int64_t>);
      say(min, max);
      break;
    }
    case Type::real: {
      for (std::size_t i = 0; i < ends_.size(); ++i) {
        if (std::isnan(number_of<double>(plain(i)))) return found;
      }
      const auto [min, max] = bounds(number_of<double>);
      // parquet.thrift: zeros of both signs are between these.
      say(min == 0 ? -0.0 : min, max == 0 ? 0.0 : max);
      break;
    }
    case Type::text: {
      const auto [min, max] = bounds([](std::string_view of) { return of.substr(4); });
      if (min.size() > longest_bound || max.size() > longest_bound) break;
      found.min = min;
      found.max = max;
      break;
    }
  }
  return found;
}

// None where the values as they are are shorter.
std::optional<ColumnValues::Dictionary> ColumnValues::dictionary() const {
  if (ends_.empty()) return std::nullopt;
  Dictionary made;
  std::unordered_map<std::string_view, std::uint32_t> known;
  made.places.reserve(ends_.size());
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const auto [entry, is_new] = known.try_emplace(plain(i), std::uint32_t(made.count));
    made.places.push_back(entry->second);
    if (!is_new) continue;
    ++made.count;
    made.values += plain(i);
    if (made.values.size() > most_of_dictionary) return std::nullopt;
  }
  const std::size_t places_bytes = ends_.size() * std::size_t(made.bits()) / 8;
  if (made.values.size() + places_bytes >= plain_.size()) return std::nullopt;
  return made;
}

// Of the rows that a page has from `row` on, whose first value is `value`.
std::size_t ColumnValues::page_end(std::size_t row, std::size_t value) const {
  std::size_t bytes = 0;
  const std::size_t last = std::min(levels_.size(), row + rows_of_page);
  std::size_t end = row;
  for (; end < last && (end == row || bytes < bytes_of_page); ++end) {
    if (levels_[end] != 0) bytes += plain(value++).size();
  }
  return end;
}

void ColumnValues::clear() {
  levels_.clear();
  plain_.clear();
  ends_.clear();
}

Result<Chunk> ColumnValues::take_chunk() {
  Chunk chunk;
  chunk.values = std::int64_t(levels_.size());
  chunk.statistics = statistics();
  const std::optional<Dictionary> different = dictionary();
  if (different) {
    TRY(append_dictionary_page(chunk, different->values, different->count));
    chunk.dictionary_bytes = chunk.pages.size();
  }
  for (std::size_t row = 0, value = 0; row < levels_.size();) {
    const std::size_t end = page_end(row, value);
    const std::span levels = std::span(levels_).subspan(row, end - row);
    const auto values = std::size_t(std::count(levels.begin(), levels.end(), 1u));
    std::string page;
    if (column_.is_nullable) append_levels(page, levels);
    if (different) {
      page += char(different->bits());
      append_run_lengths(page, std::span(different->places).subspan(value, values),
                         different->bits());
    } else if (values > 0) {
      const std::size_t begin = value == 0 ? 0 : ends_[value - 1];
      page.append(plain_, begin, ends_[value + values - 1] - begin);
    }
    TRY(append_data_page(chunk, page, end - row,
                         different ? Encoding::dictionary : Encoding::plain));
    row = end;
    value += values;
  }
  clear();
  return chunk;
}

}  // namespace npuscope::parquet
