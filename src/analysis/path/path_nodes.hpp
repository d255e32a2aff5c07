// The executions of one inference as nodes of a graph (path_graph.hpp), by unit and by op.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

#include "analysis/path/path_graph.hpp"
#include "analysis/timeline/span_engines.hpp"
#include "base/counting_sort.hpp"
#include "base/parallel.hpp"
#include "npuscope/profile/column.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::analysis {

// Numbers the nodes of a path graph by when they start, so that what follows finds side by side
// what it looks at, and each comes after those that it depends on, but for nodes without length.

// How nodes were numbered before: unit by unit, each as its timeline was read.
struct NodeOrder {
  Column<std::uint32_t> node_of;      // by the number before
  Column<std::uint32_t> sequence_of;  // by node, the number before
};

struct NodeStart {      // without values at first, for the sake of Column
  std::uint64_t start;  // since that of its slice
  std::uint32_t sequence, unit;
};
// Nodes in their order, of which the first gets this number; those of a slice of the timeline.
using TakeNodes =
    std::function<void(std::size_t slice, std::uint32_t first, std::span<const NodeStart> nodes)>;
std::size_t max_slices(std::size_t nodes, std::size_t units);

// Hands on the nodes by slices, several at once. Those that start at once stay as they were.
// `first_of_unit`: of the nodes of each unit the first, and one more.
void take_by_start(const Column<std::int64_t>& starts,
                   const std::vector<std::uint32_t>& first_of_unit, const TakeNodes& take);
// The same from the starts of the graph; fills in the units of nodes.
NodeOrder order_by_start(PathGraph& graph, const std::vector<std::uint32_t>& first_of_unit);

// First and last of a span.
struct NodeRange {  // without values at first, for the sake of Column
  std::uint32_t first, last;
};
inline constexpr NodeRange no_nodes{PathGraph::none, PathGraph::none};

// One execution of an op, or its wait for DMA.
struct Execution {
  std::int64_t begin, end;  // of its first and last node, ticks since the timeline's begin
  std::uint32_t row;
  std::uint32_t first_node, last_node;
  UnitId unit;
  SpanKind kind;

  bool is_transfer() const { return kind == SpanKind::transfer; }
  bool is_dma_wait() const { return kind == SpanKind::dma_wait; }
};

// The executions of an op together: where it begins, when its results are there.
struct OpRun {
  std::int64_t begin = 0, end = 0;
  std::int64_t first_end = 0;             // of what others wait for: its transfers if it has any
  std::int64_t last_begin = 0;            // of an execution that waits for others
  std::uint32_t first = PathGraph::none;  // the first of them by its first node
  std::uint32_t executions = 0;
  UnitId unit{};  // of one
  bool works = false, transfers = false, spreads = false;
};

// Selects the rows, and writes the graph's nodes with rows, kinds, times, the node before each on
// its unit, and whether a barrier was between.
class PathNodes {
 public:
  PathNodes(const Profile& profile, PathGraph& graph)
      : profile_(profile), engines_(profile), graph_(graph) {}

  Status select(std::optional<std::uint32_t> instance, const PathBasics& known);
  void add();

