#include "formats/torq/debug/mlir_text.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/torq/fields.hpp"

namespace npuscope::torq {
namespace {

bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$' || c == '.' || c == '-';
}

// Behind the string that begins at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

std::size_t end_of_line(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  MlirText run() {
    split_.blocks.emplace_back();
    while (skip_blanks()) {
      if (text_.substr(at_).starts_with("{-#")) break;  // data of resources, to the end
      const char c = text_[at_];
      if (c == '}') {
        ++at_;
        close_region();
      } else if (c == '^') {
        take_label();
      } else if (c == '#') {
        take_alias();
      } else {
        take_op();
      }
    }
    return std::move(split_);
  }

 private:
  struct Open {
    std::uint32_t op = no_op;
    std::int64_t parentheses = 0;
    std::uint32_t block = 0;  // the one around it
  };

  bool skip_blanks() {
    for (;;) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      if (!text_.substr(at_).starts_with("//")) return at_ < text_.size();
      at_ = end_of_line(text_, at_);
    }
  }

  // ^bb1(%arg0: T loc(unknown)):  // pred: ^bb0
  void take_label() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (text_[at_] == '^' || is_word(text_[at_]))) ++at_;
    MlirBlock block{text_.substr(begin, at_ - begin), {}};
    if (at_ < text_.size() && text_[at_] == '(') {
      block.arguments = in_parentheses(text_, at_);
      at_ = std::min(at_ + block.arguments.size() + 2, text_.size());
    }
    if (at_ < text_.size() && text_[at_] == ':') ++at_;
    split_.blocks.push_back(block);
    block_ = std::uint32_t(split_.blocks.size() - 1);
  }

  void take_alias() {
    const std::size_t end = end_of_line(text_, at_);
    std::string_view text = text_.substr(at_, end - at_);
    at_ = end;
    const std::string_view name = trimmed(take_first(text, '='));
    if (trimmed(text).starts_with("loc(")) split_.locations.push_back({name, trimmed(text)});
  }

  void take_op() {
    MlirOp op;
    op.offset = at_;
    op.parent = open_.empty() ? no_op : open_.back().op;
    op.block = block_;
    if (text_[at_] == '%') take_results(op);
    if (!skip_blanks()) return;
    const std::size_t begin = at_;
    if (text_[at_] == '"') {
      at_ = end_of_string(text_, at_);
      op.name = text_.substr(begin + 1, std::max(at_, begin + 2) - begin - 2);
    } else {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      if (at_ == begin) ++at_;  // no operation begins so; go on behind it
      op.name = text_.substr(begin, at_ - begin);
    }
    split_.ops.push_back(op);
    scan({std::uint32_t(split_.ops.size() - 1), 0, block_}, &MlirOp::head);
  }

  void take_results(MlirOp& op) {
    const std::size_t line_end = end_of_line(text_, at_);
    const std::string_view line = text_.substr(at_, line_end - at_);
    const std::size_t equals = std::min(line.find('='), line.size());
    op.results = trimmed(line.substr(0, equals));
    at_ = std::min(at_ + equals + 1, line_end);
  }

  void close_region() {
    if (open_.empty()) return;
    const Open open = open_.back();
    open_.pop_back();
    block_ = open.block;
    scan(open, &MlirOp::tail);
  }

  // On to the end of the operation, or into its next region.
  void scan(Open open, std::string_view MlirOp::*part) {
    const std::size_t begin = at_;
    std::size_t end = text_.size();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        at_ = end_of_string(text_, at_);
        continue;
      }
      if (c == '/' && text_.substr(at_).starts_with("//")) {
        if (open.parentheses <= 0) {
          end = at_;
          at_ = end_of_line(text_, at_);
          break;
        }
        at_ = end_of_line(text_, at_);
        continue;
      }
      if (c == '\n' && open.parentheses <= 0) {
        end = at_;
        break;
      }
      if (c == '(' || c == '[') ++open.parentheses;
      if (c == ')' || c == ']') --open.parentheses;
      if (c == '}' && braces_ == 0) {  // of the region around it, on the same line
        end = at_;
        break;
      }
      if (c == '{' && begins_region()) {
        end = at_++;
        enter(open);
        break;
      }
      if (c == '{') ++braces_;
      if (c == '}') --braces_;
      ++at_;
    }
    braces_ = 0;
    split_.ops[open.op].*part = trimmed(text_.substr(begin, std::min(end, at_) - begin));
  }

  bool begins_region() const {
    const std::size_t next = text_.find_first_not_of(" \t\r", at_ + 1);
    return next == text_.npos || text_[next] == '\n' || text_.substr(next).starts_with("//") ||
           text_[next] == '^';
  }

  void enter(Open open) {
    open.block = block_;
    open_.push_back(open);
    split_.blocks.emplace_back();
    block_ = std::uint32_t(split_.blocks.size() - 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t braces_ = 0;  // of attributes
  std::uint32_t block_ = 0;
  std::vector<Open> open_;
  MlirText split_;
};

// Of text that begins outside of strings and ends with ).
bool ends_outside_strings(std::string_view text) {
  std::size_t at = 0;
  while ((at = text.find('"', at)) != text.npos) {
    at = end_of_string(text, at);
    if (at == text.size()) return false;
  }
  return true;
}

// Where the last loc( outside of strings is.
std::size_t last_location(std::string_view text) {
  std::size_t last = text.npos;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (text.substr(at).starts_with("loc(")) last = at;
    ++at;
  }
  return last;
}

