// Numbers in text, read the same in every locale.
//
//   parse_number<std::uint32_t>("17")          17
//   parse_number<std::uint32_t>("17x")         nothing: the whole text must be the number
//   parse_number<std::uint32_t>("c0de", 16)    49374, without 0x
//
//   std::string_view text = "2.5 GHz";
//   take_number<double>(text)                  2.5; text is " GHz"
//
// No blank and no plus sign may come before a number. Infinities and NaN are doubles; whoever wants
// finite ones says so.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace npuscope {

// Takes the number off the front of `text`. Nothing, and `text` stays, where it begins with none
// or with one that does not fit Number. `base` is for integers.
template <class Number>
std::optional<Number> take_number(std::string_view& text, [[maybe_unused]] int base = 10) {
  Number number{};
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  std::from_chars_result read;
  if constexpr (std::is_integral_v<Number>) {
    read = std::from_chars(begin, end, number, base);
  } else {
    read = std::from_chars(begin, end, number);
  }
  if (read.ec != std::errc{}) return std::nullopt;
  text.remove_prefix(std::size_t(read.ptr - begin));
  return number;
}

// Nothing where the text is empty, has anything else in it, or does not fit Number.
template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  const auto number = take_number<Number>(text, base);
  return text.empty() ? number : std::nullopt;
}

}  // namespace npuscope
