// The true critical path: which executions, waits and constraints decided how long an inference
// took, how much later each op could have ended, and what a faster op would gain.
//
//   auto paths = PathAnalysis::create(profile, std::nullopt);   // the inference nearest the median
//   const CriticalPath path = paths->observed();
//   path.wall                    64829 ticks = lead + work + gaps + tail, exactly
//   path.steps[7]                ForceFormat_Crouton on lane 512, from 15955, 24061 long,
//                                34 after q::Reshape ended, for its data
//   paths->executions().slack[row]   how much later span `row` could have ended at the same wall
//   paths->what_if(scaling)      every start again with other durations: the wall, its new path
//
// The model. Nodes are executions: work spans (a span with others nested inside it is the pieces
// that are its own). An asynchronous transfer begins when its issue has ended and the transfer
// before it on the engine is complete. Waits are no nodes but the symptoms of gaps. A node starts
// when the last of these has released it:
//   unit      the work before it on its unit has ended: units work in the order that was seen
//   data, reuse, transfer, order
//             all executions of the op that an edge comes from have ended, transfers included, or
//             of those behind it where it executes nothing itself; of
//             an edge whose ops overlap or repeat, the last execution that ended before this one
//   flow      the span that an arrow of the trace comes from has ended, or, where it ends later,
//             has run as far as it had then
//   issue     of a transfer: its issue has ended
//   dma wait  of an issue: with as many transfers in flight as were ever seen, the oldest is
//             complete; of work that moves nothing, after a wait: the transfer that ended during
//             the wait; after a wait for DMA that is more than twice as long as the shortest: the
//             transfer, in flight since the op that the wait depends on, or of its name, ended;
//             where the thread that waited goes on with an op, so do the threads of its core that
//             begin that op within 100 ticks after the wait
//             a wait for DMA itself begins when the data, reuse, transfer and order of the work
//             behind it have let go, as a thread comes to it only then: its length is a delay of
//             that work; where its thread did nothing for more than 100 ticks and none of them let
//             go within these, it comes in the order of the program after the op of another thread
//             of its core that ended last before it, at most 100 ticks earlier
//   barrier   all threads that run the op before it have ended
//   order     too, of work after a wait of kind `wait`: what its unit did last before the event
//             that an arrow leads from, and of a host the last that a device ended during the wait
// A constraint of a class (reason; on one queue, core, device or none; of a transfer or not; with a
// barrier or not; for `unit` the unit) also has a latency, the least that was seen of its class, if
// one of the class was the last to end of what its target waited for, or if that explains a start
// that nothing else does and is no longer than such a latency. What a start is later than all that
// is the node's own delay, and stays with it. So the schedule computed from the observed durations
// is the observed one, to the tick, and the same schedule with other durations answers what-if.
//
// What it does not know: shared bandwidth (a faster op may slow its neighbours), another order on a
// unit, another placement, and constraints that the profile does not tell. A constraint that was
// not met in the observation (its source ends after its target starts) is none, and counted.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {
class SpansByUnit;
}

namespace npuscope::analysis {

enum class Reason : std::uint8_t {
  start,  // nothing was before it
  data,
  reuse,
  transfer,
  order,
  flow,
  issue,
  dma_wait,
  barrier,
  unit,
};
inline constexpr std::size_t reason_count = 10;
const char* name_of(Reason reason);  // "data", "memory reuse", …

// What a gap on the path is made of: a transfer in flight or a recorded wait for one, the other
// waits that the trace records on the unit that waited, the one named first where several overlap,
// and the rest.
enum class GapPart : std::uint8_t { dma, sync, barrier, unrecorded };
inline constexpr std::size_t gap_part_count = 4;
const char* name_of(GapPart part);

inline constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

// One execution on the path, or a piece of one. Times are ticks of the base clock.
struct PathStep {
  std::uint32_t row = no_row;  // its span
  OpId op = OpId::none;
  UnitId unit = UnitId::none;
  std::int64_t start = 0;
  std::int64_t duration = 0;  // up to its end, or to where it released the next step
  std::int64_t gap = 0;       // since the step before, or the beginning of the timeline
  std::int64_t gap_parts[gap_part_count] = {};
  std::int64_t in_flight =
      0;                   // of the gap, its begin: until the transfer that it waited for landed
  std::int64_t delay = 0;  // of the gap, what is beyond the constraint's latency
  Reason reason = Reason::start;  // why it did not start earlier
};

struct CriticalPath {
  std::int64_t begin = 0;  // of the timeline: first start of work, wait or inference
  std::int64_t wall = 0;   // to the last end
  std::vector<PathStep> steps;
  std::int64_t work = 0;                        // sum over steps
  std::int64_t gaps = 0;                        // sum over all steps but the first
  std::int64_t gap_parts[gap_part_count] = {};  // of lead, gaps and tail
  std::int64_t lead = 0;                        // before the first step
  std::int64_t tail = 0;  // after the last: waits, barriers, the rest of the inference
  std::int64_t tail_parts[gap_part_count] = {};  // by the waits on the last step's unit
};

// What the model was built from.
struct PathBasis {
  std::optional<std::uint32_t> instance;    // which inference, where the profile tells them apart
  std::uint32_t instances = 0;              // how many there are; 0: the profile does not say
  double median_wall = 0;                   // of all but the first
  std::int64_t min_wall = 0, max_wall = 0;  // of the same
  std::uint64_t executions = 0;
  std::uint64_t constraints[reason_count] = {};  // in effect
  std::uint64_t stepwise_edges = 0;  // whose ops overlap or repeat: followed execution by execution
  std::uint64_t unmet_edges = 0;     // of them, those without any execution that ended before
  std::uint64_t unmet_flows = 0;     // whose target starts before their source
  std::uint64_t cyclic_ops = 0;      // on a cycle of edges, or between two
  std::uint64_t cyclic_constraints =
      0;  // among executions that took no time at one moment; left out
  std::uint64_t edges_beyond_limit = 0;  // of ops that repeat, too many to follow

