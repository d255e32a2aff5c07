// Profiles of a log of llama.cpp's Hexagon backend: one for each phase, because a prompt and a
// token are different graphs for different engines.
//
//   auto log = ggml::read_log(*source);
//   for (Profile& profile : ggml::make_profiles(*log)) …    // "prefill", "decode"
//
// An op has a span on its session's unit, from the start to the end of its window; trace events are
// spans of the same op on the units of the threads, cut to the windows. A step of the model is an
// inference. Times are picoseconds: cycles by the clock of the log's own stretch, batches where the
// host printed them.
#pragma once

#include <vector>

#include "formats/ggml/log.hpp"

namespace npuscope::ggml {

inline constexpr const char* format_name = "llama.cpp Hexagon profile";

std::vector<Profile> make_profiles(Log& log);

}  // namespace npuscope::ggml
