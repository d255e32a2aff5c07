#include "report/document/text_table.hpp"

#include <algorithm>

#include "npuscope/base/text.hpp"

namespace npuscope::report {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t gap = 2;
constexpr std::size_t least_first_column = 12;
// Columns that matter less make room for so much of the first one, or a third of the width.
constexpr std::size_t comfortable_first_column = 24;
// Printing a cell needs no more than the widest terminal shows.
constexpr std::size_t most_cell_bytes = 2'000;

// Of the first column, before others make room for it.
std::size_t wanted_of(std::size_t widest, std::size_t width) {
  return std::min(widest, std::max(comfortable_first_column, width / 3));
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// The byte at which code point `count` begins.
std::size_t byte_of(std::string_view text, std::size_t count) {
  std::size_t byte = 0;
  for (; byte < text.size(); ++byte) {
    if (begins_character(text[byte]) && count-- == 0) break;
  }
  return byte;
}

std::string padded(const std::string& text, std::size_t width, TextColumn::Align align) {
  const std::size_t columns = columns_of(text);
  const std::string blanks(width > columns ? width - columns : 0, ' ');
  return align == TextColumn::Align::left ? text + blanks : blanks + text;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return std::size_t(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(std::string_view text, std::size_t columns) {
  const std::size_t length = columns_of(text);
  if (length <= columns) return std::string(text);
  if (columns == 0) return {};
  const std::size_t head = (columns - 1) / 2, tail = columns - 1 - head;
  return std::string(text.substr(0, byte_of(text, head))) + "…" +
         std::string(text.substr(byte_of(text, length - tail)));
}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) {
    const bool too_long = cell.size() > most_cell_bytes;
    if (too_long) {
      cell = cell.substr(0, most_cell_bytes / 2) + " ... " +
             cell.substr(cell.size() - most_cell_bytes / 2);
    }
    cell = printable(cell);
  }
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = columns_of(columns_[i].heading);
    for (const auto& row : rows_) widest = std::max(widest, columns_of(row[i]));
    widths.push_back(widest);
  }
  return widths;
}

std::size_t TextTable::full_width() const {
  const std::vector<std::size_t> all = widths();
  std::size_t rest = indent;
  for (std::size_t i = 1; i < all.size(); ++i) rest += gap + all[i];
  const auto fits = [&](std::size_t width) { return rest + wanted_of(all[0], width) <= width; };
  std::size_t width = rest;
  while (!fits(width)) ++width;
  return width;
}

std::string TextTable::print(std::size_t width) const {
  std::vector<std::size_t> widths = this->widths();
  std::vector<std::size_t> shown(columns_.size());
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = i;
  const auto width_of_rest = [&] {
    std::size_t sum = indent;
    for (std::size_t i = 1; i < shown.size(); ++i) sum += gap + widths[shown[i]];
    return sum;
  };
  const std::size_t wanted = wanted_of(widths[0], width);
  while (width_of_rest() + wanted > width) {
    const auto unneeded = std::find_if(shown.rbegin(), shown.rend() - 1,
                                       [&](std::size_t i) { return !columns_[i].needed; });
    if (unneeded == shown.rend() - 1) break;
    shown.erase(std::next(unneeded).base());
  }
  const std::size_t room = width > width_of_rest() ? width - width_of_rest() : 0;
  widths[0] = std::min(widths[0], std::max(room, std::min(widths[0], least_first_column)));

  std::string out;
  const auto add_line = [&](auto cell_of) {
    std::string line(indent, ' ');
    for (const std::size_t i : shown) {
      if (i != shown.front()) line += std::string(gap, ' ');
      line += padded(shortened(cell_of(i), i == 0 ? widths[0] : widths[i]), widths[i],
                     columns_[i].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line([&](std::size_t i) { return columns_[i].heading; });
  for (const auto& row : rows_) add_line([&](std::size_t i) { return row[i]; });
  return out;
}

}  // namespace npuscope::report
