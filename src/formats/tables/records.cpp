#include "formats/tables/records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/tables/cell_numbers.hpp"
#include "formats/tables/json_records.hpp"
#include "formats/tables/table_profile.hpp"
#include "ingest/delimited.hpp"

namespace npuscope::tables {
namespace {

constexpr std::uint64_t max_table_bytes = std::uint64_t{16}
                                          << 30;  // rows become ops: memory ends first

class CsvRecords : public Records {
 public:
  CsvRecords(ByteSource& source, const TableDescription& description, CountedNotes& losses)
      : lines_(source, losses, {.max_bytes = max_table_bytes}),
        records_(lines_, losses, description.delimiter) {}

  bool next() override { return records_.next(); }
  const Fields& fields() const override { return records_.cells(); }
  std::uint64_t offset() const override { return records_.offset(); }
  const std::optional<Error>* error() const override { return &lines_.error(); }

 private:
  LineReader lines_;
  DelimitedReader records_;
};

// Colours of a terminal.
std::string without_escapes(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      while (i < line.size() && !is_letter(line[i])) ++i;
    } else if (line[i] != '\r') {
      plain += line[i];
    }
  }
  return plain;
}

// Lines of a log whose fields stand under their heads, or between delimiters without quotes.
class LineRecords : public Records {
 public:
  LineRecords(ByteSource& source, const TableDescription& description, CountedNotes& losses)
      : description_(description), lines_(source, losses) {}

  bool next() override {
    std::string_view raw;
    if (!lines_.next(raw)) return false;
    if (lines_.offset() == 0) raw = without_byte_order_mark(raw);
    if (raw.ends_with('\r')) raw.remove_suffix(1);
    if (raw.find('\x1b') != raw.npos) raw = plain_ = without_escapes(raw);
    if (description_.line_begins) {
      // A line that nothing stands before is as it is.
      const std::string_view before = description_.line_begins->group_in(raw);
      if (raw.starts_with(before)) raw.remove_prefix(before.size());
    }
    fields_.clear();
    line_ = trimmed(raw);
    if (description_.layout == TableLayout::separated) {
      split(raw);
    } else {
      cut(raw);
    }
    return true;
  }
  const Fields& fields() const override { return fields_; }
  std::string_view line() const override { return line_; }
  std::uint64_t offset() const override { return lines_.offset(); }
  const std::optional<Error>* error() const override { return &lines_.error(); }

 private:
  struct Head {
    std::size_t begin = 0, end = 0;
  };

