// The tracks of a trace: what their descriptors say, in any order and as late as they come, and
// what the pairing of slices keeps for each.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/perfetto/fields.hpp"
#include "npuscope/base/string_pool.hpp"

namespace npuscope::perfetto {

inline constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

// Which slices an end may close; what is empty says nothing.
struct EndOf {
  StringId name{};
  StringId category{};
  bool any() const { return name == StringId{} && category == StringId{}; }
};

// A track whose events do not come in the order of time: they are kept and paired in the end.
struct LateEvents {
  struct Event {
    std::int64_t time = 0;
    std::uint32_t row = none;       // that begins here; none: an end
    std::uint32_t deferred = none;  // of an end: its place in Slices::deferred_
    EndOf of;
  };
  std::vector<Event> events;
  std::size_t early_ends = 0;  // the first events: ends without begin while all was in order
  std::uint32_t first_late_row = none;  // rows from here on are in `events`; none: all in order
};

struct Track {
  enum class Kind : std::uint8_t { plain, process, thread };

  std::uint64_t uuid = 0;
  std::uint64_t parent_uuid = 0;
  StringId name{};
  StringId process_name{};
  StringId thread_name{};
  StringId chrome_name{};  // of what kind of process or thread it is to Chrome
  StringId quantity{};     // of a counter: what it counts
  StringId description{};
  std::int64_t tid = 0;
  std::int64_t multiplier = 1;  // of a counter
  std::int32_t pid = 0;
  std::int32_t rank = 0;
  Kind kind = Kind::plain;
  ChildOrdering ordering = ChildOrdering::unspecified;
  bool has_uuid = false;  // else known by pid and tid only
  bool described = false;
  bool has_parent = false;
  bool is_counter = false;
  bool incremental = false;
  bool has_rows = false;
  bool may_overlap = false;  // slices that were not paired by begin and end
  std::uint32_t series = none;
  std::uint32_t state_row = none;  // the state that goes on
  std::int64_t first_time = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_time = std::numeric_limits<std::int64_t>::min();
  std::vector<std::uint32_t> open;           // rows, innermost last
  std::uint32_t ended_in_open = 0;           // of them: those that ended before what is inside them
  std::vector<std::uint32_t> ended_by_name;  // rows that ended so
  std::unique_ptr<LateEvents> late;

  // Where nothing else is said of a track, counter values make it a counter track.
  void take_counter_values() { is_counter |= !described && kind == Kind::plain; }
  bool in_order() const { return !late || late->first_late_row == none; }
};

class Tracks {
 public:
  explicit Tracks(StringPool& strings) : strings_(&strings) {}

  std::uint32_t by_uuid(std::uint64_t uuid) {
    const Recent& recent = recent_[place_of(uuid)];
    return recent.track != none && recent.uuid == uuid ? recent.track : find_or_add(uuid);
  }
  std::uint32_t of_process(std::int32_t pid);
  std::uint32_t of_thread(std::int32_t pid, std::int64_t tid);
  // Tracks that no descriptor and no event names.
  std::uint32_t add_process(std::int32_t pid);
  std::uint32_t add_thread(std::int32_t pid, std::int64_t tid);
  std::uint32_t find_uuid(std::uint64_t uuid) const;  // none when there is none

  // TrackDescriptor, and the packets of old: ProcessDescriptor and ThreadDescriptor (returns its
  // track). They may throw protozero's exceptions on a broken message.
  struct DescribedThread {
    std::uint32_t track = none;  // none: what was described is no thread
    std::int64_t reference_time_us = 0;
    bool has_reference_time = false;
    std::int64_t thread_time_us = 0;  // what its events count up from
    std::int64_t instructions = 0;
  };
  DescribedThread describe(std::string_view track_descriptor);
  void describe_process(std::string_view process_descriptor);
  DescribedThread describe_thread(std::string_view thread_descriptor);

  Track& operator[](std::uint32_t track) { return tracks_[track]; }
  const Track& operator[](std::uint32_t track) const { return tracks_[track]; }
  std::uint32_t size() const { return std::uint32_t(tracks_.size()); }

 private:
  std::uint32_t add();
  std::uint32_t find_or_add(std::uint64_t uuid);
  void describe_process(std::string_view message, Track& track);
  DescribedThread describe_thread(std::string_view message, Track& track);
  void describe_counter(std::string_view message, Track& track);

  StringPool* strings_;
  std::vector<Track> tracks_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_uuid_;
  std::map<std::int32_t, std::uint32_t> processes_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::uint32_t> threads_;
  // The last tracks looked up, by the low bits of a mix of their uuid.
  struct Recent {
    std::uint64_t uuid = 0;
    std::uint32_t track = none;
  };
  static constexpr unsigned bits_of_place = 10;
  static std::size_t place_of(std::uint64_t uuid) {
    return (uuid * 0x9E3779B97F4A7C15u) >> (64 - bits_of_place);  // 2^64 / golden ratio
  }
  std::array<Recent, 1 << bits_of_place> recent_{};
};

}  // namespace npuscope::perfetto
