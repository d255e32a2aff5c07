// Profiles with something in every table, random but the same for the same seed: rows that do not
// exist, ids beyond their tables, extreme times, names that are not UTF-8.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope::test_support {

Profile random_profile(std::uint64_t seed, std::size_t spans);

}  // namespace npuscope::test_support
