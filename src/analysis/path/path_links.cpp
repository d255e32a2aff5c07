#include "analysis/path/path_links.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

Reason reason_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::data: return Reason::data;
    case EdgeKind::reuse: return Reason::reuse;
    case EdgeKind::transfer: return Reason::transfer;
    case EdgeKind::order: return Reason::order;
    case EdgeKind::flow: break;
  }
  return Reason::flow;
}

}  // namespace

std::vector<LooseLink> PathLinks::make() {
  find_runs();
  find_barriers();
  find_cycles();
  find_passes();
  link_edges();
  link_landings();
  link_flows();
  link_transfers();
  return std::move(links_);
}

// What of an op consumers wait for: its transfers where it has any, else its executions.
bool PathLinks::feeds_others(std::uint32_t row, std::size_t op) const {
  return nodes_.is_transfer(row) || !runs_[op].transfers;
}

void PathLinks::find_runs() {
  runs_.assign(profile_.ops.size(), {});
  for (std::size_t op = 0; op < runs_.size(); ++op) {
    Run& run = runs_[op];
    const auto rows = nodes_.by_op.of(op);
    bool issued = false;
    for (const std::uint32_t row : rows) {
      run.transfers = run.transfers || nodes_.is_transfer(row);
      issued = issued || !nodes_.is_transfer(row);
      run.spreads = run.spreads || profile_.spans.unit[row] != profile_.spans.unit[rows[0]];
    }
    for (const std::uint32_t row : rows) {
      const std::int64_t end = graph_.end[nodes_.last_node[row]];
      run.end = run.works ? std::max(run.end, end) : end;
      run.works = true;
    }
    for (const std::uint32_t row : rows) {  // by start
      if (issued && nodes_.is_transfer(row)) continue;
      run.begin = graph_.start[nodes_.first_node[row]];
      break;
    }
  }
}

void PathLinks::find_barriers() {
  const Spans& spans = profile_.spans;
  after_barrier.assign(graph_.size(), false);
  std::vector<std::uint32_t> joined;  // nodes that follow a barrier of several threads
  for (std::size_t unit = 0; unit < nodes_.by_unit.groups(); ++unit) {
    bool barrier = false;
    for (const std::uint32_t row : nodes_.by_unit.of(unit)) {
      const std::size_t op = index_of(spans.op[row]);
      if (spans.kind[row] == SpanKind::barrier) {
        barrier = true;
        if (op < runs_.size()) runs_[op].has_barrier = true;
      } else if (nodes_.is_work(row) && !nodes_.is_transfer(row)) {
        const std::uint32_t node = nodes_.first_node[row];
        after_barrier[node] = barrier;
        if (barrier) joined.push_back(node);
        barrier = false;
      }
    }
  }
  for (const std::uint32_t node : joined) {
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
    std::vector<std::uint32_t> first(ops + 1, 0), targets, open(ops, 0), ready;
    for (const Edge& edge : profile_.edges) {
      if (!real(edge) || gone[source(edge)] || gone[target(edge)]) continue;
      first[source(edge) + 1] += 1;
      open[target(edge)] += 1;
    }
    for (std::size_t op = 0; op < ops; ++op) first[op + 1] += first[op];
    targets.resize(first[ops]);
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (const Edge& edge : profile_.edges) {
      if (!real(edge) || gone[source(edge)] || gone[target(edge)]) continue;
      targets[next[source(edge)]++] = target(edge);
    }
    for (std::uint32_t op = 0; op < ops; ++op) {
      if (!gone[op] && open[op] == 0) ready.push_back(op);
    }
    while (!ready.empty()) {
      const std::uint32_t op = ready.back();
      ready.pop_back();
      gone[op] = true;
      for (std::uint32_t i = first[op]; i < first[op + 1]; ++i) {
        if (--open[targets[i]] == 0) ready.push_back(targets[i]);
      }
    }
  }
  graph_.basis.cyclic_ops = std::uint64_t(std::count(gone.begin(), gone.end(), false));
}

