#include "formats/qnn/read/literals.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/numbers.hpp"

namespace npuscope::qnn {
namespace {

// By character: what it can be part of.
constexpr std::uint8_t word_mark = 1, blank_mark = 2, end_mark = 4;
constexpr std::array<std::uint8_t, 256> marks = [] {
  std::array<std::uint8_t, 256> of{};
  for (const char c : std::string_view(" \t\n\r")) of[std::uint8_t(c)] = blank_mark;
  for (unsigned c = 'a'; c <= 'z'; ++c) of[c] = of[c - 'a' + 'A'] = word_mark;
  for (unsigned c = '0'; c <= '9'; ++c) of[c] = word_mark;
  of['_'] = word_mark;
  for (const char c : std::string_view("#'\"()[]{},:")) of[std::uint8_t(c)] = end_mark;
  return of;
}();

bool is_word(char c) { return marks[std::uint8_t(c)] == word_mark; }
bool ends_token(char c) { return marks[std::uint8_t(c)] >= blank_mark; }
bool is_blank(char c) { return marks[std::uint8_t(c)] == blank_mark; }

}  // namespace

char Literals::next_after_blanks() {
  const char* at = text_.data() + at_;
  const char* const end = text_.data() + text_.size();
  for (;;) {
    while (at != end && is_blank(*at)) ++at;
    if (at == end || *at != '#') break;
    const void* line_end = std::memchr(at, '\n', std::size_t(end - at));
    at = line_end != nullptr ? static_cast<const char*>(line_end) : end;
  }
  at_ = std::size_t(at - text_.data());
  return at == end ? '\0' : *at;
}

std::optional<std::string_view> Literals::next_assignment() {
  failed_ = false;
  if (at_ > 0) at_ = std::min(text_.find('\n', at_ - 1), text_.size());
  while (at_ < text_.size()) {
    if (text_[at_] == '\n') ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::size_t end = at_;
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    const bool assigns = at_ + 1 < text_.size() && text_[at_] == '=' && text_[at_ + 1] != '=';
    if (end > begin && assigns) {
      ++at_;
      return text_.substr(begin, end - begin);
    }
    at_ = std::min(text_.find('\n', at_), text_.size());
  }
  return std::nullopt;
}

void Literals::break_off() {
  failed_ = true;
  if (!broken_) broken_ = at_;
}

std::string_view Literals::word() {
  next();
  const std::size_t begin = at_;
  std::size_t end = begin;
  while (end < text_.size() && is_word(text_[end])) ++end;
  at_ = end;
  return text_.substr(begin, end - begin);
}

// "bytes=100352": what stands before the sign.
std::string_view Literals::argument_name() {
  const std::size_t begin = at_;
  const std::string_view name = word();
  if (!name.empty() && next() == '=') {
    ++at_;
    return name;
  }
  at_ = begin;
  return {};
}

bool Literals::take_colon() {
  if (next() != ':') return false;
  ++at_;
  return true;
}

std::optional<std::uint64_t> Literals::number_key() {
  const auto key = whole();
  if (!key || !take_colon()) return fail();
  return key;
}

std::optional<std::string_view> Literals::text_key() {
  const auto key = text();
  if (!key || !take_colon()) return fail();
  return key;
}

std::optional<std::uint64_t> Literals::whole() {
  const char first = next();
  if (first < '0' || first > '9') {
    skip();
    return std::nullopt;
  }
  std::string_view digits = word();
  if (at_ < text_.size() && text_[at_] == '.') {  // a fraction
    skip();
    return std::nullopt;
  }
  const bool is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hexadecimal) digits.remove_prefix(2);
  return parse_number<std::uint64_t>(digits, is_hexadecimal ? 16 : 10);
}

std::optional<std::int64_t> Literals::signed_whole() {
  const bool is_negative = next() == '-';
  if (is_negative) ++at_;
  const auto magnitude = whole();
  if (!magnitude || *magnitude > std::uint64_t(INT64_MAX)) return std::nullopt;
  return is_negative ? -std::int64_t(*magnitude) : std::int64_t(*magnitude);
}

std::optional<std::string_view> Literals::text() {
  const char quote = next();
  if (quote != '\'' && quote != '"') {
    skip();
    return std::nullopt;
  }
  const std::size_t begin = ++at_;
  const char stops[] = {quote, '\n', '\\', 0};
  for (;;) {
    at_ = std::min(text_.find_first_of(stops, at_), text_.size());
    if (at_ == text_.size() || text_[at_] == '\n') return fail();  // a quote that is never closed
    if (text_[at_] == quote) return text_.substr(begin, at_++ - begin);
    at_ = std::min(at_ + 2, text_.size());
  }
}

// Brackets are counted, not matched by kind: what is passed over need not be right.
void Literals::skip() {
  std::size_t depth = 0;
  for (;;) {
    const char c = next();
    const bool closes = c == ')' || c == ']' || c == '}', separates = c == ',' || c == ':';
    if (c == 0 || (depth == 0 && (closes || separates))) return break_off();  // a value is missing
    if (c == '\'' || c == '"') {
      if (!text()) return;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
      ++at_;
    } else if (closes || separates) {
      depth -= closes ? 1 : 0;
      ++at_;
    } else {
      ++at_;
      while (at_ < text_.size() && !ends_token(text_[at_])) ++at_;
      if (at_ < text_.size() && text_[at_] == '(') continue;  // a call
    }
    if (depth == 0) return;
  }
}

}  // namespace npuscope::qnn
