#include "ingest/delimited.hpp"

#include <bit>
#include <cstring>

#include "base/text.hpp"

namespace npuscope {
namespace {

constexpr std::size_t max_record_bytes = std::size_t{64} << 10;

// The first `wanted` from `at` on, else `end`. Most cells end within a few bytes, where a call of
// memchr takes longer than the search.
const char* find_byte(const char* at, const char* end, char wanted) {
  constexpr std::uint64_t ones = 0x0101010101010101, low_bits = ones * 0x7f;
  constexpr int words = 3;
  for (int i = 0; i < words && end - at >= 8; ++i, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    word ^= ones * static_cast<unsigned char>(wanted);
    const std::uint64_t found = ~(((word & low_bits) + low_bits) | word | low_bits);
    static_assert(std::endian::native == std::endian::little);
    if (found != 0) return at + std::countr_zero(found) / 8;
  }
  const void* const found = std::memchr(at, wanted, std::size_t(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

}  // namespace

bool DelimitedReader::next() {
  std::string_view line;
  const std::size_t cells_before = cells_.size();
  if (!lines_.next(line)) return false;
  offset_ = lines_.offset();
  if (offset_ == 0) line = without_byte_order_mark(line);
  cells_.clear();
  unquoted_.clear();
  if (line.size() < max_record_bytes && split(line)) return !is_cut(cells_before);
  cells_.clear();
  fields_.assign(1, {});
  record_bytes_ = 0;
  is_quoted_ = false;
  while (take_line(line) && lines_.next(line)) fields_.back() += '\n';
  cells_.assign(fields_.begin(), fields_.end());
  return !is_cut(cells_before);
}

bool DelimitedReader::is_cut(std::size_t cells_before) {
  if (!lines_.is_unended() || cells_before == 0) return false;
  const bool is_part = cells_.size() < cells_before;
  losses_.add(is_part ? Severity::error : Severity::warning, offset_,
              is_part ? "the file ends in the middle of a row; left out"
                      : "the last row has no line end: the file may be cut short");
  return is_part;
}

bool DelimitedReader::split(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find('\r') != line.npos) return false;
  const char* begin = line.data();
  const char* const end = begin + line.size();
  while (true) {
    const char* at = begin;
    if (at != end && *at == '"') {
      if (!take_quoted(at, end)) return false;
    } else {
      at = find_byte(begin, end, delimiter_);
      cells_.emplace_back(begin, std::size_t(at - begin));
    }
    if (at == end) return true;
    begin = at + 1;
  }
}

bool DelimitedReader::take_quoted(const char*& at, const char* end) {
  const char* const begin = ++at;
  bool has_doubled = false;
  for (at = find_byte(at, end, '"'); at != end; at = find_byte(at + 2, end, '"')) {
    if (at + 1 == end || at[1] != '"') break;
    has_doubled = true;
  }
  if (at == end) return false;
  const std::string_view quoted(begin, std::size_t(at - begin));
  if (++at != end && *at != delimiter_) return false;
  if (!has_doubled) {
    cells_.push_back(quoted);
    return true;
  }
  std::string& plain = unquoted_.emplace_back();
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    plain += quoted[i];
    i += quoted[i] == '"';
  }
  cells_.push_back(plain);
  return true;
}

std::vector<std::string>& DelimitedReader::fields() {
  // Cells may lie in what were fields before.
  std::vector<std::string> made(cells_.begin(), cells_.end());
  fields_.swap(made);
  cells_.assign(fields_.begin(), fields_.end());
  return fields_;
}

bool DelimitedReader::take_line(std::string_view line) {
  record_bytes_ += line.size() + 1;
  if (record_bytes_ > max_record_bytes) {
    losses_.add(Severity::warning, offset_, "rows of more than 64 KiB; cut");
    return false;
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (is_quoted_) {
      if (c != '"') {
        fields_.back() += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        fields_.back() += line[++i];
      } else {
        is_quoted_ = false;
      }
    } else if (c == '"' && fields_.back().empty()) {
      is_quoted_ = true;
    } else if (c == delimiter_) {
      fields_.emplace_back();
    } else if (c != '\r') {
      fields_.back() += c;
    }
  }
  return is_quoted_;
}

}  // namespace npuscope
