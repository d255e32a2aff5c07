#include "report/query/query_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace npuscope::report {
namespace {

std::string real_text(double number) {
  const double size = std::abs(number);
  if (!std::isfinite(number) || size >= 1e15 || (size < 1e-4 && size > 0)) {
    return fmt::format("{:.6g}", number);
  }
  const int whole = size < 1 ? 0 : int(std::floor(std::log10(size))) + 1;
  std::string text = fmt::format("{:.{}f}", number, std::max(2, 6 - whole));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text += '0';
  return text;
}

}  // namespace

std::vector<std::string> distinct_names(const std::vector<std::string>& names) {
  std::vector<std::string> distinct;
  std::set<std::string> known;
  for (const std::string& name : names) {
    std::string unused = name;
    for (std::size_t i = 2; known.contains(unused); ++i) unused = fmt::format("{}_{}", name, i);
    known.insert(unused);
    distinct.push_back(unused);
  }
  return distinct;
}

std::string hexadecimal(ByteSpan bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    constexpr const char* digits = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::string cell_text(const query::Cell& cell) {
  struct Print {
    std::string operator()(std::monostate) const { return "NULL"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return real_text(number); }
    std::string operator()(std::string_view text) const { return std::string(text); }
    std::string operator()(ByteSpan bytes) const {
      constexpr std::size_t max = 500;  // more than a line shows
      return hexadecimal(bytes.first(std::min(max, bytes.size())));
    }
  };
  return std::visit(Print{}, cell);
}

}  // namespace npuscope::report
