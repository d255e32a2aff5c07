// A profile as Chrome Trace Event JSON: one event a line, nothing overlapping on a track, so that
// chrome://tracing and Perfetto show all of it.
//
//   auto file = AtomicFile::create("trace.json");
//   const Losses losses = write_trace(profile, [&](std::string_view text) { file->write(text); });
//   return file->commit();
//
//   slices     X, in the profile's order (the longer first where two begin together), lossless
//   async      b and e with an id of their own; instants i; counters C
//   flows      s and f with an id of their own, inside the slices that they join
//   phases     X on a process of their own
//   units      process_name and thread_name: a unit's parent is its process
//
// Times are nanoseconds where the base clock's rate is known; else one tick is written as one
// nanosecond, and the losses say so. What the data model knows beyond a slice's own arguments (its
// kind, inference, cycles, measures, its op's node, memory, shape) is in args.npuscope.
// Spans that overlap without nesting on one unit get tracks of their own, "HVX 1 (2)".
#pragma once

#include <functional>
#include <string_view>

#include "npuscope/base/progress.hpp"
#include "npuscope/profile/losses.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

struct WriteOptions {
  ProgressReport progress;  // spans
};

// `sink` takes the text in pieces of about a megabyte.
Losses write_trace(const Profile& profile, const std::function<void(std::string_view)>& sink,
                   const WriteOptions& options = {});

}  // namespace npuscope::chrome
