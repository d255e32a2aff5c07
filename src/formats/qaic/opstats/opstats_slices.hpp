// Slices of an operator trace, each by itself: its place in time, its cycles, and the arguments
// that no table of the profile holds. Which op a slice is of must be known; the rest needs nothing
// of the slices before, so that all cores read at once.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "formats/chrome/events.hpp"
#include "formats/qaic/opstats/opstats_arguments.hpp"
#include "formats/qaic/opstats/opstats_ops.hpp"
#include "formats/qaic/opstats/opstats_tracks.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

// What a slice's name says, found once for each name.
struct KnownName {
  SpanKind kind = SpanKind::op;
  StringId kernel{};
  std::optional<std::uint32_t> inference;
};
using KnownNames = std::unordered_map<std::uint32_t, KnownName>;  // by the number of its text

// How often an identity held.
struct Tally {
  std::uint64_t tried = 0;
  std::uint64_t failed = 0;
  void add(bool holds) {
    tried += 1;
    failed += holds ? 0 : 1;
  }
  void add(const Tally& other) {
    tried += other.tried;
    failed += other.failed;
  }
};

struct OpstatsTrace {
  const chrome::Events& events;
  const OpstatsTracks& tracks;
  const std::vector<ArgumentPlan>& plans;
  const StringPool& strings;
  bool is_npuscope = false;
  std::int64_t origin = 0;  // tick of the file's time 0

  const Arguments& arguments() const { return events.slices.arguments; }
  const OpstatsTrack& track_of(std::size_t row) const {
    return tracks.of_thread[events.slices.thread[row]];
  }
  bool is_of_device(const OpstatsTrack& track, std::uint32_t shape) const {
    return track.kind != OpstatsTrack::Kind::host ||
           (plans[shape].has(ArgumentRole::op_kind) && !track.is_host_process);
  }
};

struct SliceRest {
  Arguments arguments;
  Tally durations, ratios;
};

// The spans have the slices' own times, in nanoseconds, and become ticks; kinds and ops must be
// there.
SliceRest read_opstats_slices(const OpstatsTrace& trace, const KnownNames& names,
                              const OpstatsOps& ops, Spans& spans);

}  // namespace npuscope::qaic
