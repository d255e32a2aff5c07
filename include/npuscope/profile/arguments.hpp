// What a trace says about each of its rows beside name and time: keys with typed values. Rows of
// one kind have the same keys in the same order, so the keys are kept once, as a shape, and a row
// costs eight bytes and eight more for each value.
//
//   shapes[1]   opPCycle: integer   effectiveFreq: number   opName: text
//   row 7       shape 1, values 196841, 1450.248, "/layer.0/attn/MatMul"
//
//   arguments.find(7, op_p_cycle)->integer()   // 196841
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "npuscope/base/string_pool.hpp"
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

struct Arguments {
  std::vector<ArgumentShape> shapes{{}};  // shape 0: no arguments
  // Per row; both are empty when no row has arguments.
  Column<std::uint32_t> shape;
  Column<std::uint32_t> first;  // in `values`
  Column<std::uint64_t> values;

  bool empty() const { return shape.empty(); }
  std::size_t count(std::size_t row) const { return empty() ? 0 : shapes[shape[row]].size(); }
  Argument at(std::size_t row, std::size_t place) const {
    return {shapes[shape[row]][place], values[first[row] + place]};
  }
  std::optional<Argument> find(std::size_t row, StringId name) const;
};

}  // namespace npuscope
