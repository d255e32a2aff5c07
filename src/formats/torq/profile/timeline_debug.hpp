// A timeline in place of debug information, where a log has none: what its programs did when, so
// that their times are split.
//
//   const auto debug = debug_of_timeline(timeline, log, sources);
//   make_profile(log, &*debug)      // as with debug information, without kernels
//
// A timeline does not say where a program ends. That of 2026-02 names the action that waited for
// each row; of the others all programs share the whole estimate in the proportions of their
// measured times, as if the NPU took the same time a cycle in all of them.
#pragma once

#include <memory>
#include <optional>

#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/runtime_log.hpp"
#include "formats/torq/timeline.hpp"

namespace npuscope::torq {

// None where the log has programs of several dispatches, of which a timeline holds one, or none.
std::optional<DebugInfo> debug_of_timeline(const CompileTimeline& timeline, const RuntimeLog& log,
                                           std::shared_ptr<SourceFiles> sources);

}  // namespace npuscope::torq