std::uint32_t PathLinks::add_node(std::uint32_t row, NodeKind kind, std::int64_t time) {
  graph_.row.push_back(row);
  graph_.kind.push_back(kind);
  graph_.start.push_back(time);
  graph_.end.push_back(time);
  graph_.unit_before.push_back(PathGraph::none);
  return std::uint32_t(graph_.row.size() - 1);
}

std::uint32_t PathLinks::run_end(std::size_t op) {
  Run& run = runs_[op];
  if (run.end_node != PathGraph::none) return run.end_node;
  run.end_node = add_node(nodes_.by_op.of(op).front(), NodeKind::run_end, run.end);
  for (const std::uint32_t row : nodes_.by_op.of(op)) {
    links_.push_back({run.end_node, {nodes_.last_node[row], Reason::start, 0, true}});
  }
  return run.end_node;
}

std::uint32_t PathLinks::run_begin(std::size_t op) {
  Run& run = runs_[op];
  if (run.begin_node != PathGraph::none) return run.begin_node;
  run.begin_node = add_node(nodes_.by_op.of(op).front(), NodeKind::run_begin, run.begin);
  const auto rows = nodes_.by_op.of(op);
  const bool issued = std::any_of(rows.begin(), rows.end(),
                                  [&](std::uint32_t row) { return !nodes_.is_transfer(row); });
  for (const std::uint32_t row : rows) {
    if (issued && nodes_.is_transfer(row)) continue;
    links_.push_back({nodes_.first_node[row], {run.begin_node, Reason::start, 0, true}});
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
  GroupedRows in, out;  // edges by op
  std::vector<std::uint32_t> edges, waiting(ops, 0), ready;
  for (std::size_t i = 0; i < profile_.edges.size(); ++i) {
    if (into_idle(profile_.edges[i])) edges.push_back(std::uint32_t(i));
  }
  in.make(edges, ops, [&](std::uint32_t i) { return index_of(profile_.edges[i].to); });
  out.make(edges, ops, [&](std::uint32_t i) { return index_of(profile_.edges[i].from); });
  for (const std::uint32_t i : edges) {
    const Edge& edge = profile_.edges[i];
    if (!runs_[index_of(edge.from)].works) waiting[index_of(edge.to)] += 1;
  }
  for (std::uint32_t op = 0; op < ops; ++op) {
    if (!runs_[op].works && waiting[op] == 0) ready.push_back(op);
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
    if (!run.passes) run.end_node = add_node(graph_.row[source], NodeKind::run_end, 0);
    run.end = run.passes ? std::max(run.end, runs_[from].end) : runs_[from].end;
    run.transfers = run.transfers || runs_[from].transfers;
    run.has_barrier = run.has_barrier || runs_[from].has_barrier;
    run.passes = true;
    links_.push_back({run.end_node, {source, Reason::start, 0, true}});
  }
  if (run.passes) graph_.start[run.end_node] = graph_.end[run.end_node] = run.end;
}

std::uint8_t PathLinks::latency_class(Reason reason, std::uint32_t from, std::uint32_t to,
                                      const Run* run) const {
  const std::size_t units = profile_.units.size();
  const std::size_t a = graph_.unit_of(from), b = graph_.unit_of(to);
  std::size_t distance = 3;  // another device, or not known
  if (a < units && b < units && profile_.units[a].device == profile_.units[b].device) {
    distance = profile_.units[a].core == profile_.units[b].core ? 1 : 2;
    if (a == b || (distance == 1 && are_of_one_queue(from, to))) distance = 0;
  }
  const bool transfer = run != nullptr ? run->transfers : nodes_.is_transfer(graph_.row[from]);
  const bool barrier = run != nullptr && run->has_barrier;
  return std::uint8_t(std::size_t(reason) * 16 + distance * 4 + transfer * 2 + barrier);
}

// The threads of an engine take their ops in one order, without semaphores; so do the thread that
// issues transfers and the engine that serves them.
bool PathLinks::are_of_one_queue(std::uint32_t from, std::uint32_t to) const {
  const auto engine = [&](std::uint32_t node) {
    const Engine used = engine_of(profile_, graph_.row[node]);
    return used == Engine::dma ? Engine::dma_issue : used;
  };
  const Engine one = engine(from);
  return (one == Engine::hvx || one == Engine::hmx || one == Engine::dma_issue) &&
         one == engine(to);
}

void PathLinks::add(std::uint32_t from, std::uint32_t to, Reason reason, const Run* run) {
  links_.push_back({to, {from, reason, latency_class(reason, from, to, run), false}});
}

void PathLinks::link_edges() {
  const std::size_t ops = runs_.size();
  has_edge_in_.assign(ops + 1, false);
  producers_.resize(ops);
  stepwise_left_ = 16 * (std::uint64_t(graph_.size()) + profile_.edges.size()) + 1'000;
  for (const Edge& edge : profile_.edges) {
    const std::size_t from = index_of(edge.from), to = index_of(edge.to);
    if (from >= ops || to >= ops || from == to) continue;
    if (!(runs_[from].works || runs_[from].passes) || !runs_[to].works) continue;
    has_edge_in_[to] = true;
    if (runs_[from].end <= runs_[to].begin) {
      const std::uint32_t source = run_end(from);
      add(source, run_begin(to), reason_of(edge.kind), &runs_[from]);
    } else if (runs_[from].works) {
      link_stepwise(edge);
    } else {
      graph_.basis.stepwise_edges += 1;
      graph_.basis.unmet_edges += 1;
    }
  }
}

// A long wait is for the transfer of the ops that it depends on, or else of the op of its name, as
// HTPs call both alike. Where neither is known, it is only a wait.
void PathLinks::link_landings() {
  std::vector<std::uint32_t> unknown;  // ops
  for (std::uint32_t op = 0; op < runs_.size(); ++op) {
    bool waits = false;
    for (const std::uint32_t row : nodes_.by_op.of(op)) {
      if (!nodes_.is_long_wait(row)) continue;
      waits = true;
      if (has_edge_in_[op]) add_landing(row);
    }
    if (waits && !has_edge_in_[op]) unknown.push_back(op);
  }
  if (unknown.empty()) return;
  const auto key = [&](std::uint32_t op) {
    const Op& of = profile_.ops[op];
    return std::tuple(of.name, of.kind, of.node);
  };
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); };
  std::vector<std::uint32_t> all(runs_.size());
  std::iota(all.begin(), all.end(), 0u);
  std::stable_sort(all.begin(), all.end(), before);
  std::stable_sort(unknown.begin(), unknown.end(), before);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    if (i > 0 && key(unknown[i]) == key(unknown[i - 1])) continue;
    const auto [first, last] = std::equal_range(all.begin(), all.end(), unknown[i], before);
    link_named(std::span(first, last));
  }
}

