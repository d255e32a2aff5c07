// The executions of one inference and their dependencies (npuscope/analysis/path.hpp), as a graph
// that is computed forward and backward in linear time. The way to an answer, step by step:
//
//   choose_timeline   path_graph.cpp       which inference, and among which rows it is
//   PathNodes         path_nodes.cpp       executions as nodes, unit by unit, then numbered by when
//                                          they start (path_time_order.cpp)
//   PathLinks         path_links*.cpp      dependencies as links: edges between ops, execution by
//                                          execution where these overlap (path_stepwise.cpp),
//                                          flows, waits, transfers, barriers
//   put_in_order      path_graph.cpp       each node after those that it depends on
//   find_latencies    path_latencies.cpp   what a dependency takes at least; the rest is delay
//   Schedule          path_schedule.cpp    when everything starts, forward; the blocking dependency
//                                          of each step, backward: the path
//   PathAnalysis      path.cpp             steps, slack, what if; path_groups.hpp: rows for pages
//
// Next to executions there are nodes without length, so that an op of many executions fed by many
// ops does not cost their product: `run_end` of an op follows all its executions, `run_begin`
// precedes them and follows the run_end of each op that it needs. A span with others nested inside
// begins and ends with a `mark`; so does a wait for DMA end, after the `landing` of the transfer
// where it had to wait for one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/inference_times.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/path.hpp"
#include "npuscope/profile/column.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::analysis {

enum class NodeKind : std::uint8_t { execution, mark, landing, run_begin, run_end };

struct PathLink {      // without values at first, for the sake of Column
  std::uint32_t from;  // node; none: it would have closed a ring
  Reason reason;
  std::uint8_t latency;  // class of it
  bool joins;            // into a run_end, or from a run_begin: says nothing by itself
  bool leaves_midst;     // a flow that leaves before `from` ends
};

// Where what is known of a node is kept while a pass goes along them: of all, or of as many that
// follow one another as a power of two.
struct NodeRing {
  std::size_t size = 0;
  std::uint32_t mask = ~std::uint32_t{0};

  std::size_t place_of(std::uint32_t node) const { return node & mask; }
};

struct PathGraph {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  const Profile* profile = nullptr;
  PathBasis basis;
  Interval timeline;  // ticks of the base clock; times of nodes are since its begin

  std::int64_t last_end = 0;  // of all executions
  // How far before a node, in their order, those that it depends on are at most. What goes through
  // the nodes needs to remember no more than so many at once.
  std::uint32_t reach = 0;

  // By node, each after those that it depends on.
  Column<std::uint32_t> row;       // span; of run_begin and run_end one of the op's
  Column<std::uint32_t> op, unit;  // of the span; one more than there are: none
  Column<NodeKind> kind;
  Column<std::int64_t> start, end;    // of run_begin: of the first of the executions
  Column<std::uint32_t> unit_before;  // the node before it on its unit; none: none
  Column<char> after_barrier;         // which stood between it and that node
  Column<std::int64_t> delay;
  Column<std::uint32_t> first_link;  // in links; one more
  Column<PathLink> links;
  std::vector<std::int64_t> latencies;       // by class
  std::vector<std::int64_t> unit_latencies;  // by class of unit_before

  std::shared_ptr<const SpansByUnit> by_unit;  // waits, and work where others have asked for it

  std::size_t size() const { return row.size(); }
  NodeRing all_nodes() const { return {.size = size()}; }
  // In which no two of one place know of each other; never more than all.
  NodeRing ring() const {
    const std::size_t places = std::bit_ceil(std::size_t{reach} + 1);
    if (places >= size()) return all_nodes();
    return {.size = places, .mask = std::uint32_t(places - 1)};
  }
  std::size_t unit_of(std::uint32_t node) const { return unit[node]; }
  std::size_t op_of(std::uint32_t node) const { return op[node]; }
  std::size_t unit_class(std::uint32_t node) const {
    return unit_of(node) * 2 + std::size_t(after_barrier[node]);
  }
  std::int64_t unit_latency(std::uint32_t node) const { return unit_latencies[unit_class(node)]; }
  // From the end of what it comes from, unless it leaves before.
  std::int64_t latency_of(const PathLink& link) const {
    return link.joins ? 0 : latencies[link.latency];
  }
  // When the link lets its target go, in the observation.
  std::int64_t released_by(const PathLink& link, std::uint32_t node) const {
    return link.leaves_midst ? start[node] : end[link.from] + latency_of(link);
  }
  // How far `from` had run when it released `node`: to its end, or as far as it was then.
  std::int64_t part_of(std::uint32_t from, std::uint32_t node) const {
    return std::min(end[from], start[node]) - start[from];
  }
  void add(std::uint32_t of_row, NodeKind of_kind, std::int64_t time);
  // visit(column) for each that says something of a node alone, but for its unit and delay.
  template <class Visit>
  void for_columns(const Visit& visit) {
    visit(row);
    visit(op);
    visit(kind);
    visit(start);
    visit(end);
    visit(after_barrier);
  }
  // Node i becomes what was node before[i]; place[n] is where node n goes.
  void renumber(const Column<std::uint32_t>& before, const Column<std::uint32_t>& place);
};

