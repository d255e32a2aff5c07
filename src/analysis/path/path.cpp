#include "npuscope/analysis/path.hpp"
#include "base/try.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/path/path_graph.hpp"
#include "analysis/path/path_groups.hpp"
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
  TRY_AS(graph, make_path_graph(profile, instance, known));
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

namespace {

// visit(node, slack, length) for executions, the last node first; ask_ahead(node) of each before.
template <class Visit, class AskAhead>
void for_executions(const PathGraph& graph, const Visit& visit, const AskAhead& ask_ahead) {
  // The latest end of each that delays nothing; a wait that nothing follows delays nothing. Of
  // those that were not told of yet, which are no further back than the graph reaches.
  const NodeRing ring = graph.ring();
  std::vector<std::int64_t> latest_ends(ring.size, unbounded);
  const auto latest = [&](std::uint32_t node) -> std::int64_t& {
    return latest_ends[ring.place_of(node)];
  };
  for (auto node = std::uint32_t(graph.size()); node-- > 0;) {
    ask_ahead(node);
    const std::int64_t length = graph.end[node] - graph.start[node];
    std::int64_t own = std::exchange(latest(node), unbounded);
    if (graph.kind[node] == NodeKind::execution) {
      own = std::min(own, graph.last_end);
      visit(node, own - graph.end[node], length);
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
}

}  // namespace

ExecutionTimes PathAnalysis::executions() const {
  const PathGraph& graph = *graph_;
  ExecutionTimes times;
  times.slack.assign(graph.profile->spans.size(), -1);
  times.work.assign(graph.profile->spans.size(), -1);
  const auto ask_ahead = [&](std::uint32_t node) {  // rows lie in no order of time
    constexpr std::uint32_t ahead = 16;
    if (node < ahead) return;
    __builtin_prefetch(&times.slack[graph.row[node - ahead]], 1);
    __builtin_prefetch(&times.work[graph.row[node - ahead]], 1);
  };
  const auto take = [&](std::uint32_t node, std::int64_t of_node, std::int64_t length) {
    const std::uint32_t row = graph.row[node];
    std::int64_t& slack = times.slack[row];
    slack = slack < 0 ? of_node : std::min(slack, of_node);
    times.work[row] = std::max<std::int64_t>(times.work[row], 0) + length;
  };
  for_executions(graph, take, ask_ahead);
  return times;
}

ExecutionsByOp executions_by_op(const PathAnalysis& paths) {
  const PathGraph& graph = paths.graph();
  ExecutionsByOp times;
  times.ops.resize(graph.profile->ops.size() + 1);
  times.ran.resize(graph.profile->spans.size());
  const auto take = [&](std::uint32_t node, std::int64_t slack, std::int64_t length) {
    ExecutionsByOp::OfOp& op = times.ops[graph.op_of(node)];
    auto ran = times.ran[graph.row[node]];  // in several nodes, where spans nest
    op.executions += ran ? 0 : 1;
    ran = true;
    op.work += length;
    op.slack = std::min(op.slack, slack);
  };
  for_executions(graph, take, [](std::uint32_t) {});
  return times;
}

namespace {

constexpr int max_rounds = 64;

bool makes_faster(const Scaling& scaling) {
  const auto below_one = [](double factor) { return factor < 1; };
  return std::any_of(scaling.of_op.begin(), scaling.of_op.end(), below_one) ||
         std::any_of(scaling.of_unit.begin(), scaling.of_unit.end(), below_one);
}

// The wall is the longest of all paths, each a straight line in the factor of what is made faster.
// From above, the line of the path that is longest at a factor meets the limit at a smaller one;
// there the next is taken, until none rises above the limit.
std::optional<double> speedup_to(const PathGraph& graph, const Scaling& scaling, double limit) {
  const NodeScales<1> faster(graph, {{&scaling, 0}});
  double factor = 1;
  for (int round = 0; round < max_rounds; ++round) {
    const Schedule schedule(graph, NodeScaling{&scaling, factor});
    const double above = schedule.last_end() - limit;
    const std::vector<PathNode> path = path_through(schedule);
    if (above <= 1e-3 * double(path.size())) return 1 / factor;
    double slope = 0;
    for (const PathNode& each : path) {
      if (faster.of(each.node)[0] > 0) continue;
      slope += (each.released_next - schedule.start(each.node)) / factor;
    }
    if (!(slope > 0)) return std::nullopt;
    factor -= above / slope;
    if (!(factor > 1e-6)) return std::nullopt;
  }
  return std::nullopt;
}

// How many ways a pass along the graph computes at once.
constexpr std::size_t max_ways = 4;

template <std::size_t ways>
std::vector<double> ends_of_pass(const PathGraph& graph, const std::vector<NodeScaling>& scalings) {
  const NodeScales<ways> scales(graph, scalings);
  ForwardPass<ways> pass(graph, scales, graph.ring());
  pass.run();
  std::vector<double> ends;
  for (std::size_t way = 0; way < scalings.size(); ++way) ends.push_back(pass.last_end(way));
  return ends;
}

std::vector<double> last_ends(const PathGraph& graph, std::span<const Scaling> scalings) {
  std::vector<NodeScaling> scales;
  for (const Scaling& scaling : scalings) scales.push_back({&scaling});
  if (std::ranges::none_of(scales, &NodeScaling::changes)) {
    return std::vector<double>(scalings.size(), double(graph.last_end));
  }
  switch (scalings.size()) {
    case 1: return ends_of_pass<1>(graph, scales);
    case 2: return ends_of_pass<2>(graph, scales);
    default: return ends_of_pass<max_ways>(graph, scales);  // of three not fewer: in pairs
  }
}

}  // namespace

double PathAnalysis::wall_if(const Scaling& scaling) const {
  return walls_if({&scaling, 1}).front();
}

std::vector<double> PathAnalysis::walls_if(std::span<const Scaling> scalings) const {
  const double tail = double(length_of(graph_->timeline) - graph_->last_end);
  std::vector<double> walls(scalings.size());
  const std::size_t count = scalings.size();
  // As few passes as there may be, but something to do for each thread.
  const std::size_t passes =
      std::max((count + max_ways - 1) / max_ways, std::min(workers(), count));
  parallel_for(passes, [&](std::size_t pass) {
    const std::size_t first = count * pass / passes, last = count * (pass + 1) / passes;
    const std::vector<double> ends = last_ends(*graph_, scalings.subspan(first, last - first));
    for (std::size_t i = first; i < last; ++i) walls[i] = ends[i - first] + tail;
  });
  return walls;
}

double PathAnalysis::wall_with_overlap(Engine a, Engine b) const {
  const PathGraph& graph = *graph_;
  std::vector<bool> dropped(graph.links.size(), false);
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    const Engine to = engine_of(*graph.profile, graph.row[node]);
    if (to != a && to != b) continue;
    for (auto i = graph.first_link[node]; i < graph.first_link[node + 1]; ++i) {
      const PathLink& link = graph.links[i];
      const bool is_false = link.reason == Reason::reuse || link.reason == Reason::order;
      if (!is_false || link.from == PathGraph::none) continue;
      dropped[i] = engine_of(*graph.profile, graph.row[link.from]) == (to == a ? b : a);
    }
  }
  return Schedule(graph, dropped).last_end() + double(length_of(graph.timeline) - graph.last_end);
}

WhatIf PathAnalysis::what_if(const Scaling& scaling) const {
  const PathGraph& graph = *graph_;
  const NodeScales<1> scale(graph, {{&scaling}});
  const Schedule before(graph), after(graph, NodeScaling{&scaling});
  const double wall = double(length_of(graph.timeline)), tail = wall - before.last_end();
  WhatIf result;
  result.before = wall;
  result.after = after.last_end() + tail;
  for (const PathNode& each : path_through(before)) {
    result.off_the_path +=
        (each.released_next - before.start(each.node)) * (1 - scale.of(each.node)[0]);
  }
  result.limit = result.after;
  if (makes_faster(scaling)) {
    const double limit = Schedule(graph, NodeScaling{&scaling, 0}).last_end();
    result.limit = limit + tail;
    result.limit_speedup = speedup_to(graph, scaling, limit);
  }
  result.steps = steps_of(after, path_through(after));
  return result;
}

}  // namespace npuscope::analysis
