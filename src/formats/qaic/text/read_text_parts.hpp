// What readers of these texts share: one function for each text of read_text.hpp, and lines taken
// apart.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

// Takes lines of text apart: by lines with their byte offsets, and a line from the left.
struct TextLine {
  std::string_view text;  // without its end
  std::uint64_t offset = 0;
};

class TextLines {
 public:
  explicit TextLines(std::string_view text) : text_(text) {}

  std::optional<TextLine> next() {
    if (at_ >= text_.size()) return std::nullopt;
    const auto end = std::min(text_.find('\n', at_), text_.size());
    TextLine line{text_.substr(at_, end - at_), at_};
    if (line.text.ends_with('\r')) line.text.remove_suffix(1);
    at_ = end + 1;
    return line;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

inline std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Once a step fails, all later ones do, and nothing more is taken.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  TextScanner& blanks() {
    if (ok_) rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    return *this;
  }
  TextScanner& text(std::string_view expected) {
    ok_ = ok_ && rest_.starts_with(expected);
    if (ok_) rest_.remove_prefix(expected.size());
    return *this;
  }
  // A count; commas may stand between its digits.
  TextScanner& count(std::uint64_t& value) {
    std::size_t length = 0;
    std::uint64_t sum = 0;
    for (; ok_ && length < rest_.size(); ++length) {
      const char c = rest_[length];
      if (c == ',' && length > 0) continue;
      if (c < '0' || c > '9') break;
      const auto digit = std::uint64_t(c - '0');
      if (sum > (UINT64_MAX - digit) / 10) ok_ = false;
      sum = sum * 10 + digit;
    }
    ok_ = ok_ && length > 0 && rest_[0] != ',';
    if (ok_) rest_.remove_prefix(length);
    if (ok_) value = sum;
    return *this;
  }
  TextScanner& real(double& value) {
    std::string_view rest = rest_;
    const auto number = ok_ ? take_number<double>(rest) : std::nullopt;
    ok_ = number && std::isfinite(*number);
    if (ok_) rest_ = rest;
    if (ok_) value = *number;
    return *this;
  }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// One function for each text of read_text.hpp.

Result<std::vector<Profile>> read_summary(std::string_view text, const std::string& name);
Result<std::vector<Profile>> read_compiler_log(std::string_view text, const std::string& name);
Result<std::vector<Profile>> read_runner_log(std::string_view text, const std::string& name);
Result<std::vector<Profile>> read_latency_table(std::string_view text, const std::string& name);
Result<std::vector<Profile>> read_latency_statistics(std::string_view text,
                                                     const std::string& name);

}  // namespace npuscope::qaic
