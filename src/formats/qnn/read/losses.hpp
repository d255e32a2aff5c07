// What a reader could not take from a file (profile/counted_notes.hpp), under the name that this
// format's readers use.
#pragma once

#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

using Losses = CountedNotes;

}  // namespace npuscope::qnn