// Each long wait of these ops after the last of their executions that had ended when it began, or
// after the first of all if that ended while it lasted.
void PathLinks::link_named(std::span<const std::uint32_t> ops) {
  std::vector<std::uint32_t> issues, waits;  // rows
  for (const std::uint32_t op : ops) {
    for (const std::uint32_t row : nodes_.by_op.of(op)) {
      if (nodes_.is_work(row)) issues.push_back(row);
      if (nodes_.is_long_wait(row) && !has_edge_in_[op]) waits.push_back(row);
    }
  }
  const auto end_of = [&](std::uint32_t row) { return graph_.end[nodes_.last_node[row]]; };
  const auto begin_of = [&](std::uint32_t row) {
    return profile_.spans.start[row] - graph_.timeline.begin;
  };
  std::stable_sort(issues.begin(), issues.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return end_of(a) < end_of(b); });
  std::stable_sort(waits.begin(), waits.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return begin_of(a) < begin_of(b); });
  std::size_t ended = 0;
  for (const std::uint32_t row : waits) {
    while (ended < issues.size() && end_of(issues[ended]) <= begin_of(row)) ++ended;
    if (issues.empty()) continue;
    const std::uint32_t issue = issues[ended == 0 ? 0 : ended - 1];
    if (end_of(issue) > graph_.start[nodes_.first_node[row]]) continue;
    add(nodes_.last_node[issue], nodes_.first_node[row], Reason::issue);
    add_landing(row);
  }
}

