#include "npuscope/profile/argument_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace npuscope {
namespace {

// Rows of one shape whose places are packed; what says how would cost more for fewer.
constexpr std::size_t min_packed_rows = 8;
constexpr std::size_t max_narrow_forms = (1 << 16) / ArgumentBlock::rows;

// Four at a time: the loop itself costs as much as what is done in it.
template <class Take>
void for_each_row(std::size_t rows, const Take& take) {
  std::size_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    take(row);
    take(row + 1);
    take(row + 2);
    take(row + 3);
  }
  for (; row < rows; ++row) take(row);
}

void set_width(PackedValues& packed, std::uint64_t max) {
  packed.width = std::uint8_t((std::bit_width(max) + 7) / 8);
  packed.mask = max == 0 ? 0 : ~std::uint64_t{0} >> (64 - 8 * packed.width);
}

// Values that differ from `first` in no other bits than these.
PackedValues packed_bits(std::uint64_t first, std::uint64_t differing) {
  PackedValues packed;
  packed.base = first;
  if (differing == 0) return packed;
  const std::uint64_t below = std::uint64_t{1} << std::countr_zero(differing);
  packed.shift = std::uint8_t(std::countr_zero(differing));
  set_width(packed, differing >> packed.shift);
  packed.base = first & ~(~std::uint64_t{0} >> std::countl_zero(differing) & ~(below - 1));
  return packed;
}

// How far values lie apart.
class Spread {
 public:
  explicit Spread(std::uint64_t first) : first_(first) {}

  void add(std::uint64_t value) {
    const auto distance = std::int64_t(value - first_);
    all_ |= std::uint64_t(distance);
    min_ = std::min(min_, distance);
    max_ = std::max(max_, distance);
  }
  PackedValues packed() const {
    PackedValues packed;
    packed.base = first_ + std::uint64_t(min_);
    if (all_ == 0) return packed;
    packed.shift = std::uint8_t(std::countr_zero(all_));
    set_width(packed, (std::uint64_t(max_) - std::uint64_t(min_)) >> packed.shift);
    return packed;
  }

 private:
  std::uint64_t first_;
  std::uint64_t all_ = 0;  // the bits that any distance has
  std::int64_t min_ = 0, max_ = 0;
};

template <class ValueOf>
PackedValues packed_distances(std::size_t rows, const ValueOf& value_of) {
  Spread spread(value_of(0));
  for_each_row(rows, [&](std::size_t row) { spread.add(value_of(row)); });
  return spread.packed();
}

// Each as 8 bytes, of which the next one overwrites all but its own.
template <unsigned width, class ValueOf>
void write_values(const PackedValues& packed, std::size_t rows, const ValueOf& value_of,
                  std::byte* to) {
  const std::uint64_t base = packed.base;
  const unsigned shift = packed.shift;
  for_each_row(rows, [&](std::size_t row) {
    const std::uint64_t distance = (value_of(row) - base) >> shift;
    std::memcpy(to + row * width, &distance, sizeof distance);
  });
}

template <class ValueOf>
void write_values(const PackedValues& packed, std::size_t rows, const ValueOf& value_of,
                  std::byte* to) {
  switch (packed.width) {
    case 1: return write_values<1>(packed, rows, value_of, to);
    case 2: return write_values<2>(packed, rows, value_of, to);
    case 3: return write_values<3>(packed, rows, value_of, to);
    case 4: return write_values<4>(packed, rows, value_of, to);
    case 5: return write_values<5>(packed, rows, value_of, to);
    case 6: return write_values<6>(packed, rows, value_of, to);
    case 7: return write_values<7>(packed, rows, value_of, to);
    case 8: return write_values<8>(packed, rows, value_of, to);
    default: return;
  }
}

// The integer whose division by 10^decimals is this double, bit by bit; false where none is.
bool scale(std::uint64_t bits, std::size_t decimals, std::uint64_t& scaled) {
  constexpr double max_exact = 9007199254740992;  // 2^53
  const double power = PackedValues::powers_of_ten[decimals];
  const double product = std::bit_cast<double>(bits) * power;
  if (!(std::fabs(product) < max_exact)) return false;
  const auto nearest = std::int64_t(product + (product < 0 ? -0.5 : 0.5));
  scaled = std::uint64_t(nearest);
  return std::bit_cast<std::uint64_t>(double(nearest) / power) == bits;
}

