#include "analysis/path/path_graph.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/path/path_latencies.hpp"
#include "analysis/path/path_links.hpp"
#include "analysis/path/path_nodes.hpp"
#include "analysis/path/path_order.hpp"
#include "base/parallel.hpp"

namespace npuscope::analysis {
namespace {

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
    if (const Status selected = nodes.select(instance, known); !selected) {
      return tl::unexpected(selected.error());
    }
    nodes.add();
    const bool in_order = PathLinks(profile, nodes, *graph).make();
    if (!in_order) put_in_order(*graph, nodes);
  }
  find_latencies(*graph);
  count(*graph);
  return graph;
}

}  // namespace npuscope::analysis
