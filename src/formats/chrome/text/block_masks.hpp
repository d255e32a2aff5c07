// Where the bytes stand that matter to a reader of JSON that looks for brackets, as bits: 64 bytes
// of text are a block, and its first byte is the lowest bit. Written for the widest registers that
// the processor has.
//
//   text      {"a":"}"}
//   quotes     1 1 1 1       (bits 1, 3, 5 and 7)
//   strings    11  11        from each quote to before the next, as if no quote were escaped
//   brackets  1     1 1      of { } [ ]
#pragma once

#include <cstddef>
#include <cstdint>

namespace npuscope::chrome {

inline constexpr std::size_t block_bytes = 64;

struct BlockMasks {
  std::uint64_t quotes = 0;
  std::uint64_t strings = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t brackets = 0;
};

// Bit i: the exclusive or of bits 0 to i, so the bits from each quote to before the next.
inline std::uint64_t prefix_xor(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// Of `count` blocks at `bytes`.
void find_masks(const char* bytes, std::size_t count, BlockMasks* masks);
// The same without registers wider than any processor of this kind has.
void find_masks_plainly(const char* bytes, std::size_t count, BlockMasks* masks);

}  // namespace npuscope::chrome