// The fewest decimals with which all values are such integers; none where no number of them does.
template <class ValueOf>
std::optional<std::uint8_t> scale_all(std::size_t rows, const ValueOf& value_of,
                                      std::uint64_t* scaled) {
  for (std::size_t decimals = 0; decimals < PackedValues::powers_of_ten.size(); ++decimals) {
    std::size_t row = 0;
    while (row < rows && scale(value_of(row), decimals, scaled[row])) ++row;
    if (row == rows) return std::uint8_t(decimals);
  }
  return std::nullopt;
}

}  // namespace

class BlockPacker {
 public:
  BlockPacker(ArgumentBlock& block, std::span<const std::uint32_t> shapes,
              std::span<const std::uint64_t> firsts, std::span<const std::uint64_t> values)
      : block_(block), shapes_(shapes), firsts_(firsts), values_(values) {}

  void pack() {
    number_forms();
    // What is written last may not be packed: a packed value is written as 8 bytes, and the next
    // one over all but its own.
    for (std::size_t form = 0; form < block_.forms_.size(); ++form) plan_packed(form);
    const std::size_t packed_bytes = bytes_;
    for (std::size_t form = 0; form < block_.forms_.size(); ++form) plan_plain(form);
    block_.bytes_.resize(bytes_ + sizeof(std::uint64_t));
    std::fill(block_.bytes_.begin() + std::ptrdiff_t(bytes_), block_.bytes_.end(), std::byte{0});
    for (std::size_t i = 0; i < sources_.size(); ++i) write(block_.packed_[i], sources_[i]);
    write_plain(packed_bytes);
  }

 private:
  using Form = ArgumentBlock::Form;
  static constexpr std::size_t not_scaled = std::numeric_limits<std::size_t>::max();

  // What is packed at one place of the rows of a form.
  struct Source {
    std::uint32_t form = 0, place = 0;
    std::size_t scaled = not_scaled;  // in `scaled_`, where they are decimals
  };

  std::size_t values_of(std::size_t row) const {
    return (row + 1 < firsts_.size() ? firsts_[row + 1] : values_.size()) - firsts_[row];
  }
  // Where the values of each row of a form begin.
  std::span<const std::uint64_t> rows_of(std::size_t form) const {
    if (block_.forms_.size() == 1) return firsts_;
    return std::span(sorted_firsts_).subspan(begins_[form], begins_[form + 1] - begins_[form]);
  }
  bool is_packed(std::size_t form) const { return rows_of(form).size() >= min_packed_rows; }
  // Calls with what has the value of each row of a form at a place.
  template <class Use>
  auto with_values(std::size_t form, std::size_t place, const Use& use) const {
    const auto rows = rows_of(form);
    const std::uint64_t* const values = values_.data() + place;
    if (block_.forms_.size() == 1) {  // then they lie next to each other
      const std::uint64_t* const of_first = values + rows.front();
      const std::size_t each = values_of(0);
      return use([=](std::size_t row) { return of_first[row * each]; });
    }
    return use([=](std::size_t row) { return values[rows[row]]; });
  }
  void number_forms();
  std::uint32_t form_of(std::uint32_t shape, std::size_t row);
  void sort_rows();
  void plan_packed(std::size_t form);
  void plan_plain(std::size_t form);
  void find_differing(std::size_t form);
  void plan_place(std::uint32_t form, std::uint32_t place);
  bool plan_decimals(std::uint32_t form, std::uint32_t place, PackedValues& packed);
  void write(const PackedValues& packed, const Source& source);
  void write_plain(std::size_t at);

