// The tracks of a trace: a descriptor each, a tree that keeps the order of the profile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
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

}  // namespace npuscope::perfetto
