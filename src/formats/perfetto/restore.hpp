// A trace that npuscope wrote says as annotations what its data model knows of a span: its kind,
// inference, cycles and the properties of its op. Here they become that again.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

// Leaves a profile alone that has no such arguments.
void restore_known_words(Profile& profile);

}  // namespace npuscope::perfetto
