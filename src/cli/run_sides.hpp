// The runs that diff, check and snapshot take from files: as they stand, each a sample or several.
#pragma once

#include <string>
#include <vector>

#include "cli/profiles.hpp"
#include "npuscope/analysis/samples.hpp"

namespace npuscope::cli {

struct RunSide {
  std::vector<Profile> profiles;
  std::vector<Note> notes;
};

// `files` in place of those of the options.
Result<RunSide> open_side(ProfileOptions options, const std::vector<std::string>& files);

}  // namespace npuscope::cli
