// Numbers as nearly all writers print them, read eight digits at a time.
//
//   1682725898237.042   digits 1682725898237042, 13 of them before the point, 3 after it
//   -7                  digits 7, 1 before the point, negative
//   1e5, .5, 7., NaN    not decimals, nor is anything of more than 18 digits
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace npuscope::chrome {

struct Decimal {
  static constexpr unsigned max_digits = 18;
  // So many digits next to each other are exact as a double, and so is 10 to that power: the
  // quotient of the two is the nearest double.
  static constexpr unsigned max_exact_digits = 15;

  std::uint64_t digits = 0;  // without the point
  std::uint8_t before = 0;   // how many stand before the point; 0: no decimal
  std::uint8_t after = 0;
  bool is_negative = false;
  bool is_padded = false;  // begins with a zero that JSON does not allow: 007

  bool any() const { return before != 0; }
  std::int64_t integer() const {
    return is_negative ? -std::int64_t(digits) : std::int64_t(digits);
  }
};

inline constexpr std::uint64_t powers_of_ten[] = {1,
                                                  10,
                                                  100,
                                                  1'000,
                                                  10'000,
                                                  100'000,
                                                  1'000'000,
                                                  10'000'000,
                                                  100'000'000,
                                                  1'000'000'000,
                                                  10'000'000'000,
                                                  100'000'000'000,
                                                  1'000'000'000'000,
                                                  10'000'000'000'000,
                                                  100'000'000'000'000,
                                                  1'000'000'000'000'000};

static_assert(std::endian::native == std::endian::little, "the first digit is the lowest byte");

// Of eight digits less '0', the first in the lowest byte.
inline std::uint64_t eight_digits(std::uint64_t word) {
  constexpr std::uint64_t every_fourth = 0x000000ff000000ff;
  const std::uint64_t pairs = word * 10 + (word >> 8);  // in every second byte
  return ((pairs & every_fourth) * (100 + (std::uint64_t{1'000'000} << 32)) +
          ((pairs >> 16) & every_fourth) * (1 + (std::uint64_t{10'000} << 32))) >>
         32;
}

inline constexpr std::uint64_t every_byte = 0x0101010101010101;

// Of bytes less '0': the high bit of the first byte that is over 9; those after it may be wrong.
inline std::uint64_t beyond_digits(std::uint64_t word) {
  return ((word + every_byte * (0x7f - 9)) | word) & every_byte * 0x80;
}

// Appends the digits at `at` to `number` and says how many there are; of more than 24 no more are
// looked at. So many bytes must be readable.
inline unsigned take_digits(const char* at, std::uint64_t& number) {
  unsigned count = 0;
  for (; count < 24; count += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at + count, sizeof word);
    word ^= every_byte * '0';
    const std::uint64_t others = beyond_digits(word);
    if (others != 0) {
      const auto left = unsigned(std::countr_zero(others)) / 8;
      number = number * powers_of_ten[left] + eight_digits(word << 8 << (56 - 8 * left));
      return count + left;
    }
    number = number * powers_of_ten[8] + eight_digits(word);
  }
  return count;
}

// The decimal at `at` and where it ends; null, and no decimal, where none begins there.
// 64 bytes from `at` on must be readable.
inline const char* take_decimal(const char* at, Decimal& decimal) {
  decimal.before = 0;
  const bool is_negative = *at == '-';
  at += is_negative;
  std::uint64_t digits = 0;
  const unsigned before = take_digits(at, digits);
  const bool is_padded = *at == '0' && before > 1;
  at += before;
  unsigned after = 0;
  if (*at == '.') {
    after = take_digits(++at, digits);
    if (after == 0) return nullptr;
    at += after;
  }
  if (before == 0 || before + after > Decimal::max_digits) return nullptr;
  decimal = {digits, std::uint8_t(before), std::uint8_t(after), is_negative, is_padded};
  return at;
}

// The whole text; no decimal where it is anything else. 64 bytes from its first on must be
// readable.
inline Decimal decimal_in_place(std::string_view text) {
  Decimal decimal;
  return take_decimal(text.data(), decimal) == text.data() + text.size() ? decimal : Decimal();
}

// A time as it stands in a trace, exactly, in thousandths of its unit.
//
//   parse_thousandths("1682725898237042.25")   // 1682725898237042250
//   parse_thousandths("2.13333e+06")           // 2133330000

// Any decimal number with an optional exponent; further digits are rounded to nearest, halves away
// from zero. Nothing when it is no number or does not fit.
std::optional<std::int64_t> parse_thousandths(std::string_view text);

inline constexpr unsigned thousandths_digits = 3;

// Of what nearly all times look like: few digits, at most three of them after the point. Nothing
// where it looks otherwise.
inline std::optional<std::int64_t> thousandths_of(const Decimal& decimal) {
  constexpr unsigned few = 15;
  if (!decimal.any() || decimal.before > few || decimal.after > thousandths_digits) return {};
  return decimal.integer() * std::int64_t(powers_of_ten[thousandths_digits - decimal.after]);
}

}  // namespace npuscope::chrome
