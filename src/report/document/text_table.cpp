#include "report/document/text_table.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"

namespace npuscope::report {

std::string painted(std::string text, Style style, Colour colour) {
  if (colour == Colour::none || style == Style::plain || text.empty()) return text;
  const char* codes[] = {"", "1", "2", "36", "33", "32", "31", "32", "35", "33"};
  return "\x1b[" + std::string(codes[std::size_t(style)]) + "m" + std::move(text) + "\x1b[0m";
}

std::string ascii_marks(std::string_view text) {
  constexpr std::pair<std::string_view, char> marks[] = {
      {"…", '~'}, {"▁", '.'}, {"▂", ':'}, {"▃", '-'}, {"▄", '='}, {"▅", '+'},
      {"▆", '*'}, {"▇", '#'}, {"█", '@'}, {"▏", '.'}, {"▎", '.'}, {"▍", ':'},
      {"▌", '-'}, {"▋", '='}, {"▊", '+'}, {"▉", '#'}, {"·", '-'}};
  std::string ascii;
  ascii.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::pair<std::string_view, char>* found = nullptr;
    for (const auto& mark : marks) {
      if (text.substr(i, mark.first.size()) == mark.first) found = &mark;
    }
    ascii += found != nullptr ? found->second : text[i];
    i += found != nullptr ? found->first.size() : 1;
  }
  return ascii;
}

namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t gap = 2;
constexpr std::size_t min_name_column = 12;
// Columns that matter less make room for so much of the names, or a third of the width.
constexpr std::size_t comfortable_name_column = 24;
// Printing a cell needs no more than the widest terminal shows.
constexpr std::size_t max_cell_bytes = 2'000;

// Of the column of names, before others make room for it.
std::size_t wanted_of(std::size_t widest, std::size_t width) {
  return std::min(widest, std::max(comfortable_name_column, width / 3));
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

// Of code points.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  std::size_t bytes = 0;
  while (bytes < std::min(a.size(), b.size()) && a[bytes] == b[bytes]) ++bytes;
  while (bytes > 0 && ((bytes < a.size() && !begins_character(a[bytes])) ||
                       (bytes < b.size() && !begins_character(b[bytes])))) {
    --bytes;
  }
  return columns_of(a.substr(0, bytes));
}

std::size_t common_suffix(std::string_view a, std::string_view b) {
  std::size_t bytes = 0;
  const std::size_t max = std::min(a.size(), b.size());
  while (bytes < max && a[a.size() - 1 - bytes] == b[b.size() - 1 - bytes]) ++bytes;
  while (bytes > 0 && !begins_character(a[a.size() - bytes])) --bytes;
  return columns_of(a.substr(a.size() - bytes));
}

// What lies between the first `prefix` and the last `suffix` code points, which others share, and
// as much of those as there is room for.
std::string around(std::string_view text, std::size_t prefix, std::size_t suffix,
                   std::size_t columns) {
  const std::size_t length = columns_of(text);
  suffix = std::min(suffix, length - prefix);
  const std::size_t room = columns - 2;  // two "…"
  const std::size_t kept = std::min(length - prefix - suffix, room);
  std::size_t head = std::min(prefix, (room - kept) / 2);
  const std::size_t tail = std::min(suffix, room - kept - head);
  head = std::min(prefix, room - kept - tail);
  std::string out(text.substr(0, byte_of(text, head)));
  if (head < prefix) out += "…";
  const std::size_t from = byte_of(text, prefix), to = byte_of(text, prefix + kept);
  out += text.substr(from, to - from);
  if (prefix + kept + tail < length) out += "…";
  out += text.substr(byte_of(text, length - tail));
  return out;
}

// Texts of one group, which look alike as they are now.
void set_apart(const std::vector<std::string>& texts, const std::vector<std::size_t>& group,
               std::size_t columns, std::vector<std::string>& out) {
  const std::string& first = texts[group.front()];
  std::size_t prefix = columns_of(first), suffix = prefix;
  for (const std::size_t i : group) {
    if (texts[i] == first) continue;
    prefix = std::min(prefix, common_prefix(first, texts[i]));
    suffix = std::min(suffix, common_suffix(first, texts[i]));
  }
  for (const std::size_t i : group) out[i] = around(texts[i], prefix, suffix, columns);
}

