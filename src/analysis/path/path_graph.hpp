// The executions of one inference and what holds each of them back (npuscope/analysis/path.hpp), as
// a graph that is computed forward and backward in linear time.
//
// Beside executions there are nodes without length, so that an op of many executions fed by many
// ops does not cost their product: `run_end` of an op follows all its executions, `run_begin`
// precedes them and follows the run_end of each op that it needs. A span with others nested inside
// begins and ends with a `mark`; so does a wait for DMA end, after the `landing` of the transfer
// where it had to wait for one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

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
  // How far before a node, in their order, those that hold it back are at most. What goes through
  // the nodes needs to remember no more than so many at once.
  std::uint32_t reach = 0;

  // By node, each after those that hold it back.
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

  std::shared_ptr<const SpansByUnit> by_unit;  // work and waits

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
};

// Nodes with their times, rows and units; then the constraints; then order, latencies and delays.
Result<std::shared_ptr<const PathGraph>> make_path_graph(const Profile& profile,
                                                         std::optional<std::uint32_t> instance,
                                                         const PathBasics& known);

}  // namespace npuscope::analysis
