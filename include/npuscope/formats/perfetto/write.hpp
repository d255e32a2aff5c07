// Profiles as one Perfetto trace (protobuf, TrackEvent) that its viewer and its SQL open cleanly.
//
//   const Profile* profiles[] = {&profile};
//   auto report = perfetto::write_trace(profiles, "run.pftrace");
//   for (const Loss& loss : report->losses.entries) …   // "dependencies between ops": 120
//
// What becomes what:
//
//   unit            track, under the track of its parent, in the order of the profile's units;
//                   processes and threads where their ids are numbers that no other unit has
//   span            slice (instant: instant event), in nanoseconds; named like its op, its category
//                   the op's kind; where it is not an op but a wait or a transfer, named so
//   overlap         spans of a unit that overlap without nesting get further tracks beside it
//   argument, measure of a span, processor cycles, instance, the op's other properties
//                   debug annotations
//   counter series  counter track under its unit, with what it counts
//   flow            an id of its own, ended where it arrives
//   phase           slice on a track "phases"
//   clock           clock snapshot, where Perfetto knows the clock by name
//
// Every track is a sequence of its own with its strings interned and its times as differences.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/losses.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

struct WriteOptions {
  ProgressReport progress;  // units
};

struct WriteReport {
  std::uint64_t bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t tracks = 0;
  Losses losses;  // what a trace cannot say, or says in another form
};

// Several profiles lie side by side, each under a track named after it. The file appears when it is
// complete. An output error when it cannot be written.
Result<WriteReport> write_trace(std::span<const Profile* const> profiles,
                                const std::filesystem::path& path,
                                const WriteOptions& options = {});

// The same into memory, or wherever `sink` takes it; it gets pieces of about a megabyte.
WriteReport write_trace(std::span<const Profile* const> profiles,
                        const std::function<void(std::string_view)>& sink,
                        const WriteOptions& options = {});

}  // namespace npuscope::perfetto
