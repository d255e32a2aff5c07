// Waits of hosts for their devices, and of streams for events: what let the work after them go.
#include <algorithm>
#include <map>

#include "analysis/path/path_links.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

struct NodeTime {
  std::int64_t time;
  std::uint32_t sequence;
  std::uint32_t node;
  bool operator<(const NodeTime& other) const {
    return time != other.time ? time < other.time : sequence < other.sequence;
  }
};

// The last with a time no later than this one; none where there is none.
std::uint32_t last_until(const std::vector<NodeTime>& nodes, std::int64_t time) {
  const auto after =
      std::upper_bound(nodes.begin(), nodes.end(), time,
                       [](std::int64_t at, const NodeTime& each) { return at < each.time; });
  return after == nodes.begin() ? PathGraph::none : after[-1].node;
}

}  // namespace

void PathLinks::link_events() {
  if (!nodes_.has_event_waits()) return;
  const std::size_t units = nodes_.by_unit().groups();
  std::vector<std::vector<NodeTime>> ends(units), starts(units);
  std::vector<NodeTime> device_ends;
  for (std::size_t unit = 0; unit < units; ++unit) {
    const auto [first, last] = nodes_.of_unit(unit);
    for (std::uint32_t sequence = first; sequence < last; ++sequence) {
      const std::uint32_t node = nodes_.node_at(sequence);
      ends[unit].push_back({graph_.end[node], sequence, node});
      starts[unit].push_back({graph_.start[node], sequence, node});
      if (is_of_device(domain_of(profile_, graph_.row[node])))
        device_ends.push_back(ends[unit].back());
    }
    std::sort(ends[unit].begin(), ends[unit].end());
    std::sort(starts[unit].begin(), starts[unit].end());
  }
  std::sort(device_ends.begin(), device_ends.end());
  std::map<std::uint32_t, std::uint32_t> raised_by;  // rows: of waits, what raised their events
  for (const Flow& flow : profile_.flows) {
    const std::size_t to = index_of(flow.to);
    const bool is_wait = to < profile_.spans.size() && profile_.spans.kind[to] == SpanKind::wait;
    if (is_wait && index_of(flow.from) < profile_.spans.size()) {
      raised_by[std::uint32_t(to)] = index_of(flow.from);
    }
  }
  const auto since_begin = [&](std::int64_t time) { return time - graph_.timeline.begin; };
  const auto source_of = [&](const SpanOfUnit& wait, bool by_host) -> std::uint32_t {
    if (const auto event = raised_by.find(wait.row); event != raised_by.end()) {
      const std::size_t unit = index_of(profile_.spans.unit[event->second]);
      if (unit >= units) return PathGraph::none;
      return last_until(ends[unit], since_begin(interval_of(profile_.spans, event->second).end));
    }
    return by_host ? last_until(device_ends, since_begin(wait.end)) : PathGraph::none;
  };
  for (std::size_t unit = 0; unit + 1 < units; ++unit) {
    for (const SpanOfUnit& wait : nodes_.by_unit().spans_of(UnitId(std::uint32_t(unit)))) {
      if (wait.kind != SpanKind::wait) continue;
      const auto next = std::lower_bound(starts[unit].begin(), starts[unit].end(),
                                         NodeTime{since_begin(wait.end), 0, 0});
      if (next == starts[unit].end()) continue;
      const bool by_host = domain_of(profile_, graph_.row[next->node]) == Domain::host;
      const std::uint32_t source = source_of(wait, by_host);
      const bool held = source != PathGraph::none && graph_.end[source] >= since_begin(wait.begin);
      if (held && graph_.end[source] <= graph_.start[next->node]) {
        add(source, next->node, Reason::order);
      }
    }
  }
}

}  // namespace npuscope::analysis
