// A note in one line: "warning: trace.json: 3 ends without begin (byte 90) (3 times)".
#pragma once

#include <string>

#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

std::string note_text(const Note& note);

}  // namespace npuscope::report
