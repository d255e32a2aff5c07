// Where a profile is from, and what follows for its numbers, as every command says it.
#pragma once

#include <string>

#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

// One file by its path; several by the folder that they share, or the first.
std::string files_text(const Profile& profile);

// "QNN HTP optrace set · model_encoded · 3 inferences, the first cold"
std::string what_was_profiled(const Profile& profile);

// "3 warnings, 1 error"; empty without any.
std::string warnings_text(const Profile& profile);

// One cold, instrumented inference: it says what runs beside what, not how busy anything is.
bool is_structure_only(const Profile& profile);
inline constexpr const char* structure_only_caution =
    "one cold, instrumented inference: read order and overlap from its ops, not latency";

}  // namespace npuscope::report
