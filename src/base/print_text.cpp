#include "base/print_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"

namespace npuscope {
namespace {

// Of numbers from 0.001 on, the text with an exponent is the shorter one of multiples of this:
// 1e+05.
constexpr std::int64_t shorter_with_exponent = 100'000;

// A double and the decimal of at most 15 digits that rounds to it belong together: no two such
// decimals round to one double, so the one found here, without the zeros at its end, is the
// shortest. `scale` is a power of ten that a double holds, as it does the whole number below 10^15:
// dividing one by the other rounds as reading the decimal does.
template <std::int64_t scale, int decimals>
char* print_with_decimals(char* at, double size, std::string_view if_whole) {
  constexpr double limit = 1e15;
  const double scaled = size * double(scale);
  if (!(scaled < limit)) return nullptr;
  const double half_above = scaled + 0.5;  // where that rounds, the division below tells
  const auto digits = std::int64_t(half_above);
  if (double(digits) / double(scale) != size) return nullptr;
  const std::int64_t whole = digits / scale;
  std::int64_t rest = digits % scale;
  if (rest == 0 && whole >= shorter_with_exponent && whole % shorter_with_exponent == 0) {
    return nullptr;
  }
  char* const point = print_integer(at, whole);
  if (rest == 0) return print_text(point, if_whole);
  for (int i = decimals; i > 0; --i, rest /= 10) point[i] = char('0' + rest % 10);
  *point = '.';
  char* end = point + decimals;
  while (*end == '0') --end;
  return end + 1;
}

char* print_double(char* at, double number, std::string_view if_whole) {
  constexpr double smallest = 0.001;
  char* const begin = at;
  const double size = std::fabs(number);
  if (number < 0) *at++ = '-';
  if (size >= smallest) {
    if (char* const end = print_with_decimals<1'000, 3>(at, size, if_whole)) return end;
    if (char* const end = print_with_decimals<1'000'000'000, 9>(at, size, if_whole)) return end;
  }
  char* const end = std::to_chars(begin, begin + max_number_size, number).ptr;
  const bool is_whole = std::all_of(begin, end, [](char c) { return c == '-' || is_digit(c); });
  return is_whole ? print_text(end, if_whole) : end;
}

}  // namespace

char* print_shortest(char* at, double number) { return print_double(at, number, ""); }

char* print_shortest_with_point(char* at, double number) { return print_double(at, number, ".0"); }

}  // namespace npuscope
