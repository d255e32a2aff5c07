#include "formats/qnn/read/literals.hpp"

#include <algorithm>

#include "base/numbers.hpp"

namespace npuscope::qnn {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

char Literals::next() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return text_[at_];
    }
  }
  return 0;
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
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
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
  while (at_ < text_.size() && text_[at_] != quote) {
    if (text_[at_] == '\n') return fail();  // a quote that is never closed
    at_ += text_[at_] == '\\' ? 2 : 1;
  }
  if (at_ >= text_.size()) {
    at_ = text_.size();
    return fail();
  }
  return text_.substr(begin, at_++ - begin);
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
      at_ = std::min(text_.find_first_of(" \t\r\n#'\"()[]{},:", at_ + 1), text_.size());
      if (at_ < text_.size() && text_[at_] == '(') continue;  // a call
    }
    if (depth == 0) return;
  }
}

}  // namespace npuscope::qnn
