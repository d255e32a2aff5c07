// Which inference a path is of, when that was, and among which rows.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/span_extents.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/path.hpp"

namespace npuscope::analysis {

struct ChosenTimeline {
  Interval timeline;
  RowRange rows;  // all that are of the inference are among these
};

// First start to last end of the chosen inference, or of all spans where the profile does not tell
// inferences apart. Fills in what the basis says of inferences.
Result<ChosenTimeline> choose_timeline(const Profile& profile, const SpanExtents& extents,
                                       std::optional<std::uint32_t> instance, PathBasis& basis);

}  // namespace npuscope::analysis
