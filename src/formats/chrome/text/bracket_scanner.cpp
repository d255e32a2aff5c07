#include "formats/chrome/text/bracket_scanner.hpp"

#include <array>
#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace npuscope::chrome {
namespace {

constexpr std::size_t block_bytes = 64;
constexpr char lower_case_bit = 0x20;  // makes [ of {, and ] of }: 0x5b | 0x20 = 0x7b

// Bit i: the exclusive or of bits 0 to i, so the bits from each quote to before the next.
std::uint64_t prefix_xor(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

}  // namespace

#ifdef __SSE2__
BracketScanner::Masks BracketScanner::masks_of(const char* bytes) {
  const auto is = [](__m128i in, char byte) { return _mm_cmpeq_epi8(in, _mm_set1_epi8(byte)); };
  const auto bits = [](__m128i mask) { return std::uint64_t(unsigned(_mm_movemask_epi8(mask))); };
  Masks masks;
  for (std::size_t i = 0; i < block_bytes; i += 16) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    const __m128i folded = _mm_or_si128(part, _mm_set1_epi8(lower_case_bit));
    const __m128i brackets = _mm_or_si128(is(folded, '{'), is(folded, '}'));
    masks.quotes |= bits(is(part, '"')) << i;
    masks.backslashes |= bits(is(part, '\\')) << i;
    masks.brackets |= bits(brackets) << i;
  }
  return masks;
}
#else
BracketScanner::Masks BracketScanner::masks_of(const char* bytes) {
  Masks masks;
  for (std::size_t i = 0; i < block_bytes; ++i) {
    const char folded = char(bytes[i] | lower_case_bit);
    masks.quotes |= std::uint64_t(bytes[i] == '"') << i;
    masks.backslashes |= std::uint64_t(bytes[i] == '\\') << i;
    masks.brackets |= std::uint64_t(folded == '{' || folded == '}') << i;
  }
  return masks;
}
#endif

// Backslashes are rare: walked one by one.
std::uint64_t BracketScanner::escaped(std::uint64_t backslashes, std::size_t count) {
  std::uint64_t escaped = next_is_escaped_ ? 1 : 0;
  next_is_escaped_ = false;
  while (backslashes != 0) {
    const auto at = std::size_t(std::countr_zero(backslashes));
    backslashes &= backslashes - 1;
    if ((escaped >> at & 1) != 0) continue;
    if (at + 1 == count) {
      next_is_escaped_ = true;
    } else {
      escaped |= std::uint64_t{1} << (at + 1);
    }
  }
  return escaped;
}

std::uint64_t BracketScanner::brackets_outside_strings(const Masks& masks, std::size_t count) {
  std::uint64_t quotes = masks.quotes;
  if (masks.backslashes != 0 || next_is_escaped_) quotes &= ~escaped(masks.backslashes, count);
  const std::uint64_t in_string = prefix_xor(quotes) ^ in_string_;
  in_string_ = std::uint64_t(std::int64_t(in_string) >> 63);
  return masks.brackets & ~in_string;
}

void BracketScanner::walk(std::uint64_t brackets, std::size_t base, std::string_view bytes,
                          Found& found) {
  for (; brackets != 0; brackets &= brackets - 1) {
    const std::size_t at = base + std::size_t(std::countr_zero(brackets));
    if ((bytes[at] | lower_case_bit) == '{') {
      ++depth_;
    } else if (depth_ > 0) {
      if (--depth_ == 0) found.last_event_end = at + 1;
    } else if (bytes[at] == ']') {
      found.list_end = at;
      return;
    } else {
      ++found.stray_brackets;
    }
  }
}

BracketScanner::Found BracketScanner::scan(std::string_view bytes) {
  Found found;
  std::size_t base = 0;
  for (; base + block_bytes <= bytes.size() && !found.list_end; base += block_bytes) {
    const Masks masks = masks_of(bytes.data() + base);
    walk(brackets_outside_strings(masks, block_bytes), base, bytes, found);
  }
  if (base < bytes.size() && !found.list_end) {
    const std::size_t count = bytes.size() - base;
    std::array<char, block_bytes> last;
    last.fill(' ');
    std::memcpy(last.data(), bytes.data() + base, count);
    const Masks masks = masks_of(last.data());
    walk(brackets_outside_strings(masks, count), base, bytes, found);
  }
  return found;
}

}  // namespace npuscope::chrome
