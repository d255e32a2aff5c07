// Processes of one name told apart, so that their units have paths of their own.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope {

// Numbers those that share a name, as lanes: the first is 0. Their names stay what the trace says;
// a path says of the others which process they are, "python (4711)".
void number_namesakes(Profile& profile);

}  // namespace npuscope
