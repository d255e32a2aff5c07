// The comma-separated lines of Torq's files, field by field: from the left, and, because source
// locations hold commas and quotes, from the right.
//
//   std::string_view rest = "3,2,61,DMA In,loc(fused[a, b]),";
//   take_first(rest);   // "3"      rest: "2,61,DMA In,loc(fused[a, b]),"
//   take_last(rest);    // ""       rest: "2,61,DMA In,loc(fused[a, b])"
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::torq {

inline constexpr LineLimits table_limits{.longest_line = std::size_t{1} << 20,
                                         .max_bytes = std::uint64_t{64} << 30};

inline std::string_view take_first(std::string_view& rest, char separator = ',') {
  const auto end = rest.find(separator);
  const std::string_view field = rest.substr(0, end);
  rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  return field;
}

inline std::string_view take_last(std::string_view& rest) {
  const auto comma = rest.rfind(',');
  const std::string_view field = comma == rest.npos ? rest : rest.substr(comma + 1);
  rest = comma == rest.npos ? std::string_view() : rest.substr(0, comma);
  return field;
}

// A whole number; a fraction behind it, as spreadsheets write, is cut off. None for anything else.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  text = trimmed(text);
  const auto value = take_number<std::int64_t>(text);
  const bool is_fraction =
      text.starts_with('.') && text.find_first_not_of("0123456789", 1) == text.npos;
  return text.empty() || is_fraction ? value : std::nullopt;
}

// All fields, those in quotes as RFC 4180 has them; what is beyond 256 fields is left out.
inline std::vector<std::string> fields_of(std::string_view line, char separator) {
  constexpr std::size_t max_fields = 256;
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      if (fields.size() >= max_fields) break;
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// A field as RFC 4180 quotes it, without its quotes; text that is not quoted as it is.
inline std::string unquoted(std::string_view field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
  std::string text;
  for (std::size_t i = 1; i + 1 < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"' && field[i + 1] == '"' && i + 2 < field.size()) ++i;
  }
  return text;
}

// Of UTF-8, as columns are counted.
inline std::size_t characters_in(std::string_view text) {
  return std::size_t(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

inline std::string joined(const std::vector<std::string>& words, std::string_view by) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += by;
    text += words[i];
  }
  return text;
}

// Each once, in their first order.
inline std::vector<std::string> distinct(const std::vector<std::string>& words) {
  std::vector<std::string> once;
  for (const std::string& word : words) {
    if (std::find(once.begin(), once.end(), word) == once.end()) once.push_back(word);
  }
  return once;
}

}  // namespace npuscope::torq
