// The executions of each op as one run: where it begins and ends, what hands on without executing,
// what goes round in a circle.
#include <algorithm>

#include "analysis/path/path_links.hpp"
#include "base/counting_sort.hpp"

namespace npuscope::analysis {

void PathLinks::find_runs() {
  runs_.resize(profile_.ops.size());
  for (std::size_t op = 0; op < runs_.size(); ++op) {
    static_cast<OpRun&>(runs_[op]) = nodes_.run(op);
  }
}

void PathLinks::find_barriers() {
  for (const std::uint32_t row : nodes_.barriers()) {
    const std::size_t op = index_of(profile_.spans.op[row]);
    if (op < runs_.size()) runs_[op].has_barrier = true;
  }
  if (nodes_.barriers().empty()) return;
  for (std::uint32_t sequence = 0; sequence < nodes_.count(); ++sequence) {
    const std::uint32_t node = nodes_.node_at(sequence);
    if (!graph_.after_barrier[node]) continue;
    const std::uint32_t before = graph_.unit_before[node];
    if (before == PathGraph::none) continue;
    const std::size_t op = graph_.op_of(before);
    if (op >= runs_.size() || op == graph_.op_of(node)) continue;
    const Run& run = runs_[op];
    if (run.spreads && !run.transfers && run.end <= graph_.start[node]) {
      add(run_end(op), node, Reason::barrier, &runs_[op]);
    }
  }
}

// Ops from which nothing leads out, and those to which nothing leads, are on no cycle; nor are
// those that become such when they are taken away.
void PathLinks::find_cycles() {
  const std::size_t ops = runs_.size();
  std::vector<bool> gone(ops, false);
  const auto real = [&](const Edge& edge) {
    return index_of(edge.from) < ops && index_of(edge.to) < ops;
  };
  for (const bool forward : {true, false}) {
    const auto source = [&](const Edge& edge) { return index_of(forward ? edge.from : edge.to); };
    const auto target = [&](const Edge& edge) { return index_of(forward ? edge.to : edge.from); };
    std::vector<std::uint32_t> open(ops, 0), ready;
    const Grouped<> out(profile_.edges.size(), ops, [&](std::size_t i) {
      const Edge& edge = profile_.edges[i];
      const bool counts = real(edge) && !gone[source(edge)] && !gone[target(edge)];
      return counts ? source(edge) : counting_sort_leaves_out;
    });
    for (std::uint32_t op = 0; op < ops; ++op) {
      for (const std::uint32_t i : out.of(op)) open[target(profile_.edges[i])] += 1;
    }
    for (std::uint32_t op = 0; op < ops; ++op) {
      if (!gone[op] && open[op] == 0) ready.push_back(op);
    }
    while (!ready.empty()) {
      const std::uint32_t op = ready.back();
      ready.pop_back();
      gone[op] = true;
      for (const std::uint32_t i : out.of(op)) {
        const std::uint32_t next = target(profile_.edges[i]);
        if (--open[next] == 0) ready.push_back(next);
      }
    }
  }
  graph_.basis.cyclic_ops = std::uint64_t(std::count(gone.begin(), gone.end(), false));
}

std::uint32_t PathLinks::run_end(std::size_t op) {
  Run& run = runs_[op];
  if (run.end_node != PathGraph::none) return run.end_node;
  const auto executions = nodes_.of_op(op);
  run.end_node = std::uint32_t(graph_.size());
  graph_.add(executions.front().row, NodeKind::run_end, run.end);
  for (const Execution& each : executions) {
    push(run.end_node, {each.last_node, Reason::start, 0, true, false});
  }
  return run.end_node;
}

std::uint32_t PathLinks::run_begin(std::size_t op) {
  Run& run = runs_[op];
  if (run.begin_node != PathGraph::none) return run.begin_node;
  const auto executions = nodes_.of_op(op);
  run.begin_node = std::uint32_t(graph_.size());
  graph_.add(executions.front().row, NodeKind::run_begin, run.begin);
  const bool issued = std::any_of(executions.begin(), executions.end(),
                                  [](const Execution& each) { return !each.is_transfer(); });
  for (const Execution& each : executions) {
    if (issued && each.is_transfer()) continue;
    push(each.first_node, {run.begin_node, Reason::start, 0, true, false});
  }
  return run.begin_node;
}

// A compiled graph has ops that execute nothing, reshapes for one. What depends on them depends on
// what they depend on. In an order in which each comes after those that it needs; those on a circle
// hand on nothing.
void PathLinks::find_passes() {
  const std::size_t ops = runs_.size();
  const auto into_idle = [&](const Edge& edge) {
    return index_of(edge.from) < ops && index_of(edge.to) < ops && edge.from != edge.to &&
           !runs_[index_of(edge.to)].works;
  };
  const auto by = [&](OpId Edge::*end) {
    return Grouped<>(profile_.edges.size(), ops, [&, end](std::size_t i) {
      const Edge& edge = profile_.edges[i];
      return into_idle(edge) ? index_of(edge.*end) : counting_sort_leaves_out;
    });
  };
  const Grouped<> in = by(&Edge::to), out = by(&Edge::from);
  std::vector<std::uint32_t> waiting(ops, 0), ready;
  for (std::uint32_t op = 0; op < ops; ++op) {
    if (runs_[op].works) continue;
    for (const std::uint32_t i : in.of(op)) {
      waiting[op] += runs_[index_of(profile_.edges[i].from)].works ? 0 : 1;
    }
    if (waiting[op] == 0) ready.push_back(op);
  }
  while (!ready.empty()) {
    const std::uint32_t op = ready.back();
    ready.pop_back();
    pass_on(op, in.of(op));
    for (const std::uint32_t i : out.of(op)) {
      const std::uint32_t next = index_of(profile_.edges[i].to);
      if (--waiting[next] == 0) ready.push_back(next);
    }
  }
}

void PathLinks::pass_on(std::size_t op, std::span<const std::uint32_t> sources) {
  Run& run = runs_[op];
  for (const std::uint32_t i : sources) {
    const std::size_t from = index_of(profile_.edges[i].from);
    if (!runs_[from].works && !runs_[from].passes) continue;
    const std::uint32_t source = run_end(from);
    if (!run.passes) {
      run.end_node = std::uint32_t(graph_.size());
      graph_.add(graph_.row[source], NodeKind::run_end, 0);
    }
    run.end = run.passes ? std::max(run.end, runs_[from].end) : runs_[from].end;
    run.transfers = run.transfers || runs_[from].transfers;
    run.has_barrier = run.has_barrier || runs_[from].has_barrier;
    run.passes = true;
    push(run.end_node, {source, Reason::start, 0, true, false});
  }
  if (run.passes) graph_.start[run.end_node] = graph_.end[run.end_node] = run.end;
}

}  // namespace npuscope::analysis
