// Numbers in text, read the same in every locale.
//
//   parse_number<std::uint32_t>("17")     17
//   parse_number<std::uint32_t>("17x")    nothing: the whole text must be the number
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace npuscope {

// Nothing where the text is empty, has anything else in it, or does not fit Number.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace npuscope
