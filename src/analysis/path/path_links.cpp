#include "analysis/path/path_links.hpp"

#include <algorithm>

#include "base/parallel.hpp"
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

PathLinks::PathLinks(const Profile& profile, const PathNodes& nodes, PathGraph& graph)
    : profile_(profile), nodes_(nodes), graph_(graph) {
  for (const Unit& unit : profile.units) where_.push_back({unit.device, unit.core, true});
  where_.emplace_back();
}

LooseLinks PathLinks::make() {
  find_runs();
  find_barriers();
  find_cycles();
  find_passes();
  find_waited_work();
  link_edges();
  link_inputs();
  link_landings();
  link_peers();
  link_flows();
  link_events();
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

// Nearer than 3, from unit to unit: of one unit or queue, one core, one device.
std::size_t PathLinks::distance(Place from, Place to) const {
  const Where a = where_[std::min<std::size_t>(index_of(from.unit), where_.size() - 1)];
  const Where b = where_[std::min<std::size_t>(index_of(to.unit), where_.size() - 1)];
  if (!a.known || !b.known || a.device != b.device) return 3;
  const bool one_queue = from.queue != Engine::none && from.queue == to.queue;
  if (from.unit == to.unit) return 0;
  if (a.core != b.core) return 2;
  return one_queue ? 0 : 1;
}

PathLinks::Place PathLinks::place_of(std::uint32_t node) const {
  const std::uint32_t row = graph_.row[node];
  return {profile_.spans.unit[row], queue_of(engine_of(profile_, row))};
}

void PathLinks::add(std::uint32_t from, std::uint32_t to, Reason reason, const Run* run) {
  const bool transfer = run != nullptr ? run->transfers : nodes_.is_transfer(graph_.row[from]);
  const bool barrier = run != nullptr && run->has_barrier;
  const auto latency = latency_class(reason, place_of(from), place_of(to), transfer, barrier);
  push({to, {from, reason, latency, false, graph_.end[from] > graph_.start[to]}});
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
      note_input(to, source, reason_of(edge.kind));
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
    links.push_back({consumer.first_node, {producer.last_node, reason, latency, false, false}});
    if (waited_work_.empty()) continue;
    if (const WaitedWork* waited = waits_before(consumer.row)) {
      hold_wait(*waited, producer.last_node, reason, links);
    }
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

}  // namespace npuscope::analysis
