#include "analysis/path/path_graph.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/path/path_links.hpp"
#include "analysis/path/path_nodes.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::uint32_t none = PathGraph::none;

void sort_links(const std::vector<LooseLink>& loose, PathGraph& graph) {
  graph.first_link.assign(graph.size() + 1, 0);
  for (const LooseLink& each : loose) graph.first_link[each.to + 1] += 1;
  for (std::size_t node = 0; node < graph.size(); ++node) {
    graph.first_link[node + 1] += graph.first_link[node];
  }
  graph.links.resize(loose.size());
  std::vector<std::uint32_t> next(graph.first_link.begin(), graph.first_link.end() - 1);
  for (const LooseLink& each : loose) graph.links[next[each.to]++] = each.link;
}

// Each node after those that hold it back. Only nodes that begin at one moment can hold each other
// back in a ring; the constraint that would close it is taken out.
class Sorting {
 public:
  explicit Sorting(PathGraph& graph) : graph_(graph), states_(graph.size(), State::new_one) {}

  void run() {
    graph_.order.reserve(graph_.size());
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      if (states_[node] == State::new_one) visit(node);
    }
  }

 private:
  enum class State : std::uint8_t { new_one, open, done };
  struct Open {
    std::uint32_t node;
    std::uint32_t next;  // of its links
  };

  void enter(std::uint32_t node) {
    states_[node] = State::open;
    open_.push_back({node, graph_.first_link[node]});
    std::uint32_t& before = graph_.unit_before[node];
    if (before != none) go_to(before);
  }

  void go_to(std::uint32_t& from) {
    if (states_[from] == State::new_one) {
      entering_ = from;
    } else if (states_[from] == State::open) {
      graph_.basis.cyclic_constraints += 1;
      from = none;
    }
  }

  void visit(std::uint32_t first) {
    entering_ = first;
    do {
      while (entering_ != none) enter(std::exchange(entering_, none));
      Open& top = open_.back();
      if (top.next < graph_.first_link[top.node + 1]) {
        go_to(graph_.links[top.next++].from);
        continue;
      }
      states_[top.node] = State::done;
      graph_.order.push_back(top.node);
      open_.pop_back();
    } while (!open_.empty());
  }

  PathGraph& graph_;
  std::vector<State> states_;
  std::vector<Open> open_;
  std::uint32_t entering_ = none;
};

// What the constraints and their latencies leave of each start. Starts of run_begin become those
// that the constraints give.
void find_delays(PathGraph& graph) {
  graph.delay.assign(graph.size(), 0);
  for (const std::uint32_t node : graph.order) {
    std::optional<std::int64_t> released;
    const auto take = [&](std::int64_t time) {
      released = std::max(released.value_or(time), time);
    };
    if (const std::uint32_t before = graph.unit_before[node]; before != none) {
      take(graph.end[before] + graph.unit_latency[node]);
    }
    for (auto i = graph.first_link[node]; i < graph.first_link[node + 1]; ++i) {
      if (graph.links[i].from != none) take(graph.released_by(graph.links[i], node));
    }
    if (graph.kind[node] == NodeKind::run_begin || graph.kind[node] == NodeKind::run_end) {
      graph.start[node] = graph.end[node] = released.value_or(graph.start[node]);
    } else if (released) {
      graph.delay[node] = graph.start[node] - *released;
    }
  }
}

// The least gap of each class of constraints is its latency, if there is reason to think that some
// start was due to it: of the constraints of its target, one with it was the last to end, or the
// target's start is not explained otherwise and the gap no longer than a latency already known.
class Latencies {
 public:
  Latencies(PathGraph& graph, const std::vector<bool>& after_barrier)
      : graph_(graph),
        after_barrier_(after_barrier),
        of_units_((graph.profile->units.size() + 1) * 2),
        of_classes_(latency_classes) {}

  void run() {
    latest_.resize(graph_.size());
    for (std::uint32_t node = 0; node < graph_.size(); ++node) latest_[node] = latest_link(node);
    join(latest_);
    for_constraints([&](std::uint32_t node, std::int64_t end, Least& least) {
      least.gap = std::min(least.gap, graph_.start[node] - end);
      least.binds = least.binds || end == latest_[node];
    });
    write();
    const std::vector<std::int64_t> starts = graph_.start, ends = graph_.end;
    find_delays(graph_);
    graph_.start = starts;  // find_delays moves run_begin
    graph_.end = ends;
    join(graph_.delay);
    const std::int64_t longest = longest_latency();
    for_constraints([&](std::uint32_t node, std::int64_t end, Least& least) {
      const bool explains =
          graph_.delay[node] > 0 && graph_.start[node] - end == least.gap && least.gap <= longest;
      least.binds = least.binds || explains;
    });
    write();
    find_delays(graph_);
  }

