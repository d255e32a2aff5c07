// A trace that npuscope wrote says as annotations what its data model knows of a span: its kind,
// inference, cycles and the properties of its op. Here they become that again.
#pragma once

#include <vector>

#include "formats/perfetto/about.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

// Leaves a profile alone that has no such arguments. `numbers`: what further arguments are.
void restore_known_words(Profile& profile, const std::vector<NumberMeaning>& numbers);

}  // namespace npuscope::perfetto
