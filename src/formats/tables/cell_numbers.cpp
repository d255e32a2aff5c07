#include "formats/tables/cell_numbers.hpp"

#include <cmath>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::tables {
namespace {

// "1891", "12.50": digits that a double holds exactly, by a power of ten that it does too, so that
// their ratio is the nearest double.
std::optional<double> plain_decimal(std::string_view text) {
  constexpr std::size_t exact_digits = 15;
  constexpr double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  if (text.empty() || text.size() > exact_digits) return std::nullopt;
  std::uint64_t digits = 0;
  const auto take_digits = [&](std::size_t from) {
    for (; from < text.size() && is_digit(text[from]); ++from) {
      digits = digits * 10 + std::uint64_t(text[from] - '0');
    }
    return from;
  };
  const std::size_t point = take_digits(0);
  if (point == text.size()) return double(digits);
  const bool has_fraction = point > 0 && text[point] == '.' && point + 1 < text.size();
  if (!has_fraction || take_digits(point + 1) < text.size()) return std::nullopt;
  return double(digits) / powers[text.size() - point - 1];
}

}  // namespace

std::optional<double> number_in(std::string_view text) {
  if (const auto plain = plain_decimal(text)) return plain;
  text = trimmed(text);
  if (text.ends_with('%')) text = trimmed(text.substr(0, text.size() - 1));
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

double ticks_in(TableUnit unit) {
  switch (unit) {
    case TableUnit::microseconds: return 1e3;
    case TableUnit::milliseconds: return 1e6;
    case TableUnit::seconds: return 1e9;
    case TableUnit::kibibytes: return 1024;
    default: return 1;
  }
}

NumberQuantity quantity_of(TableUnit unit) {
  switch (unit) {
    case TableUnit::bytes:
    case TableUnit::kibibytes: return NumberQuantity::bytes;
    case TableUnit::macs: return NumberQuantity::macs;
    case TableUnit::percent: return NumberQuantity::share;
    case TableUnit::hertz: return NumberQuantity::hertz;
    case TableUnit::per_second: return NumberQuantity::rate;
    default: return NumberQuantity::count;
  }
}

}  // namespace npuscope::tables
