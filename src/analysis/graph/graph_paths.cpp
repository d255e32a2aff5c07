#include "analysis/graph/graph_paths.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/near_names.hpp"
#include "base/sort_rows.hpp"
#include "base/try.hpp"
#include "npuscope/base/pattern.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

std::vector<std::uint8_t> marks_of(std::size_t ops, const std::vector<OpId>& marked) {
  std::vector<std::uint8_t> marks(ops, 0);
  for (const OpId op : marked) {
    if (index_of(op) < ops) marks[index_of(op)] = 1;
  }
  return marks;
}

// `by_edge[op]` is the edge by which the path comes to the op.
OpPath trace_back(const OpGraph& graph, std::uint32_t last,
                  const std::vector<std::uint32_t>& by_edge) {
  OpPath path;
  path.ops.push_back(OpId(last));
  while (by_edge[index_of(path.ops.back())] != nothing) {
    const Edge& edge = graph.edges()[by_edge[index_of(path.ops.back())]];
    path.edges.push_back(edge.kind);
    path.ops.push_back(edge.from);
  }
  std::reverse(path.ops.begin(), path.ops.end());
  std::reverse(path.edges.begin(), path.edges.end());
  return path;
}

std::uint32_t place_of(const OpGraph& graph, const Edge& edge) {
  return std::uint32_t(&edge - graph.edges().data());
}

// Distances from `centre` along (or against) the edges, up to `most`; by op.
std::vector<std::int32_t> distances(const OpGraph& graph, const std::vector<OpId>& centre,
                                    std::uint32_t max, EdgeKinds kinds, bool forward) {
  std::vector<std::int32_t> distance(graph.size(), -1);
  std::vector<std::uint32_t> queue;
  const auto put = [&](std::uint32_t op, std::int32_t hops) {
    if (distance[op] >= 0) return;
    distance[op] = hops;
    queue.push_back(op);
  };
  for (const OpId op : centre) {
    if (index_of(op) < graph.size()) put(index_of(op), 0);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t op = queue[i];
    if (std::uint32_t(distance[op]) >= max) break;
    const std::int32_t hops = distance[op] + 1;
    if (forward) {
      for (const Edge& edge : graph.from(OpId(op))) {
        if (kinds.has(edge.kind)) put(index_of(edge.to), hops);
      }
    } else {
      for (const std::uint32_t i_edge : graph.to(OpId(op))) {
        const Edge& edge = graph.edges()[i_edge];
        if (kinds.has(edge.kind)) put(index_of(edge.from), hops);
      }
    }
  }
  return distance;
}

}  // namespace

OpPath shortest_path(const OpGraph& graph, const std::vector<OpId>& from,
                     const std::vector<OpId>& to, EdgeKinds kinds) {
  const std::vector<std::uint8_t> wanted = marks_of(graph.size(), to);
  std::vector<std::uint8_t> seen = marks_of(graph.size(), from);
  std::vector<std::uint32_t> by_edge(graph.size(), nothing), queue;
  for (const OpId op : from) {
    if (index_of(op) >= graph.size()) continue;
    if (wanted[index_of(op)]) return trace_back(graph, index_of(op), by_edge);
    queue.push_back(index_of(op));
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const Edge& edge : graph.from(OpId(queue[i]))) {
      const std::uint32_t next = index_of(edge.to);
      if (seen[next] || !kinds.has(edge.kind)) continue;
      seen[next] = 1;
      by_edge[next] = place_of(graph, edge);
      if (wanted[next]) return trace_back(graph, next, by_edge);
      queue.push_back(next);
    }
  }
  return {};
}

