#include "report/timeline/timeline_lanes.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "npuscope/profile/unit_path.hpp"

namespace npuscope::report {
namespace {

// What all begin with, step by step, is taken off them.
std::string cut_common_steps(std::vector<LaneGroup>& groups) {
  const std::string_view separator = unit_path_separator;
  std::string common;
  for (;;) {
    const std::string& first = groups.front().label;
    const std::size_t end = first.find(separator);
    if (end == first.npos) return common;
    const std::string step = first.substr(0, end + separator.size());
    const bool all_have = std::ranges::all_of(
        groups, [&](const LaneGroup& group) { return group.label.starts_with(step); });
    if (!all_have) return common;
    common += common.empty() ? "" : separator;
    common += step.substr(0, end);
    for (LaneGroup& group : groups) group.label.erase(0, step.size());
  }
}

}  // namespace

std::size_t TimelineLanes::lane_count() const {
  std::size_t count = 0;
  for (const LaneGroup& group : groups) count += group.lanes.size();
  return count;
}

TimelineLanes lanes_of(const Profile& profile, const analysis::TimelineRows& rows) {
  TimelineLanes made;
  std::map<std::string, std::size_t> group_of_label;
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    UnitPath path{"", rows.rows[row].label};
    const std::uint32_t group = rows.rows[row].group;
    if (rows.by == analysis::RowsBy::unit && group < profile.units.size()) {
      path = unit_path(profile, UnitId(group));
    }
    const std::string label = printable(path.within);
    const auto [place, is_new] = group_of_label.try_emplace(label, made.groups.size());
    if (is_new) made.groups.push_back({label, {}});
    made.groups[place->second].lanes.push_back({printable(path.name), row});
  }
  if (made.groups.size() == 1) {
    std::swap(made.common, made.groups.front().label);
  } else if (!made.groups.empty()) {
    made.common = cut_common_steps(made.groups);
  }
  return made;
}

}  // namespace npuscope::report
