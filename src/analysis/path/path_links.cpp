#include "analysis/path/path_links.hpp"

#include <algorithm>
#include <cmath>

#include "base/counting_sort.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

class LinkTable {
 public:
  LinkTable(PathGraph& graph, const PathNodes& nodes, const std::vector<LooseLink>& loose,
            const StepwiseEdges& stepwise)
      : graph_(graph),
        nodes_(nodes),
        loose_(loose),
        stepwise_(stepwise),
        slices_(std::clamp<std::size_t>(workers(), 1, 8)) {}

  bool write() {
    sort_loose();
    std::vector<std::uint32_t> first(slices_, 0);
    parallel_for(slices_, [&](std::size_t slice) { first[slice] = count_slice(slice); });
    std::uint32_t count = 0;
    for (std::uint32_t& each : first) count += std::exchange(each, count);
    graph_.links.resize(count);
    graph_.first_link.resize(graph_.size() + 1);
    graph_.first_link[graph_.size()] = count;
    std::vector<char> in_order(slices_);
    parallel_for(slices_,
                 [&](std::size_t slice) { in_order[slice] = write_slice(slice, first[slice]); });
    return std::find(in_order.begin(), in_order.end(), false) == in_order.end();
  }

 private:
  // Each slice begins anew with what has ended before it, so there are no more than threads, and
  // later ones are shorter: telling a node anew takes a quarter of writing one.
  std::uint32_t first_of(std::size_t slice) const {
    const auto share = [](std::size_t slices) { return 1 - std::pow(0.75, double(slices)); };
    return std::uint32_t(double(graph_.size()) * (share(slice) / share(slices_)));
  }

  void sort_loose() {
    if (loose_.empty()) return;
    sorted_ = Grouped<Column<std::uint32_t>>(loose_.size(), graph_.size(),
                                             [&](std::size_t i) { return loose_[i].to; });
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      return loose_[a].place < loose_[b].place;
    };
    parallel_for(slices_, [&](std::size_t slice) {
      for (std::uint32_t node = first_of(slice); node < first_of(slice + 1); ++node) {
        const auto of_node = sorted_.of(node);
        if (!std::ranges::is_sorted(of_node, before)) std::ranges::stable_sort(of_node, before);
      }
    });
  }

  std::span<const std::uint32_t> loose_of(std::uint32_t node) const {
    if (sorted_.empty()) return {};
    return sorted_.of(node);
  }

  bool follows(std::uint32_t node) const { return !stepwise_.empty() && node < nodes_.count(); }

  std::uint32_t count_slice(std::size_t slice) const {
    const std::uint32_t first = first_of(slice), last = first_of(slice + 1);
    std::size_t count = sorted_.empty() ? 0 : sorted_.count(first, last);
    for (std::uint32_t node = first; node < last && follows(node); ++node) {
      count += stepwise_.links_to(node);
    }
    return std::uint32_t(count);
  }

  bool write_slice(std::size_t slice, std::uint32_t next) {
    const std::uint32_t first = first_of(slice), last = first_of(slice + 1);
    if (first == last) return true;
    std::optional<StepwiseEdges::Sweep> sweep;
    if (follows(first)) sweep.emplace(stepwise_, first);
    bool in_order = true;
    const auto put = [&](std::uint32_t node, const PathLink& link) {
      in_order = in_order && link.from < node;
      graph_.links[next++] = link;
    };
    PathLink* const links = graph_.links.data();
    for (std::uint32_t node = first; node < last; ++node) {
      graph_.first_link[node] = next;
      const std::uint32_t before = graph_.unit_before[node];
      in_order = in_order && (before < node || before == PathGraph::none);
      const auto loose = loose_of(node);
      std::size_t put_loose = 0;
      if (follows(node) && sweep->go_to(node)) {
        for (const StepwiseEdges::Followed& edge : stepwise_.into(graph_.op_of(node))) {
          for (; put_loose < loose.size() && loose_[loose[put_loose]].place <= edge.edge;
               ++put_loose) {
            put(node, loose_[loose[put_loose]].link);
          }
          PathLink& link = links[next];
          if (!sweep->link(edge, link)) continue;
          in_order = link.from < node && in_order;
          next += 1;
        }
      }
      for (; put_loose < loose.size(); ++put_loose) put(node, loose_[loose[put_loose]].link);
    }
    return in_order;
  }

  PathGraph& graph_;
  const PathNodes& nodes_;
  const std::vector<LooseLink>& loose_;
  const StepwiseEdges& stepwise_;
  std::size_t slices_;
  Grouped<Column<std::uint32_t>> sorted_;  // by node, places in loose_
};

}  // namespace

