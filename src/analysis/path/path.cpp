#include "npuscope/analysis/path.hpp"

#include <algorithm>
#include <utility>

#include "analysis/path/path_graph.hpp"
#include "analysis/path/path_schedule.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

const char* name_of(Reason reason) {
  constexpr const char* names[reason_count] = {"start",   "data", "memory reuse", "transfer",
                                               "order",   "flow", "issue",        "DMA wait",
                                               "barrier", "unit"};
  return names[std::size_t(reason)];
}

const char* name_of(GapPart part) {
  constexpr const char* names[gap_part_count] = {"DMA", "semaphore", "barrier", "unrecorded"};
  return names[std::size_t(part)];
}

namespace {

constexpr std::int64_t unbounded = std::int64_t{1} << 60;  // beyond all times, far from overflow

// The waits of a unit, each moment as one of them.
class Waits {
 public:
  Waits(const PathGraph& graph, std::size_t unit) {
    std::vector<Interval> found[recorded];
    for (const SpanOfUnit& span : graph.by_unit->spans_of(UnitId(std::uint32_t(unit)))) {
      if (const auto part = part_of(span.kind)) found[*part].push_back(span.interval());
    }
    IntervalSet taken;
    for (std::size_t part = 0; part < recorded; ++part) {
      const IntervalSet all = union_of(std::move(found[part]));
      sets_[part] = difference_of(all, taken);
      taken = union_of(taken, all);
    }
  }

  // Fills in the parts of a gap that begins no earlier than the one before.
  void fill(Interval gap, std::int64_t (&parts)[gap_part_count]) {
    std::int64_t left = length_of(gap);
    for (std::size_t part = 0; part < recorded; ++part) {
      parts[part] = covered(part, gap);
      left -= parts[part];
    }
    parts[std::size_t(GapPart::unrecorded)] = left;
  }

 private:
  static constexpr std::size_t recorded = gap_part_count - 1;

  static std::optional<std::size_t> part_of(SpanKind kind) {
    if (kind == SpanKind::dma_wait) return std::size_t(GapPart::dma);
    if (kind == SpanKind::sync || kind == SpanKind::wait) return std::size_t(GapPart::sync);
    if (kind == SpanKind::barrier) return std::size_t(GapPart::barrier);
    return std::nullopt;
  }

  std::int64_t covered(std::size_t part, Interval gap) {
    const IntervalSet& set = sets_[part];
    std::size_t& next = next_[part];
    while (next < set.size() && set[next].end <= gap.begin) ++next;
    std::int64_t length = 0;
    for (std::size_t i = next; i < set.size() && set[i].begin < gap.end; ++i) {
      length += length_of({std::max(set[i].begin, gap.begin), std::min(set[i].end, gap.end)});
    }
    return length;
  }

  IntervalSet sets_[recorded];
  std::size_t next_[recorded] = {};
};

void fill_gap_parts(const PathGraph& graph, std::vector<PathStep>& steps) {
  const std::size_t units = graph.profile->units.size();
  std::vector<std::pair<std::size_t, std::size_t>> by_unit;  // unit and step
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].gap <= 0) continue;
    by_unit.push_back({std::min<std::size_t>(index_of(steps[i].unit), units), i});
  }
  std::sort(by_unit.begin(), by_unit.end());
  std::vector<std::size_t> first;  // of each unit; one more
  for (std::size_t i = 0; i < by_unit.size(); ++i) {
    if (i == 0 || by_unit[i].first != by_unit[i - 1].first) first.push_back(i);
  }
  if (first.empty()) return;
  first.push_back(by_unit.size());
  parallel_for(first.size() - 1, [&](std::size_t group) {
    Waits waits(graph, by_unit[first[group]].first);
    for (std::size_t i = first[group]; i < first[group + 1]; ++i) {
      PathStep& step = steps[by_unit[i].second];
      waits.fill({step.start - step.gap + step.in_flight, step.start}, step.gap_parts);
      step.gap_parts[std::size_t(GapPart::dma)] += step.in_flight;
    }
  });
}

}  // namespace

