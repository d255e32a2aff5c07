// Where each span is drawn: the process and thread of every unit, lanes for what overlaps without
// nesting, and the moments inside a slice at which an arrow can hold on to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::chrome {

struct Track {
  std::string process;  // pid and tid as JSON: a number or a quoted string
  std::string thread;   // empty: of the process itself
  std::string process_name;
  std::string thread_name;
  std::int64_t sort_index = -1;  // negative: as the viewer likes
  bool names_process = false;    // first of its process
};

// The lanes of the slices of one track: slices that nest share one.
class LanePlacer {
 public:
  // The lane of the next slice; they come by start, the longer first.
  std::uint32_t place(Interval slice);
  std::uint32_t count() const { return count_; }

 private:
  // Nesting is looked for in so many lanes; a slice in one beyond has it for itself meanwhile.
  static constexpr std::size_t most_nesting = 32;
  std::vector<std::vector<std::int64_t>> open_ends_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> beyond_;  // a heap: when a lane is free
  std::uint32_t count_ = 0;
};

struct Layout {
  std::vector<Track> tracks;
  std::vector<std::uint32_t> track_of_unit;  // the first lane; the last is for no unit
  std::vector<std::uint32_t> track_of_span;  // empty when no unit has more than one lane
  std::vector<std::uint32_t> order;          // of spans; empty: as they are
  std::uint64_t moved = 0;                   // spans on further lanes

  std::uint32_t track(const Profile& profile, std::size_t row) const;
  std::uint32_t track(UnitId unit) const;
};

Layout lay_out(const Profile& profile, const SpansByUnit& by_unit);

// A new process with so many tracks, for what belongs to no unit; the number of the first.
std::uint32_t add_process(Layout& layout, const std::string& name, std::uint32_t tracks);

// Part of a slice in which none nested inside it is open; the begin of the first such part and the
// last moment of the last one. Computed for the spans that flows join.
struct Anchor {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
std::vector<Anchor> anchors_of(const Profile& profile, const SpansByUnit& by_unit,
                               const Layout& layout, const std::vector<bool>& wanted);

}  // namespace npuscope::chrome
