// Takes a damaged list of events apart, one JsonChecker run after the other: sound events, and the
// stretches between them that are not.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/chrome/text/resync.hpp"

namespace npuscope::chrome {

struct Piece {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool sound = false;
  bool mendable = false;  // sound once `mended`
};

struct CarefulSplit {
  std::vector<Piece> pieces;
  std::size_t end = 0;                  // of the last piece, or of what separates it from the next
  std::optional<std::size_t> list_end;  // of the ] that ends the list
  // Whether the last piece is broken and nothing after it looks like an event; `resync` then looks
  // on in what follows the text.
  bool lost = false;
  Resync resync;
};

// What follows `end` is an event without an end. The text is looked at once, however broken.
CarefulSplit split_carefully(std::string_view text);

}  // namespace npuscope::chrome
