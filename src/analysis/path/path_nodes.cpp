#include "analysis/path/path_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/base/parallel.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::int64_t longest_timeline = std::int64_t{1} << 52;  // whole numbers as doubles

}  // namespace

void PathNodes::Extent::take(Interval other, bool other_works) {
  interval =
      any ? Interval{std::min(interval.begin, other.begin), std::max(interval.end, other.end)}
          : other;
  any = true;
  works = works || other_works;
}

void PathNodes::Extent::take(const Spans& spans, std::size_t row) {
  const SpanKind kind = spans.kind[row];
  if (role_of(kind) == Role::overlay || kind == SpanKind::activation) return;
  take(interval_of(spans, row), role_of(kind) == Role::work);
}

// Those that have work, by number.
std::vector<PathNodes::Inference> PathNodes::inferences_of(const Spans& spans) {
  std::vector<Inference> runs;  // rows of an inference follow one another
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (runs.empty() || spans.instance[row] != runs.back().number) {
      runs.push_back({spans.instance[row], {}});
    }
    runs.back().extent.take(spans, row);
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const auto& a, const auto& b) { return a.number < b.number; });
  std::vector<Inference> inferences;
  for (const Inference& run : runs) {
    if (run.number == every_instance || !run.extent.any) continue;
    if (inferences.empty() || inferences.back().number != run.number)
      inferences.push_back({run.number, {}});
    inferences.back().extent.take(run.extent.interval, run.extent.works);
  }
  std::erase_if(inferences, [](const Inference& each) { return !each.extent.works; });
  return inferences;
}

bool PathNodes::is_work(std::uint32_t row) const {
  return role_of(profile_.spans.kind[row]) == Role::work;
}

Interval PathNodes::interval(std::uint32_t row) const {
  const Interval absolute = interval_of(profile_.spans, row);
  return {absolute.begin - graph_.timeline.begin, absolute.end - graph_.timeline.begin};
}

bool PathNodes::is_selected(std::size_t row) const {
  const Spans& spans = profile_.spans;
  const Role role = role_of(spans.kind[row]);
  if (role != Role::work && role != Role::wait) return false;
  return !graph_.basis.instance || spans.instance[row] == *graph_.basis.instance;
}

// Fills in how long the steady ones are, and gives the place of the one nearest their median.
std::size_t PathNodes::steady_of(const std::vector<Inference>& inferences) {
  std::vector<double> walls;
  for (const Inference& each : inferences) walls.push_back(double(length_of(each.extent.interval)));
  PathBasis& basis = graph_.basis;
  basis.instances = std::uint32_t(inferences.size());
  basis.median_wall = spread_of(walls).median_of_rest;
  const auto steady = walls.begin() + (walls.size() > 1 ? 1 : 0);
  basis.least_wall = std::int64_t(*std::min_element(steady, walls.end()));
  basis.most_wall = std::int64_t(*std::max_element(steady, walls.end()));
  const auto nearest = std::min_element(steady, walls.end(), [&](double a, double b) {
    return std::abs(a - basis.median_wall) < std::abs(b - basis.median_wall);
  });
  return std::size_t(nearest - walls.begin());
}

Result<Interval> PathNodes::choose_timeline(std::optional<std::uint32_t> instance) {
  const Spans& spans = profile_.spans;
  if (spans.instance.size() != spans.size() || spans.size() == 0) {
    if (instance) {
      return usage_error("the profile does not tell inferences apart; leave out --inference");
    }
    Extent all;
    for (std::size_t row = 0; row < spans.size(); ++row) all.take(spans, row);
    if (all.works) return all.interval;
    const auto& files = profile_.provenance.files;
    return input_error(
        "{}: has no executions with times, so there is no path; give a profile with a timeline",
        files.empty() ? "the profile" : files.front());
  }
  const std::vector<Inference> inferences = inferences_of(spans);
  if (inferences.empty()) {
    return usage_error("no inference of the profile has executions with times, so no path");
  }
  auto chosen = inferences.begin() + std::ptrdiff_t(steady_of(inferences));
  if (instance) {
    chosen = std::find_if(inferences.begin(), inferences.end(),
                          [&](const Inference& each) { return each.number == *instance; });
  }
  if (chosen == inferences.end()) {
    return usage_error("there is no inference {}: the profile has {}, numbered {} to {}", *instance,
                       inferences.size(), inferences.front().number, inferences.back().number);
  }
  graph_.basis.instance = chosen->number;
  return chosen->extent.interval;
}

