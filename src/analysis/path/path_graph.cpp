#include "analysis/path/path_graph.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "analysis/path/path_links.hpp"
#include "analysis/path/path_nodes.hpp"
#include "base/parallel.hpp"
#include "base/try.hpp"
#include "npuscope/analysis/coarse.hpp"

namespace npuscope::analysis {

namespace {

// Fills in how long the steady ones are, and gives the place of the one nearest their median.
std::size_t steady_of(const std::vector<InferenceExtent>& inferences, PathBasis& basis) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(inferences.size());
  for (const InferenceExtent& each : inferences) lengths.push_back(length_of(each.wall));
  const std::vector<double> walls(lengths.begin(), lengths.end());
  basis.instances = std::uint32_t(inferences.size());
  basis.median_wall = spread_of(walls).median_of_rest;
  const std::ptrdiff_t first = walls.size() > 1 ? 1 : 0;
  const auto [min, max] = std::minmax_element(lengths.begin() + first, lengths.end());
  basis.min_wall = *min;
  basis.max_wall = *max;
  const auto nearest =
      std::min_element(walls.begin() + first, walls.end(), [&](double a, double b) {
        return std::abs(a - basis.median_wall) < std::abs(b - basis.median_wall);
      });
  return std::size_t(nearest - walls.begin());
}

tl::unexpected<Error> no_executions(const Profile& profile) {
  const auto& files = profile.provenance.files;
  return input_error("{}: has no executions with times, so no path; give a profile with a timeline",
                     files.empty() ? "the profile" : files.front());
}

}  // namespace

Result<ChosenTimeline> choose_timeline(const Profile& profile, const SpanExtents& extents,
                                       std::optional<std::uint32_t> instance, PathBasis& basis) {
  if (extents.inferences.empty()) {
    if (instance) {
      return usage_error("the profile does not tell inferences apart; leave out --inference");
    }
    const bool any = extents.works && length_of(extents.timeline) > 0;
    if (!any) return no_executions(profile);
    return ChosenTimeline{extents.timeline, {0, profile.spans.size()}};
  }
  std::vector<InferenceExtent> inferences;
  for (const InferenceExtent& each : extents.inferences) {
    if (each.works && each.number != every_instance) inferences.push_back(each);
  }
  if (inferences.empty()) return no_executions(profile);
  auto chosen = inferences.begin() + std::ptrdiff_t(steady_of(inferences, basis));
  if (instance) chosen = std::ranges::find(inferences, *instance, &InferenceExtent::number);
  if (chosen == inferences.end()) {
    return usage_error("no inference {}: the profile has {}, numbered {} to {}", *instance,
                       inferences.size(), inferences.front().number, inferences.back().number);
  }
  basis.instance = chosen->number;
  return ChosenTimeline{chosen->wall, {chosen->first_row, chosen->rows_end}};
}

namespace {

// Puts the nodes of a path graph into an order in which each comes after those that it depends on,
// where that of their starts is none: of nodes without length, and of those that are of no span.

// Nearly by their start, those of a unit as they were, so that what follows finds what it looks at
// side by side.
Column<std::uint32_t> nearly_by_start(const PathGraph& graph, const PathNodes& units) {
  constexpr int max_bits = 16;
  const std::int64_t last = *std::max_element(graph.start.begin(), graph.start.end());
  const int shift =
      std::max(0, int(std::bit_width(std::uint64_t(std::max<std::int64_t>(last, 0)))) - max_bits);
  const auto bucket_of = [&](std::size_t node) {
    return std::size_t(std::max<std::int64_t>(graph.start[node], 0)) >> shift;
  };
  std::vector<std::uint32_t> next((std::size_t(std::max<std::int64_t>(last, 0)) >> shift) + 1, 0);
  for (std::size_t node = 0; node < graph.size(); ++node) next[bucket_of(node)] += 1;
  std::uint32_t place = 0;
  for (std::uint32_t& each : next) place += std::exchange(each, place);
  Column<std::uint32_t> nodes;
  nodes.resize(graph.size());
  for (std::uint32_t sequence = 0; sequence < graph.size(); ++sequence) {
    const bool is_of_unit = sequence < units.count();
    const std::uint32_t node = is_of_unit ? units.node_at(sequence) : sequence;
    nodes[next[bucket_of(node)]++] = node;
  }
  return nodes;
}

class Sorting {
 public:
  Sorting(PathGraph& graph, const PathNodes& units)
      : graph_(graph), units_(units), states_(graph.size(), State::new_one) {}

  Column<std::uint32_t> run() {
    order_.reserve(graph_.size());
    for (const std::uint32_t node : nearly_by_start(graph_, units_)) {
      if (states_[node] == State::new_one) visit(node);
    }
    return std::move(order_);
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
    if (before != PathGraph::none) go_to(before);
  }

  void go_to(std::uint32_t& from) {
    if (states_[from] == State::new_one) {
      entering_ = from;
    } else if (states_[from] == State::open) {
      graph_.basis.cyclic_constraints += 1;
      from = PathGraph::none;
    }
  }

  void visit(std::uint32_t first) {
    entering_ = first;
    do {
      while (entering_ != PathGraph::none) enter(std::exchange(entering_, PathGraph::none));
      Open& top = open_.back();
      if (top.next < graph_.first_link[top.node + 1]) {
        go_to(graph_.links[top.next++].from);
        continue;
      }
      states_[top.node] = State::done;
      order_.push_back(top.node);
      open_.pop_back();
    } while (!open_.empty());
  }

