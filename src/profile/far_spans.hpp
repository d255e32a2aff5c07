// Spans whose times are no times of the run, as a recorder leaves them where it has none: they must
// not stretch the wall to years of idling.
//
//   |a                                                     |b|  |c|   |d|
//   0                                                      1 615 207 264 505 100 us
//
// Without a duration and at time 0 or before, far from the others (`a`): not recorded; it is placed
// at the first start of these. Few spans very far from all others: left out. A note names each kind
// and says where they were.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope {

void set_far_spans_apart(Profile& profile);

}  // namespace npuscope
