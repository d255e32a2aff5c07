// What ran when, a row for each unit or group of operators, and what lies between:
//
//   TimelineRows found = analysis.timeline({.by = RowsBy::unit});
//   found.wall                  64829   window of time, ticks of the base clock
//   found.busy.length           56003   something worked
//   found.occupied.length       63056   something worked or waited; the rest of the wall is idle
//   found.occupied.sum          68626   over units; 68626 / 63056 = 1.088 is the parallelism
//   found.rows[0].label         "HMX 256"
//   found.rows[0].busy          26962   union of its work: what overlaps or nests counts once
//   found.gaps[0]               {40057, 40151}, after MatMul_0, before Softmax_1
//
// Busy, waiting and idle of a row add up to the wall: a moment in which a row works and waits is
// busy. A row of ops is busy with what is nested inside them too, which is no work of its own.
// Asynchronous slices, instants and spans that enclose whole inferences are not drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/coarse.hpp"

namespace npuscope::analysis {

enum class RowsBy : std::uint8_t { unit, engine, stage, node, kind, op };
const char* name_of(RowsBy by);

enum class RowOrder : std::uint8_t {
  profile,  // of the profile's units, engines or ops
  start,    // of the first work or wait
  work,     // the most first
};

struct TimelineRequest {
  RowsBy by = RowsBy::unit;
  RowOrder order = RowOrder::profile;
  std::size_t top = 40;  // rows kept: those with most work
  std::size_t gaps = 5;  // the longest
  // What the timeline covers; extended to all that ran. None: timeline_of(profile).
  std::optional<Interval> window{};
  // Leaves out what the rows have in common: what runs at once, gaps and inferences.
  bool only_rows = false;
};

struct TimelineRow {
  std::string label;
  std::uint32_t group = 0;  // its number among all groups
  std::uint64_t spans = 0;  // of work
  std::int64_t work = 0;    // sum of its work, nested slices once
  std::int64_t busy = 0;    // time in which it works
  std::int64_t waiting = 0;
  std::int64_t idle = 0;
  std::int64_t span = 0;          // first start to last end of its work, or of its waits
  std::int64_t longest_idle = 0;  // within the window
  IntervalSet work_set;           // the times themselves
  IntervalSet wait_set;           // without those in which it works
};

struct TimelineGap {
  Interval interval;
  std::uint32_t before = none;  // row of a span that ends where it begins
  std::uint32_t after = none;   // row of a span that begins where it ends
  static constexpr std::uint32_t none = ~std::uint32_t{0};
};

struct TimelineTotal {
  std::int64_t sum = 0;     // over units
  std::int64_t length = 0;  // of the union
};

struct TimelineRows {
  RowsBy by = RowsBy::unit;
  Interval window;
  std::int64_t wall = 0;
  TimelineTotal busy;      // work
  TimelineTotal waits;     // sum of all; length: where nothing works
  TimelineTotal occupied;  // work and waits
  std::int64_t idle = 0;   // nothing works or waits
  std::int64_t compute = 0, movement = 0, compute_and_movement = 0;  // unions and their overlap
  // Units at work at once; 0 counts over the whole window.
  Concurrency concurrency;
  double mean_concurrency = 0;  // while any is at work; 0 without work
  std::vector<TimelineRow> rows;
  std::uint64_t row_count = 0;     // before the top were kept
  std::int64_t work_left_out = 0;  // of the other rows
  std::vector<TimelineGap> gaps;   // the longest first
  std::uint64_t gap_count = 0;
  Spread inferences;            // their walls, where spans say of which they are
  std::uint64_t not_drawn = 0;  // asynchronous slices and instants
};

}  // namespace npuscope::analysis
