// Tracks that execute in order, as a device's stream does: what was recorded there cannot enclose
// what comes next.
//
//   |------------ a, 620 us ------------|        a ended before b began: its duration is an
//          |- b -|       |- c -|                 artefact of the recorder
//
// Such a span is cut where the next begins; a number of role recorded_duration keeps what the file
// says. Spans that overlap in part stay as they are: the end of one may run beside the next.
#pragma once

#include <functional>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

// `is_in_order` of a row: whether its track executes it and others like it in order. The lanes of a
// track count as one.
void cut_in_order(Profile& profile, const std::function<bool(std::size_t)>& is_in_order);

}  // namespace npuscope
