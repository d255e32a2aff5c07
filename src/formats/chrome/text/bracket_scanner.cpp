#include "formats/chrome/text/bracket_scanner.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace npuscope::chrome {
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
