// Where each span is drawn: the process and thread of every unit, lanes for what overlaps without
// nesting, and the moments inside a slice at which an arrow can hold on to it. All in the
// nanoseconds that the trace counts, in which different ticks can be one moment.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/chrome/write/nanoseconds.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/rows_by_unit.hpp"

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
  // The lane of the next slice; they come by start, the longer first. Perfetto nests slices of no
  // length that begin together, so they get lanes of their own as long as there are some.
  std::uint32_t place(Interval slice);
  std::uint32_t count() const { return count_; }

 private:
  // Nesting is looked for in so many lanes; a slice in one beyond has it for itself meanwhile.
  static constexpr std::size_t max_nesting = 32;
  std::vector<std::vector<std::int64_t>> open_ends_;
  std::vector<std::int64_t> empty_at_;  // of each lane the moment of its last slice of no length
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

Layout lay_out(const Profile& profile, const RowsByUnit& by_unit);

// The nanoseconds of a span, from its begin to its end.
Interval nanoseconds_of(const Nanoseconds& nanoseconds, const Spans& spans, std::size_t row);

// The spans of a unit as the trace nests them: by start, the longer first, in nanoseconds.
class NestingOrder {
 public:
  NestingOrder(const Spans& spans, const Nanoseconds& nanoseconds)
      : spans_(spans), nanoseconds_(nanoseconds) {}

  // `rows` are in that order by ticks. The result is theirs, or lies here until the next call.
  std::span<const std::uint32_t> of(std::span<const std::uint32_t> rows);

 private:
  const Spans& spans_;
  const Nanoseconds& nanoseconds_;
  std::vector<std::uint32_t> sorted_;
};

// A new process with so many tracks, for what belongs to no unit; the number of the first.
std::uint32_t add_process(Layout& layout, const std::string& name, std::uint32_t tracks);

// Where an arrow can hold on to a slice, in nanoseconds. Viewers take the innermost slice at its
// time: `first` and `last` are the first and last moment at which none nested inside it is open.
// Perfetto takes the one that began last, even where that has ended: only `start` is safe, and not
// even that where another slice of the track begins just then inside it.
struct Anchor {
  std::int64_t start = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool holds_at_start = true;
  bool stays = true;  // at its start: nothing of no length follows it there
};
std::vector<Anchor> anchors_of(const Profile& profile, const RowsByUnit& by_unit,
                               const Layout& layout, const Nanoseconds& nanoseconds,
                               const std::vector<bool>& wanted);

}  // namespace npuscope::chrome