  PathGraph& graph_;
  const PathNodes& units_;
  std::vector<State> states_;
  std::vector<Open> open_;
  Column<std::uint32_t> order_;
  std::uint32_t entering_ = PathGraph::none;
};

void reorder_links(PathGraph& graph, const Column<std::uint32_t>& order,
                   const Column<std::uint32_t>& place) {
  Column<std::uint32_t> first;
  first.resize(order.size() + 1);
  first[0] = 0;
  for (std::size_t node = 0; node < order.size(); ++node) {
    first[node + 1] =
        first[node] + graph.first_link[order[node] + 1] - graph.first_link[order[node]];
  }
  Column<PathLink> links;
  links.resize(first[order.size()]);
  const std::vector<RowRange> parts = ranges_of(order.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    for (std::size_t node = parts[part].first; node < parts[part].last; ++node) {
      std::uint32_t from = graph.first_link[order[node]];
      for (std::uint32_t i = first[node]; i < first[node + 1]; ++i) {
        links[i] = graph.links[from++];
        if (links[i].from != PathGraph::none) links[i].from = place[links[i].from];
      }
    }
  });
  graph.first_link = std::move(first);
  graph.links = std::move(links);
}

// Only nodes that begin at one moment can depend on each other in a ring; the constraint that would
// close it is taken out and counted in the basis. Nodes get new numbers.
void put_in_order(PathGraph& graph, PathNodes& nodes) {
  nodes.restore_order();
  const Column<std::uint32_t> order = Sorting(graph, nodes).run();
  Column<std::uint32_t> place;
  place.resize(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  graph.renumber(order, place);
  reorder(graph.unit, order);
  reorder_links(graph, order, place);
}

struct Counts {
  std::uint64_t executions = 0;
  std::uint64_t constraints[reason_count] = {};
  std::int64_t last_end = 0;
  std::uint32_t reach = 0;
};

Counts counts_of(const PathGraph& graph, RowRange nodes) {
  Counts counts;
  for (auto node = std::uint32_t(nodes.first); node < nodes.last; ++node) {
    if (graph.kind[node] == NodeKind::execution) {
      counts.executions += 1;
      counts.last_end = std::max(counts.last_end, graph.end[node]);
    }
    if (graph.unit_before[node] != PathGraph::none) {
      counts.constraints[std::size_t(Reason::unit)] += 1;
      counts.reach = std::max(counts.reach, node - graph.unit_before[node]);
    }
    for (auto i = graph.first_link[node]; i < graph.first_link[node + 1]; ++i) {
      const PathLink& link = graph.links[i];
      if (link.from == PathGraph::none) continue;
      counts.reach = std::max(counts.reach, node - link.from);
      const bool holds_back = !link.joins || link.reason != Reason::start;
      if (holds_back) counts.constraints[std::size_t(link.reason)] += 1;
    }
  }
  return counts;
}

void count(PathGraph& graph) {
  const std::vector<RowRange> parts = ranges_of(graph.size());
  std::vector<Counts> of_parts(parts.size());
  parallel_for(parts.size(), [&](std::size_t i) { of_parts[i] = counts_of(graph, parts[i]); });
  for (const Counts& counts : of_parts) {
    graph.basis.executions += counts.executions;
    graph.last_end = std::max(graph.last_end, counts.last_end);
    graph.reach = std::max(graph.reach, counts.reach);
    for (std::size_t reason = 0; reason < reason_count; ++reason) {
      graph.basis.constraints[reason] += counts.constraints[reason];
    }
  }
}

}  // namespace

void PathGraph::renumber(const Column<std::uint32_t>& before, const Column<std::uint32_t>& place) {
  for_columns([&](auto& column) { reorder(column, before); });
  reorder(unit_before, before,
          [&](std::uint32_t node) { return node == none ? node : place[node]; });
}

void PathGraph::add(std::uint32_t of_row, NodeKind of_kind, std::int64_t time) {
  row.push_back(of_row);
  op.push_back(std::min<std::uint32_t>(index_of(profile->spans.op[of_row]),
                                       std::uint32_t(profile->ops.size())));
  unit.push_back(std::min<std::uint32_t>(index_of(profile->spans.unit[of_row]),
                                         std::uint32_t(profile->units.size())));
  kind.push_back(of_kind);
  start.push_back(time);
  end.push_back(time);
  unit_before.push_back(none);
  after_barrier.push_back(false);
}

Result<std::shared_ptr<const PathGraph>> make_path_graph(const Profile& profile,
                                                         std::optional<std::uint32_t> instance,
                                                         const PathBasics& known) {
  auto graph = std::make_shared<PathGraph>();
  graph->profile = &profile;
  {
    PathNodes nodes(profile, *graph);
    TRY(nodes.select(instance, known));
    nodes.add();
    const bool in_order = PathLinks(profile, nodes, *graph).make();
    if (!in_order) put_in_order(*graph, nodes);
    graph->by_unit = nodes.waits();
  }
  find_latencies(*graph);
  count(*graph);
  return graph;
}

}  // namespace npuscope::analysis
