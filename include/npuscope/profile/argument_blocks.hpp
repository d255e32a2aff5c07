// The values of the arguments of up to 1,024 rows, packed: those that rows of one shape have at one
// place lie next to each other, as distances from the smallest in as few bytes as the largest
// takes.
//
//   row 0   shape 1   opPCycle 196841   effectiveFreq 1450.248
//   row 1   shape 2   bytes 4096
//   row 2   shape 1   opPCycle 196900   effectiveFreq 1450.25
//
//   opPCycle        196841 + 0, 59                       1 byte each
//   effectiveFreq   (1450248 + 0, 2) / 1000              1 byte each
//   bytes           4096, too few rows to be packed      8 bytes each
//
// A value is found at once: its row says which shape and the how manieth of it, its place says
// where they begin and how wide they are. Whatever is packed comes back bit by bit.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "npuscope/profile/column.hpp"

namespace npuscope {

static_assert(std::endian::native == std::endian::little);  // the low bytes of a value come first

// Of the rows of one shape, the values at one place.
struct PackedValues {
  static constexpr std::uint8_t not_decimal = 0xFF;
  static constexpr std::array<double, 10> powers_of_ten{1e0, 1e1, 1e2, 1e3, 1e4,
                                                        1e5, 1e6, 1e7, 1e8, 1e9};
  std::uint64_t base = 0;
  std::uint64_t begin = 0;              // in the bytes of the block
  std::uint64_t mask = 0;               // of the bits of a distance
  std::uint8_t width = 0;               // bytes of a distance; 0: all are `base`
  std::uint8_t shift = 0;               // low bits in which none differs from `base`
  std::uint8_t decimals = not_decimal;  // else they are doubles, kept as integers of 10^-decimals

  std::uint64_t at(const std::byte* bytes, std::size_t rank) const {
    std::uint64_t distance = 0;
    std::memcpy(&distance, bytes + begin + rank * width, sizeof distance);
    const std::uint64_t value = base + ((distance & mask) << shift);
    if (decimals == not_decimal) return value;
    return std::bit_cast<std::uint64_t>(double(std::int64_t(value)) / powers_of_ten[decimals]);
  }
};

// The arguments of one row: its shape, and its values as bits.
class ArgumentRow {
 public:
  ArgumentRow() = default;
  ArgumentRow(std::uint32_t shape, const std::byte* values) : shape_(shape), bytes_(values) {}
  ArgumentRow(std::uint32_t shape, const PackedValues* packed, const std::byte* bytes,
              std::size_t rank)
      : shape_(shape), packed_(packed), bytes_(bytes), rank_(rank) {}

  std::uint32_t shape() const { return shape_; }
  std::uint64_t bits(std::size_t place) const {
    if (packed_ != nullptr) return packed_[place].at(bytes_, rank_);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes_ + place * sizeof value, sizeof value);
    return value;
  }

 private:
  std::uint32_t shape_ = 0;
  const PackedValues* packed_ = nullptr;  // none: they lie in `bytes_` as they are
  const std::byte* bytes_ = nullptr;
  std::size_t rank_ = 0;
};

class ArgumentBlock {
 public:
  static constexpr std::size_t rows = 1024;

  // `firsts` of each row in `values`, one after the other; as many as `shapes`, at most `rows`.
  ArgumentBlock(std::span<const std::uint32_t> shapes, std::span<const std::uint64_t> firsts,
                std::span<const std::uint64_t> values);

  ArgumentRow row(std::size_t row) const {
    std::size_t form = 0, rank = row;
    if (forms_kept_ != FormsKept::one) {
      const std::size_t both =
          forms_kept_ == FormsKept::narrow ? form_and_rank_[row] : wide_form_and_rank_[row];
      form = both / rows;
      rank = both % rows;
    }
    const Form& of = forms_[form];
    const std::byte* const bytes = bytes_.data();
    if (of.values == 0) return {of.shape, packed_.data() + of.begin, bytes, rank};
    return {of.shape, bytes + of.begin + rank * of.values * sizeof(std::uint64_t)};
  }

  // What stays of the rows of a shape: some of their places, in this order, as rows of `shape`.
  struct Kept {
    std::uint32_t shape = 0;
    std::vector<std::uint32_t> places;
  };
  // The same rows with what stays of them, by their shape; of them there are so many.
  ArgumentBlock with_places(std::span<const Kept> kept_of_shape, std::size_t row_count) const;
  bool has_any(std::span<const Kept> kept_of_shape) const;  // whether any place stays

  std::size_t bytes() const;  // that it takes in memory

 private:
  friend class BlockPacker;
  ArgumentBlock() = default;

  // The rows of one shape.
  struct Form {
    std::uint32_t shape = 0;
    std::uint32_t values = 0;  // of each row, which are not packed; 0: packed
    std::uint64_t begin = 0;   // in `packed_`, or else in `bytes_`
  };

  enum class FormsKept : std::uint8_t { one, narrow, wide };

  std::vector<std::uint32_t> rows_of_forms(std::size_t row_count) const;

  FormsKept forms_kept_ = FormsKept::one;
  std::vector<Form> forms_;
  std::vector<PackedValues> packed_;
  // Of each row: its form and how many rows of that form are before it; in one of the two where
  // there are several forms.
  std::vector<std::uint16_t> form_and_rank_;
  std::vector<std::uint32_t> wide_form_and_rank_;
  Column<std::byte> bytes_;  // and 8 more, so that a distance can be read as 8 bytes
};

}  // namespace npuscope
