// Which of a profile's inferences the numbers of a page are of: said in its head, because "7.3 ms"
// of three inferences and of one are different answers.
#pragma once

#include <string>

#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

// "all 3 inferences together", "each of 3 inferences: the median of the 2 after the first"; empty
// for a profile of one inference, or which does not say.
std::string scope_of_all(const Profile& profile);
std::string scope_of_all(std::size_t inferences);
std::string scope_of_each(const Profile& profile);
std::string scope_of_median(std::size_t inferences, bool after_the_first);
std::string scope_of_one(const Profile& profile, std::uint32_t inference);

}  // namespace npuscope::report