  // Whether anything but the order on each unit is known.
  bool knows_dependencies() const {
    for (const Reason reason :
         {Reason::data, Reason::reuse, Reason::transfer, Reason::order, Reason::flow}) {
      if (constraints[std::size_t(reason)] > 0) return true;
    }
    return false;
  }
};

// Factors of durations: 0.5 is twice as fast, 0 free.
struct Scaling {
  std::vector<double> of_op;    // by op; last that of spans without one; empty: all 1
  std::vector<double> of_unit;  // by unit; last that of spans without one; empty: all 1
};

struct WhatIf {
  double before = 0;  // wall, ticks
  double after = 0;
  // Time that the scaling takes off (or adds to) the executions that were on the path: the gain if
  // no other path stood in the way.
  double off_the_path = 0;
  double limit = 0;  // the wall if what was made faster took no time at all
  // The smallest speed-up, of all that was made faster alike, that reaches the limit to a
  // thousandth of a tick a step; 1: no speed-up gains anything; none where nothing is made faster.
  std::optional<double> limit_speedup;
  std::vector<PathStep> steps;  // of the new path; `start` and `duration` rounded to ticks
};

// By row of the profile's spans; -1 for what is no execution of this inference.
struct ExecutionTimes {
  std::vector<std::int64_t> slack;  // total: each alone could end that much later
  // Its duration less what is nested in it and, of a transfer, less issue and queue before it.
  std::vector<std::int64_t> work;
};

struct PathGraph;
struct SpanExtents;

// What a path needs of the profile and somebody may know; what is not there is found anew.
struct PathBasics {
  // By unit; asked for where the path is of all spans.
  std::function<std::shared_ptr<const SpansByUnit>()> all_spans;
  const SpanExtents* extents = nullptr;  // analysis/inference_times.hpp
};

class PathAnalysis {
 public:
  // Of one inference; `instance` none: the one whose wall is nearest the median of all but the
  // first. Usage errors: the profile has no work with times, no such inference, or times beyond
  // 2^52 ticks of each other.
  static Result<PathAnalysis> create(const Profile& profile, std::optional<std::uint32_t> instance,
                                     const PathBasics& known = {});

  const PathBasis& basis() const;
  CriticalPath observed() const;
  ExecutionTimes executions() const;
  WhatIf what_if(const Scaling& scaling) const;
  double wall_if(const Scaling& scaling) const;  // what_if().after alone, in one pass
  // Of several scalings; little more than of one.
  std::vector<double> walls_if(std::span<const Scaling> scalings) const;
  // The wall if executions on the two engines waited for one another for data only, not for memory
  // or a given order; all else stays. On a chain in which each needs the result of the one before
  // it is the observed wall.
  double wall_with_overlap(Engine a, Engine b) const;

  const PathGraph& graph() const { return *graph_; }  // analysis/path/path_graph.hpp

 private:
  explicit PathAnalysis(std::shared_ptr<const PathGraph> graph) : graph_(std::move(graph)) {}
  std::shared_ptr<const PathGraph> graph_;
};

}  // namespace npuscope::analysis
