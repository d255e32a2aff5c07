// Which inference a path is of, and when that was.
#pragma once

#include <cstdint>
#include <optional>

#include "npuscope/analysis/path.hpp"

namespace npuscope::analysis {

// First start to last end of the chosen inference, or of all spans where the profile does not tell
// inferences apart. Fills in what the basis says of inferences.
Result<Interval> choose_timeline(const Profile& profile, std::optional<std::uint32_t> instance,
                                 PathBasis& basis);

}  // namespace npuscope::analysis
