// A stable sort for rows that a person could look at: what sorts is compiled once, not for each
// kind of row, which was a twentieth of the program. A comparison costs a call through a pointer;
// rows are moved twice. Who sorts spans takes profile/sort_by_time.hpp or std::stable_sort.
//
//   sort_rows(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.work > b.work;
//   }); sort_rows(rows, std::ranges::greater{}, &Row::work);
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>
#include <vector>

namespace npuscope {

// The places 0 to `items` - 1 in the order of what lies there: `is_before(context, a, b)` compares
// two places.
std::vector<std::size_t> stable_order(std::size_t items,
                                      bool (*is_before)(const void* context, std::size_t,
                                                        std::size_t),
                                      const void* context);

template <std::random_access_iterator Iterator, class Less>
void sort_rows(Iterator first, Iterator last, const Less& less) {
  const auto is_before = [&](std::size_t a, std::size_t b) {
    return bool(std::invoke(less, first[std::ptrdiff_t(a)], first[std::ptrdiff_t(b)]));
  };
  using IsBefore = decltype(is_before);
  const std::vector<std::size_t> order = stable_order(
      std::size_t(last - first),
      [](const void* context, std::size_t a, std::size_t b) {
        return (*static_cast<const IsBefore*>(context))(a, b);
      },
      &is_before);
  std::vector<std::iter_value_t<Iterator>> sorted;
  sorted.reserve(order.size());
  for (const std::size_t place : order) sorted.push_back(std::move(first[std::ptrdiff_t(place)]));
  std::move(sorted.begin(), sorted.end(), first);
}

template <std::ranges::random_access_range Rows, class Less = std::ranges::less,
          class Key = std::identity>
void sort_rows(Rows& rows, const Less& less = {}, const Key& key = {}) {
  sort_rows(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return bool(std::invoke(less, std::invoke(key, a), std::invoke(key, b)));
  });
}

}  // namespace npuscope
