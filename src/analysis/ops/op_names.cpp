#include "analysis/ops/op_names.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::analysis {
namespace {

// How long the digits are that `text` begins with.
std::size_t digits_in(std::string_view text) {
  return std::size_t(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

}  // namespace

std::string without_ordinals(std::string_view name) {
  std::string stem;
  while (!name.empty()) {
    std::size_t length = 0;
    for (const std::string_view mark : {"/__", "__", ":OpId_", " OpId_", "_token_"}) {
      if (!name.starts_with(mark)) continue;
      const std::size_t digits = digits_in(name.substr(mark.size()));
      if (digits == 0) continue;
      length = mark.size() + digits;
      if (mark == "_token_" && name.substr(length).starts_with("_")) {
        const std::size_t more = digits_in(name.substr(length + 1));
        if (more > 0) length += 1 + more;
      }
      break;
    }
    if (length == 0) {
      stem += name.front();
      length = 1;
    }
    name.remove_prefix(length);
  }
  return stem;
}

std::string_view without_tile(std::string_view name) {
  const auto at = name.rfind("/__");
  if (at == name.npos || at == 0) return name;
  const std::string_view number = name.substr(at + 3);
  return !number.empty() && digits_in(number) == number.size() ? name.substr(0, at) : name;
}

std::optional<std::uint64_t> last_ordinal(std::string_view name) {
  const std::size_t mark = name.rfind("__");
  if (mark == name.npos) return std::nullopt;
  return parse_number<std::uint64_t>(name.substr(mark + 2));
}

std::vector<std::string_view> name_parts(std::string_view name) {
  constexpr std::string_view separators = "+;,|&";
  constexpr std::size_t max_parts = 64;
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (begin <= name.size() && parts.size() < max_parts) {
    const std::size_t end = std::min(name.find_first_of(separators, begin), name.size());
    std::string_view part = name.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    begin = end + 1;
  }
  if (parts.size() == 1) parts.clear();
  return parts;
}

}  // namespace npuscope::analysis
