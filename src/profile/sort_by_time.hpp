// Sorts many rows by a time, whose spread is mostly far below 64 bits, by 11 bits at a time, the
// lowest first: several times as fast as comparing them. Rows of one time keep their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace npuscope {

template <class Row, class TimeOf>
void sort_by_time(std::vector<Row>& rows, const TimeOf& time_of) {
  constexpr std::size_t worth_it = 4'096;
  constexpr unsigned digit_bits = 11, digits = 1u << digit_bits;
  const auto earlier = [&](const Row& a, const Row& b) { return time_of(a) < time_of(b); };
  if (std::is_sorted(rows.begin(), rows.end(), earlier)) return;
  if (rows.size() < worth_it) return std::stable_sort(rows.begin(), rows.end(), earlier);
  const auto [min, max] = std::minmax_element(rows.begin(), rows.end(), earlier);
  const auto base = std::uint64_t(time_of(*min)), spread = std::uint64_t(time_of(*max)) - base;
  std::vector<Row> other(rows.size());
  for (unsigned shift = 0; shift < 64 && (spread >> shift) > 0; shift += digit_bits) {
    const auto digit_of = [&](const Row& row) {
      return ((std::uint64_t(time_of(row)) - base) >> shift) & (digits - 1);
    };
    std::vector<std::size_t> next(digits + 1, 0);
    for (const Row& row : rows) next[digit_of(row) + 1] += 1;
    for (unsigned digit = 0; digit < digits; ++digit) next[digit + 1] += next[digit];
    for (const Row& row : rows) other[next[digit_of(row)]++] = row;
    rows.swap(other);
  }
}

}  // namespace npuscope
