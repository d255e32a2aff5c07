// The tracks of a trace: a descriptor each, a tree that keeps the order of the profile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/perfetto/write/write_sequence.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

struct TrackToWrite {
  std::string name;
  std::uint64_t parent = 0;         // uuid; 0: none
  std::int32_t rank = 0;            // among its siblings
  std::optional<std::int32_t> pid;  // a process; with tid a thread
  std::optional<std::int64_t> tid;
  bool is_counter = false;
  std::string quantity;     // of a counter
  std::string description;  // where its slices belong, for the reader
};

class TrackWriter {
 public:
  // Two traces put together must not take each other's tracks: uuids differ by `seed`.
  TrackWriter(PacketSink& sink, std::uint64_t seed) : sink_(&sink), seed_(seed) {}

  // Writes the descriptor; its uuid.
  std::uint64_t add(const TrackToWrite& track);
  std::uint64_t count() const { return count_; }

 private:
  PacketSink* sink_;
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

// The tracks of a profile's units, under `root` where there is one. Ids of processes and threads
// are used once in a trace; `used` remembers them from profile to profile.
struct UsedIds {
  std::map<std::int32_t, std::uint64_t> processes;  // uuid
  std::map<std::pair<std::int32_t, std::int64_t>, std::uint64_t> threads;
};

class UnitTracks {
 public:
  UnitTracks(const Profile& profile, TrackWriter& tracks, UsedIds& used, std::uint64_t root);

  std::uint64_t of(UnitId unit) const { return uuid_[index_of(unit)]; }
  // A further track beside the unit's, for what overlaps there: lane 1, 2 ...
  std::uint64_t add_lane(UnitId unit, std::uint32_t lane);
  // A track under the unit's (or the root's, without a unit).
  std::uint64_t add_below(UnitId unit, TrackToWrite track);

 private:
  void add_unit(std::uint32_t unit, bool has_children);
  TrackToWrite describe(std::uint32_t unit, bool has_children) const;
  bool is_unit(UnitId unit) const { return index_of(unit) < uuid_.size(); }

  const Profile& profile_;
  TrackWriter& tracks_;
  UsedIds& used_;
  std::uint64_t root_;
  std::vector<std::uint64_t> uuid_;
  std::vector<std::string> name_;
};

// Slices on as few lanes as let every lane nest: two slices of one lane either lie apart or one
// lies within the other.
//
//   LaneAssigner lanes;
//   lanes.place(0, 10)   // 0
//   lanes.place(2, 5)    // 0, within the first
//   lanes.place(4, 12)   // 1: overlaps both without nesting
//   lanes.place(10, 20)  // 0 again
class LaneAssigner {
 public:
  // Intervals must come by start, and longer before shorter ones where starts are equal. The first
  // lane takes all it can; another lane takes what fits it most tightly. O(log lanes) each.
  std::uint32_t place(std::int64_t start, std::int64_t end);

 private:
  void forget_ended(std::int64_t start);

  std::vector<std::vector<std::int64_t>> open_{1};  // ends of the open intervals, by lane
  // Lanes beside the first: those with something open by the end of the innermost, and the others.
  std::set<std::pair<std::int64_t, std::uint32_t>> busy_;
  std::set<std::uint32_t> idle_;
};

}  // namespace npuscope::perfetto
