// What JSON says of a profile wherever it prints of one. Of an object that is begun, the members.
#pragma once

#include <span>
#include <string_view>

#include "npuscope/profile/profile.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::report {

// Its files, format and clock, whether it is whole, and what of it is meant (both empty: all of
// it).
void write_profile_head(Json& json, const Profile& profile, std::string_view scope = {},
                        std::string_view selection = {});
void write_notes(Json& json, std::span<const Note> notes);         // "notes"
void write_clock(Json& json, const Profile& profile, ClockId id);  // the value

}  // namespace npuscope::report
