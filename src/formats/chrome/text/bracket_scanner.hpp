// Finds where the events of a list end, at gigabytes a second: it only knows strings and brackets,
// 64 bytes at a time, as the first stage of simdjson does. In a sound trace every event ends where
// it says; in a damaged one it may be wrong, and the parser notices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/chrome/text/block_masks.hpp"

namespace npuscope::chrome {

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
