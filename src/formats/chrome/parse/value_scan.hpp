// Where values of JSON end, 16 bytes at a time: what each value of each event goes through.
//
//   "conv1","ts":7.5,"args":[1,2]}
//    ^    text_end()
//                ^   scalar_end(), which reads the decimal on its way
//                              ^ container_end()
//
// Bytes behind `end` are read, by up to TextBuffer::slack, never believed.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "formats/chrome/parse/event_values.hpp"
#include "formats/chrome/parse/raw_strings.hpp"
#include "formats/chrome/text/chunk.hpp"

namespace npuscope::chrome {

static_assert(TextBuffer::slack > 2 * step_bytes);

// Of a text in JSON these end it or need a look: quotes, backslashes, control characters, and what
// is not ASCII.
inline bool is_special(char byte) {
  return byte == '"' || byte == '\\' || std::uint8_t(byte) < 0x20 || std::uint8_t(byte) >= 0x80;
}

#ifdef __SSE2__
inline const char* next_special(const char* at, const char* end) {
  for (; at < end; at += step_bytes) {
    const __m128i step = step_at(at);
    // As signed numbers, bytes from 0x80 on are less than 0x20 too.
    const __m128i special = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(step, _mm_set1_epi8('"')),
                                                      _mm_cmpeq_epi8(step, _mm_set1_epi8('\\'))),
                                         _mm_cmplt_epi8(step, _mm_set1_epi8(0x20)));
    const auto bits = unsigned(_mm_movemask_epi8(special));
    if (bits != 0) return std::min(at + std::countr_zero(bits), end);
  }
  return end;
}
#else
inline const char* next_special(const char* at, const char* end) {
  while (at < end && !is_special(*at)) ++at;
  return at;
}
#endif

// The quote that ends a text which has something to look at, the first of it at `at`; null where it
// is broken.
const char* end_of_unusual_text(const char* begin, const char* at, const char* end);

// The quote that ends a text; null where it is broken.
inline const char* text_end(const char* begin, const char* end) {
  const char* const at = next_special(begin, end);
  return at != end && *at == '"' ? at : end_of_unusual_text(begin, at, end);
}

inline constexpr auto scalar_bytes = [] {
  std::array<bool, 256> is{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    is[byte] = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
               (byte >= 'A' && byte <= 'Z') || byte == '+' || byte == '-' || byte == '.';
  }
  return is;
}();

// How many digits begin at `at` where they are a number of less than eight, as most are; else 0.
inline unsigned short_integer(const char* at, std::uint64_t& number) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  word ^= every_byte * '0';
  const std::uint64_t others = beyond_digits(word);
  if (others == 0) return 0;
  const auto bits = unsigned(std::countr_zero(others)) & ~7u;
  const unsigned count = bits / 8;
  if (bits == 0 || scalar_bytes[std::uint8_t(at[count])]) return 0;
  if ((word & 0xff) == 0 && count > 1) return 0;  // JSON does not allow 007
  number = eight_digits(word << (64 - bits));
  return count;
}

// Null where none begins at `begin`.
inline const char* scalar_end(const char* begin, const char* end, Decimal& decimal) {
  const char* at = take_decimal(begin, decimal);
  if (at != nullptr && at <= end && !scalar_bytes[std::uint8_t(*at)]) [[likely]]
    return at;
  decimal = {};
  at = begin;
  while (at < end && scalar_bytes[std::uint8_t(*at)]) ++at;
  return at != begin ? at : nullptr;
}

// Behind the bracket that closes the one at `at`. Only plain ones: what lies in them is looked at
// when it is new.
const char* container_end(const char* at, const char* end);

// Where a value of this kind ends that begins at `begin`; null where there is none. Of a text, the
// quote before it has been taken.
inline const char* take_value(const char* begin, const char* end, RawValue::Kind kind,
                              RawValue& value) {
  value.kind = kind;
  const char* at = nullptr;
  if (kind == RawValue::Kind::scalar) {
    at = scalar_end(begin, end, value.decimal);
  } else {
    value.decimal.before = 0;
    at = kind == RawValue::Kind::text ? text_end(begin, end) : container_end(begin, end);
  }
  value.raw = {begin, at != nullptr ? std::size_t(at - begin) : 0};
  return at;
}

}  // namespace npuscope::chrome
