// IREE's profile as `iree-profile export --format=ireeperf-jsonl` writes it, a record a line.
//
//   auto profile = ireeperf::read_profile(*source);
//
//   execute of a submission      an inference, which encloses its dispatches
//   dispatch, fill, copy         work of the queue that they ran on
//   alloca, dealloca             work of the host, on the same queue
//   dispatch on a device         the same in the device's ticks, on the host's time axis where the
//                                file correlates the two; it counts then in place of the host's
#pragma once

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::ireeperf {

inline constexpr const char* format_name = "IREE profile";

bool looks_like(std::string_view head);

// An input error where no record says what ran.
Result<Profile> read_profile(ByteSource& source, const ProgressReport& progress = {});

}  // namespace npuscope::ireeperf
