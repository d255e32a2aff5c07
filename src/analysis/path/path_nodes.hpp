// The executions of one inference as nodes of a graph (path_graph.hpp), by unit and by op.
#pragma once

#include <span>
#include <vector>

#include "analysis/path/path_graph.hpp"

namespace npuscope::analysis {

// Rows by some number below `groups`, each group in the order in which they were given.
struct GroupedRows {
  std::vector<std::uint32_t> first, rows;  // one more first than groups

  template <class GroupOf>
  void make(const std::vector<std::uint32_t>& given, std::size_t groups, const GroupOf& group_of) {
    first.assign(groups + 1, 0);
    for (const std::uint32_t row : given) first[group_of(row) + 1] += 1;
    for (std::size_t group = 0; group < groups; ++group) first[group + 1] += first[group];
    rows.resize(given.size());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (const std::uint32_t row : given) rows[next[group_of(row)]++] = row;
  }
  std::size_t groups() const { return first.empty() ? 0 : first.size() - 1; }
  std::span<const std::uint32_t> of(std::size_t group) const {
    return std::span(rows).subspan(first[group], first[group + 1] - first[group]);
  }
  std::span<std::uint32_t> of(std::size_t group) {
    return std::span(rows).subspan(first[group], first[group + 1] - first[group]);
  }
};

// Selects the rows, and writes the graph's nodes with rows, kinds, times and the node before each
// on its unit.
class PathNodes {
 public:
  PathNodes(const Profile& profile, PathGraph& graph) : profile_(profile), graph_(graph) {}

  Status select(std::optional<std::uint32_t> instance);
  void add();

  GroupedRows by_unit;  // work and waits, in the order of SpansByUnit; last: without a unit
  GroupedRows by_op;    // work and DMA waits, by start; last: without an op
  // By row of the spans: its first and last node, none without one.
  std::vector<std::uint32_t> first_node, last_node;
  std::vector<std::uint32_t> issue_of;  // by row: of a transfer, the row of its issue; may be empty
  std::vector<std::uint32_t> transfers;  // rows, by unit and then by end

  bool is_work(std::uint32_t row) const;
  bool is_dma_wait(std::uint32_t row) const {
    return profile_.spans.kind[row] == SpanKind::dma_wait;
  }
  // A wait much longer than the shortest: its transfer was not complete when it began.
  bool is_long_wait(std::uint32_t row) const {
    return is_dma_wait(row) && dma_waits_ > 1 && profile_.spans.duration[row] / 2 > least_dma_wait_;
  }
  bool is_transfer(std::uint32_t row) const {
    return profile_.spans.kind[row] == SpanKind::transfer;
  }

 private:
  struct Extent {
    Interval interval;
    bool any = false;
    bool works = false;
    void take(Interval other, bool other_works);
    void take(const Spans& spans, std::size_t row);
  };
  struct Inference {
    std::uint32_t number = 0;
    Extent extent;
  };

  static std::vector<Inference> inferences_of(const Spans& spans);
  std::size_t steady_of(const std::vector<Inference>& inferences);
  Result<Interval> choose_timeline(std::optional<std::uint32_t> instance);
  bool is_selected(std::size_t row) const;
  void find_issues();
  void add_work(std::span<const std::uint32_t> rows);
  void add_transfers(std::span<const std::uint32_t> rows);
  void add_landings(std::span<const std::uint32_t> rows);
  std::uint32_t add_node(std::uint32_t row, NodeKind kind, std::int64_t start, std::int64_t end);
  void link_in_order(std::uint32_t first);
  Interval interval(std::uint32_t row) const;

  const Profile& profile_;
  PathGraph& graph_;
  std::uint64_t dma_waits_ = 0;
  std::int64_t least_dma_wait_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace npuscope::analysis
