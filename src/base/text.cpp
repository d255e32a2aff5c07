#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  return length;
}

// Whether the well-formed sequence at the start of `text` steers a terminal instead of showing a
// character: C0 and C1 controls, line and paragraph separators, and the bidirectional overrides
// (U+202A to U+202E, U+2066 to U+2069) that make a name read as another.
bool is_control(std::string_view text, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (length == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (length == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (length != 3 || byte(0) != 0xE2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) ||
         (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
}

}  // namespace

std::string thousands(std::uint64_t value) {
  const std::string digits = fmt::format("{}", value);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || is_control(text, length)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out.append(text, 0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

void append_json_escaped(std::string& out, std::string_view text) {
  std::size_t plain = 0;  // bytes of `text` that need no escape and are not yet copied
  const auto flush = [&] {
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    plain = 0;
  };
  while (plain < text.size()) {
    const auto c = static_cast<unsigned char>(text[plain]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++plain;
      continue;
    }
    if (c >= 0x80) {
      const std::size_t length = utf8_length(text.substr(plain));
      if (length > 0) {
        plain += length;
        continue;
      }
      flush();
      out += "\xEF\xBF\xBD";
    } else {
      flush();
      switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        default: out += fmt::format("\\u{:04x}", unsigned(c));
      }
    }
    text.remove_prefix(1);
  }
  flush();
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), small_letter);
  return small;
}

std::string as_key(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (is_letter(c) || is_digit(c)) {
      key += small_letter(c);
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  while (key.ends_with('_')) key.pop_back();
  return key.empty() ? "column" : key;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "_-./:@%+=,";
  const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || plain.find(c) != plain.npos;
  });
  if (is_plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace npuscope
