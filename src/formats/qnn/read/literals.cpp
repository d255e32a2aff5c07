#include "formats/qnn/read/literals.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::qnn {
namespace {

// By character: what it can be part of, and what it ends.
constexpr std::uint8_t word_mark = 1, blank_mark = 2, end_mark = 4, text_mark = 8, nest_mark = 16;
constexpr std::array<std::uint8_t, 256> marks = [] {
  std::array<std::uint8_t, 256> of{};
  const auto mark = [&](std::string_view characters, std::uint8_t as) {
    for (const char c : characters) of[std::uint8_t(c)] |= as;
  };
  mark(" \t\n\r", blank_mark);
  mark("#'\"()[]{},:", end_mark);
  mark("'\"\n\\", text_mark);
  mark({"#'\"()[]{}\0", 10}, nest_mark);
  mark("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", word_mark);
  return of;
}();

constexpr unsigned no_digit = 255;
constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> of{};
  of.fill(no_digit);
  for (unsigned i = 0; i < 10; ++i) of['0' + i] = std::uint8_t(i);
  for (unsigned i = 0; i < 6; ++i) of['a' + i] = of['A' + i] = std::uint8_t(10 + i);
  return of;
}();
unsigned digit_value(char c) { return digit_values[std::uint8_t(c)]; }

bool has_mark(char c, unsigned mark) { return (marks[std::uint8_t(c)] & mark) != 0; }
bool is_word(char c) { return has_mark(c, word_mark); }
bool ends_token(char c) { return has_mark(c, blank_mark | end_mark); }

// The first character from `at` on that has the mark, else `end`.
const char* find_mark(const char* at, const char* end, unsigned mark) {
  while (at != end && !has_mark(*at, mark)) ++at;
  return at;
}

}  // namespace

// Where the line of `from` ends.
void Literals::to_line_end(const char* from) {
  const void* line_end = std::memchr(from, '\n', std::size_t(end_ - from));
  at_ = line_end != nullptr ? static_cast<const char*>(line_end) : end_;
}

char Literals::next_after_blanks() {
  for (;;) {
    const char* at = at_;
    while (at != end_ && has_mark(*at, blank_mark)) ++at;
    at_ = at;
    if (at_ == end_) return '\0';
    if (*at_ != '#') return *at_;
    to_line_end(at_);
  }
}

std::optional<std::string_view> Literals::next_assignment() {
  failed_ = false;
  if (at_ != begin_) to_line_end(at_ - 1);
  while (at_ != end_) {
    if (*at_ == '\n') ++at_;
    const std::string_view name = take_word();
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
    const bool assigns = end_ - at_ > 1 && at_[0] == '=' && at_[1] != '=';
    if (!name.empty() && assigns) {
      ++at_;
      return name;
    }
    to_line_end(at_);
  }
  return std::nullopt;
}

void Literals::break_off() {
  failed_ = true;
  if (!broken_) broken_ = offset();
}

std::string_view Literals::take_word() {
  const char* at = at_;
  while (at != end_ && is_word(*at)) ++at;
  return {std::exchange(at_, at), at};
}

std::string_view Literals::word() {
  next();
  return take_word();
}

// "bytes=100352": what stands before the sign.
std::string_view Literals::argument_name() {
  const char* const begin = at_;
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
  if (!is_digit(next())) {
    skip();
    return std::nullopt;
  }
  const char* at = at_;
  const bool is_hexadecimal = end_ - at > 1 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
  if (is_hexadecimal) at += 2;
  const char* const begin = at;
  while (at != end_ && *at == '0') ++at;
  const char* const first = at;  // digit that counts
  std::uint64_t number = 0;
  unsigned digit = 0;
  if (is_hexadecimal) {
    for (; at != end_ && (digit = digit_value(*at)) < 16; ++at) number = number << 4 | digit;
  } else {
    for (; at != end_ && (digit = digit_value(*at)) < 10; ++at) number = number * 10 + digit;
  }
  const std::string_view digits(first, at);
  const bool is_empty = at == begin;
  at_ = at;
  const bool is_number = take_word().empty() && !is_empty;
  if (at_ != end_ && *at_ == '.') {  // a fraction
    skip();
    return std::nullopt;
  }
  if (!is_number) return std::nullopt;
  constexpr std::size_t always_fit = 16;
  return digits.size() <= always_fit
             ? number
             : parse_number<std::uint64_t>(digits, is_hexadecimal ? 16 : 10);
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
  const char* const begin = ++at_;
  for (;;) {
    at_ = find_mark(at_, end_, text_mark);
    if (at_ == end_ || *at_ == '\n') return fail();  // a quote that is never closed
    if (*at_ == quote) return std::string_view(begin, at_++);
    at_ += *at_ == '\\' && end_ - at_ > 1 ? 2 : 1;
  }
}

void Literals::skip() {
  const char c = next();
  if (c == 0 || c == ',' || c == ':' || c == ')' || c == ']' || c == '}') {
    return break_off();  // a value is missing
  }
  if (c == '\'' || c == '"') return void(text());
  const bool is_nested = c == '(' || c == '[' || c == '{';
  if (!is_nested) at_ = find_mark(at_ + 1, end_, blank_mark | end_mark);
  if (is_nested || (at_ != end_ && *at_ == '(')) skip_brackets();  // or a call
}

// Brackets are counted, not matched by kind: what is passed over need not be right.
void Literals::skip_brackets() {
  std::size_t depth = 0;
  do {
    at_ = find_mark(at_, end_, nest_mark);
    const char c = at_ != end_ ? *at_ : '\0';
    if (c == '\'' || c == '"') {
      if (!text()) return;
    } else if (c == '#') {
      to_line_end(at_);
    } else if (c != 0) {
      depth += c == '(' || c == '[' || c == '{' ? 1 : -1;
      ++at_;
    } else if (at_ == end_ || ends_token(at_[-1])) {
      return break_off();
    } else {
      ++at_;
    }
  } while (depth > 0);
}

}  // namespace npuscope::qnn