void PathLinks::add_landing(std::uint32_t row) {
  links_.push_back({nodes_.last_node[row], {nodes_.first_node[row], Reason::dma_wait, 0, true}});
}

// Each execution of the consumer after the last one of the producer that had ended.
void PathLinks::link_stepwise(const Edge& edge) {
  const std::size_t from = index_of(edge.from), to = index_of(edge.to);
  const auto consumers = nodes_.by_op.of(to);
  const std::uint64_t cost = consumers.size() + nodes_.by_op.of(from).size();
  graph_.basis.stepwise_edges += 1;
  if (cost > stepwise_left_) {
    graph_.basis.edges_beyond_limit += 1;
    return;
  }
  stepwise_left_ -= cost;
  std::vector<std::uint32_t>& producers = producers_[from];
  const auto end_of = [&](std::uint32_t row) { return graph_.end[nodes_.last_node[row]]; };
  if (producers.empty()) {
    for (const std::uint32_t row : nodes_.by_op.of(from)) {
      if (feeds_others(row, from)) producers.push_back(row);
    }
    const auto before = [&](std::uint32_t a, std::uint32_t b) { return end_of(a) < end_of(b); };
    if (!std::is_sorted(producers.begin(), producers.end(), before)) {
      std::stable_sort(producers.begin(), producers.end(), before);
    }
  }
  std::size_t ended = 0;
  bool met = false;
  for (const std::uint32_t row : consumers) {
    if (runs_[to].transfers && nodes_.is_transfer(row) && nodes_.issue_of[row] != PathGraph::none) {
      continue;
    }
    const std::uint32_t node = nodes_.first_node[row];
    while (ended < producers.size() && end_of(producers[ended]) <= graph_.start[node]) ++ended;
    if (ended == 0) continue;
    met = true;
    add(nodes_.last_node[producers[ended - 1]], node, reason_of(edge.kind), &runs_[from]);
  }
  graph_.basis.unmet_edges += met ? 0 : 1;
}

// What ran on the span's unit at a time within it: the last piece, its own or nested, that had
// started.
std::uint32_t PathLinks::node_at(std::uint32_t row, std::int64_t time) const {
  const auto begin = graph_.start.begin() + nodes_.first_node[row];
  const auto end = graph_.start.begin() + nodes_.last_node[row] + 1;
  const auto after = std::upper_bound(begin, end, time);
  const auto node = std::uint32_t((after == begin ? after : after - 1) - graph_.start.begin());
  return node;
}

void PathLinks::link_flows() {
  const auto works = [&](std::size_t row) { return nodes_.is_work(std::uint32_t(row)); };
  for (const Flow& flow : profile_.flows) {
    const std::size_t from = index_of(flow.from), to = index_of(flow.to);
    const std::size_t rows = nodes_.first_node.size();
    if (from >= rows || to >= rows || from == to || !works(from) || !works(to)) continue;
    const std::uint32_t target = nodes_.first_node[to];
    if (target == PathGraph::none || nodes_.first_node[from] == PathGraph::none) continue;
    const std::uint32_t source = node_at(std::uint32_t(from), graph_.start[target]);
    if (source == target || graph_.start[source] > graph_.start[target]) {
      graph_.basis.unmet_flows += 1;
      continue;
    }
    has_edge_in_[graph_.op_of(target)] = true;
    add(source, target, reason_of(flow.kind));
  }
}

