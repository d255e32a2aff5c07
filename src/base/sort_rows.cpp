#include "base/sort_rows.hpp"

#include <algorithm>
#include <numeric>

namespace npuscope {

std::vector<std::size_t> stable_order(std::size_t items,
                                      bool (*is_before)(const void*, std::size_t, std::size_t),
                                      const void* context) {
  std::vector<std::size_t> order(items);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return is_before(context, a, b); });
  return order;
}

}  // namespace npuscope
