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
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "npuscope/analysis/path.hpp"

namespace npuscope::analysis {

enum class NodeKind : std::uint8_t { execution, mark, landing, run_begin, run_end };

struct PathLink {
  std::uint32_t from = 0;  // node
  Reason reason = Reason::start;
  std::uint8_t latency = 0;  // class of it
  bool joins = false;        // into a run_end, or from a run_begin: says nothing by itself
};

struct PathGraph {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  const Profile* profile = nullptr;
  PathBasis basis;
  Interval timeline;  // ticks of the base clock; times of nodes are since its begin

  std::int64_t last_end = 0;  // of all executions

  // By node.
  std::vector<std::uint32_t> row;  // span; of run_begin and run_end one of the op's
  std::vector<NodeKind> kind;
  std::vector<std::int64_t> start, end;    // of run_begin: of the first of the executions
  std::vector<std::uint32_t> unit_before;  // the node before it on its unit; none: none
  std::vector<std::int64_t> unit_latency;  // of that constraint
  std::vector<std::int64_t> delay;
  std::vector<std::uint32_t> first_link;  // in links; one more
  std::vector<PathLink> links;
  std::vector<std::int64_t> latencies;  // by class
  std::vector<std::uint32_t> order;     // sources first

  // Work and waits of each unit (the last: those without one), in the order of SpansByUnit.
  std::vector<std::uint32_t> first_of_unit, rows_of_unit;

  std::size_t size() const { return row.size(); }
  std::size_t unit_of(std::uint32_t node) const {
    return std::min<std::size_t>(index_of(profile->spans.unit[row[node]]), profile->units.size());
  }
  std::size_t op_of(std::uint32_t node) const {
    return std::min<std::size_t>(index_of(profile->spans.op[row[node]]), profile->ops.size());
  }
  // When the link lets its target go, in the observation.
  std::int64_t released_by(const PathLink& link, std::uint32_t node) const {
    if (link.joins) return end[link.from];
    if (end[link.from] > start[node]) return start[node];  // a flow out of its midst
    return end[link.from] + latencies[link.latency];
  }
  // How far `from` had run when it released `node`: to its end, or as far as it was then.
  std::int64_t part_of(std::uint32_t from, std::uint32_t node) const {
    return std::min(end[from], start[node]) - start[from];
  }
};

// Nodes with their times, rows and units; then the constraints; then latencies, order and delays.
Result<std::shared_ptr<const PathGraph>> make_path_graph(const Profile& profile,
                                                         std::optional<std::uint32_t> instance);

}  // namespace npuscope::analysis
