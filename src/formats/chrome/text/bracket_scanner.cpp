#include "formats/chrome/text/bracket_scanner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace npuscope::chrome {
namespace {

constexpr char lower_case_bit = 0x20;  // makes [ of {, and ] of }: 0x5b | 0x20 = 0x7b

}  // namespace

#ifdef __x86_64__
void find_masks_plainly(const char* bytes, std::size_t count, BlockMasks* masks) {
  const auto is = [](__m128i in, char byte) { return _mm_cmpeq_epi8(in, _mm_set1_epi8(byte)); };
  const auto bits = [](__m128i mask) { return std::uint64_t(unsigned(_mm_movemask_epi8(mask))); };
  for (; count > 0; --count, bytes += block_bytes, ++masks) {
    BlockMasks found;
    for (std::size_t i = 0; i < block_bytes; i += 16) {
      const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
      const __m128i folded = _mm_or_si128(part, _mm_set1_epi8(lower_case_bit));
      found.quotes |= bits(is(part, '"')) << i;
      found.backslashes |= bits(is(part, '\\')) << i;
      found.brackets |= bits(_mm_or_si128(is(folded, '{'), is(folded, '}'))) << i;
    }
    found.strings = prefix_xor(found.quotes);
    *masks = found;
  }
}

namespace {

__attribute__((target("avx2,pclmul"))) void find_masks_avx2(const char* bytes, std::size_t count,
                                                            BlockMasks* masks) {
  const __m256i quote = _mm256_set1_epi8('"');
  const __m256i backslash = _mm256_set1_epi8('\\');
  const __m256i fold = _mm256_set1_epi8(lower_case_bit);
  const __m256i open = _mm256_set1_epi8('{');
  const __m256i close = _mm256_set1_epi8('}');
  for (; count > 0; --count, bytes += block_bytes, ++masks) {
    std::uint64_t quotes = 0;
    std::uint64_t backslashes = 0;
    std::uint64_t brackets = 0;
    for (std::size_t i = 0; i < block_bytes; i += 32) {
      const __m256i part = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + i));
      const __m256i folded = _mm256_or_si256(part, fold);
      const __m256i bracket =
          _mm256_or_si256(_mm256_cmpeq_epi8(folded, open), _mm256_cmpeq_epi8(folded, close));
      quotes |= std::uint64_t(unsigned(_mm256_movemask_epi8(_mm256_cmpeq_epi8(part, quote)))) << i;
      backslashes |=
          std::uint64_t(unsigned(_mm256_movemask_epi8(_mm256_cmpeq_epi8(part, backslash)))) << i;
      brackets |= std::uint64_t(unsigned(_mm256_movemask_epi8(bracket))) << i;
    }
    // A product without carries by all ones is the exclusive or of all bits below.
    const __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128(std::int64_t(quotes)), _mm_set1_epi8(char(0xff)), 0);
    *masks = {quotes, std::uint64_t(_mm_cvtsi128_si64(product)), backslashes, brackets};
  }
}

}  // namespace

void find_masks(const char* bytes, std::size_t count, BlockMasks* masks) {
  static const bool has_avx2 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("pclmul") != 0;
  (has_avx2 ? find_masks_avx2 : find_masks_plainly)(bytes, count, masks);
}
#else
void find_masks_plainly(const char* bytes, std::size_t count, BlockMasks* masks) {
  for (; count > 0; --count, bytes += block_bytes, ++masks) {
    *masks = {};
    for (std::size_t i = 0; i < block_bytes; ++i) {
      const char folded = char(bytes[i] | lower_case_bit);
      masks->quotes |= std::uint64_t(bytes[i] == '"') << i;
      masks->backslashes |= std::uint64_t(bytes[i] == '\\') << i;
      masks->brackets |= std::uint64_t(folded == '{' || folded == '}') << i;
    }
    masks->strings = prefix_xor(masks->quotes);
  }
}

void find_masks(const char* bytes, std::size_t count, BlockMasks* masks) {
  find_masks_plainly(bytes, count, masks);
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

inline std::uint64_t BracketScanner::brackets_outside_strings(const BlockMasks& masks,
                                                              std::size_t count) {
  std::uint64_t strings = masks.strings;
  if (masks.backslashes != 0 || next_is_escaped_) {
    strings = prefix_xor(masks.quotes & ~escaped(masks.backslashes, count));
  }
  strings ^= in_string_;
  in_string_ = std::uint64_t(std::int64_t(strings) >> 63);
  return masks.brackets & ~strings;
}

inline void BracketScanner::walk(std::uint64_t brackets, const char* block, std::size_t base,
                                 Found& found) {
  for (; brackets != 0; brackets &= brackets - 1) {
    const auto at = std::size_t(std::countr_zero(brackets));
    const bool opens = block[at] == '{' || block[at] == '[';
    if (opens) {
      ++depth_;
    } else if (depth_ > 0) {
      if (--depth_ == 0) found.last_event_end = base + at + 1;
    } else if (block[at] == ']') {
      found.list_end = base + at;
      return;
    } else {
      ++found.stray_brackets;
    }
  }
}

BracketScanner::Found BracketScanner::scan(std::string_view bytes) {
  constexpr std::size_t most_blocks = 64;
  std::array<BlockMasks, most_blocks> masks;
  Found found;
  std::size_t base = 0;
  while (bytes.size() - base >= block_bytes) {
    const std::size_t blocks = std::min((bytes.size() - base) / block_bytes, most_blocks);
    find_masks(bytes.data() + base, blocks, masks.data());
    for (std::size_t i = 0; i < blocks; ++i, base += block_bytes) {
      walk(brackets_outside_strings(masks[i], block_bytes), bytes.data() + base, base, found);
      if (found.list_end) return found;
    }
  }
  if (base < bytes.size()) {
    const std::size_t count = bytes.size() - base;
    std::array<char, block_bytes> last;
    last.fill(' ');
    std::memcpy(last.data(), bytes.data() + base, count);
    find_masks(last.data(), 1, masks.data());
    walk(brackets_outside_strings(masks[0], count), last.data(), base, found);
  }
  return found;
}

}  // namespace npuscope::chrome
