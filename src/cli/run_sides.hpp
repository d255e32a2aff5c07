// The runs that diff, check and snapshot take from files: as they stand, each a sample or several.
#pragma once

#include <string>
#include <vector>

#include "analysis/choose_runs.hpp"
#include "cli/profiles.hpp"
#include "npuscope/analysis/samples.hpp"

namespace npuscope::cli {

struct RunSide {
  std::vector<Profile> profiles;
  std::vector<Note> notes;
};

// `files` in place of those of the options.
Result<RunSide> open_side(ProfileOptions options, const std::vector<std::string>& files);

std::vector<const Profile*> chosen_runs(const RunSide& side,
                                        const std::vector<std::size_t>& chosen);

// What else there is of the same runs: latency files, and logs, which have no ops.
std::vector<const Profile*> beside_runs(const RunSide& side,
                                        const std::vector<std::size_t>& chosen);

}  // namespace npuscope::cli
