// Colour with meaning, for terminals: what kind of text it is, not how it looks.
//
//   painted("WALL", Style::title, Colour::ansi)    "\x1b[1mWALL\x1b[0m"
//   painted("WALL", Style::title, Colour::none)    "WALL"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace npuscope::report {

enum class Colour : std::uint8_t { none, ansi };

enum class Style : std::uint8_t {
  plain,
  title,    // of a section
  dim,      // headings of columns, remarks
  bar,      // drawn shares
  caution,  // what changes how the page is to be read
  better,
  worse,
};

// `text` is of one line.
std::string painted(std::string text, Style style, Colour colour);

// Text for terminals that show ASCII only: the marks that npuscope itself draws with become ASCII
// of the same width. Names from traces stay as they are.
//
//   ascii_marks("HTP > co…HVX 512  ▁▄█")   // "HTP > co~HVX 512  .=@"

std::string ascii_marks(std::string_view text);

}  // namespace npuscope::report