 private:
  static constexpr std::int64_t never = -1;
  struct Least {
    std::int64_t gap = std::numeric_limits<std::int64_t>::max();
    bool binds = false;
    std::int64_t latency() const { return binds ? gap : 0; }
  };

  std::int64_t longest_latency() const {
    std::int64_t longest = 0;
    for (const auto* classes : {&of_units_, &of_classes_}) {
      for (const Least& least : *classes) longest = std::max(longest, least.latency());
    }
    return longest;
  }

  std::size_t unit_class(std::uint32_t node) const {
    return graph_.unit_of(node) * 2 + (node < after_barrier_.size() && after_barrier_[node]);
  }

  template <class Visit>
  void for_links(std::uint32_t node, const Visit& visit) const {
    for (auto i = graph_.first_link[node]; i < graph_.first_link[node + 1]; ++i) {
      if (graph_.links[i].from != none) visit(graph_.links[i]);
    }
  }

  // visit(target, end of the source, its class); a flow out of its source's midst has none.
  template <class Visit>
  void for_constraints(const Visit& visit) {
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      if (const std::uint32_t before = graph_.unit_before[node]; before != none) {
        visit(node, graph_.end[before], of_units_[unit_class(node)]);
      }
      for_links(node, [&](const PathLink& link) {
        if (link.joins || graph_.end[link.from] > graph_.start[node]) return;
        visit(node, graph_.end[link.from], of_classes_[link.latency]);
      });
    }
  }

  std::int64_t latest_link(std::uint32_t node) const {
    std::int64_t latest = never;
    if (graph_.unit_before[node] != none) latest = graph_.end[graph_.unit_before[node]];
    for_links(node, [&](const PathLink& link) {
      if (!link.joins) latest = std::max(latest, graph_.end[link.from]);
    });
    return latest;
  }

  // The larger value of an op's run_begin and of the executions that begin first.
  void join(std::vector<std::int64_t>& values) const {
    const auto for_joins = [&](const auto& visit) {
      for (std::uint32_t node = 0; node < graph_.size(); ++node) {
        for_links(node, [&](const PathLink& link) {
          if (!link.joins || graph_.kind[link.from] != NodeKind::run_begin) return;
          visit(link.from, node, graph_.start[node] == graph_.start[link.from]);
        });
      }
    };
    std::vector<std::int64_t> of_runs(values);
    for_joins([&](std::uint32_t run, std::uint32_t node, bool first) {
      if (first) of_runs[run] = std::max(of_runs[run], values[node]);
    });
    for_joins([&](std::uint32_t run, std::uint32_t node, bool) {
      values[node] = std::max(values[node], values[run]);
    });
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      if (graph_.kind[node] == NodeKind::run_begin) values[node] = of_runs[node];
    }
  }

  void write() {
    graph_.latencies.clear();
    for (const Least& least : of_classes_) graph_.latencies.push_back(least.latency());
    graph_.unit_latency.assign(graph_.size(), 0);
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      if (graph_.unit_before[node] == none) continue;
      graph_.unit_latency[node] = of_units_[unit_class(node)].latency();
    }
  }

  PathGraph& graph_;
  const std::vector<bool>& after_barrier_;
  std::vector<Least> of_units_, of_classes_;
  std::vector<std::int64_t> latest_;  // end of what each node waited for
};

void count(PathGraph& graph) {
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    if (graph.kind[node] == NodeKind::execution) {
      graph.basis.executions += 1;
      graph.last_end = std::max(graph.last_end, graph.end[node]);
    }
    if (graph.unit_before[node] != none) {
      graph.basis.constraints[std::size_t(Reason::unit)] += 1;
    }
  }
  for (const PathLink& link : graph.links) {
    if (!link.joins && link.from != none) graph.basis.constraints[std::size_t(link.reason)] += 1;
  }
}

}  // namespace

Result<std::shared_ptr<const PathGraph>> make_path_graph(const Profile& profile,
                                                         std::optional<std::uint32_t> instance) {
  auto graph = std::make_shared<PathGraph>();
  graph->profile = &profile;
  PathNodes nodes(profile, *graph);
  if (const Status selected = nodes.select(instance); !selected) {
    return tl::unexpected(selected.error());
  }
  nodes.add();
  PathLinks links(profile, nodes, *graph);
  sort_links(links.make(), *graph);
  Sorting(*graph).run();
  Latencies(*graph, links.after_barrier).run();
  count(*graph);
  graph->first_of_unit = std::move(nodes.by_unit.first);
  graph->rows_of_unit = std::move(nodes.by_unit.rows);
  return graph;
}

}  // namespace npuscope::analysis
