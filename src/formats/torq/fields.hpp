// The comma-separated lines of Torq's files, field by field: from the left, and, because source
// locations hold commas and quotes, from the right.
//
//   std::string_view rest = "3,2,61,DMA In,loc(fused[a, b]),";
//   take_first(rest);   // "3"      rest: "2,61,DMA In,loc(fused[a, b]),"
//   take_last(rest);    // ""       rest: "2,61,DMA In,loc(fused[a, b])"
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/line_reader.hpp"

namespace npuscope::torq {

inline constexpr LineLimits table_limits{.longest_line = std::size_t{1} << 20,
                                         .most_bytes = std::uint64_t{64} << 30};

inline std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

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
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{}) return std::nullopt;
  if (result.ptr == end) return value;
  const std::string_view fraction(result.ptr, std::size_t(end - result.ptr));
  if (fraction[0] != '.' || fraction.find_first_not_of("0123456789", 1) != fraction.npos) {
    return std::nullopt;
  }
  return value;
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

inline std::string joined(const std::vector<std::string>& words, std::string_view by) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += by;
    text += words[i];
  }
  return text;
}

}  // namespace npuscope::torq
