#include "npuscope/profile/arguments.hpp"

#include <iterator>
#include <utility>

namespace npuscope {

std::optional<double> Argument::as_number() const {
  switch (key.type) {
    case ArgumentType::integer: return double(integer());
    case ArgumentType::unsigned_integer: return double(unsigned_integer());
    case ArgumentType::number: return number();
    default: return std::nullopt;
  }
}

std::optional<Argument> Arguments::find(std::size_t row, StringId name) const {
  if (empty()) return std::nullopt;
  const ArgumentRow of = this->row(row);
  const ArgumentShape& keys = shapes[of.shape()];
  for (std::size_t place = 0; place < keys.size(); ++place) {
    if (keys[place].name == name) return Argument{keys[place], of.bits(place)};
  }
  return std::nullopt;
}

void Arguments::read(std::size_t row, std::vector<std::uint64_t>& values) const {
  const ArgumentRow of = this->row(row);
  values.resize(shapes[of.shape()].size());
  for (std::size_t place = 0; place < values.size(); ++place) values[place] = of.bits(place);
}

void Arguments::add(std::size_t row, std::uint32_t shape, std::span<const std::uint64_t> values) {
  if (row > size()) add_rows_without(row);
  if (open_shapes_.empty()) {
    open_shapes_.reserve(ArgumentBlock::rows);
    open_firsts_.reserve(ArgumentBlock::rows);
  }
  open_shapes_.push_back(shape);
  open_firsts_.push_back(open_values_.size());
  const std::size_t first = open_values_.size();
  open_values_.resize(first + values.size());
  std::copy(values.begin(), values.end(), open_values_.begin() + std::ptrdiff_t(first));
  if (open_shapes_.size() == ArgumentBlock::rows) close_block(open_values_);
}

void Arguments::append_block_of(const Arguments& other, std::size_t row,
                                std::span<const ArgumentBlock::Kept> kept_of_shape) {
  const ArgumentBlock& block = other.blocks_[row / ArgumentBlock::rows];
  blocks_.push_back(block.with_places(kept_of_shape, ArgumentBlock::rows));
}

void Arguments::append_rows_of(Arguments&& other) {
  std::move(other.blocks_.begin(), other.blocks_.end(), std::back_inserter(blocks_));
  open_shapes_ = std::move(other.open_shapes_);
  open_firsts_ = std::move(other.open_firsts_);
  open_values_ = std::move(other.open_values_);
}

void Arguments::resize(std::size_t rows) {
  if (!empty() && rows > size()) add_rows_without(rows);
}

void Arguments::add_rows_without(std::size_t end) {
  add_rows(size(), end - size(), {}, [](std::size_t) { return ArgumentPlace{}; });
}

std::size_t Arguments::bytes() const {
  std::size_t bytes = std::span(open_shapes_).size_bytes() + std::span(open_firsts_).size_bytes() +
                      std::span(open_values_).size_bytes();
  for (const ArgumentBlock& block : blocks_) bytes += block.bytes();
  return bytes;
}

void Arguments::close_block(std::span<const std::uint64_t> values) {
  blocks_.emplace_back(open_shapes_, open_firsts_, values);
  open_shapes_.clear();
  open_firsts_.clear();
  open_values_.clear();
}

}  // namespace npuscope
