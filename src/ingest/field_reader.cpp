#include "ingest/field_reader.hpp"

#include "base/text.hpp"

namespace npuscope {

bool FieldReader::next() {
  constexpr std::size_t max_record_bytes = std::size_t{64} << 10;
  std::string_view line;
  if (!lines_.next(line)) return false;
  offset_ = lines_.offset();
  if (offset_ == 0) line = without_byte_order_mark(line);
  if (split(line)) return true;
  joined_ = line;
  while (!split(joined_)) {
    if (!lines_.next(line)) return true;
    if (joined_.size() + line.size() > max_record_bytes) {
      losses_.add(Severity::warning, offset_, "rows of more than 64 KiB; cut");
      return true;
    }
    joined_.append("\n").append(line);
  }
  return true;
}

// A quote that does not begin a field is a character like others.
bool FieldReader::split(std::string_view record) {
  fields_.clear();
  const char delimiter = delimiter_;
  const char* const end = record.data() + record.size();
  const char* begin = record.data();
  for (;;) {
    const char* at = begin;
    if (at != end && *at == '"') {
      for (++at; at != end; ++at) {  // to the quote that ends it
        if (*at != '"') continue;
        if (at + 1 == end || at[1] != '"') break;
        ++at;
      }
      if (at == end) {
        fields_.emplace_back(begin, std::size_t(end - begin));
        return false;
      }
    }
    while (at != end && *at != delimiter) ++at;
    std::size_t size = std::size_t(at - begin);
    if (at == end && size > 0 && at[-1] == '\r') --size;
    fields_.emplace_back(begin, size);
    if (at == end) return true;
    begin = at + 1;
  }
}

std::string_view plain_field(std::string_view field, std::string& scratch) {
  if (!field.starts_with('"')) return field;
  field.remove_prefix(1);
  if (field.ends_with('"')) field.remove_suffix(1);
  if (field.find('"') == field.npos) return field;
  scratch.clear();
  for (std::size_t i = 0; i < field.size(); ++i) {
    scratch += field[i];
    if (field[i] == '"' && i + 1 < field.size() && field[i + 1] == '"') ++i;
  }
  return scratch;
}

}  // namespace npuscope
