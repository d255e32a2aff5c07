// Bit fields of records, little endian, eight bytes at a time.
#pragma once

#include <cstdint>
#include <cstring>

#include "formats/sigmastar/log_layout.hpp"

namespace npuscope::sigmastar {

constexpr std::uint64_t low_bits(std::uint32_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// Where a field lies, worked out once. A read takes eight bytes from `byte` on.
struct PlacedField {
  explicit PlacedField(const BitField& field)
      : byte(field.bit / 8), shift(field.bit % 8), mask(low_bits(field.bits)) {}

  std::uint64_t read(const std::byte* record) const {
    std::uint64_t word;
    std::memcpy(&word, record + byte, sizeof(word));
    return (word >> shift) & mask;
  }
  void write(std::byte* record, std::uint64_t value) const {
    std::uint64_t word;
    std::memcpy(&word, record + byte, sizeof(word));
    word = (word & ~(mask << shift)) | ((value & mask) << shift);
    std::memcpy(record + byte, &word, sizeof(word));
  }

  std::uint32_t byte, shift;
  std::uint64_t mask;
};

}  // namespace npuscope::sigmastar
