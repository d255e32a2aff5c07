#include "analysis/path/vendor_path.hpp"

#include <algorithm>

#include "profile/owned_time.hpp"

namespace npuscope::analysis {
namespace {

// Of an op that is sliced over threads the path takes one slice, the vendor perhaps another.
std::vector<std::vector<const PathStep*>> steps_by_op(const Profile& profile,
                                                      const std::vector<PathStep>& steps) {
  std::vector<std::vector<const PathStep*>> of_op(profile.ops.size());
  for (const PathStep& step : steps) {
    if (index_of(step.op) < of_op.size()) of_op[index_of(step.op)].push_back(&step);
  }
  return of_op;
}

std::int64_t shared(const VendorSegment& segment, const std::vector<const PathStep*>& steps) {
  const std::int64_t end = segment.start + segment.duration;
  std::int64_t time = 0;
  for (const PathStep* step : steps) {
    const std::int64_t begin = std::max(segment.start, step->start);
    time += std::max<std::int64_t>(std::min(end, step->start + step->duration) - begin, 0);
  }
  return time;
}

const MeasureColumn* stated_path(const Spans& spans) {
  const auto found =
      std::find_if(spans.measures.begin(), spans.measures.end(), [&](const MeasureColumn& column) {
        return column.kind == MeasureKind::dominant_path && column.values.size() == spans.size();
      });
  return found == spans.measures.end() ? nullptr : &*found;
}

}  // namespace

Result<VendorPath> vendor_path(const Profile& profile, const std::vector<PathStep>& steps) {
  const MeasureColumn* const stated = stated_path(profile.spans);
  if (stated == nullptr) {
    return usage_error(
        "the profile has no dominant path of the vendor's; only optraces of QNN's HTP have one");
  }
  const auto steps_of_op = steps_by_op(profile, steps);
  std::vector<std::int64_t> owned(profile.spans.size(), 0);
  VendorPath path;
  for (const CoreOwners& of_core : dominant_path_of(profile)) {
    for (const OwnedTime& time : of_core.times) {
      VendorSegment segment{no_row, of_core.core, time.start, time.end - time.start, 0};
      path.wall += segment.duration;
      if (time.owner == OwnedTime::idle) {
        path.idle += segment.duration;
      } else {
        segment.row = std::uint32_t(time.owner);
        path.owned += segment.duration;
        owned[segment.row] += segment.duration;
        const std::size_t op = index_of(profile.spans.op[segment.row]);
        if (op < steps_of_op.size()) segment.critical = shared(segment, steps_of_op[op]);
      }
      path.segments.push_back(segment);
    }
  }
  for (std::size_t row = 0; row < owned.size(); ++row) {
    const std::int64_t value = stated->values[row];
    path.differing += value != MeasureColumn::missing && value != owned[row];
  }
  return path;
}

}  // namespace npuscope::analysis
