// Numbers and names as people read them.
//
//   thousands(208436985856)        "208,436,985,856"
//   printable("a\x1b[31mb")        "a\\x1b[31mb"
//
// Names from files are data, never instructions to the terminal or to the reader of an output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace npuscope {

std::string thousands(std::uint64_t value);

// ASCII only, whatever the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || is_capital(c); }
constexpr bool is_of_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
constexpr char small_letter(char c) { return is_capital(c) ? char(c - 'A' + 'a') : c; }
std::string in_small_letters(std::string_view text);
// "DDR read (bytes)" as "ddr_read_bytes".
std::string as_key(std::string_view name);

constexpr std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

// Bytes that are not UTF-8 and characters that steer a terminal or reorder text become \xNN.
std::string printable(std::string_view text);
// Without blanks, tabs and line ends at both ends.
inline std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Bytes that are not UTF-8 become U+FFFD.
std::string valid_utf8(std::string_view text);

// Appends `text` as the inside of a JSON string: quotes, backslashes and control characters are
// escaped, bytes that are not UTF-8 become U+FFFD.
void append_json_escaped(std::string& out, std::string_view text);

// A word of a command line as a shell reads it: in quotes where it needs them.
std::string shell_word(std::string_view word);

// A message about a file without the file's name before it, for a place that names the file.
inline std::string_view without_file(std::string_view message, std::string_view file) {
  const bool names_it =
      !file.empty() && message.starts_with(file) && message.substr(file.size()).starts_with(": ");
  return names_it ? message.substr(file.size() + 2) : message;
}

}  // namespace npuscope
