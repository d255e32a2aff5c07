// Perfetto traces (protobuf, TrackEvent) as profiles.
//
//   auto source = open_byte_source("app.pftrace.gz");
//   auto profile = perfetto::read_profile(**source);
//   for (const Note& note : profile->notes) …      // what was lost or not understood
//
// What becomes what:
//
//   track                      unit: process > thread > other tracks, as the trace nests them
//   slice begin and end        span of kind slice; a track's slices nest
//   legacy complete event      the same; those that cannot nest go to lanes, units beside their own
//   legacy async event         span of kind async
//   instant                    span of kind instant
//   name and categories        op: name and kind (several categories: "a,b")
//   debug annotations          arguments of the span; dictionaries and arrays as JSON
//   counter track              counter series of the unit above it
//   flow id                    flows between the spans that carry it, in the order of time
//   clock snapshots            one base clock, the trace's own time in nanoseconds, and the others
//                              with their offsets to it
//
// A trace of one profile that npuscope wrote becomes that profile again, as far as a trace holds
// it. The format is described in docs/formats/perfetto.md.
#pragma once

#include <string_view>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

struct ReadOptions {
  ProgressReport progress;  // bytes of the file
  // What all compressed packets of the trace may decompress to together; what is beyond is lost,
  // and noted.
  std::uint64_t decompressed_limit = ByteSourceOptions{}.decompressed_limit;
};

// Whether `head`, the first bytes of a file (decompressed; a few hundred are enough), begins a
// Perfetto trace.
bool looks_like(std::string_view head);
// Whether all of `head` can be packets, although none of their fields tells: a trace of other data
// sources alone. Other protobuf files can look so too; ask it last.
bool may_be(std::string_view head);

// Reads to the end of the source and keeps what can be kept: packets that are broken or need state
// that the trace does not have, and packets of other kinds, are counted and located in the notes.
// A trace without track events is a profile without rows, and noted. An input error only when the
// source holds not one packet. Memory is bounded by the profile, not by the trace.
Result<Profile> read_profile(ByteSource& source, const ReadOptions& options = {});

}  // namespace npuscope::perfetto