  ArgumentBlock& block_;
  std::span<const std::uint32_t> shapes_;
  std::span<const std::uint64_t> firsts_, values_;
  std::size_t bytes_ = 0;
  // Where there are several forms: their numbers by shape, of each row its own, and the rows of
  // each form together.
  std::vector<std::uint16_t> slots_;  // form + 1; open addressing, at most half full
  std::vector<std::uint16_t> form_of_row_;
  std::vector<std::uint64_t> sorted_firsts_;
  std::vector<std::uint32_t> begins_;
  std::vector<std::uint64_t> differing_;  // bits, at each place of the form at hand
  std::vector<Source> sources_;           // as `packed_` of the block
  Column<std::uint64_t> scaled_;          // of the places that are decimals, one after the other
};

void BlockPacker::number_forms() {
  std::uint32_t differing = 0;
  for (const std::uint32_t shape : shapes_) differing |= shape ^ shapes_.front();
  if (differing == 0) {
    block_.forms_.push_back({shapes_.front(), std::uint32_t(values_of(0)), 0});
    return;
  }
  slots_.resize(2 * ArgumentBlock::rows);
  form_of_row_.reserve(shapes_.size());
  for (std::size_t row = 0; row < shapes_.size(); ++row) {
    const bool is_as_before = row > 0 && shapes_[row] == shapes_[row - 1];
    form_of_row_.push_back(is_as_before ? form_of_row_.back()
                                        : std::uint16_t(form_of(shapes_[row], row)));
  }
  sort_rows();
}

std::uint32_t BlockPacker::form_of(std::uint32_t shape, std::size_t row) {
  std::size_t slot = (shape * 0x9E3779B9u) >> 21;  // 2^32 / golden ratio; 11 bits
  for (; slots_[slot] != 0; slot = (slot + 1) % slots_.size()) {
    const std::uint32_t form = slots_[slot] - 1u;
    if (block_.forms_[form].shape == shape) return form;
  }
  block_.forms_.push_back({shape, std::uint32_t(values_of(row)), 0});
  slots_[slot] = std::uint16_t(block_.forms_.size());
  return std::uint32_t(block_.forms_.size() - 1);
}

void BlockPacker::sort_rows() {
  const std::size_t forms = block_.forms_.size();
  begins_.assign(forms + 1, 0);
  for (const std::uint16_t form : form_of_row_) begins_[form + 1u] += 1;
  for (std::size_t form = 0; form < forms; ++form) begins_[form + 1] += begins_[form];
  std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
  sorted_firsts_.resize(shapes_.size());
  const bool is_narrow = forms <= max_narrow_forms;
  using FormsKept = ArgumentBlock::FormsKept;
  block_.forms_kept_ = is_narrow ? FormsKept::narrow : FormsKept::wide;
  block_.form_and_rank_.resize(is_narrow ? shapes_.size() : 0);
  block_.wide_form_and_rank_.resize(is_narrow ? 0 : shapes_.size());
  for (std::size_t row = 0; row < shapes_.size(); ++row) {
    const std::uint32_t form = form_of_row_[row], place = next[form]++;
    sorted_firsts_[place] = firsts_[row];
    const std::uint32_t both = form * std::uint32_t(ArgumentBlock::rows) + place - begins_[form];
    if (is_narrow) {
      block_.form_and_rank_[row] = std::uint16_t(both);
    } else {
      block_.wide_form_and_rank_[row] = both;
    }
  }
}

void BlockPacker::plan_packed(std::size_t form) {
  if (!is_packed(form)) return;
  Form& of = block_.forms_[form];
  of.begin = block_.packed_.size();
  differing_.assign(of.values, 0);
  find_differing(form);
  for (std::uint32_t place = 0; place < of.values; ++place) {
    plan_place(std::uint32_t(form), place);
  }
  of.values = 0;
}

void BlockPacker::plan_plain(std::size_t form) {
  Form& of = block_.forms_[form];
  if (is_packed(form) || of.values == 0) return;
  of.begin = bytes_;
  bytes_ += rows_of(form).size() * of.values * sizeof(std::uint64_t);
}