bool write_links(PathGraph& graph, const PathNodes& nodes, const std::vector<LooseLink>& loose,
                 const StepwiseEdges& stepwise) {
  return LinkTable(graph, nodes, loose, stepwise).write();
}

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

PathLinks::PathLinks(const Profile& profile, PathNodes& nodes, PathGraph& graph)
    : profile_(profile),
      nodes_(nodes),
      graph_(graph),
      classes_(profile),
      stepwise_(profile, nodes, graph, classes_) {}

bool PathLinks::make() {
  find_runs();
  find_barriers();
  find_cycles();
  find_passes();
  find_waited_work();
  link_edges();
  link_inputs();
  block_waits_in_order();
  link_landings();
  link_peers();
  link_flows();
  link_events();
  link_transfers();
  return write_links(graph_, nodes_, links_, stepwise_);
}

LatencyClasses::Place PathLinks::place_of(std::uint32_t node) const {
  const std::uint32_t row = graph_.row[node];
  return {profile_.spans.unit[row], queue_of(engine_of(profile_, row))};
}

void PathLinks::add(std::uint32_t from, std::uint32_t to, Reason reason, const Run* run) {
  const bool transfer = run != nullptr ? run->transfers : nodes_.is_transfer(graph_.row[from]);
  const bool barrier = run != nullptr && run->has_barrier;
  const auto latency = classes_.of(reason, place_of(from), place_of(to), transfer, barrier);
  push(to, {from, reason, latency, false, graph_.end[from] > graph_.start[to]});
}

void PathLinks::link_edges() {
  const std::size_t ops = runs_.size();
  has_edge_in_.assign(ops + 1, false);
  stepwise_left_ = 16 * (std::uint64_t(graph_.size()) + profile_.edges.size()) + 1'000;
  for (std::uint32_t i = 0; i < profile_.edges.size(); ++i) {
    const Edge& edge = profile_.edges[i];
    place_ = i;
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
  place_ = std::uint32_t(profile_.edges.size());
  stepwise_.prepare();
  graph_.basis.unmet_edges += stepwise_.unmet_edges();
  block_waits_stepwise();
}

// Each execution of the consumer after the last one of the producer that had ended.
void PathLinks::follow_stepwise(std::uint32_t edge) {
  const std::uint32_t from = index_of(profile_.edges[edge].from);
  const std::uint32_t to = index_of(profile_.edges[edge].to);
  const std::uint64_t cost = std::uint64_t{nodes_.run(from).executions} + nodes_.run(to).executions;
  graph_.basis.stepwise_edges += 1;
  if (cost > stepwise_left_) {
    graph_.basis.edges_beyond_limit += 1;
    return;
  }
  stepwise_left_ -= cost;
  const Reason reason = reason_of(profile_.edges[edge].kind);
  stepwise_.follow(
      {edge, from, reason,
       LatencyClasses::nearest(reason, runs_[from].transfers, runs_[from].has_barrier)},
      to);
}

// What ran on the span's unit at a time within it: the last piece, its own or nested, that had
// started.
std::uint32_t PathLinks::node_at(std::uint32_t row, std::int64_t time) const {
  const std::uint32_t first = nodes_.sequence_of(nodes_.of_row(row).first);
  const std::uint32_t last = nodes_.sequence_of(nodes_.of_row(row).last);
  const auto sequence = std::views::iota(first, last + 1);
  const auto after = std::ranges::upper_bound(
      sequence, time, {}, [&](std::uint32_t each) { return graph_.start[nodes_.node_at(each)]; });
  return nodes_.node_at(after == sequence.begin() ? first : *after - 1);
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