// What all names begin with, up to a separator; empty where that is little.
std::string common_start(const std::vector<std::vector<std::string>>& rows, std::size_t names,
                         std::string_view separators) {
  constexpr std::size_t min_bytes = 4;
  if (rows.size() < 2) return {};
  std::string_view start = rows.front()[names];
  for (const auto& row : rows) {
    std::size_t same = 0;
    while (same < std::min(start.size(), row[names].size()) && start[same] == row[names][same])
      ++same;
    start = start.substr(0, same);
  }
  const std::size_t separator = start.find_last_of(separators);
  if (separator == start.npos || separator + 1 < min_bytes) return {};
  const bool has_blank = separator + 1 < start.size() && start[separator + 1] == ' ';
  start = start.substr(0, separator + (has_blank ? 2 : 1));
  for (const auto& row : rows) {
    if (row[names].size() == start.size()) return {};  // a name would be nothing but it
  }
  return std::string(start);
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

std::vector<std::string> shortened_apart(const std::vector<std::string>& texts,
                                         std::size_t columns) {
  constexpr int max_rounds = 4;  // groups that are set apart may hold groups
  constexpr std::size_t min_columns = 6;
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(shortened(text, columns));
  if (columns < min_columns) return out;
  for (int round = 0; round < max_rounds; ++round) {
    std::map<std::string, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (out[i] != texts[i]) alike[out[i]].push_back(i);
    }
    bool any = false;
    for (const auto& [shown, group] : alike) {
      const auto differs = [&](std::size_t i) { return texts[i] != texts[group.front()]; };
      if (std::none_of(group.begin(), group.end(), differs)) continue;
      set_apart(texts, group, columns, out);
      any = true;
    }
    if (!any) break;
  }
  return out;
}

std::vector<std::string> cut_into_lines(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  do {
    const std::size_t end = byte_of(text, std::max<std::size_t>(1, columns));
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  } while (!text.empty());
  return lines;
}

void TextTable::add(std::vector<std::string> cells, Style of_bound) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) {
    const bool too_long = cell.size() > max_cell_bytes;
    if (too_long) {
      cell = cell.substr(0, max_cell_bytes / 2) + " ... " +
             cell.substr(cell.size() - max_cell_bytes / 2);
    }
    cell = printable(cell);
  }
  rows_.push_back(std::move(cells));
  styles_.push_back(of_bound);
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

std::size_t TextTable::capped(std::size_t column, std::size_t widest, std::size_t width) const {
  const bool is_text = column != names_ && columns_[column].align == TextColumn::Align::left;
  return is_text ? std::min(widest, std::max(comfortable_name_column, width / 2)) : widest;
}

std::size_t TextTable::full_width() const {
  const std::vector<std::size_t> all = widths();
  const auto fits = [&](std::size_t width) {
    std::size_t rest = indent;
    for (std::size_t i = 0; i < all.size(); ++i) {
      rest += i == names_ ? 0 : gap + capped(i, all[i], width);
    }
    return rest + wanted_of(all[names_], width) <= width;
  };
  std::size_t width = indent;
  while (!fits(width)) ++width;
  return width;
}

void TextTable::narrow(const std::vector<std::size_t>& shown, std::size_t width,
                       std::vector<std::size_t>& widths) const {
  const std::vector<std::size_t> widest = this->widths();
  const auto is_text = [&](std::size_t i) {
    return i != names_ && columns_[i].align == TextColumn::Align::left;
  };
  const auto taken = [&] {
    std::size_t sum = indent + std::min(widths[names_], min_name_column);
    for (const std::size_t i : shown) sum += i == names_ ? 0 : gap + widths[i];
    return sum;
  };
  while (taken() > width) {
    const auto longest = std::max_element(shown.begin(), shown.end(), [&](auto a, auto b) {
      return (is_text(a) ? widths[a] : 0) < (is_text(b) ? widths[b] : 0);
    });
    if (longest == shown.end() || !is_text(*longest) || widths[*longest] <= min_name_column) break;
    widths[*longest] -= 1;
  }
  // What names leave goes back to the texts.
  std::size_t rest = indent + widest[names_];
  for (const std::size_t i : shown) rest += i == names_ ? 0 : gap + widths[i];
  for (const std::size_t i : shown) {
    if (!is_text(i) || rest >= width) continue;
    const std::size_t more = std::min(width - rest, widest[i] - widths[i]);
    widths[i] += more;
    rest += more;
  }
}

