// Tables of text that fit a terminal: numbers to the right, names to the left, and columns that
// matter less left out when there is no room. Names, by default the first column, are typed
// elsewhere (--op, --rule), so they are never shortened: what all of them begin with stands once
// above them, and one that is still too long has a line of its own. Other texts are shortened where
// the page is too narrow for them even so; JSON and CSV have them whole.
//
//   TextTable table({{"op", TextColumn::Align::left}, {"work"}, {"kind", …, .needed = false}});
//   table.add({"MatMul_0", "32,707", "q::ConvLayer_s1.opt"});
//   table.print(80)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::report {

// Colour with meaning, for terminals: what kind of text it is, not how it looks.
//
//   painted("WALL", Style::title, Colour::ansi)    "\x1b[1mWALL\x1b[0m"
//   painted("WALL", Style::title, Colour::none)    "WALL"

enum class Colour : std::uint8_t { none, ansi };

enum class Style : std::uint8_t {
  plain,
  title,    // of a section
  dim,      // headings of columns, remarks
  bar,      // drawn shares
  caution,  // what changes how the page is to be read
  better,
  worse,
  computes,  // what bounds an op: an engine that computes,
  moves,     // memory and its engine,
  waits,     // neither
};

// `text` is of one line.
std::string painted(std::string text, Style style, Colour colour);

// Text for terminals that show ASCII only: the marks that npuscope itself draws with become ASCII
// of the same width. Names from traces stay as they are.
//
//   ascii_marks("HTP > co…HVX 512  ▁▄█")   // "HTP > co~HVX 512  .=@"

std::string ascii_marks(std::string_view text);

struct TextColumn {
  enum class Align { left, right };
  std::string heading;
  Align align = Align::right;
  bool needed = true;  // of those not needed, the last goes first when there is no room
  Style style = Style::plain;
  bool is_bound = false;  // its cells have the style of their row
  bool is_path = false;   // what its cells begin with is folders, never a part of a file's name
};

class TextTable {
 public:
  explicit TextTable(std::vector<TextColumn> columns, std::size_t names = 0)
      : columns_(std::move(columns)), names_(names) {}

  // As many cells as columns; cells are data and are made printable.
  void add(std::vector<std::string> cells, Style of_bound = Style::plain);
  bool empty() const { return rows_.empty(); }

  // Lines of at most `width` characters, indented by two.
  std::string print(std::size_t width, Colour colour = Colour::none) const;

  // The width from which on no column is left out.
  std::size_t full_width() const;

 private:
  std::vector<std::size_t> widths() const;
  // A text beyond half of the page does not make other columns give way.
  std::size_t capped(std::size_t column, std::size_t widest, std::size_t width) const;
  void narrow(const std::vector<std::size_t>& shown, std::size_t width,
              std::vector<std::size_t>& widths) const;
  std::vector<std::vector<std::string>> cells_within(const std::vector<std::size_t>& widths) const;

  std::vector<TextColumn> columns_;
  std::size_t names_;  // the column of them
  std::vector<std::vector<std::string>> rows_;
  std::vector<Style> styles_;  // by row
};

// Columns of a terminal that well-formed text takes, one for each code point.
std::size_t columns_of(std::string_view text);

// At most `columns` code points; the middle of longer text becomes "…".
std::string shortened(std::string_view text, std::size_t columns);

// The same of texts that stand below one another. Where it would make different ones look alike,
// they keep what tells them apart: "model/…/layer.7/…/MatMul".
std::vector<std::string> shortened_apart(const std::vector<std::string>& texts,
                                         std::size_t columns);

// Lines of at most `columns` code points, at least one, which together are the text.
std::vector<std::string> cut_into_lines(std::string_view text, std::size_t columns);

}  // namespace npuscope::report
