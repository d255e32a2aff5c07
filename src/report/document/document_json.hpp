// What JSON has of sections: members under their keys.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "npuscope/profile/profile.hpp"
#include "report/document/document.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::report {

// But for those of the key `left_out`.
void write_sections(Json& json, const std::vector<Section>& sections,
                    std::string_view left_out = {});

// What JSON says of a profile wherever it prints of one. Of an object that is begun, the members.

// Its files, format and clock, whether it is whole, and what of it is meant (both empty: all of
// it).
void write_profile_head(Json& json, const Profile& profile, std::string_view scope = {},
                        std::string_view selection = {});
void write_notes(Json& json, std::span<const Note> notes);         // "notes"
void write_clock(Json& json, const Profile& profile, ClockId id);  // the value

}  // namespace npuscope::report