void PathLinks::link_transfers() {
  const auto& transfers = nodes_.transfers;
  for (std::size_t first = 0; first < transfers.size();) {
    std::size_t last = first;
    const std::size_t unit = graph_.unit_of(nodes_.first_node[transfers[first]]);
    while (last < transfers.size() && graph_.unit_of(nodes_.first_node[transfers[last]]) == unit) {
      ++last;
    }
    link_engine(std::span(transfers).subspan(first, last - first));
    first = last;
  }
}

// `transfers` of one engine, by end.
void PathLinks::link_engine(std::span<const std::uint32_t> transfers) {
  const auto end_of = [&](std::uint32_t row) { return graph_.end[nodes_.last_node[row]]; };
  struct Issue {
    std::uint32_t node;
    std::int64_t start;
  };
  std::vector<Issue> issues;
  UnitId issuer = UnitId::none;
  for (const std::uint32_t row : transfers) {
    const std::uint32_t issue = nodes_.issue_of[row];
    if (issue == PathGraph::none) continue;
    issuer = profile_.spans.unit[issue];
    const std::uint32_t last = nodes_.last_node[issue], node = nodes_.first_node[row];
    if (graph_.end[last] <= graph_.start[node]) add(last, node, Reason::issue);
    issues.push_back({nodes_.first_node[issue], graph_.start[nodes_.first_node[issue]]});
  }
  std::stable_sort(issues.begin(), issues.end(),
                   [](const Issue& a, const Issue& b) { return a.start < b.start; });
  std::vector<std::size_t> complete(issues.size());  // when each was issued
  std::size_t done = 0, most = 0;
  for (std::size_t i = 0; i < issues.size(); ++i) {
    while (done < transfers.size() && end_of(transfers[done]) <= issues[i].start) ++done;
    complete[i] = std::min(done, i);
    most = std::max(most, i - complete[i]);
  }
  const std::size_t depth = most + 1;
  for (std::size_t i = depth; i < issues.size(); ++i) {
    const std::uint32_t oldest = nodes_.last_node[transfers[i - depth]];
    if (graph_.end[oldest] <= issues[i].start && graph_.row[oldest] != graph_.row[issues[i].node]) {
      add(oldest, issues[i].node, Reason::dma_wait);
    }
  }
  if (!issues.empty()) link_drains(issuer, transfers);
}

// Work of the issuing unit that moves nothing itself, depends on no op, and was waited before.
void PathLinks::link_drains(UnitId issuer, std::span<const std::uint32_t> transfers) {
  const std::size_t unit = std::min<std::size_t>(index_of(issuer), profile_.units.size());
  std::optional<std::int64_t> waiting_since;
  for (const std::uint32_t row : nodes_.by_unit.of(unit)) {
    if (!nodes_.is_work(row)) {
      const bool waits = profile_.spans.kind[row] != SpanKind::barrier;
      if (waits) waiting_since = profile_.spans.start[row] - graph_.timeline.begin;
      continue;
    }
    if (nodes_.is_transfer(row)) continue;
    const std::uint32_t node = nodes_.first_node[row];
    const std::size_t op = graph_.op_of(node);
    const bool alone = op >= runs_.size() || (!runs_[op].transfers && !has_edge_in_[op]);
    if (waiting_since && alone) {
      const auto after = std::upper_bound(transfers.begin(), transfers.end(), graph_.start[node],
                                          [&](std::int64_t time, std::uint32_t each) {
                                            return time < graph_.end[nodes_.last_node[each]];
                                          });
      if (after != transfers.begin() &&
          graph_.end[nodes_.last_node[*(after - 1)]] > *waiting_since) {
        add(nodes_.last_node[*(after - 1)], node, Reason::dma_wait);
      }
    }
    waiting_since.reset();
  }
}

}  // namespace npuscope::analysis
