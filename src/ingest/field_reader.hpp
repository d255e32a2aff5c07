// The same records as DelimitedReader's, for large tables of which a reader wants some fields only:
// fields are views of the text as it stands there, quotes and all, and nothing is copied.
//
//   FieldReader records(lines, losses, ',');
//   while (records.next()) number(records.fields()[8]);
//   plain_field(records.fields()[14], scratch)      of a quoted field what it says
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/line_reader.hpp"

namespace npuscope {

class FieldReader {
 public:
  FieldReader(LineReader& lines, CountedNotes& losses, char delimiter)
      : lines_(lines), losses_(losses), delimiter_(delimiter) {}

  // False at the end of the text.
  bool next();

  // Of the record, at least one; valid until the next one.
  std::span<const std::string_view> fields() const { return fields_; }
  // Where the record begins in the text.
  std::uint64_t offset() const { return offset_; }

 private:
  // Whether the record ends with its text: a quote may go on in the next line.
  bool split(std::string_view record);

  LineReader& lines_;
  CountedNotes& losses_;
  char delimiter_;
  std::vector<std::string_view> fields_;
  std::string joined_;  // of a record of several lines
  std::uint64_t offset_ = 0;
};

// Without the quotes around it, and those in it that are written twice once; `scratch` holds it
// where it has such.
std::string_view plain_field(std::string_view field, std::string& scratch);

}  // namespace npuscope
