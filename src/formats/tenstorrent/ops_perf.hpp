// Tenstorrent's ops_perf_results_*.csv (tt-metal's device profiler): a row an op and device, in the
// order of the host's calls, with cycles of the device's own counter.
//
//   if (tenstorrent::looks_like_ops_perf(head)) …
//   auto profile = tenstorrent::read_ops_perf(*source);
//   profile->units.size()                                  // 8 devices
//
// A span is a device's firmware time of an op; the kernel's is a number of it. Counters of several
// devices are not related: the first op of each begins at 0. What lies between two ops is the
// host's time (dispatch, and the compilation of kernels where the program cache was cold).
// Signposts that repeat, or replays of a trace, tell inferences apart.
//
// A description (tables/*.toml) cannot carry this: the clock is a ratio of two columns, an op of
// eight devices is eight rows, signposts between rows number the inferences, and bytes and MACs
// come from fourteen columns of each tensor.
#pragma once

#include <string_view>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::tenstorrent {

bool looks_like_ops_perf(std::string_view head);

// An input error where no row has times of a device.
Result<Profile> read_ops_perf(ByteSource& source);

}  // namespace npuscope::tenstorrent
