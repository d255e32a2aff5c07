// What a profile holds, and what one of a snapshot held that has no rows itself.
#pragma once

#include "npuscope/profile/run_numbers.hpp"

namespace npuscope::analysis {

ProfileContent content_of(const Profile& profile);

}  // namespace npuscope::analysis
