// Finds where the events of a list end, at gigabytes a second: it only knows strings and brackets,
// 64 bytes at a time, as the first stage of simdjson does. In a sound trace every event ends where
// it says; in a damaged one it may be wrong, and the parser notices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace npuscope::chrome {

// Where the bytes stand that matter to a reader of JSON that looks for brackets, as bits: 64 bytes
// of text are a block, and its first byte is the lowest bit. Written for the widest registers that
// the processor has.
//
//   text      {"a":"}"}
//   quotes     1 1 1 1       (bits 1, 3, 5 and 7)
//   strings    11  11        from each quote to before the next, as if no quote were escaped
//   brackets  1     1 1      of { } [ ]

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

class BracketScanner {
 public:
  struct Found {
    std::optional<std::size_t> last_event_end;  // behind the bracket
    std::optional<std::size_t> list_end;        // of the bracket that ends the list
    std::uint64_t stray_brackets = 0;           // } where no event is open
  };

  // To the start of an event, or between two.
  void restart() { *this = {}; }
  // Scans from where the last call stopped to the end of the list or of the bytes.
  Found scan(std::string_view bytes);

 private:
  std::uint64_t escaped(std::uint64_t backslashes, std::size_t count);
  std::uint64_t brackets_outside_strings(const BlockMasks& masks, std::size_t count);
  void walk(std::uint64_t brackets, const char* block, std::size_t base, Found& found);

  std::uint64_t depth_ = 0;       // 0: between events
  std::uint64_t in_string_ = 0;   // all ones: the next byte is inside a string
  bool next_is_escaped_ = false;  // by a backslash that was the last byte
};

}  // namespace npuscope::chrome
