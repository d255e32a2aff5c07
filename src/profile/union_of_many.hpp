// The union of many sets, two by two on all cores, none of which is copied to begin with.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope {

inline IntervalSet union_of_many(std::vector<const IntervalSet*> sets) {
  std::erase_if(sets, [](const IntervalSet* set) { return set->empty(); });
  if (sets.empty()) return {};
  if (sets.size() == 1) return *sets[0];
  std::vector<IntervalSet> pairs((sets.size() + 1) / 2);
  parallel_for(sets.size() / 2, [&](std::size_t pair) {
    pairs[pair] = union_of(*sets[2 * pair], *sets[2 * pair + 1]);
  });
  if (sets.size() % 2 == 1) pairs.back() = *sets.back();
  return union_of_sets(std::move(pairs));
}

}  // namespace npuscope