OpPath heaviest_path(const OpGraph& graph, const GraphOrder& order, const OpTimes& times,
                     const std::vector<OpId>& from, const std::vector<OpId>& to, EdgeKinds kinds) {
  struct Best {
    std::int64_t work = -1;  // -1: not reached
    std::uint32_t steps = 0;
    bool better_than(const Best& other) const {
      return work > other.work || (work == other.work && steps < other.steps);
    }
  };
  const std::vector<std::uint8_t> starts = marks_of(graph.size(), from);
  const std::vector<std::uint8_t> wanted = marks_of(graph.size(), to);
  std::vector<Best> best(graph.size());
  std::vector<std::uint32_t> by_edge(graph.size(), nothing);
  const auto work_of = [&](std::uint32_t op) { return std::max<std::int64_t>(times.work[op], 0); };
  std::uint32_t last = nothing;
  for (const std::uint32_t op : order.ops) {
    if (starts[op] && best[op].work < 0) best[op] = {work_of(op), 0};
    if (best[op].work < 0) continue;
    if (wanted[op] && (last == nothing || best[op].better_than(best[last]))) last = op;
    for (const Edge& edge : graph.from(OpId(op))) {
      const std::uint32_t next = index_of(edge.to);
      if (!kinds.has(edge.kind) || order.rank[next] == order.rank[op]) continue;
      const Best there{saturating_add(best[op].work, work_of(next)), best[op].steps + 1};
      if (!there.better_than(best[next])) continue;
      best[next] = there;
      by_edge[next] = place_of(graph, edge);
    }
  }
  if (last == nothing) return {};
  OpPath path = trace_back(graph, last, by_edge);
  path.work = best[last].work;
  return path;
}

std::vector<NearOp> ops_around(const OpGraph& graph, const std::vector<OpId>& centre,
                               std::uint32_t hops, EdgeKinds kinds) {
  const auto after = distances(graph, centre, hops, kinds, true);
  const auto before = distances(graph, centre, hops, kinds, false);
  std::vector<NearOp> near;
  for (std::uint32_t op = 0; op < graph.size(); ++op) {
    const bool is_before = before[op] >= 0 && (after[op] < 0 || before[op] < after[op]);
    if (is_before) {
      near.push_back({OpId(op), -before[op]});
    } else if (after[op] >= 0) {
      near.push_back({OpId(op), after[op]});
    }
  }
  sort_rows(near.begin(), near.end(),
            [](const NearOp& a, const NearOp& b) { return a.hops < b.hops; });
  return near;
}

namespace {

// Finding ops by what a user wrote.

std::vector<StringId> distinct_names(const Profile& profile) {
  std::vector<std::uint8_t> seen(profile.strings.size(), 0);
  std::vector<StringId> names;
  for (const Op& op : profile.ops) {
    for (const StringId name : {op.name, op.node}) {
      if (name == StringId::empty || seen[std::uint32_t(name)]) continue;
      seen[std::uint32_t(name)] = 1;
      names.push_back(name);
    }
  }
  return names;
}

std::string names_like(const Profile& profile, std::string_view text) {
  std::vector<StringId> ids = distinct_names(profile);
  std::sort(ids.begin(), ids.end());  // of equally near ones the first by id
  std::vector<std::string_view> names;
  for (const StringId id : ids) names.push_back(profile.text(id));
  return nearest_names(names, text);
}

}  // namespace

Result<std::vector<OpId>> find_ops(const Profile& profile, std::string_view where,
                                   std::string_view text) {
  std::vector<OpId> found;
  const auto collect = [&](const auto& fits) {
    for (std::uint32_t i = 0; i < profile.ops.size(); ++i) {
      if (fits(profile.ops[i])) found.push_back(OpId(i));
    }
  };
  if (const auto name = profile.strings.find(text); name && *name != StringId::empty) {
    collect([&](const Op& op) { return op.name == *name; });
    if (found.empty()) collect([&](const Op& op) { return op.node == *name; });
  }
  if (!found.empty()) return found;
  TRY_AS(pattern, Pattern::compile(where, text));
  std::vector<std::int8_t> answer(profile.strings.size(), -1);  // by string: -1 not tried
  const auto matches = [&](StringId id) {
    std::int8_t& known = answer[std::uint32_t(id)];
    if (known < 0) known = pattern->found_in(profile.text(id));
    return known != 0;
  };
  collect([&](const Op& op) { return matches(op.name) || matches(op.kind) || matches(op.node); });
  if (!found.empty()) return found;
  if (profile.ops.empty()) return usage_error("{}: the profile has no ops", where);
  return usage_error("{}: no op's name, kind or node is or matches '{}'; the nearest names: {}",
                     where, text, names_like(profile, text));
}

}  // namespace npuscope::analysis