// Behind "key =", where the key stands alone.
std::optional<std::string_view> behind_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    const std::size_t end = at + key.size();
    const bool quoted = at > 0 && text[at - 1] == '"' && end < text.size() && text[end] == '"';
    if (!quoted && at > 0 && is_word(text[at - 1])) continue;
    std::string_view rest = trimmed(text.substr(end + (quoted ? 1 : 0)));
    if (!rest.starts_with('=')) continue;
    return trimmed(rest.substr(1));
  }
  return std::nullopt;
}

}  // namespace

MlirText split_mlir(std::string_view text) { return Splitter(text).run(); }

std::vector<std::string_view> values_in(std::string_view text) {
  std::vector<std::string_view> values;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = end_of_string(text, at);
      continue;
    }
    const std::size_t begin = at++;
    if (text[begin] != '%') continue;
    while (at < text.size() && (is_word(text[at]) || text[at] == '#')) ++at;
    values.push_back(text.substr(begin, at - begin));
  }
  return values;
}

std::string_view in_parentheses(std::string_view text, std::size_t at) {
  std::size_t open = 0;
  for (std::size_t i = at; i < text.size();) {
    if (text[i] == '"') {
      i = end_of_string(text, i);
      continue;
    }
    if (text[i] == '(') ++open;
    if (text[i] == ')' && --open == 0) return text.substr(at + 1, i - at - 1);
    ++i;
  }
  return at < text.size() ? text.substr(at + 1) : std::string_view();
}

std::optional<std::int64_t> integer_attribute(std::string_view text, std::string_view key) {
  auto rest = behind_key(text, key);
  return rest ? take_number<std::int64_t>(*rest) : std::nullopt;
}

std::optional<std::string_view> first_string(std::string_view text) {
  const std::size_t begin = text.find('"');
  if (begin == text.npos) return std::nullopt;
  const std::size_t end = end_of_string(text, begin);
  if (end < begin + 2) return std::nullopt;
  return text.substr(begin + 1, end - begin - 2);
}

std::optional<std::string_view> string_attribute(std::string_view text, std::string_view key) {
  const auto rest = behind_key(text, key);
  if (!rest || !rest->starts_with('"')) return std::nullopt;
  return first_string(*rest);
}

std::string unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      bytes += text[at];
      continue;
    }
    const auto byte = at + 2 < text.size() ? parse_number<std::uint8_t>(text.substr(at + 1, 2), 16)
                                           : std::nullopt;
    bytes += byte ? char(*byte) : text[at + 1];
    at += byte ? 2 : 1;
  }
  return bytes;
}

std::string_view location_of(const MlirOp& op) {
  for (const std::string_view text : {op.tail, op.head}) {
    if (!text.ends_with(')')) continue;
    std::size_t at = text.rfind("loc(");
    if (at == text.npos) continue;
    if (!ends_outside_strings(text.substr(at))) at = last_location(text);  // it is of a string
    if (at < text.size() && (at == 0 || !is_word(text[at - 1]))) return text.substr(at);
  }
  return {};
}

}  // namespace npuscope::torq