// Nodes with their times, rows and units; then the constraints; then order, latencies and delays.
// column[i] becomes what was column[before[i]], as `moved` makes it.
template <class T, class Moved = std::identity>
void reorder(Column<T>& column, const Column<std::uint32_t>& before, const Moved& moved = {}) {
  Column<T> values;
  values.resize(column.size());
  const std::vector<RowRange> parts = ranges_of(column.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    for (std::size_t i = parts[part].first; i < parts[part].last; ++i) {
      values[i] = moved(column[before[i]]);
    }
  });
  column = std::move(values);
}

Result<std::shared_ptr<const PathGraph>> make_path_graph(const Profile& profile,
                                                         std::optional<std::uint32_t> instance,
                                                         const PathBasics& known);

// Which constraints share a latency: those of one reason; on one queue, core, device or none; of a
// transfer or not; with a barrier or not.

// The threads of an engine take their ops in one order, without semaphores; so do the thread that
// issues transfers and the engine that serves them. None: no such engine.
inline Engine queue_of(Engine used) {
  if (used == Engine::dma) return Engine::dma_issue;
  const bool queues = used == Engine::hvx || used == Engine::hmx || used == Engine::dma_issue;
  return queues ? used : Engine::none;
}

class LatencyClasses {
 public:
  // An end of a constraint: where it runs, and on the queue of which engine.
  struct Place {
    UnitId unit;
    Engine queue;
  };

  explicit LatencyClasses(const Profile& profile) {
    for (const Unit& unit : profile.units) {
      where_.push_back(std::uint64_t{unit.device} << 32 | unit.core);
    }
    unknown_ = std::uint32_t(where_.size());
  }

  static constexpr std::size_t count = reason_count * 16;
  std::uint8_t of(Reason reason, Place from, Place to, bool transfer, bool barrier) const {
    return of(nearest(reason, transfer, barrier), from, to);
  }
  // The same in two steps, for those who ask it of one constraint from many places to many.
  static std::uint8_t nearest(Reason reason, bool transfer, bool barrier) {
    return std::uint8_t(std::size_t(reason) * 16 + std::size_t(transfer) * 2 +
                        std::size_t(barrier));
  }
  std::uint8_t of(std::uint8_t nearest, Place from, Place to) const {
    return std::uint8_t(nearest + distance(from, to) * 4);
  }

 private:
  // Nearer than 3, from unit to unit: of one unit or queue, one core, one device.
  std::size_t distance(Place from, Place to) const {
    if (index_of(from.unit) >= unknown_ || index_of(to.unit) >= unknown_) return 3;
    const std::uint64_t differ = where_[index_of(from.unit)] ^ where_[index_of(to.unit)];
    if (differ != 0) return differ >> 32 != 0 ? 3 : 2;
    const bool is_one_queue = from.queue != Engine::none && from.queue == to.queue;
    return from.unit == to.unit || is_one_queue ? 0 : 1;
  }

  std::vector<std::uint64_t> where_;  // by unit: device, then core
  std::uint32_t unknown_;             // from that unit on
};

// How long each class of constraints takes, and what no constraint explains.

// The least gap of each class of constraints is its latency, if there is reason to think that some
// start was due to it: of the constraints of its target, one with it was the last to end, or the
// target's start is not explained otherwise and the gap no longer than a latency already known.
// Fills in latencies and delays; starts of run_begin become those that the constraints give.
void find_latencies(PathGraph& graph);

// Which inference a path is of, when that was, and among which rows.

struct ChosenTimeline {
  Interval timeline;
  RowRange rows;  // all that are of the inference are among these
};

// First start to last end of the chosen inference, or of all spans where the profile does not tell
// inferences apart. Fills in what the basis says of inferences.
Result<ChosenTimeline> choose_timeline(const Profile& profile, const SpanExtents& extents,
                                       std::optional<std::uint32_t> instance, PathBasis& basis);

}  // namespace npuscope::analysis
