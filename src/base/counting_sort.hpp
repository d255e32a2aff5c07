// Puts items into groups, on all cores; those of a group stay in the order in which they were.
//
//   CountingSort by_unit(rows, units, [&](std::size_t row) { return unit_of(row); });
//   std::vector<std::uint32_t> sorted;
//   by_unit.place_items(sorted);
//   by_unit.first()[3]                  // where group 3 begins in `sorted`, [4] where it ends
//
//   const Grouped by_op(edges.size(), ops, [&](std::size_t edge) { return op_of(edge); });
//   by_op.of(3)                         // the edges of op 3
//
// The function of an item's group is asked twice. Both functions run on several threads at once. Up
// to 2^32 - 1 items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"

namespace npuscope {

// The group of an item that is of none.
inline constexpr std::uint32_t counting_sort_leaves_out = ~std::uint32_t{0};

template <class GroupOf>
class CountingSort {
 public:
  CountingSort(std::size_t items, std::size_t groups, GroupOf group_of)
      : group_of_(std::move(group_of)),
        // Counting groups is little beside looking at a part's items.
        parts_(ranges_of(items, std::max<std::size_t>(65'536, 8 * groups))),
        next_(parts_.size()) {
    for_parts([&](std::size_t part) {
      next_[part].assign(groups, 0);
      for (std::size_t item = parts_[part].first; item < parts_[part].last; ++item) {
        const auto group = std::uint32_t(group_of_(item));
        if (group != counting_sort_leaves_out) next_[part][group] += 1;
      }
    });
    first_.reserve(groups + 1);
    std::uint32_t place = 0;
    for (std::size_t group = 0; group < groups; ++group) {
      first_.push_back(place);
      for (auto& of_part : next_) place += std::exchange(of_part[group], place);
    }
    first_.push_back(place);
  }

  // Of the items that are in groups.
  std::size_t size() const { return first_.back(); }
  // Of each group; one more, the end of the last.
  const std::vector<std::uint32_t>& first() const { return first_; }

  // put(item, place), once for each item that is in a group. Can be done once.
  template <class Put>
  void place(const Put& put) {
    for_parts([&](std::size_t part) {
      for (std::size_t item = parts_[part].first; item < parts_[part].last; ++item) {
        const auto group = std::uint32_t(group_of_(item));
        if (group != counting_sort_leaves_out) put(item, next_[part][group]++);
      }
    });
  }

  // The numbers of the items that are in groups, one group after the other, in place of what is
  // there.
  template <class Numbers>
  void place_items(Numbers& into) {
    into.resize(size());
    place([&](std::size_t item, std::uint32_t place) { into[place] = std::uint32_t(item); });
  }

 private:
  template <class Body>
  void for_parts(const Body& body) const {
    parallel_for(parts_.size(), body);
  }

  GroupOf group_of_;
  std::vector<RowRange> parts_;
  std::vector<std::vector<std::uint32_t>> next_;  // by part and group
  std::vector<std::uint32_t> first_;
};

// The numbers of items by their groups.
template <class Numbers = std::vector<std::uint32_t>>
class Grouped {
 public:
  Grouped() = default;
  template <class GroupOf>
  Grouped(std::size_t items, std::size_t groups, const GroupOf& group_of) {
    CountingSort sort(items, groups, group_of);
    first_ = sort.first();
    sort.place_items(items_);
  }

  bool empty() const { return items_.empty(); }
  std::size_t groups() const { return first_.empty() ? 0 : first_.size() - 1; }
  std::span<const std::uint32_t> of(std::size_t group) const {
    return in(items_, group, group + 1);
  }
  std::span<std::uint32_t> of(std::size_t group) { return in(items_, group, group + 1); }
  // How many items are in the groups from the first to before the last.
  std::size_t count(std::size_t first, std::size_t last) const {
    return first_[last] - first_[first];
  }

 private:
  template <class Items>
  auto in(Items& items, std::size_t first, std::size_t last) const {
    return std::span(items).subspan(first_[first], first_[last] - first_[first]);
  }

  std::vector<std::uint32_t> first_;  // of each group; one more
  Numbers items_;
};

}  // namespace npuscope
