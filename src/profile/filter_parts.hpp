// What filtered() does, in parts: filter.cpp chooses the rows, filter_parts.cpp copies them and
// finds what times of them follow from rows that are left out.
#pragma once

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "npuscope/profile/filter.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::filter_parts {

inline constexpr std::uint32_t gone = std::numeric_limits<std::uint32_t>::max();

// New numbers of the rows that stay, in their old order; `gone` for the others.
inline std::vector<std::uint32_t> numbered(const std::vector<bool>& kept) {
  std::vector<std::uint32_t> number(kept.size(), gone);
  std::uint32_t next = 0;
  for (std::size_t row = 0; row < kept.size(); ++row) {
    if (kept[row]) number[row] = next++;
  }
  return number;
}

inline std::uint32_t at(const std::vector<std::uint32_t>& numbers, std::uint32_t row) {
  return row < numbers.size() ? numbers[row] : gone;
}

template <class Columns, class Rows>
Columns picked(const Columns& column, const Rows& rows, std::size_t all) {
  Columns part;
  if (column.size() != all) return part;
  part.reserve(rows.size());
  for (const std::uint32_t row : rows) part.push_back(column[row]);
  return part;
}

inline Interval intersection_of(const Interval& a, const Interval& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// Of the rows at these places, puts those of each group in order among the places of the group.
template <class Group, class Order>
void put_enclosing_first(std::vector<std::uint32_t>& rows, std::vector<std::uint32_t> places,
                         const Group& group, const Order& order) {
  std::stable_sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) {
    return group(rows[a]) < group(rows[b]);
  });
  std::vector<std::uint32_t> sorted;
  for (const std::uint32_t place : places) sorted.push_back(rows[place]);
  std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(group(a), order(a)) < std::tuple(group(b), order(b));
  });
  for (std::size_t i = 0; i < places.size(); ++i) rows[places[i]] = sorted[i];
}

class Selection {
 public:
  Selection(const Profile& profile, const Filter& filter) : profile_(profile), filter_(filter) {}

  Profile make();

 private:
  bool unit_allowed(UnitId unit) const {
    return unit_allowed_.empty() ||
           (index_of(unit) < unit_allowed_.size() && unit_allowed_[index_of(unit)]);
  }
  bool op_allowed(OpId op) const {
    return op_allowed_.empty() || (index_of(op) < op_allowed_.size() && op_allowed_[index_of(op)]);
  }
  bool instance_allowed(std::size_t row) const {
    const auto& instances = profile_.spans.instance;
    return !filter_.instance || (row < instances.size() && instances[row] == *filter_.instance);
  }
  bool in_window(std::int64_t start, std::int64_t duration) const;
  bool ran_beside(std::size_t row) const;
  Interval cut_interval(std::size_t row) const;
  void ask();
  void choose_spans();
  void order_equals();
  void find_own_times(Spans& part) const;
  void copy_own_times(Spans& part) const;
  void find_other_instances(Spans& part) const;
  void choose_samples();
  Provenance::Temperature temperature_of_part() const;
  void choose_units();
  void choose_ops();
  void copy_spans(Profile& part);
  void cut_span(Spans& spans, std::size_t row);
  bool is_of_the_whole(const Measure& measure) const;
  void copy_arguments(Profile& part) const;
  void copy_units_and_ops(Profile& part) const;
  void copy_measures(Profile& part);
  void copy_relations(Profile& part) const;
  void copy_counters(Profile& part) const;
  std::vector<std::uint32_t> phases_left() const;
  void copy_phases(Profile& part);
  void copy_tensors(Profile& part) const;

  const Profile& profile_;
  const Filter& filter_;
  std::vector<bool> unit_allowed_, op_allowed_;
  std::vector<std::uint32_t> span_rows_, sample_rows_;
  std::vector<std::uint32_t> rows_beside_;  // left out for their op or inference alone
  std::vector<std::uint32_t> unit_number_, op_number_, span_number_, phase_number_;
  std::vector<bool> span_cut_, phase_cut_;  // by their old numbers
  std::uint64_t cut_ = 0, left_out_ = 0;
};

}  // namespace npuscope::filter_parts
