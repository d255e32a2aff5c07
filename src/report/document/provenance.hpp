// Where a profile is from, and what follows for its numbers, as every command says it.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
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

// What JSON says of a profile wherever it prints of one: its files, format and clock, whether it is
// whole, and what of it is meant (both empty: all of it).
nlohmann::ordered_json profile_head_json(const Profile& profile, const std::string& scope = {},
                                         const std::string& selection = {});
nlohmann::ordered_json clock_json(const Profile& profile, ClockId id);
nlohmann::ordered_json notes_json(std::span<const Note> notes);

}  // namespace npuscope::report
