#include "npuscope/profile/arguments.hpp"

#include <iterator>
#include <map>
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

namespace {

// Rows of arguments without some of their values: what stays is copied as it is packed.
struct InSomeOrder {
  bool operator()(const ArgumentShape& a, const ArgumentShape& b) const {
    return std::ranges::lexicographical_compare(a, b, {}, number_of, number_of);
  }
  static std::uint64_t number_of(const ArgumentKey& key) {
    return std::uint64_t(key.name) << 8 | std::uint64_t(key.type);
  }
};

}  // namespace

std::vector<std::uint32_t> ArgumentBlock::rows_of_forms(std::size_t row_count) const {
  std::vector<std::uint32_t> counts(forms_.size());
  if (forms_kept_ == FormsKept::one) {
    counts.front() = std::uint32_t(row_count);
    return counts;
  }
  for (const std::uint16_t both : form_and_rank_) counts[both / ArgumentBlock::rows] += 1;
  for (const std::uint32_t both : wide_form_and_rank_) counts[both / ArgumentBlock::rows] += 1;
  return counts;
}

bool ArgumentBlock::has_any(std::span<const Kept> kept_of_shape) const {
  return std::ranges::any_of(
      forms_, [&](const Form& form) { return !kept_of_shape[form.shape].places.empty(); });
}

ArgumentBlock ArgumentBlock::with_places(std::span<const Kept> kept_of_shape,
                                         std::size_t row_count) const {
  ArgumentBlock made;
  made.forms_kept_ = forms_kept_;
  made.form_and_rank_ = form_and_rank_;
  made.wide_form_and_rank_ = wide_form_and_rank_;
  made.bytes_.reserve(bytes_.size());
  const std::vector<std::uint32_t> rows_of_form = rows_of_forms(row_count);
  const auto append = [&](std::size_t begin, std::size_t bytes) {
    const auto from = bytes_.begin() + std::ptrdiff_t(begin);
    made.bytes_.insert(made.bytes_.end(), from, from + std::ptrdiff_t(bytes));
  };
  for (std::size_t number = 0; number < forms_.size(); ++number) {
    const Form& form = forms_[number];
    const Kept& kept = kept_of_shape[form.shape];
    const std::size_t count = rows_of_form[number];
    const bool is_packed = form.values == 0;
    made.forms_.push_back({kept.shape, is_packed ? 0 : std::uint32_t(kept.places.size()),
                           is_packed ? made.packed_.size() : made.bytes_.size()});
    if (is_packed) {
      for (const std::uint32_t place : kept.places) {
        PackedValues packed = packed_[form.begin + place];
        const std::size_t begin = packed.begin;
        packed.begin = made.bytes_.size();
        append(begin, count * packed.width);
        made.packed_.push_back(packed);
      }
      continue;
    }
    for (std::size_t row = 0; row < count; ++row) {
      const std::size_t begin = form.begin + row * form.values * sizeof(std::uint64_t);
      for (const std::uint32_t place : kept.places) {
        append(begin + place * sizeof(std::uint64_t), sizeof(std::uint64_t));
      }
    }
  }
  made.bytes_.resize(made.bytes_.size() + sizeof(std::uint64_t));
  std::fill_n(made.bytes_.rbegin(), sizeof(std::uint64_t), std::byte{0});
  return made;
}

void Arguments::keep_places(std::span<const std::vector<std::uint32_t>> places_of_shape) {
  std::vector<ArgumentBlock::Kept> kept;
  std::vector<ArgumentShape> made{{}};
  std::map<ArgumentShape, std::uint32_t, InSomeOrder> numbers{{{}, 0}};
  for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
    ArgumentShape keys;
    for (const std::uint32_t place : places_of_shape[shape]) keys.push_back(shapes[shape][place]);
    const auto [number, is_new] = numbers.try_emplace(keys, std::uint32_t(made.size()));
    kept.push_back({number->second, places_of_shape[shape]});
    if (is_new) made.push_back(std::move(keys));
  }
  const auto has_any = [&](const ArgumentBlock& block) { return block.has_any(kept); };
  const bool any =
      std::ranges::any_of(blocks_, has_any) ||
      std::ranges::any_of(open_shapes_, [&](auto shape) { return kept[shape].shape != 0; });
  if (!any) {
    *this = {};
    return;
  }
  for (ArgumentBlock& block : blocks_) block = block.with_places(kept, ArgumentBlock::rows);
  Column<std::uint64_t> values;
  for (std::size_t row = 0; row < open_shapes_.size(); ++row) {
    const ArgumentBlock::Kept& of = kept[open_shapes_[row]];
    const std::uint64_t first = std::exchange(open_firsts_[row], values.size());
    for (const std::uint32_t place : of.places) values.push_back(open_values_[first + place]);
    open_shapes_[row] = of.shape;
  }
  open_values_ = std::move(values);
  shapes = std::move(made);
}

}  // namespace npuscope
