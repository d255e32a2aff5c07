#include "formats/chrome/text/json_checker.hpp"

#include <algorithm>
#include <optional>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/chrome/problems.hpp"

namespace npuscope::chrome {
namespace {

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }
bool is_hexadecimal(char byte) {
  return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}
bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20; }

}  // namespace

void JsonChecker::restart() {
  state_ = State::incomplete;
  expect_ = Expect::value;
  in_key_ = met_unusual_number_ = false;
  is_object_.clear();
}

std::size_t JsonChecker::take(std::string_view bytes) {
  std::size_t at = 0;
  while (state_ == State::incomplete && at < bytes.size()) {
    if (expect_ == Expect::text) at = skip_text(bytes, at);
    if (at == bytes.size()) break;
    // Only the byte behind it ends a number.
    if (number_may_end()) {
      if (in_number(bytes[at])) {
        ++at;
      } else {
        end_value();
      }
      continue;
    }
    if (!step(bytes[at])) {
      state_ = State::broken;
    } else {
      ++at;
    }
  }
  return at;
}

void JsonChecker::finish() {
  if (state_ == State::incomplete && is_object_.empty() && number_may_end()) end_value();
}

// The inside of a string up to what needs a look.
std::size_t JsonChecker::skip_text(std::string_view bytes, std::size_t at) const {
  while (at < bytes.size() && bytes[at] != '"' && bytes[at] != '\\' && !is_control(bytes[at])) ++at;
  return at;
}

bool JsonChecker::step(char byte) {
  switch (expect_) {
    case Expect::text:
      if (byte == '\\') expect_ = Expect::escape;
      if (byte != '"') return byte == '\\' || lenient_;
      if (!in_key_) return end_value();
      in_key_ = false;
      expect_ = Expect::colon;
      return true;
    case Expect::escape: return in_escape(byte);
    case Expect::hexadecimal:
      if (--hexadecimal_left_ == 0) expect_ = Expect::text;
      return is_hexadecimal(byte);
    case Expect::literal:
      if (byte != literal_left_.front()) return false;
      literal_left_.remove_prefix(1);
      return !literal_left_.empty() || end_value();
    case Expect::minus:
      if (byte == 'I') return begin_literal("Infinity");
      [[fallthrough]];
    case Expect::point:
    case Expect::exponent:
    case Expect::exponent_sign: return in_number(byte);
    default: break;
  }
  if (is_space(byte)) return true;
  switch (expect_) {
    case Expect::value_or_end:
      if (byte == ']') return close(byte);
      [[fallthrough]];
    case Expect::value:
      if (byte == ']' && lenient_ && !is_object_.empty()) return close(byte);
      return begin_value(byte);
    case Expect::key_or_end:
      if (byte == '}') return close(byte);
      [[fallthrough]];
    case Expect::key:
      if (byte == '}' && lenient_) return close(byte);
      expect_ = Expect::text;
      in_key_ = true;
      return byte == '"';
    case Expect::colon: expect_ = Expect::value; return byte == ':';
    default:  // comma_or_end
      if (byte != ',') return close(byte);
      expect_ = is_object_.back() ? Expect::key : Expect::value;
      return true;
  }
}

bool JsonChecker::in_escape(char byte) {
  expect_ = byte == 'u' && !lenient_ ? Expect::hexadecimal : Expect::text;
  hexadecimal_left_ = 4;
  return lenient_ || std::string_view("\"\\/bfnrtu").find(byte) != std::string_view::npos;
}

bool JsonChecker::begin_value(char byte) {
  number_bytes_ = exponent_digits_ = 0;
  switch (byte) {
    case '{':
    case '[': return open(byte);
    case '"': expect_ = Expect::text; return true;
    case 't': return begin_literal("true");
    case 'f': return begin_literal("false");
    case 'n': return begin_literal("null");
    case 'N': return begin_literal("NaN");
    case 'I': return begin_literal("Infinity");
    case '-': expect_ = Expect::minus; return true;
    case '0': expect_ = Expect::zero; return true;
    default: expect_ = Expect::whole; return is_digit(byte);
  }
}

bool JsonChecker::begin_literal(std::string_view text) {
  if (text == "NaN" || text == "Infinity") met_unusual_number_ = true;
  literal_left_ = text.substr(1);
  expect_ = Expect::literal;
  return true;
}

bool JsonChecker::open(char byte) {
  if (is_object_.size() >= deepest_nesting) return false;
  is_object_.push_back(byte == '{');
  expect_ = byte == '{' ? Expect::key_or_end : Expect::value_or_end;
  return true;
}

