#include "analysis/path/path_selection.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "npuscope/analysis/coarse.hpp"

namespace npuscope::analysis {
namespace {

// Fills in how long the steady ones are, and gives the place of the one nearest their median.
std::size_t steady_of(const std::vector<InferenceExtent>& inferences, PathBasis& basis) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(inferences.size());
  for (const InferenceExtent& each : inferences) lengths.push_back(length_of(each.wall));
  const std::vector<double> walls(lengths.begin(), lengths.end());
  basis.instances = std::uint32_t(inferences.size());
  basis.median_wall = spread_of(walls).median_of_rest;
  const std::ptrdiff_t first = walls.size() > 1 ? 1 : 0;
  const auto [min, max] = std::minmax_element(lengths.begin() + first, lengths.end());
  basis.min_wall = *min;
  basis.max_wall = *max;
  const auto nearest =
      std::min_element(walls.begin() + first, walls.end(), [&](double a, double b) {
        return std::abs(a - basis.median_wall) < std::abs(b - basis.median_wall);
      });
  return std::size_t(nearest - walls.begin());
}

tl::unexpected<Error> no_executions(const Profile& profile) {
  const auto& files = profile.provenance.files;
  return input_error("{}: has no executions with times, so no path; give a profile with a timeline",
                     files.empty() ? "the profile" : files.front());
}

}  // namespace

Result<ChosenTimeline> choose_timeline(const Profile& profile, const SpanExtents& extents,
                                       std::optional<std::uint32_t> instance, PathBasis& basis) {
  if (extents.inferences.empty()) {
    if (instance) {
      return usage_error("the profile does not tell inferences apart; leave out --inference");
    }
    const bool any = extents.works && length_of(extents.timeline) > 0;
    if (!any) return no_executions(profile);
    return ChosenTimeline{extents.timeline, {0, profile.spans.size()}};
  }
  std::vector<InferenceExtent> inferences;
  for (const InferenceExtent& each : extents.inferences) {
    if (each.works && each.number != every_instance) inferences.push_back(each);
  }
  if (inferences.empty()) return no_executions(profile);
  auto chosen = inferences.begin() + std::ptrdiff_t(steady_of(inferences, basis));
  if (instance) chosen = std::ranges::find(inferences, *instance, &InferenceExtent::number);
  if (chosen == inferences.end()) {
    return usage_error("no inference {}: the profile has {}, numbered {} to {}", *instance,
                       inferences.size(), inferences.front().number, inferences.back().number);
  }
  basis.instance = chosen->number;
  return ChosenTimeline{chosen->wall, {chosen->first_row, chosen->rows_end}};
}

}  // namespace npuscope::analysis
