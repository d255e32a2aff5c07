// The executions of one inference as nodes of a graph (path_graph.hpp), by unit and by op.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/path/path_graph.hpp"
#include "npuscope/profile/column.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::analysis {

// First and last of a span.
struct NodeRange {  // without values at first, for the sake of Column
  std::uint32_t first, last;
};
inline constexpr NodeRange no_nodes{PathGraph::none, PathGraph::none};

// One execution of an op, or its wait for DMA; what links ask of it, side by side.
struct Execution {          // without values at first, for the sake of Column
  std::int64_t begin, end;  // of its first and last node, ticks since the timeline's begin
  std::uint32_t row;
  std::uint32_t first_node, last_node;
  UnitId unit;
  SpanKind kind;
  Engine queue;  // queue_of()

  bool is_transfer() const { return kind == SpanKind::transfer; }
  bool is_dma_wait() const { return kind == SpanKind::dma_wait; }
};

// The threads of an engine take their ops in one order, without semaphores; so do the thread that
// issues transfers and the engine that serves them. None: no such engine.
inline Engine queue_of(Engine used) {
  if (used == Engine::dma) return Engine::dma_issue;
  const bool queues = used == Engine::hvx || used == Engine::hmx || used == Engine::dma_issue;
  return queues ? used : Engine::none;
}

// Selects the rows, and writes the graph's nodes with rows, kinds, times, the node before each on
// its unit, and whether a barrier was between.
class PathNodes {
 public:
  PathNodes(const Profile& profile, PathGraph& graph) : profile_(profile), graph_(graph) {}

  Status select(std::optional<std::uint32_t> instance);
  void add();

  const SpansByUnit& by_unit() const { return *by_unit_; }  // work and waits
  // Nodes of a unit (the last group: of none), from the first to before the last.
  NodeRange of_unit(std::size_t unit) const {
    return {first_node_of_unit_[unit], first_node_of_unit_[unit + 1]};
  }
  std::span<const Execution> of_op(std::size_t op) const {  // by start
    return std::span(executions_)
        .subspan(first_of_op_[op], first_of_op_[op + 1] - first_of_op_[op]);
  }
  NodeRange of_row(std::size_t row) const { return of_row_.empty() ? no_nodes : of_row_[row]; }
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
  // A wait much longer than the shortest: its transfer was not complete when it began.
  bool is_long_wait(SpanKind kind, std::int64_t duration) const {
    return kind == SpanKind::dma_wait && dma_waits_ > 1 && duration / 2 > min_dma_wait_;
  }

 private:
  struct Extent {
    Interval interval;
    bool any = false;
    bool works = false;
    void take(Interval other, bool other_works);
    void take(const Extent& other);
    void take(const Spans& spans, std::size_t row);
  };
  struct Inference {
    std::uint32_t number = 0;
    Extent extent;
  };

  static std::vector<Inference> inferences_of(const Spans& spans);
  std::size_t steady_of(const std::vector<Inference>& inferences);
  Result<Interval> choose_timeline(std::optional<std::uint32_t> instance);
  Result<Interval> whole_timeline() const;
  tl::unexpected<Error> no_executions() const;
  Column<std::uint32_t> selected_rows() const;
  bool is_selected(std::size_t row) const;
  void note_waits(std::span<const std::uint32_t> rows);
  void find_executions();
  void sort_executions(std::size_t op);
  void find_issues();
  void make_room();
  void write_unit(std::size_t unit);
  std::uint32_t write_transfers(std::size_t unit, std::uint32_t node);
  std::uint32_t write_landings(std::size_t unit, std::uint32_t node);
  void find_transfers(std::size_t unit);
  void link_in_order(std::uint32_t first, std::uint32_t last);
  void map_rows();
  void write(std::uint32_t node, std::uint32_t row, NodeKind kind, Interval time,
             bool after_barrier);
  std::span<const SpanOfUnit> spans_of(std::size_t unit) const {
    return by_unit_->spans_of(UnitId(std::uint32_t(unit)));
  }
  Interval interval(const SpanOfUnit& span) const {
    return {span.begin - graph_.timeline.begin, span.end - graph_.timeline.begin};
  }
  bool is_long_wait(const SpanOfUnit& span) const {
    return is_long_wait(span.kind, length_of(span.interval()));
  }

  const Profile& profile_;
  PathGraph& graph_;
  std::shared_ptr<const SpansByUnit> by_unit_;
  std::vector<std::uint32_t> first_node_of_unit_;  // one more
  Column<NodeRange> of_place_;                     // of by_unit_
  Column<NodeRange> of_row_;                       // only where something asks by row
  std::vector<std::uint32_t> first_of_op_;         // last: without an op; one more
  Column<Execution> executions_;
  std::vector<std::uint32_t> issue_of_, transfers_, barriers_;
  std::uint64_t dma_waits_ = 0;
  std::int64_t min_dma_wait_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace npuscope::analysis