  void split(std::string_view line) {
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find(description_.delimiter, at), line.size());
      fields_.emplace_back(trimmed(line.substr(at, end - at)));
      at = end + 1;
    }
  }

  void cut(std::string_view line) {
    if (take_header(line)) return;
    // A rule stands below a header, or below the last row.
    const bool ends = trimmed(line).empty() || (has_rows_ && is_rule(line));
    if (ends) heads_.clear();
    has_rows_ = !heads_.empty() && (has_rows_ || !is_rule(line));
    if (!has_rows_ || is_rule(line)) {
      fields_.emplace_back(ends ? std::string_view() : trimmed(line));
    } else if (description_.layout == TableLayout::right) {
      cut_around_numbers(line);
    } else {
      cut_below_heads(line);
    }
  }

  // "-----------"
  static bool is_rule(std::string_view line) {
    line = trimmed(line);
    return line.size() > 2 && line.find_first_not_of("-=+| ") == line.npos;
  }

  // Where every head that must be there stands in the line as a word of its own.
  bool take_header(std::string_view line) {
    std::vector<Head> heads;
    for (const TableColumn& column : description_.columns) {
      std::size_t at = line.find(column.head);
      while (at != line.npos && !is_word(line, at, column.head.size(), heads)) {
        at = line.find(column.head, at + 1);
      }
      const bool is_once_more = std::ranges::any_of(heads, [&](Head head) {
        return line.substr(head.begin, head.end - head.begin) == column.head;
      });
      if (at == line.npos && !column.optional && !is_once_more) return false;
      if (at != line.npos) heads.push_back({at, at + column.head.size()});
    }
    std::ranges::sort(heads, {}, &Head::begin);
    const std::size_t described = heads.size();
    for (std::size_t at = 0, known = 0; at < line.size() && heads.size() < max_heads;) {
      while (known < described && heads[known].end <= at) ++known;
      if (known < described && heads[known].begin <= at) {
        at = heads[known].end;
      } else if (line[at] == ' ' || line[at] == '\t') {
        ++at;
      } else {  // one that the description does not name
        const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
        heads.push_back({at, end});
        at = end;
      }
    }
    std::ranges::sort(heads, {}, &Head::begin);
    heads_ = std::move(heads);
    has_rows_ = false;
    for (const Head& head : heads_)
      fields_.emplace_back(line.substr(head.begin, head.end - head.begin));
    return true;
  }
  static constexpr std::size_t max_heads = 256;
  static bool is_word(std::string_view line, std::size_t at, std::size_t length,
                      const std::vector<Head>& taken) {
    const auto is_blank = [&](std::size_t i) { return line[i] == ' ' || line[i] == '\t'; };
    return (at == 0 || is_blank(at - 1)) && (at + length == line.size() || is_blank(at + length)) &&
           std::ranges::none_of(taken, [&](Head head) { return head.begin == at; });
  }

  // Numbers between two texts, which may hold blanks and be too long: the first run of as many.
  // Else all but the first are words.
  void cut_around_numbers(std::string_view line) {
    words_.clear();
    for (std::size_t at = line.find_first_not_of(" \t"); at < line.size();) {
      const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
      words_.push_back({at, end});
      at = line.find_first_not_of(" \t", end);
    }
    const std::size_t texts = 2, all = heads_.size();
    if (all <= texts || words_.size() < all) {
      fields_.emplace_back(trimmed(line));
      return;
    }
    std::size_t first = words_.size() - all + 1, run = 0;
    for (std::size_t i = 1; i < words_.size() && run < all - texts; ++i) {
      const Head word = words_[i];
      run = number_in(line.substr(word.begin, word.end - word.begin)) ? run + 1 : 0;
      if (run == all - texts) first = i + 1 - run;
    }
    const auto cut = [&](std::size_t from, std::size_t to) {
      fields_.emplace_back(line.substr(words_[from].begin, words_[to].end - words_[from].begin));
    };
    cut(0, first - 1);
    for (std::size_t i = first; i < first + all - texts; ++i) cut(i, i);
    cut(first + all - texts, words_.size() - 1);
  }

  // A text that is too long for its place moves what follows; a blank stands after it.
  void cut_below_heads(std::string_view line) {
    std::size_t at = 0, moved = 0;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      std::size_t end = line.size();
      if (i + 1 < heads_.size()) {
        end = std::min(heads_[i + 1].begin + moved, line.size());
        if (end > at && end < line.size() && line[end - 1] != ' ') {
          const std::size_t blank = std::min(line.find(' ', end), line.size());
          moved += std::min(blank + 1, line.size()) - end;
          end = blank;
        }
      }
      fields_.emplace_back(trimmed(line.substr(at, end - at)));
      at = i + 1 < heads_.size() ? std::min(heads_[i + 1].begin + moved, line.size()) : end;
    }
  }

  const TableDescription& description_;
  LineReader lines_;
  std::string plain_;  // the line without colours
  std::string_view line_;
  std::vector<Head> words_;  // of the line
  std::vector<Head> heads_;  // of the table that goes on
  bool has_rows_ = false;
  Fields fields_;
};

}  // namespace

std::string plain_head(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '\n', ' ');
  return std::string(trimmed(plain));
}

Result<std::unique_ptr<Records>> open_records(ByteSource& source,
                                              const TableDescription& description,
                                              CountedNotes& losses) {
  if (description.layout == TableLayout::json) return open_json_records(source, description);
  if (description.layout == TableLayout::csv) {
    return std::make_unique<CsvRecords>(source, description, losses);
  }
  return std::make_unique<LineRecords>(source, description, losses);
}

}  // namespace npuscope::tables