// At two places at a time, in which processors find the bits of both at once.
void BlockPacker::find_differing(std::size_t form) {
  const auto rows = rows_of(form);
  const std::size_t places = differing_.size();
  for (std::size_t place = 0; place + 2 <= places; place += 2) {
    const std::uint64_t* const values = values_.data() + place;
    const std::uint64_t first[2] = {values[rows[0]], values[rows[0] + 1]};
    std::uint64_t differing[2] = {0, 0};
    for_each_row(rows.size(), [&](std::size_t row) {
      const std::uint64_t* const of_row = values + rows[row];
      differing[0] |= of_row[0] ^ first[0];
      differing[1] |= of_row[1] ^ first[1];
    });
    differing_[place] = differing[0];
    differing_[place + 1] = differing[1];
  }
  if (places % 2 == 0) return;
  const std::uint64_t* const values = values_.data() + places - 1;
  for (const std::uint64_t row : rows) differing_.back() |= values[row] ^ values[rows[0]];
}

void BlockPacker::plan_place(std::uint32_t form, std::uint32_t place) {
  constexpr std::uint8_t worth_a_look = 3;  // bytes, where distances or decimals may take fewer
  const std::size_t rows = rows_of(form).size();
  PackedValues packed = with_values(form, place, [&](const auto& value_of) {
    PackedValues bits = packed_bits(value_of(0), differing_[place]);
    return bits.width < worth_a_look ? bits : packed_distances(rows, value_of);
  });
  Source source{form, place};
  const std::size_t scaled = scaled_.size();
  if (packed.width >= worth_a_look && plan_decimals(form, place, packed)) source.scaled = scaled;
  packed.begin = bytes_;
  bytes_ += rows * packed.width;
  block_.packed_.push_back(packed);
  sources_.push_back(source);
}

// Most doubles of a trace were written as decimals of few digits.
bool BlockPacker::plan_decimals(std::uint32_t form, std::uint32_t place, PackedValues& packed) {
  const std::size_t rows = rows_of(form).size(), before = scaled_.size();
  scaled_.resize(before + rows);
  std::uint64_t* const scaled = scaled_.data() + before;
  const auto decimals = with_values(
      form, place, [&](const auto& value_of) { return scale_all(rows, value_of, scaled); });
  if (!decimals) {
    scaled_.resize(before);
    return false;
  }
  PackedValues as_decimals = packed_distances(rows, [=](std::size_t row) { return scaled[row]; });
  as_decimals.decimals = *decimals;
  const bool is_smaller = as_decimals.width < packed.width;
  if (is_smaller) {
    packed = as_decimals;
  } else {
    scaled_.resize(before);
  }
  return is_smaller;
}

void BlockPacker::write(const PackedValues& packed, const Source& source) {
  std::byte* const to = block_.bytes_.data() + packed.begin;
  const std::size_t rows = rows_of(source.form).size();
  if (source.scaled != not_scaled) {
    const std::uint64_t* const scaled = scaled_.data() + source.scaled;
    return write_values(
        packed, rows, [=](std::size_t row) { return scaled[row]; }, to);
  }
  with_values(source.form, source.place,
              [&](const auto& value_of) { write_values(packed, rows, value_of, to); });
}

void BlockPacker::write_plain(std::size_t at) {
  for (std::size_t form = 0; form < block_.forms_.size(); ++form) {
    const std::size_t bytes = block_.forms_[form].values * sizeof(std::uint64_t);
    if (bytes == 0) continue;
    for (const std::uint64_t row : rows_of(form)) {
      std::memcpy(block_.bytes_.data() + at, values_.data() + row, bytes);
      at += bytes;
    }
  }
}

ArgumentBlock::ArgumentBlock(std::span<const std::uint32_t> shapes,
                             std::span<const std::uint64_t> firsts,
                             std::span<const std::uint64_t> values) {
  BlockPacker(*this, shapes, firsts, values).pack();
}

std::size_t ArgumentBlock::bytes() const {
  const auto of = [](const auto& column) { return std::span(column).size_bytes(); };
  return sizeof(*this) + of(forms_) + of(packed_) + of(form_and_rank_) + of(wide_form_and_rank_) +
         of(bytes_);
}

}  // namespace npuscope
