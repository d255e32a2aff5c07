// A profile as text, so that a test compares all of it.
#pragma once

#include <string>
#include <string_view>

#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto::test {

// Opens bytes as a trace; on failure the text is the error's message.
std::string read_as_text(std::string_view trace);
Profile read(std::string_view trace);

// Units as a tree, then spans, counters, flows and notes, each where there are any.
std::string text_of(const Profile& profile);
std::string text_of_notes(const Profile& profile);

}  // namespace npuscope::perfetto::test
