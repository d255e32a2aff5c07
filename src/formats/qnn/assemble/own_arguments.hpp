// What the arguments of an OP_TRACE's slices say that no column says: without those that repeat
// what a span's op, its start or its duration says.
#pragma once

#include "formats/qnn/read/op_trace.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qnn {

// The spans must be those of `trace.rows`, with starts and durations. The trace loses its
// arguments.
Arguments take_own_arguments(OpTrace& trace, const Spans& spans, const StringPool& strings);

}  // namespace npuscope::qnn