  // Work and waits; waits alone where each span of work is a node and nobody else keeps them.
  const SpansByUnit& by_unit() const { return *by_unit_; }
  std::shared_ptr<const SpansByUnit> waits() const { return by_unit_; }
  // Nodes of a unit (the last group: of none) by sequence, from the first to before the last.
  NodeRange of_unit(std::size_t unit) const {
    return {first_node_of_unit_[unit], first_node_of_unit_[unit + 1]};
  }
  auto of_op(std::size_t op) {  // by start
    if (executions_.groups() == 0) find_executions();
    return std::as_const(executions_).of(op) |
           std::views::transform([this](std::uint32_t node) { return execution(node); });
  }
  Execution execution(std::uint32_t first) const {
    const std::uint32_t row = graph_.row[first], last = last_of(first);
    return {graph_.start[first],        graph_.end[last],        row, first, last,
            UnitId(graph_.unit[first]), profile_.spans.kind[row]};
  }
  std::uint32_t last_of(std::uint32_t first) const {
    return is_plain_ ? first : of_row_[graph_.row[first]].last;
  }
  bool is_plain() const { return is_plain_; }
  // Whether an execution, or a wait, begins with the node.
  bool is_first(std::uint32_t node) const {
    return is_plain_ || of_row_[graph_.row[node]].first == node;
  }
  // Whether the first execution comes before the other, in the order of of_op().
  bool is_before(const Execution& first, const Execution& other) const;
  // Whether an execution waits for what its op depends on: of one transfer its issue does.
  bool is_consumer(const Execution& execution) const {
    return !execution.is_transfer() || issue_of(execution.row) == PathGraph::none;
  }
  const OpRun& run(std::size_t op) const { return runs_[op]; }
  // Only where a span may have several nodes, or there are flows.
  NodeRange of_row(std::size_t row) const { return of_row_.empty() ? no_nodes : of_row_[row]; }
  // The number of a node unit by unit, and back: an order that does not look at times.
  std::uint32_t sequence_of(std::uint32_t node) const { return order_.sequence_of[node]; }
  std::uint32_t node_at(std::uint32_t sequence) const { return order_.node_of[sequence]; }
  // Where each span of work is a node and nothing flows, only after this.
  void restore_order();
  // Where a node of a span runs, and on the queue of which engine.
  LatencyClasses::Place place_of(std::uint32_t node) const {
    return {UnitId(graph_.unit[node]), queues_[node]};
  }
  // Those of spans: what is added beside them comes after.
  std::size_t count() const { return first_node_of_unit_.back(); }
  // Of a transfer, the row of its issue.
  std::uint32_t issue_of(std::uint32_t row) const {
    return issue_of_.empty() ? PathGraph::none : issue_of_[row];
  }
  const std::vector<std::uint32_t>& transfers() const {
    return transfers_;
  }                                                                         // by unit, then by end
  const std::vector<std::uint32_t>& barriers() const { return barriers_; }  // rows

  bool is_work(std::uint32_t row) const;
  bool is_transfer(std::uint32_t row) const {
    return profile_.spans.kind[row] == SpanKind::transfer;
  }
  bool has_dma_waits() const { return dma_waits_ > 0; }
  bool has_event_waits() const { return has_event_waits_; }  // of kind `wait`
  // A wait much longer than the shortest: its transfer was not complete when it began.
  bool is_long_wait(SpanKind kind, std::int64_t duration) const {
    return kind == SpanKind::dma_wait && dma_waits_ > 1 && duration / 2 > min_dma_wait_;
  }

 private:
  bool is_selected(std::size_t row) const;
  void select_rows(RowRange among, const PathBasics& known);
  void note_kinds(RowRange among);
  void find_executions();
  void find_runs();
  void take(OpRun& run, const Execution& execution) const;
  void take(OpRun& run, const OpRun& other) const;
  void find_issues();
  bool add_one_by_one();
  void add_pieces();
  void make_room(const std::vector<std::uint32_t>& counts);
  void count_pieces();
  void write_unit(std::size_t unit);
  std::uint32_t write_transfers(std::size_t unit, std::uint32_t node);
  std::uint32_t write_landings(std::size_t unit, std::uint32_t node);
  void find_transfers(std::size_t unit);
  void link_in_order(std::uint32_t first, std::uint32_t last);
  void map_rows();
  void write(std::uint32_t node, std::size_t unit, const SpanOfUnit& span, NodeKind kind,
             Interval time, bool after_barrier);
  SpansOfUnit spans_of(std::size_t unit) const {
    return by_unit_->spans_of(UnitId(std::uint32_t(unit)));
  }
  Interval interval(const SpanOfUnit& span) const {
    return {span.begin - graph_.timeline.begin, span.end - graph_.timeline.begin};
  }
  bool is_long_wait(const SpanOfUnit& span) const {
    return is_long_wait(span.kind, length_of(span.interval()));
  }

  const Profile& profile_;
  const SpanEngines engines_;
  PathGraph& graph_;
  std::shared_ptr<const SpansByUnit> by_unit_;
  bool is_shared_ = false;
  std::vector<std::uint32_t> first_node_of_unit_;  // one more
  bool has_transfers_ = false, has_event_waits_ = false;
  bool is_plain_ = false;  // each span that has a node has one, and starts and ends with it
  NodeOrder order_;
  Column<Engine> queues_;  // by node
  Column<NodeRange> of_row_;
  Grouped<Column<std::uint32_t>> executions_;  // by op, their first nodes, when asked for
  std::vector<OpRun> runs_;                    // by op
  std::vector<std::uint32_t> issue_of_, transfers_, barriers_;
  std::uint64_t dma_waits_ = 0;
  std::int64_t min_dma_wait_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace npuscope::analysis
