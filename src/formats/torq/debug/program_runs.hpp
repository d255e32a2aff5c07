// Follows the programs of a dispatch in the order of its actions: which units each uses, what is
// still under way from the one before, and which kernel a slice runs.
#pragma once

#include "formats/torq/debug/dispatch_text.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::torq {

// Fills programs, tasks and work of the dispatch, and the programs of its actions, which are still
// in the order of the text.
void follow_programs(const DispatchText& text, DispatchInfo& dispatch, CountedNotes& notes);

}  // namespace npuscope::torq
