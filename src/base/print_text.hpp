// Numbers and short texts printed into a buffer that has room for them; each function returns where
// the text ends. For writers of millions of lines, which spend their time in nothing else: the text
// is that of std::to_chars.
//
//   char line[64];
//   char* at = print_text(line, "width ");
//   at = print_integer(at, 1280);        // at most max_number_size characters
//   at = print_shortest(at, 0.25);
//   std::string_view(line, at - line)    // "width 12800.25"
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace npuscope {

inline constexpr std::size_t max_number_size = 40;

// Names are short: a call of memcpy costs more than copying them. Nothing beyond the text is read
// or written.
[[gnu::always_inline]] inline char* print_text(char* at, std::string_view text) {
  const std::size_t size = text.size();
  // The two pieces overlap.
  const auto in_two = [&]<std::size_t piece>(std::integral_constant<std::size_t, piece>) {
    std::memcpy(at, text.data(), piece);
    std::memcpy(at + size - piece, text.data() + size - piece, piece);
  };
  if (size > 64) {
    std::memcpy(at, text.data(), size);
  } else if (size >= 32) {
    in_two(std::integral_constant<std::size_t, 32>());
  } else if (size >= 16) {
    in_two(std::integral_constant<std::size_t, 16>());
  } else if (size >= 8) {
    in_two(std::integral_constant<std::size_t, 8>());
  } else if (size >= 4) {
    in_two(std::integral_constant<std::size_t, 4>());
  } else if (size > 0) {
    at[0] = text[0];
    at[size / 2] = text[size / 2];
    at[size - 1] = text[size - 1];
  }
  return at + size;
}

inline char* print_in_quotes(char* at, std::string_view text) {
  *at = '"';
  at = print_text(at + 1, text);
  *at = '"';
  return at + 1;
}

namespace printing {

struct DigitPairs {
  char text[200] = {};
  constexpr DigitPairs() {
    for (int i = 0; i < 100; ++i) {
      text[2 * i] = char('0' + i / 10);
      text[2 * i + 1] = char('0' + i % 10);
    }
  }
};
inline constexpr DigitPairs pairs;

inline char* print_pair(char* at, std::uint64_t number) {
  std::memcpy(at, pairs.text + 2 * number, 2);
  return at + 2;
}

// Of the leading pair of digits those that count.
inline char* print_leading(char* at, std::uint64_t number) {
  if (number >= 10) return print_pair(at, number);
  *at = char('0' + number);
  return at + 1;
}

// The upper half of `fraction` is a pair of digits, the lower one what follows, in 2^32ths.
inline std::uint64_t next_pair(std::uint64_t fraction) { return (fraction & 0xFFFF'FFFF) * 100; }

// Numbers below 10^8. A number over a power of 100 in 2^32ths, a little more than it is so that
// cutting it off is right: its pairs of digits come out one after the other by multiplying.
inline char* print_below_100_million(char* at, std::uint32_t number) {
  if (number < 100) return print_leading(at, number);
  std::uint64_t fraction = 0;
  if (number < 10'000) {
    fraction = std::uint64_t(number) * 42'949'673;  // 2^32 / 100
    at = print_leading(at, fraction >> 32);
    return print_pair(at, next_pair(fraction) >> 32);
  }
  if (number < 1'000'000) {
    fraction = std::uint64_t(number) * 429'497;  // 2^32 / 10^4
    at = print_leading(at, fraction >> 32);
  } else {
    fraction = ((std::uint64_t(number) * 281'474'978) >> 16) + 1;  // 2^48 / 10^6
    at = print_leading(at, fraction >> 32);
    fraction = next_pair(fraction);
    at = print_pair(at, fraction >> 32);
  }
  fraction = next_pair(fraction);
  at = print_pair(at, fraction >> 32);
  return print_pair(at, next_pair(fraction) >> 32);
}

// With zeros before it.
inline char* print_eight_digits(char* at, std::uint32_t number) {
  std::uint64_t fraction = ((std::uint64_t(number) * 281'474'978) >> 16) + 1;
  for (int i = 0; i < 4; ++i) {
    at = print_pair(at, fraction >> 32);
    fraction = next_pair(fraction);
  }
  return at;
}

[[gnu::noinline]] inline char* print_large(char* at, std::uint64_t number) {
  constexpr std::uint64_t limit = 100'000'000;
  const std::uint64_t upper = number / limit;
  at = upper < limit ? print_below_100_million(at, std::uint32_t(upper))
                     : print_eight_digits(print_below_100_million(at, std::uint32_t(upper / limit)),
                                          std::uint32_t(upper % limit));
  return print_eight_digits(at, std::uint32_t(number % limit));
}

}  // namespace printing

template <std::integral Integer>
char* print_integer(char* at, Integer number) {
  auto size = std::uint64_t(number);
  if constexpr (std::is_signed_v<Integer>) {
    if (number < 0) {
      *at++ = '-';
      size = 0 - size;
    }
  }
  if (size >= 100'000'000) return printing::print_large(at, size);
  return printing::print_below_100_million(at, std::uint32_t(size));
}

// The fewest characters that read back as the same number, 1e+05 and 0.001 but 1e-05; "nan", "inf".
char* print_shortest(char* at, double number);
// The same, but 2.0 where that is 2: a number that says that it is a double.
char* print_shortest_with_point(char* at, double number);

}  // namespace npuscope