Status PathNodes::select(std::optional<std::uint32_t> instance) {
  const Result<Interval> timeline = choose_timeline(instance);
  if (!timeline) return tl::unexpected(timeline.error());
  if (length_of(*timeline) > longest_timeline) {
    return usage_error(
        "the times of the profile lie more than 2^52 ticks apart; choose a part with --from and "
        "--until");
  }
  graph_.timeline = *timeline;
  const Spans& spans = profile_.spans;
  std::vector<std::uint32_t> rows;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (is_selected(row)) rows.push_back(std::uint32_t(row));
  }
  const std::size_t units = profile_.units.size(), ops = profile_.ops.size();
  by_unit.make(rows, units + 1, [&](std::uint32_t row) {
    return std::min<std::size_t>(index_of(spans.unit[row]), units);
  });
  std::erase_if(rows, [&](std::uint32_t row) { return !is_work(row) && !is_dma_wait(row); });
  for (const std::uint32_t row : rows) {
    if (!is_dma_wait(row)) continue;
    dma_waits_ += 1;
    least_dma_wait_ = std::min(least_dma_wait_, length_of(interval_of(spans, row)));
  }
  by_op.make(rows, ops + 1, [&](std::uint32_t row) {
    return std::min<std::size_t>(index_of(spans.op[row]), ops);
  });
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (spans.start[a] != spans.start[b]) return spans.start[a] < spans.start[b];
    if (spans.duration[a] != spans.duration[b]) return spans.duration[a] > spans.duration[b];
    return a < b;
  };
  const auto sort = [&](std::span<std::uint32_t> group) {
    if (!std::is_sorted(group.begin(), group.end(), before)) {
      std::sort(group.begin(), group.end(), before);
    }
  };
  parallel_for(by_unit.groups(), [&](std::size_t unit) { sort(by_unit.of(unit)); });
  parallel_for(ops, [&](std::size_t op) { sort(by_op.of(op)); });
  return {};
}

// Of the op's executions, the last that began no later than the transfer.
void PathNodes::find_issues() {
  const Spans& spans = profile_.spans;
  if (std::find(spans.kind.begin(), spans.kind.end(), SpanKind::transfer) == spans.kind.end()) {
    return;
  }
  issue_of.assign(spans.size(), PathGraph::none);
  parallel_for(profile_.ops.size(), [&](std::size_t op) {
    std::uint32_t issue = PathGraph::none;
    const auto rows = by_op.of(op);
    for (std::size_t i = 0, next = 0; i < rows.size(); ++i) {
      if (!is_transfer(rows[i])) continue;
      for (; next < rows.size() && spans.start[rows[next]] <= spans.start[rows[i]]; ++next) {
        if (is_work(rows[next]) && !is_transfer(rows[next])) issue = rows[next];
      }
      issue_of[rows[i]] = issue;
    }
  });
}

std::uint32_t PathNodes::add_node(std::uint32_t row, NodeKind kind, std::int64_t start,
                                  std::int64_t end) {
  const auto node = std::uint32_t(graph_.row.size());
  graph_.row.push_back(row);
  graph_.kind.push_back(kind);
  graph_.start.push_back(start);
  graph_.end.push_back(end);
  graph_.unit_before.push_back(PathGraph::none);
  if (first_node[row] == PathGraph::none) first_node[row] = node;
  last_node[row] = node;
  return node;
}

void PathNodes::add() {
  first_node.assign(profile_.spans.size(), PathGraph::none);
  last_node.assign(profile_.spans.size(), PathGraph::none);
  for (auto* column : {&graph_.row, &graph_.unit_before}) column->reserve(by_op.rows.size());
  for (auto* column : {&graph_.start, &graph_.end}) column->reserve(by_op.rows.size());
  graph_.kind.reserve(by_op.rows.size());
  find_issues();
  for (std::size_t unit = 0; unit < by_unit.groups(); ++unit) {
    add_work(by_unit.of(unit));
    add_transfers(by_unit.of(unit));
    add_landings(by_unit.of(unit));
  }
}

