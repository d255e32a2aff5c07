// Which time of the trace a timestamp is. Clock snapshots say what several clocks read at one
// moment; a timestamp of one clock becomes one of another through the last snapshot before it that
// has both, or through a chain of such snapshots.
//
//   clocks.add_snapshot(bytes, sequence, offset);      // boottime 100, clock 64 of sequence 7: 0
//   clocks.to_trace_time(64, 7, 25)                    // 125
//
// Clocks 64 to 127 belong to a sequence. Each is related to one of the trace-wide clocks of its
// snapshots; trace-wide clocks are related to one another.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/perfetto/read/defects.hpp"

namespace npuscope::perfetto {

constexpr bool is_sequence_clock(std::uint32_t clock) { return clock >= 64 && clock <= 127; }

class Clocks {
 public:
  explicit Clocks(Defects& defects) : defects_(&defects) {}

  // May throw protozero's exceptions on a broken message; what it said before stays.
  void add_snapshot(std::string_view message, std::uint32_t sequence, std::uint64_t offset);

  // Nanoseconds; none when nothing relates the clock to the trace's (or beyond 64 bits). `clock` 0
  // is the trace's own.
  std::optional<std::int64_t> to_trace_time(std::uint32_t clock, std::uint32_t sequence,
                                            std::uint64_t timestamp) {
    std::int64_t time = 0;
    if (usual_to_trace_time(clock, sequence, timestamp, time)) return time;
    return any_to_trace_time(clock, sequence, timestamp);
  }

  // The same of the trace's own clock and the usual one of a sequence; false, and nothing has
  // happened, where it is another. No optional: processors wait long for one that is written in two
  // steps and read in one.
  bool usual_to_trace_time(std::uint32_t clock, std::uint32_t sequence, std::uint64_t timestamp,
                           std::int64_t& time) {
    if (clock == 0 && units_ns_.empty() && timestamp >> 63 == 0) {
      time = std::int64_t(timestamp);
      return true;
    }
    // Differences, since a snapshot that has the trace's clock.
    constexpr std::uint64_t largest_step = std::uint64_t{1} << 40;  // 18 minutes
    constexpr std::int64_t farthest = std::int64_t{1} << 62;        // no sum overflows below
    if (last_steps_ && last_key_ == (std::uint64_t(sequence) << 32 | clock) &&
        timestamp < largest_step && last_clock_->last < farthest) {
      last_clock_->last += std::int64_t(timestamp);
      time = last_clock_->last + last_offset_;
      return true;
    }
    return false;
  }

  // A trace without snapshots whose first event names a clock: that is the trace's.
  bool may_assume_base() const { return snapshots_ == 0 && !base_chosen_; }
  void assume_base(std::uint32_t clock);
  void use_base() { base_chosen_ = true; }

  // The base clock first, then the other trace-wide clocks that are related to it.
  void fill(Profile& profile) const;

 private:
  struct Reading {
    std::uint32_t clock = 0;
    std::int64_t time = 0;  // ns
  };
  struct SequenceClock {
    std::uint64_t unit_ns = 1;
    bool incremental = false;
    std::int64_t last = 0;         // ns; of the last timestamp
    std::uint32_t related_to = 0;  // a trace-wide clock; 0: none yet
    std::vector<std::int64_t> own;
    std::vector<std::int64_t> other;
  };
  // Snapshots of the same set of trace-wide clocks, in order of time.
  struct Group {
    std::vector<std::uint32_t> clocks;                // sorted
    std::vector<std::vector<std::int64_t>> readings;  // per clock
  };
  struct Hop {
    std::size_t group = 0;
    std::size_t from = 0;  // place in Group::clocks
    std::size_t to = 0;
  };
  struct Route {
    bool known = false;
    std::size_t groups_seen = 0;  // of an unknown route: tried with so many groups
    std::vector<Hop> hops;
  };

  std::optional<std::int64_t> any_to_trace_time(std::uint32_t clock, std::uint32_t sequence,
                                                std::uint64_t timestamp);
  void remember_steps();
  void add_group(std::vector<Reading> readings, std::uint64_t offset);
  void relate(std::uint32_t clock, std::uint32_t sequence, std::int64_t time,
              const std::vector<Reading>& trace_wide);
  const Route& route_from(std::uint32_t clock);
  Route find_route(std::uint32_t clock) const;
  std::optional<std::int64_t> trace_wide_to_base(std::uint32_t clock, std::int64_t time);
  std::optional<std::int64_t> sequence_time(SequenceClock& clock, std::uint64_t timestamp);

  Defects* defects_;
  std::uint32_t base_ = 6;  // boottime, unless a snapshot or the events say otherwise
  bool base_chosen_ = false;
  std::uint64_t snapshots_ = 0;
  std::vector<Group> groups_;
  std::unordered_map<std::uint32_t, Route> routes_;
  std::unordered_map<std::uint32_t, std::uint64_t> units_ns_;  // of trace-wide clocks, unless 1
  std::unordered_map<std::uint64_t, SequenceClock> sequence_clocks_;
  std::uint64_t last_key_ = 0;
  SequenceClock* last_clock_ = nullptr;
  bool last_steps_ = false;  // the last clock counts ns on from readings that are all before now
  std::int64_t last_offset_ = 0;
};

}  // namespace npuscope::perfetto
