#include "report/timeline/timeline_lanes.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "npuscope/profile/unit_path.hpp"

namespace npuscope::report {
namespace {

// Takes off the paths the steps that all of them begin with, but never the last step of one, and
// gives these steps.
std::string cut_common_steps(std::vector<std::string>& paths) {
  const std::string_view separator = unit_path_separator;
  std::string common;
  while (!paths.empty()) {
    const std::size_t end = paths.front().find(separator);
    if (end == std::string::npos) break;
    const std::string step = paths.front().substr(0, end + separator.size());
    const bool all_have = std::ranges::all_of(paths, [&](const std::string& path) {
      return path.size() > step.size() && path.starts_with(step);
    });
    if (!all_have) break;
    common += (common.empty() ? "" : std::string(separator)) + step.substr(0, end);
    for (std::string& path : paths) path.erase(0, step.size());
  }
  return common;
}

// The steps that the names of all groups begin with.
std::string cut_common_steps(std::vector<LaneGroup>& groups) {
  std::vector<std::string> labels;
  for (const LaneGroup& group : groups) labels.push_back(group.label);
  std::string common = cut_common_steps(labels);
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].label = std::move(labels[i]);
  return common;
}

}  // namespace

std::size_t TimelineLanes::lane_count() const {
  std::size_t count = 0;
  for (const LaneGroup& group : groups) count += group.lanes.size();
  return count;
}

RowLabels row_labels(const analysis::TimelineRows& rows) {
  RowLabels labels;
  for (const auto& row : rows.rows) labels.rows.push_back(printable(row.label));
  if (rows.by == analysis::RowsBy::unit && labels.rows.size() > 1) {
    labels.common = cut_common_steps(labels.rows);
  }
  return labels;
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