std::vector<std::vector<std::string>> TextTable::cells_within(
    const std::vector<std::size_t>& widths) const {
  std::vector<std::vector<std::string>> rows = rows_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i == names_) continue;
    std::vector<std::string> texts;
    bool any = false;
    for (const auto& row : rows_) {
      texts.push_back(row[i]);
      any = any || columns_of(row[i]) > widths[i];
    }
    if (!any) continue;
    texts = shortened_apart(texts, widths[i]);
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row][i] = std::move(texts[row]);
  }
  return rows;
}

std::string TextTable::print(std::size_t width, Colour colour) const {
  std::vector<std::size_t> widths = this->widths();
  std::vector<std::size_t> shown(columns_.size());
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] = i;
  const auto width_of_rest = [&] {
    std::size_t sum = indent;
    for (const std::size_t i : shown) sum += i == names_ ? 0 : gap + widths[i];
    return sum;
  };
  const std::size_t widest = widths[names_], wanted = wanted_of(widest, width);
  for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = capped(i, widths[i], width);
  while (width_of_rest() + wanted > width) {
    const auto unneeded = std::find_if(shown.rbegin(), shown.rend(), [&](std::size_t i) {
      return !columns_[i].needed && i != names_;
    });
    if (unneeded == shown.rend()) break;
    shown.erase(std::next(unneeded).base());
  }
  narrow(shown, width, widths);
  const std::vector<std::vector<std::string>> texts = cells_within(widths);
  const std::size_t room = width > width_of_rest() ? width - width_of_rest() : 0;
  widths[names_] = std::min(widest, std::max(room, std::min(widest, min_name_column)));

  const std::string_view separators = columns_[names_].is_path ? "/" : "/.:>_";
  const std::string prefix =
      widths[names_] < widest ? common_start(rows_, names_, separators) : std::string();
  std::string out;
  const auto add_line = [&](auto cell_of, auto style_of) {
    std::size_t last = shown.size();
    while (last > 1 && cell_of(shown[last - 1]).empty()) --last;
    std::string line(indent, ' ');
    std::size_t taken = indent;
    for (std::size_t at = 0; at < last; ++at) {
      const std::size_t i = shown[at];
      if (at > 0) {
        line += std::string(gap, ' ');
        taken += gap;
      }
      std::string cell = padded(cell_of(i), widths[i], columns_[i].align);
      if (i == names_ && at + 1 < last && columns_of(cell) > widths[i]) {  // a line of its own
        const std::size_t line_columns = std::max(width, min_name_column + taken) - taken;
        std::string blanks;
        for (std::string& part : cut_into_lines(cell, line_columns)) {
          line += blanks + painted(std::move(part), style_of(i), colour) + "\n";
          blanks.assign(taken, ' ');
        }
        taken += widths[i];
        line += std::string(taken, ' ');
        continue;
      }
      taken += widths[i];
      if (at + 1 == last) cell.erase(cell.find_last_not_of(' ') + 1);
      const bool is_blank = cell.find_first_not_of(' ') == std::string::npos;
      line += is_blank ? cell : painted(std::move(cell), style_of(i), colour);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  if (!prefix.empty()) {
    const std::string whole =
        "each begins with " + prefix.substr(0, prefix.find_last_not_of(' ') + 1);
    for (std::string& part : cut_into_lines(whole, std::max(width, 2 * indent) - indent)) {
      out += std::string(indent, ' ') + painted(std::move(part), Style::dim, colour) + "\n";
    }
  }
  add_line([&](std::size_t i) { return columns_[i].heading; },
           [](std::size_t) { return Style::dim; });
  for (std::size_t at = 0; at < texts.size(); ++at) {
    const auto& row = texts[at];
    add_line([&](std::size_t i) { return i == names_ ? row[i].substr(prefix.size()) : row[i]; },
             [&](std::size_t i) { return columns_[i].is_bound ? styles_[at] : columns_[i].style; });
  }
  return out;
}

}  // namespace npuscope::report
