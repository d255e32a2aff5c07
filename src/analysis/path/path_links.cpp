#include "analysis/path/path_links.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "npuscope/analysis/timeline.hpp"
#include "npuscope/base/parallel.hpp"

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
  std::span<const std::uint32_t> of(std::size_t group) const {
    return std::span(rows).subspan(first[group], first[group + 1] - first[group]);
  }
};

}  // namespace

LooseLinks PathLinks::make() {
  find_runs();
  find_barriers();
  find_cycles();
  find_passes();
  link_edges();
  link_landings();
  link_peers();
  link_flows();
  link_transfers();
  LooseLinks links;
  links.reserve(segments_.size());
  for (Segment& segment : segments_) links.push_back(std::move(segment.links));
  return links;
}

// Links come after those of the edges that are followed later.
void PathLinks::push(const LooseLink& link) {
  if (!segments_.back().stepwise.empty()) segments_.emplace_back();
  segments_.back().links.push_back(link);
}

void PathLinks::find_runs() {
  runs_.resize(profile_.ops.size());
  parallel_for(runs_.size(), [&](std::size_t op) { runs_[op] = run_of(op); });
}

PathLinks::Run PathLinks::run_of(std::size_t op) const {
  Run run;
  const auto executions = nodes_.of_op(op);
  bool issued = false;
  for (const Execution& each : executions) {
    run.transfers = run.transfers || each.is_transfer();
    issued = issued || !each.is_transfer();
    run.spreads = run.spreads || each.unit != executions[0].unit;
    run.end = run.works ? std::max(run.end, each.end) : each.end;
    run.works = true;
  }
  for (const Execution& each : executions) {  // by start
    if (issued && each.is_transfer()) continue;
    run.begin = each.begin;
    break;
  }
  return run;
}

