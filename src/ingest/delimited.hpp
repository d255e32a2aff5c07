// The records of a text of fields between delimiters (CSV), as RFC 4180 quotes them: a quoted field
// may hold delimiters, line ends, and quotes written twice. One record lies in memory at a time.
//
//   DelimitedReader records(lines, losses, ',');
//   while (records.next()) take(records.cells(), records.offset());
//
// Cells are views, valid until the next record; most of them lie in the line.
// A last row without line end that has fewer fields than the one before is left out, with a note; a
// whole one is handed out, with a note that it may not be. A byte-order mark and carriage returns
// are no part of a field. Of a record beyond 64 KiB (a quote that is never closed must not gather
// the whole file) the rest is left out, with a note.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "profile/line_reader.hpp"

namespace npuscope {

class DelimitedReader {
 public:
  DelimitedReader(LineReader& lines, CountedNotes& losses, char delimiter)
      : lines_(lines), losses_(losses), delimiter_(delimiter) {}

  // False at the end of the text.
  bool next();

  // Of the record, at least one.
  const std::vector<std::string_view>& cells() const { return cells_; }
  // The same as texts, which a caller may change.
  std::vector<std::string>& fields();
  // Where the record begins in the text.
  std::uint64_t offset() const { return offset_; }

 private:
  // Of a record that ends with its line and has quotes around whole fields only; false: it may not
  // be one.
  bool split(std::string_view line);
  bool is_cut(std::size_t cells_before);
  bool take_quoted(const char*& at, const char* end);
  // Whether the record goes on in the next line.
  bool take_line(std::string_view line);

  LineReader& lines_;
  CountedNotes& losses_;
  char delimiter_;
  std::vector<std::string_view> cells_;
  std::vector<std::string> fields_;
  std::deque<std::string> unquoted_;  // fields in which quotes are written twice
  std::uint64_t offset_ = 0;
  std::size_t record_bytes_ = 0;
  bool is_quoted_ = false;
};

}  // namespace npuscope