bool JsonChecker::close(char byte) {
  if (byte != (is_object_.back() ? '}' : ']')) return false;
  is_object_.pop_back();
  return end_value();
}

bool JsonChecker::end_value() {
  expect_ = Expect::comma_or_end;
  if (is_object_.empty()) state_ = State::complete;
  return true;
}

bool JsonChecker::number_may_end() const {
  return expect_ == Expect::zero || expect_ == Expect::whole || expect_ == Expect::fraction ||
         expect_ == Expect::exponent_digits;
}

// Whether the number goes on with this byte (RFC 8259, 6).
bool JsonChecker::in_number(char byte) {
  const bool digit = is_digit(byte);
  const bool exponent = byte == 'e' || byte == 'E';
  number_bytes_ += 1;
  exponent_digits_ += digit && (expect_ == Expect::exponent || expect_ == Expect::exponent_sign ||
                                expect_ == Expect::exponent_digits);
  if (number_bytes_ >= 200 || exponent_digits_ >= 3) met_unusual_number_ = true;
  const auto go_on = [&](bool fits, Expect next) {
    if (fits) expect_ = next;
    return fits;
  };
  switch (expect_) {
    case Expect::minus: return go_on(digit, byte == '0' ? Expect::zero : Expect::whole);
    case Expect::whole:
      if (digit) return true;
      [[fallthrough]];
    case Expect::zero:
      return go_on(byte == '.' || exponent, exponent ? Expect::exponent : Expect::point);
    case Expect::point: return go_on(digit, Expect::fraction);
    case Expect::fraction: return digit || go_on(exponent, Expect::exponent);
    case Expect::exponent:
      return go_on(digit || byte == '+' || byte == '-',
                   digit ? Expect::exponent_digits : Expect::exponent_sign);
    case Expect::exponent_sign: return go_on(digit, Expect::exponent_digits);
    default: return digit;
  }
}

namespace {

constexpr std::uint32_t replacement_character = 0xfffd;

void append_utf8(std::uint32_t code_point, std::string& out) {
  if (code_point < 0x80) {
    out += char(code_point);
  } else if (code_point < 0x800) {
    out += char(0xc0 | code_point >> 6);
    out += char(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    out += char(0xe0 | code_point >> 12);
    out += char(0x80 | (code_point >> 6 & 0x3f));
    out += char(0x80 | (code_point & 0x3f));
  } else {
    out += char(0xf0 | code_point >> 18);
    out += char(0x80 | (code_point >> 12 & 0x3f));
    out += char(0x80 | (code_point >> 6 & 0x3f));
    out += char(0x80 | (code_point & 0x3f));
  }
}

// \uXXXX at the beginning of `raw`.
std::optional<std::uint32_t> code_unit(std::string_view raw) {
  if (raw.size() < 6 || !raw.starts_with("\\u")) return std::nullopt;
  return parse_number<std::uint32_t>(raw.substr(2, 4), 16);
}

// Takes the escape at the beginning of `raw` away. False when it was replaced.
bool unescape_unicode(std::string_view& raw, std::string& out) {
  const auto unit = code_unit(raw);
  raw.remove_prefix(unit ? 6 : std::min<std::size_t>(raw.size(), 2));
  std::uint32_t code_point = unit.value_or(replacement_character);
  bool whole = unit.has_value();
  if (code_point >= 0xd800 && code_point < 0xe000) {
    const auto low = code_unit(raw);
    whole = code_point < 0xdc00 && low && *low >= 0xdc00 && *low < 0xe000;
    if (whole) {
      code_point = 0x10000 + ((code_point - 0xd800) << 10) + (*low - 0xdc00);
      raw.remove_prefix(6);
    } else {
      code_point = replacement_character;
    }
  }
  append_utf8(code_point, out);
  return whole;
}

}  // namespace

bool unescape(std::string_view raw, std::string& out) {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  bool whole = true;
  while (!raw.empty()) {
    const std::size_t plain = std::min(raw.find('\\'), raw.size());
    out.append(raw, 0, plain);
    raw.remove_prefix(plain);
    if (raw.empty()) break;
    const std::size_t letter = raw.size() > 1 ? letters.find(raw[1]) : std::string_view::npos;
    if (letter == std::string_view::npos) {
      whole = unescape_unicode(raw, out) && whole;
    } else {
      out += meanings[letter];
      raw.remove_prefix(2);
    }
  }
  return whole;
}

}  // namespace npuscope::chrome