// Slices nest: at any time the innermost has the unit, and what is left of the outer ones are
// pieces between. A slice that ends after the one it began in is beside it, both whole from there.
void PathNodes::add_work(std::span<const std::uint32_t> rows) {
  struct Open {
    std::uint32_t row;
    std::int64_t end;
    std::int64_t free;  // up to here it has been made into nodes
    bool has_inner;
  };
  std::vector<Open> open;
  const auto first = std::uint32_t(graph_.row.size());
  const auto piece = [&](const Open& of, std::int64_t until) {
    if (until > of.free) add_node(of.row, NodeKind::execution, of.free, until);
  };
  const auto close = [&] {
    const Open last = open.back();
    open.pop_back();
    if (last.has_inner) {
      piece(last, last.end);
      add_node(last.row, NodeKind::mark, last.end, last.end);
    } else {
      add_node(last.row, NodeKind::execution, last.free, last.end);
    }
    if (!open.empty()) open.back().free = std::max(open.back().free, last.end);
  };
  for (const std::uint32_t row : rows) {
    if (is_dma_wait(row)) {
      const std::int64_t over = interval(row).end;
      add_node(row, NodeKind::mark, over, over);
    }
    if (!is_work(row) || is_transfer(row)) continue;
    const Interval time = interval(row);
    while (!open.empty() && (open.back().end <= time.begin || open.back().end < time.end)) close();
    if (!open.empty()) {
      Open& outer = open.back();
      if (!outer.has_inner) add_node(outer.row, NodeKind::mark, outer.free, outer.free);
      outer.has_inner = true;
      piece(outer, time.begin);
      outer.free = std::max(outer.free, time.begin);
    }
    open.push_back({row, time.end, time.begin, false});
  }
  while (!open.empty()) close();
  link_in_order(first);
}

// An engine serves transfers in the order of their issue: one that was issued before the one before
// it was complete has waited for it. One that overtakes another is on a channel of its own.
void PathNodes::add_transfers(std::span<const std::uint32_t> rows) {
  const auto first = std::uint32_t(graph_.row.size());
  const std::size_t first_transfer = transfers.size();
  std::int64_t complete = 0;
  for (const std::uint32_t row : rows) {
    if (!is_transfer(row)) continue;
    Interval time = interval(row);
    if (issue_of[row] != PathGraph::none) {
      time.begin = std::clamp(interval(issue_of[row]).end, time.begin, time.end);
    }
    if (complete <= time.end) time.begin = std::max(time.begin, complete);
    complete = std::max(complete, time.end);
    add_node(row, NodeKind::execution, time.begin, time.end);
    transfers.push_back(row);
  }
  std::sort(transfers.begin() + std::ptrdiff_t(first_transfer), transfers.end(),
            [&](std::uint32_t a, std::uint32_t b) {
              const auto end_a = interval(a).end, end_b = interval(b).end;
              return end_a != end_b ? end_a < end_b : first_node[a] < first_node[b];
            });
  link_in_order(first);
}

// The transfer of a long wait was complete when the wait was over; its mark comes before that of
// the wait itself, which is on the unit.
void PathNodes::add_landings(std::span<const std::uint32_t> rows) {
  for (const std::uint32_t row : rows) {
    if (!is_long_wait(row)) continue;
    const std::uint32_t wait = last_node[row];
    first_node[row] = add_node(row, NodeKind::landing, graph_.end[wait], graph_.end[wait]);
    last_node[row] = wait;
  }
}

// The node before each on its unit: of those that ended when it started, the last to end.
void PathNodes::link_in_order(std::uint32_t first) {
  const auto last = std::uint32_t(graph_.row.size());
  bool in_order = true;
  for (std::uint32_t node = first + 1; node < last; ++node) {
    in_order = in_order && graph_.end[node - 1] <= graph_.start[node];
    graph_.unit_before[node] = node - 1;
  }
  if (in_order) return;
  std::vector<std::uint32_t> by_start(last - first);
  std::iota(by_start.begin(), by_start.end(), first);
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (graph_.start[a] != graph_.start[b]) return graph_.start[a] < graph_.start[b];
    return graph_.end[a] == graph_.start[a] && graph_.end[b] > graph_.start[b];
  });
  std::vector<std::uint32_t> rank(last - first), by_end = by_start;
  for (std::uint32_t i = 0; i < by_start.size(); ++i) rank[by_start[i] - first] = i;
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return graph_.end[a] < graph_.end[b]; });
  std::size_t ended = 0;
  std::uint32_t latest = PathGraph::none;
  for (const std::uint32_t node : by_start) {
    for (; ended < by_end.size(); ++ended) {
      const std::uint32_t other = by_end[ended];
      if (graph_.end[other] > graph_.start[node] || rank[other - first] >= rank[node - first])
        break;
      latest = other;
    }
    graph_.unit_before[node] = latest;
  }
}

}  // namespace npuscope::analysis