Result<PathAnalysis> PathAnalysis::create(const Profile& profile,
                                          std::optional<std::uint32_t> instance,
                                          const PathBasics& known) {
  auto graph = make_path_graph(profile, instance, known);
  if (!graph) return tl::unexpected(graph.error());
  return PathAnalysis(std::move(*graph));
}

const PathBasis& PathAnalysis::basis() const { return graph_->basis; }

CriticalPath PathAnalysis::observed() const {
  const PathGraph& graph = *graph_;
  const Schedule schedule(graph);
  CriticalPath path;
  path.begin = graph.timeline.begin;
  path.wall = length_of(graph.timeline);
  path.steps = steps_of(schedule, path_through(schedule));
  fill_gap_parts(graph, path.steps);
  for (const PathStep& step : path.steps) {
    path.work += step.duration;
    path.gaps += step.gap;
    for (std::size_t part = 0; part < gap_part_count; ++part) {
      path.gap_parts[part] += step.gap_parts[part];
    }
  }
  path.lead = path.steps.front().gap;
  path.gaps -= path.lead;
  path.tail = path.wall - path.lead - path.work - path.gaps;
  PathStep after = path.steps.back();  // as if something began with the end of the timeline
  after.start = graph.timeline.end;
  after.gap = path.tail;
  after.in_flight = 0;
  std::fill(std::begin(after.gap_parts), std::end(after.gap_parts), 0);
  std::vector<PathStep> rest{after};
  fill_gap_parts(graph, rest);
  for (std::size_t part = 0; part < gap_part_count; ++part) {
    path.gap_parts[part] += rest[0].gap_parts[part];
    path.tail_parts[part] = rest[0].gap_parts[part];
  }
  return path;
}

ExecutionTimes PathAnalysis::executions() const {
  const PathGraph& graph = *graph_;
  ExecutionTimes times;
  times.slack.assign(graph.profile->spans.size(), -1);
  times.work.assign(graph.profile->spans.size(), -1);
  // The latest end of each that delays nothing; a wait that nothing follows delays nothing. Of
  // those that were not told of yet, which are no further back than the graph reaches.
  const NodeRing ring = graph.ring();
  std::vector<std::int64_t> latest_ends(ring.size, unbounded);
  const auto latest = [&](std::uint32_t node) -> std::int64_t& {
    return latest_ends[ring.place_of(node)];
  };
  const auto ask_ahead = [&](std::uint32_t node) {  // rows lie in no order of time
    constexpr std::uint32_t ahead = 16;
    if (node < ahead) return;
    __builtin_prefetch(&times.slack[graph.row[node - ahead]], 1);
    __builtin_prefetch(&times.work[graph.row[node - ahead]], 1);
  };
  for (auto node = std::uint32_t(graph.size()); node-- > 0;) {
    ask_ahead(node);
    const std::int64_t length = graph.end[node] - graph.start[node];
    std::int64_t own = std::exchange(latest(node), unbounded);
    if (graph.kind[node] == NodeKind::execution) {
      own = std::min(own, graph.last_end);
      const std::uint32_t row = graph.row[node];
      std::int64_t& slack = times.slack[row];
      slack = slack < 0 ? own - graph.end[node] : std::min(slack, own - graph.end[node]);
      times.work[row] = std::max<std::int64_t>(times.work[row], 0) + length;
    }
    const std::int64_t release = own - length - graph.delay[node];
    if (const std::uint32_t before = graph.unit_before[node]; before != PathGraph::none) {
      latest(before) = std::min(latest(before), release - graph.unit_latency(node));
    }
    for (auto i = graph.first_link[node]; i < graph.first_link[node + 1]; ++i) {
      const PathLink& link = graph.links[i];
      if (link.from == PathGraph::none) continue;
      const std::int64_t latency =
          link.leaves_midst ? graph.start[node] - graph.end[link.from] : graph.latency_of(link);
      latest(link.from) = std::min(latest(link.from), release - latency);
    }
  }
  return times;
}

}  // namespace npuscope::analysis
