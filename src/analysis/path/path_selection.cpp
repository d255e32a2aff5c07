#include "analysis/path/path_selection.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::analysis {
namespace {

// First start to last end of some spans.
struct Extent {
  Interval interval;
  bool any = false;
  bool works = false;
  void take(Interval other, bool other_works);
  void take(const Extent& other);
  void take(const Spans& spans, std::size_t row);
};

struct Inference {
  std::uint32_t number = 0;
  Extent extent;
};

void Extent::take(Interval other, bool other_works) {
  interval =
      any ? Interval{std::min(interval.begin, other.begin), std::max(interval.end, other.end)}
          : other;
  any = true;
  works = works || other_works;
}

void Extent::take(const Extent& other) {
  if (other.any) take(other.interval, other.works);
}

void Extent::take(const Spans& spans, std::size_t row) {
  const SpanKind kind = spans.kind[row];
  if (role_of(kind) == Role::overlay || kind == SpanKind::activation) return;
  take(interval_of(spans, row), role_of(kind) == Role::work);
}

// Those that have work, by number.
std::vector<Inference> inferences_of(const Spans& spans) {
  const std::vector<RowRange> parts = ranges_of(spans.size());
  std::vector<std::vector<Inference>> runs_of(parts.size());  // rows of one follow one another
  parallel_for(parts.size(), [&](std::size_t part) {
    std::vector<Inference>& runs = runs_of[part];
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      if (runs.empty() || spans.instance[row] != runs.back().number) {
        runs.push_back({spans.instance[row], {}});
      }
      runs.back().extent.take(spans, row);
    }
  });
  std::vector<Inference> runs;
  for (const auto& some : runs_of) runs.insert(runs.end(), some.begin(), some.end());
  std::stable_sort(runs.begin(), runs.end(),
                   [](const auto& a, const auto& b) { return a.number < b.number; });
  std::vector<Inference> inferences;
  for (const Inference& run : runs) {
    if (run.number == every_instance || !run.extent.any) continue;
    if (inferences.empty() || inferences.back().number != run.number)
      inferences.push_back({run.number, {}});
    inferences.back().extent.take(run.extent);
  }
  std::erase_if(inferences, [](const Inference& each) { return !each.extent.works; });
  return inferences;
}

// Fills in how long the steady ones are, and gives the place of the one nearest their median.
std::size_t steady_of(const std::vector<Inference>& inferences, PathBasis& basis) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(inferences.size());
  for (const Inference& each : inferences) lengths.push_back(length_of(each.extent.interval));
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

Result<Interval> whole_timeline(const Profile& profile) {
  const Spans& spans = profile.spans;
  const std::vector<RowRange> parts = ranges_of(spans.size());
  std::vector<Extent> extents(parts.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    Extent extent;
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      extent.take(spans, row);
    }
    extents[part] = extent;
  });
  Extent all;
  for (const Extent& extent : extents) all.take(extent);
  if (all.works && length_of(all.interval) > 0) return all.interval;
  return no_executions(profile);
}

}  // namespace

Result<Interval> choose_timeline(const Profile& profile, std::optional<std::uint32_t> instance,
                                 PathBasis& basis) {
  const Spans& spans = profile.spans;
  if (spans.instance.size() != spans.size() || spans.size() == 0) {
    if (instance) {
      return usage_error("the profile does not tell inferences apart; leave out --inference");
    }
    return whole_timeline(profile);
  }
  const std::vector<Inference> inferences = inferences_of(spans);
  if (inferences.empty()) return no_executions(profile);
  auto chosen = inferences.begin() + std::ptrdiff_t(steady_of(inferences, basis));
  if (instance) {
    chosen = std::find_if(inferences.begin(), inferences.end(),
                          [&](const Inference& each) { return each.number == *instance; });
  }
  if (chosen == inferences.end()) {
    return usage_error("no inference {}: the profile has {}, numbered {} to {}", *instance,
                       inferences.size(), inferences.front().number, inferences.back().number);
  }
  basis.instance = chosen->number;
  return chosen->extent.interval;
}

}  // namespace npuscope::analysis