void PathLinks::find_barriers() {
  for (const std::uint32_t row : nodes_.barriers()) {
    const std::size_t op = index_of(profile_.spans.op[row]);
    if (op < runs_.size()) runs_[op].has_barrier = true;
  }
  if (nodes_.barriers().empty()) return;
  const auto nodes = std::uint32_t(graph_.size());  // and those that are added here
  for (std::uint32_t node = 0; node < nodes; ++node) {
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

std::uint32_t PathLinks::run_end(std::size_t op) {
  Run& run = runs_[op];
  if (run.end_node != PathGraph::none) return run.end_node;
  const auto executions = nodes_.of_op(op);
  run.end_node = std::uint32_t(graph_.size());
  graph_.add(executions.front().row, NodeKind::run_end, run.end);
  for (const Execution& each : executions) {
    push({run.end_node, {each.last_node, Reason::start, 0, true}});
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
    push({each.first_node, {run.begin_node, Reason::start, 0, true}});
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
    if (!run.passes) {
      run.end_node = std::uint32_t(graph_.size());
      graph_.add(graph_.row[source], NodeKind::run_end, 0);
    }
    run.end = run.passes ? std::max(run.end, runs_[from].end) : runs_[from].end;
    run.transfers = run.transfers || runs_[from].transfers;
    run.has_barrier = run.has_barrier || runs_[from].has_barrier;
    run.passes = true;
    push({run.end_node, {source, Reason::start, 0, true}});
  }
  if (run.passes) graph_.start[run.end_node] = graph_.end[run.end_node] = run.end;
}

std::uint8_t PathLinks::latency_class(Reason reason, Place from, Place to, bool transfer,
                                      bool barrier) const {
  const std::size_t units = profile_.units.size();
  const std::size_t a = std::min<std::size_t>(index_of(from.unit), units);
  const std::size_t b = std::min<std::size_t>(index_of(to.unit), units);
  std::size_t distance = 3;  // another device, or not known
  if (a < units && b < units && profile_.units[a].device == profile_.units[b].device) {
    distance = profile_.units[a].core == profile_.units[b].core ? 1 : 2;
    const bool one_queue = from.queue != Engine::none && from.queue == to.queue;
    if (a == b || (distance == 1 && one_queue)) distance = 0;
  }
  return std::uint8_t(std::size_t(reason) * 16 + distance * 4 + transfer * 2 + barrier);
}

PathLinks::Place PathLinks::place_of(std::uint32_t node) const {
  const std::uint32_t row = graph_.row[node];
  return {profile_.spans.unit[row], queue_of(engine_of(profile_, row))};
}

void PathLinks::add(std::uint32_t from, std::uint32_t to, Reason reason, const Run* run) {
  const bool transfer = run != nullptr ? run->transfers : nodes_.is_transfer(graph_.row[from]);
  const bool barrier = run != nullptr && run->has_barrier;
  const auto latency = latency_class(reason, place_of(from), place_of(to), transfer, barrier);
  push({to, {from, reason, latency, false}});
}

void PathLinks::link_edges() {
  const std::size_t ops = runs_.size();
  has_edge_in_.assign(ops + 1, false);
  stepwise_left_ = 16 * (std::uint64_t(graph_.size()) + profile_.edges.size()) + 1'000;
  for (std::uint32_t i = 0; i < profile_.edges.size(); ++i) {
    const Edge& edge = profile_.edges[i];
    const std::size_t from = index_of(edge.from), to = index_of(edge.to);
    if (from >= ops || to >= ops || from == to) continue;
    if (!(runs_[from].works || runs_[from].passes) || !runs_[to].works) continue;
    has_edge_in_[to] = true;
    if (runs_[from].end <= runs_[to].begin) {
      const std::uint32_t source = run_end(from);
      add(source, run_begin(to), reason_of(edge.kind), &runs_[from]);
    } else if (runs_[from].works) {
      follow_stepwise(i);
    } else {
      graph_.basis.stepwise_edges += 1;
      graph_.basis.unmet_edges += 1;
    }
  }
  find_producers();
  parallel_for(segments_.size(), [&](std::size_t i) { link_stepwise(segments_[i]); });
  for (const Segment& segment : segments_) graph_.basis.unmet_edges += segment.unmet;
}

// A long wait is for the transfer of the ops that it depends on, or else of the op of its name, as
// HTPs call both alike. Where neither is known, it is only a wait.
void PathLinks::link_landings() {
  std::vector<std::uint32_t> unknown;  // ops
  for (std::uint32_t op = 0; op < runs_.size(); ++op) {
    bool waits = false;
    for (const Execution& each : nodes_.of_op(op)) {
      if (!nodes_.is_long_wait(each.kind, profile_.spans.duration[each.row])) continue;
      waits = true;
      if (has_edge_in_[op]) add_landing(each.row);
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
    for (const Execution& each : nodes_.of_op(op)) {
      if (!each.is_dma_wait()) issues.push_back(each.row);
      const bool is_long = nodes_.is_long_wait(each.kind, profile_.spans.duration[each.row]);
      if (is_long && !has_edge_in_[op]) waits.push_back(each.row);
    }
  }
  const auto end_of = [&](std::uint32_t row) { return graph_.end[nodes_.of_row(row).last]; };
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
    if (end_of(issue) > graph_.start[nodes_.of_row(row).first]) continue;
    add(nodes_.of_row(issue).last, nodes_.of_row(row).first, Reason::issue);
    add_landing(row);
  }
}

void PathLinks::add_landing(std::uint32_t row) {
  const auto [landing, wait] = nodes_.of_row(row);
  push({wait, {landing, Reason::dma_wait, 0, true}});
  landed_.push_back(row);
}

// Of the threads that share the work of an op one alone records the wait for its data; the others
// begin when it does.
void PathLinks::link_peers() {
  std::sort(landed_.begin(), landed_.end());
  std::vector<bool> waits(profile_.units.size(), false);
  for (const std::uint32_t row : landed_) {
    const std::size_t unit = index_of(profile_.spans.unit[row]);
    if (unit < waits.size()) waits[unit] = true;
  }
  for (std::uint32_t unit = 0; unit < waits.size(); ++unit) {
    if (!waits[unit]) continue;
    std::uint32_t wait = PathGraph::none;
    for (const SpanOfUnit& span : nodes_.by_unit().spans_of(UnitId(unit))) {
      if (span.kind == SpanKind::dma_wait) {
        const bool landed = std::binary_search(landed_.begin(), landed_.end(), span.row);
        wait = landed ? span.row : PathGraph::none;
      } else if (nodes_.is_work(span.row) && !nodes_.is_transfer(span.row)) {
        if (wait != PathGraph::none) link_peers_of(wait, span, UnitId(unit));
        wait = PathGraph::none;
      }
    }
  }
}

void PathLinks::link_peers_of(std::uint32_t wait, const SpanOfUnit& next, UnitId unit) {
  constexpr std::int64_t at_once = 100;  // ticks: threads wake one after the other
  constexpr int most_threads = 64;       // of a core, so that a forged trace costs no square
  const std::uint32_t landing = nodes_.of_row(wait).first;
  const std::int64_t over = graph_.end[landing];
  const std::int64_t begin = next.begin - graph_.timeline.begin;
  if (index_of(next.op) >= runs_.size() || begin < over || begin - over > at_once) return;
  const auto executions = nodes_.of_op(index_of(next.op));
  auto peer =
      std::lower_bound(executions.begin(), executions.end(), over,
                       [](const Execution& each, std::int64_t time) { return each.begin < time; });
  const Unit& here = profile_.units[index_of(unit)];
  for (int looked_at = 0; looked_at < most_threads; ++looked_at, ++peer) {
    if (peer == executions.end() || peer->begin - over > at_once) break;
    const std::size_t other = index_of(peer->unit);
    if (peer->unit == unit || peer->is_transfer() || peer->is_dma_wait()) continue;
    if (other >= profile_.units.size() || profile_.units[other].core != here.core ||
        profile_.units[other].device != here.device) {
      continue;
    }
    add(landing, peer->first_node, Reason::dma_wait);
  }
}

// Each execution of the consumer after the last one of the producer that had ended: left to do
// until all such edges are known, each segment beside the others.
void PathLinks::follow_stepwise(std::uint32_t edge) {
  constexpr std::uint64_t enough = 1 << 18;
  const std::size_t from = index_of(profile_.edges[edge].from);
  const std::size_t to = index_of(profile_.edges[edge].to);
  const std::uint64_t cost = nodes_.of_op(from).size() + nodes_.of_op(to).size();
  graph_.basis.stepwise_edges += 1;
  if (cost > stepwise_left_) {
    graph_.basis.edges_beyond_limit += 1;
    return;
  }
  stepwise_left_ -= cost;
  const Segment& last = segments_.back();
  const bool is_free = last.stepwise.empty() ? last.links.empty() : last.cost < enough;
  if (!is_free) segments_.emplace_back();
  segments_.back().stepwise.push_back(edge);
  segments_.back().cost += cost;
}

// What of an op consumers wait for: its transfers where it has any, else its executions.
void PathLinks::find_producers() {
  std::vector<char> is_followed(runs_.size(), false);
  for (const Segment& segment : segments_) {
    for (const std::uint32_t edge : segment.stepwise) {
      is_followed[index_of(profile_.edges[edge].from)] = true;
    }
  }
  producers_.resize(runs_.size());
  parallel_for(runs_.size(), [&](std::size_t op) {
    if (!is_followed[op]) return;
    const auto executions = nodes_.of_op(op);
    std::vector<std::uint32_t>& producers = producers_[op];
    for (std::uint32_t i = 0; i < executions.size(); ++i) {
      if (executions[i].is_transfer() || !runs_[op].transfers) producers.push_back(i);
    }
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      return executions[a].end < executions[b].end;
    };
    if (!std::is_sorted(producers.begin(), producers.end(), before)) {
      std::stable_sort(producers.begin(), producers.end(), before);
    }
  });
}

void PathLinks::link_stepwise(Segment& segment) const {
  segment.links.reserve(segment.cost / 2);
  for (const std::uint32_t edge : segment.stepwise) {
    segment.unmet += link_stepwise(profile_.edges[edge], segment.links) ? 0 : 1;
  }
}

// Whether any execution of the consumer began after one of the producer.
bool PathLinks::link_stepwise(const Edge& edge, std::vector<LooseLink>& links) const {
  const std::size_t from = index_of(edge.from), to = index_of(edge.to);
  const auto sources = nodes_.of_op(from);
  const std::vector<std::uint32_t>& producers = producers_[from];
  const Reason reason = reason_of(edge.kind);
  std::size_t ended = 0;
  for (const Execution& consumer : nodes_.of_op(to)) {
    if (consumer.is_transfer() && nodes_.issue_of(consumer.row) != PathGraph::none) continue;
    while (ended < producers.size() && sources[producers[ended]].end <= consumer.begin) ++ended;
    if (ended == 0) continue;
    const Execution& producer = sources[producers[ended - 1]];
    const auto latency =
        latency_class(reason, {producer.unit, producer.queue}, {consumer.unit, consumer.queue},
                      runs_[from].transfers, runs_[from].has_barrier);
    links.push_back({consumer.first_node, {producer.last_node, reason, latency, false}});
  }
  return ended > 0;
}

// What ran on the span's unit at a time within it: the last piece, its own or nested, that had
// started.
std::uint32_t PathLinks::node_at(std::uint32_t row, std::int64_t time) const {
  const auto begin = graph_.start.begin() + nodes_.of_row(row).first;
  const auto end = graph_.start.begin() + nodes_.of_row(row).last + 1;
  const auto after = std::upper_bound(begin, end, time);
  const auto node = std::uint32_t((after == begin ? after : after - 1) - graph_.start.begin());
  return node;
}

void PathLinks::link_flows() {
  const auto works = [&](std::size_t row) { return nodes_.is_work(std::uint32_t(row)); };
  for (const Flow& flow : profile_.flows) {
    const std::size_t from = index_of(flow.from), to = index_of(flow.to);
    const std::size_t rows = profile_.spans.size();
    if (from >= rows || to >= rows || from == to || !works(from) || !works(to)) continue;
    const std::uint32_t target = nodes_.of_row(to).first;
    if (target == PathGraph::none || nodes_.of_row(from).first == PathGraph::none) continue;
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
  const auto& transfers = nodes_.transfers();
  for (std::size_t first = 0; first < transfers.size();) {
    std::size_t last = first;
    const std::size_t unit = graph_.unit_of(nodes_.of_row(transfers[first]).first);
    while (last < transfers.size() &&
           graph_.unit_of(nodes_.of_row(transfers[last]).first) == unit) {
      ++last;
    }
    link_engine(std::span(transfers).subspan(first, last - first));
    first = last;
  }
}

// `transfers` of one engine, by end.
void PathLinks::link_engine(std::span<const std::uint32_t> transfers) {
  const auto end_of = [&](std::uint32_t row) { return graph_.end[nodes_.of_row(row).last]; };
  struct Issue {
    std::uint32_t node;
    std::int64_t start;
  };
  std::vector<Issue> issues;
  UnitId issuer = UnitId::none;
  for (const std::uint32_t row : transfers) {
    const std::uint32_t issue = nodes_.issue_of(row);
    if (issue == PathGraph::none) continue;
    issuer = profile_.spans.unit[issue];
    const std::uint32_t last = nodes_.of_row(issue).last, node = nodes_.of_row(row).first;
    if (graph_.end[last] <= graph_.start[node]) add(last, node, Reason::issue);
    issues.push_back({nodes_.of_row(issue).first, graph_.start[nodes_.of_row(issue).first]});
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
    const std::uint32_t oldest = nodes_.of_row(transfers[i - depth]).last;
    if (graph_.end[oldest] <= issues[i].start && graph_.row[oldest] != graph_.row[issues[i].node]) {
      add(oldest, issues[i].node, Reason::dma_wait);
    }
  }
  if (!issues.empty()) link_drains(issuer, transfers);
}

// Work of the issuing unit that moves nothing itself, depends on no op, and was waited before.
void PathLinks::link_drains(UnitId issuer, std::span<const std::uint32_t> transfers) {
  const std::size_t unit = std::min<std::size_t>(index_of(issuer), profile_.units.size());
  constexpr std::int64_t not_waiting = std::numeric_limits<std::int64_t>::max();
  std::int64_t waiting_since = not_waiting;
  for (const SpanOfUnit& span : nodes_.by_unit().spans_of(UnitId(std::uint32_t(unit)))) {
    const std::uint32_t row = span.row;
    if (!nodes_.is_work(row)) {
      const bool waits = profile_.spans.kind[row] != SpanKind::barrier;
      if (waits) waiting_since = profile_.spans.start[row] - graph_.timeline.begin;
      continue;
    }
    if (nodes_.is_transfer(row)) continue;
    const std::uint32_t node = nodes_.of_row(row).first;
    const std::size_t op = graph_.op_of(node);
    const bool alone = op >= runs_.size() || (!runs_[op].transfers && !has_edge_in_[op]);
    if (alone) {
      const auto after = std::upper_bound(transfers.begin(), transfers.end(), graph_.start[node],
                                          [&](std::int64_t time, std::uint32_t each) {
                                            return time < graph_.end[nodes_.of_row(each).last];
                                          });
      if (after != transfers.begin() &&
          graph_.end[nodes_.of_row(*(after - 1)).last] > waiting_since) {
        add(nodes_.of_row(*(after - 1)).last, node, Reason::dma_wait);
      }
    }
    waiting_since = not_waiting;
  }
}

}  // namespace npuscope::analysis
