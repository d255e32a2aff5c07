// What a trace says about each of its rows beside name and time: keys with typed values. Rows of
// one kind have the same keys in the same order, so the keys are kept once, as a shape; the values
// are packed 1,024 rows at a time (argument_blocks.hpp), into a third of their 8 bytes or less.
//
//   shapes[1]   opPCycle: integer   effectiveFreq: number   opName: text
//   row 7       shape 1, values 196841, 1450.248, "/layer.0/attn/MatMul"
//
//   arguments.add(7, 1, {{196841, bits_of(1450.248), std::uint32_t(op_name)}});
//   arguments.find(7, op_p_cycle)->integer()   // 196841
//
// Rows are added in their order and stay as they are, but for values that all rows of a shape lose.
// Whoever changes some makes them anew.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "npuscope/base/string_pool.hpp"
#include "npuscope/profile/argument_blocks.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope {

enum class ArgumentType : std::uint8_t {
  null,
  boolean,
  integer,           // signed 64 bits
  unsigned_integer,  // 64 bits, beyond the signed range
  number,            // a double
  text,              // an interned string
  json,              // an object or array, interned as the text that stood in the file
};

struct ArgumentKey {
  StringId name{};
  ArgumentType type = ArgumentType::null;
  bool operator==(const ArgumentKey&) const = default;
};

// One value; the accessors must fit the type.
struct Argument {
  ArgumentKey key;
  std::uint64_t bits = 0;

  bool boolean() const { return bits != 0; }
  std::int64_t integer() const { return std::bit_cast<std::int64_t>(bits); }
  std::uint64_t unsigned_integer() const { return bits; }
  double number() const { return std::bit_cast<double>(bits); }
  StringId text() const { return StringId(std::uint32_t(bits)); }  // of json too
  // The value of any numeric type as a double; none for the others.
  std::optional<double> as_number() const;
};

using ArgumentShape = std::vector<ArgumentKey>;

// The arguments of a row that is not in a table yet, whose values lie among those of others.
struct ArgumentPlace {
  std::uint32_t shape = 0;  // 0: none
  std::uint32_t first = 0;  // of its values
};

class Arguments {
 public:
  std::vector<ArgumentShape> shapes{{}};  // shape 0: no arguments

  // Whether no row has arguments; then it has no rows.
  bool empty() const { return size() == 0; }
  std::size_t size() const { return blocks_.size() * ArgumentBlock::rows + open_shapes_.size(); }
  ArgumentRow row(std::size_t row) const {
    constexpr std::size_t each = ArgumentBlock::rows;
    if (row / each < blocks_.size()) return blocks_[row / each].row(row % each);
    const std::byte* const values = reinterpret_cast<const std::byte*>(open_values_.data());
    return {open_shapes_[row % each], values + open_firsts_[row % each] * sizeof(std::uint64_t)};
  }
  std::uint32_t shape(std::size_t row) const { return this->row(row).shape(); }
  std::size_t count(std::size_t row) const { return empty() ? 0 : shapes[shape(row)].size(); }
  Argument at(std::size_t row, std::size_t place) const {
    const ArgumentRow of = this->row(row);
    return {shapes[of.shape()][place], of.bits(place)};
  }
  std::optional<Argument> find(std::size_t row, StringId name) const;
  // All values of a row.
  void read(std::size_t row, std::vector<std::uint64_t>& values) const;

  // A row behind the last; rows between them have no arguments.
  void add(std::size_t row, std::uint32_t shape, std::span<const std::uint64_t> values);
  // So many rows: place_of() has the place of each in `values`, where one begins where the one
  // before it ends.
  template <class PlaceOf>
  void add_rows(std::size_t row, std::size_t count, std::span<const std::uint64_t> values,
                const PlaceOf& place_of);
  // Whether the rows from this one on, ArgumentBlock::rows of them, are packed as one block.
  bool has_block_at(std::size_t row) const {
    return row % ArgumentBlock::rows == 0 && row / ArgumentBlock::rows < blocks_.size();
  }
  // The block at `row` of another table after the last row, with what stays of its rows. The rows
  // of this one must fill their blocks.
  void append_block_of(const Arguments& other, std::size_t row,
                       std::span<const ArgumentBlock::Kept> kept_of_shape);
  // The rows of another table after the last, by the shapes of this one. The rows of this one must
  // fill their blocks.
  void append_rows_of(Arguments&& other);
  // As many rows, where any has arguments: the new ones have none.
  void resize(std::size_t rows);
  // All rows with only some of their values: of each shape the places that stay, in their order.
  // Shapes are made anew; those that become the same are one.
  void keep_places(std::span<const std::vector<std::uint32_t>> places_of_shape);

  std::size_t bytes() const;  // that the rows take in memory

 private:
  void add_rows_without(std::size_t end);
  void close_block(std::span<const std::uint64_t> values);

  std::vector<ArgumentBlock> blocks_;
  // Of the rows behind the blocks.
  Column<std::uint32_t> open_shapes_;
  Column<std::uint64_t> open_firsts_;
  Column<std::uint64_t> open_values_;
};

template <class PlaceOf>
void Arguments::add_rows(std::size_t row, std::size_t count, std::span<const std::uint64_t> values,
                         const PlaceOf& place_of) {
  if (row > size()) add_rows_without(row);
  for (std::size_t done = 0; done < count;) {
    const std::size_t open = open_shapes_.size();
    const std::size_t now = std::min(count - done, ArgumentBlock::rows - open);
    const std::uint64_t first = place_of(done).first;
    const std::uint64_t end = done + now < count ? place_of(done + now).first : values.size();
    const std::uint64_t offset = open_values_.size() - first;
    open_shapes_.resize(open + now);
    open_firsts_.resize(open + now);
    for (std::size_t i = 0; i < now; ++i) {
      const ArgumentPlace place = place_of(done + i);
      open_shapes_[open + i] = place.shape;
      open_firsts_[open + i] = place.first + offset;
    }
    const auto added = values.subspan(first, end - first);
    done += now;
    if (now == ArgumentBlock::rows) {  // no need to copy them
      close_block(added);
      continue;
    }
    open_values_.insert(open_values_.end(), added.begin(), added.end());
    if (open_shapes_.size() == ArgumentBlock::rows) close_block(open_values_);
  }
}

}  // namespace npuscope
