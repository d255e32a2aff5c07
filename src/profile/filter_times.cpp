#include <algorithm>
#include <set>
#include <vector>

#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/filter_parts.hpp"
#include "profile/self_times.hpp"

namespace npuscope::filter_parts {

// Spans that are left out took their time from those that enclose them: what these had to
// themselves is found from all that ran.
void Selection::find_own_times(Spans& part) const {
  if (rows_beside_.empty() || span_rows_.empty()) return;
  part.own.resize(span_rows_.size());
  std::vector<std::uint32_t> all = span_rows_;
  all.insert(all.end(), rows_beside_.begin(), rows_beside_.end());
  std::sort(all.begin(), all.end());
  const std::int64_t tolerance = nesting_tolerance(profile_);
  const SpansByUnit by_unit(profile_, all);
  std::vector<SpanOfUnit> of_unit;
  std::vector<std::int64_t> own;
  for (std::size_t group = 0; group < by_unit.groups(); ++group) {
    const std::size_t first = by_unit.place_of(group);
    const auto uncut = by_unit.all().subspan(first, by_unit.place_of(group + 1) - first);
    of_unit.assign(uncut.begin(), uncut.end());
    for (SpanOfUnit& span : of_unit) {
      const Interval left = cut_interval(span.row);
      span.begin = left.begin;
      span.end = left.end;
    }
    find_self_times(of_unit, tolerance, own);
    for (std::size_t i = 0; i < of_unit.size(); ++i) {
      const std::uint32_t number = span_number_[of_unit[i].row];
      if (number != gone) part.own[number] = own[i];
    }
    const std::uint32_t unit = group < profile_.units.size() ? unit_number_[group] : gone;
    for (const Interval& each : held_within_work(of_unit)) {
      part.held_up.push_back({UnitId(unit), each.begin, each.end});
    }
  }
}

// An op that ran in some inferences alone took no time in the others, where it is the only one
// asked for, too.
void Selection::find_other_instances(Spans& part) const {
  const Spans& all = profile_.spans;
  part.other_instances = all.other_instances;
  if (filter_.instance || all.instance.size() != all.size()) return;
  std::set<std::uint32_t> others;
  std::uint32_t last = every_instance;
  for (const std::uint32_t row : rows_beside_) {
    if (all.instance[row] != last) others.insert(last = all.instance[row]);
  }
  last = every_instance;
  for (const std::uint32_t instance : part.instance) {
    if (others.empty()) break;
    if (instance != last) others.erase(last = instance);
  }
  others.erase(every_instance);
  part.other_instances.insert(part.other_instances.end(), others.begin(), others.end());
}

void Selection::copy_own_times(Spans& part) const {
  const Spans& all = profile_.spans;
  if (all.own.empty()) return find_own_times(part);
  part.own = picked(all.own, span_rows_, all.size());
  for (std::size_t row = 0; row < part.own.size(); ++row) {
    part.own[row] = std::min(part.own[row], std::max<std::int64_t>(0, part.duration[row]));
  }
  for (Spans::HeldUp each : all.held_up) {
    each.unit = UnitId(at(unit_number_, index_of(each.unit)));
    part.held_up.push_back(each);
  }
}

}  // namespace npuscope::filter_parts
