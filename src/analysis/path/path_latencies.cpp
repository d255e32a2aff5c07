#include "analysis/path/path_graph.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/path/path_links.hpp"
#include "base/parallel.hpp"

namespace npuscope::analysis {
namespace {

class Latencies {
 public:
  explicit Latencies(PathGraph& graph)
      : graph_(graph),
        unit_classes_((graph.profile->units.size() + 1) * 2),
        parts_(ranges_of(graph.size(), std::max<std::size_t>(65'536, 8 * unit_classes_))),
        min_(unit_classes_ + LatencyClasses::count) {
    std::vector<std::vector<std::uint32_t>> of_parts(parts_.size());
    for_parts([&](std::uint32_t node, std::size_t part) {
      if (is_run(node)) of_parts[part].push_back(node);
    });
    for (const auto& of_part : of_parts) runs_.insert(runs_.end(), of_part.begin(), of_part.end());
    graph.delay.resize(graph.size());
  }

  void run() {
    find_min();
    write();
    if (!runs_.empty()) {
      const std::vector<Interval> observed = times_of_runs();
      find_delays();
      set_times_of_runs(observed);
      join(graph_.delay);
    }
    find_explained();
    if (write() || !runs_.empty()) find_delays();
  }

 private:
  static constexpr std::int64_t never = -1;
  struct Least {
    std::int64_t gap = std::numeric_limits<std::int64_t>::max();
    bool binds = false;
    std::int64_t latency() const { return binds ? gap : 0; }
  };

  bool is_run(std::uint32_t node) const {
    return graph_.kind[node] == NodeKind::run_begin || graph_.kind[node] == NodeKind::run_end;
  }

  template <class Visit>
  void for_parts(const Visit& visit) const {
    parallel_for(parts_.size(), [&](std::size_t part) {
      for (std::size_t node = parts_[part].first; node < parts_[part].last; ++node) {
        visit(std::uint32_t(node), part);
      }
    });
  }

  template <class Visit>
  void for_links(std::uint32_t node, const Visit& visit) const {
    for (auto i = graph_.first_link[node]; i < graph_.first_link[node + 1]; ++i) {
      if (graph_.links[i].from != PathGraph::none) visit(graph_.links[i]);
    }
  }

  // visit(end of the source, its class); a flow out of its source's midst has none.
  template <class Visit>
  void for_constraints(std::uint32_t node, const Visit& visit) const {
    if (const std::uint32_t before = graph_.unit_before[node]; before != PathGraph::none) {
      visit(graph_.end[before], graph_.unit_class(node));
    }
    for_links(node, [&](const PathLink& link) {
      if (link.joins || link.leaves_midst) return;
      visit(graph_.end[link.from], unit_classes_ + link.latency);
    });
  }

  // The least gaps, and which classes were the last to end of what some start waited for.
  void find_min() {
    Column<std::int64_t> joined;
    if (!runs_.empty()) {
      joined.resize(graph_.size());
      for_parts([&](std::uint32_t node, std::size_t) { joined[node] = latest_link(node); });
      join(joined);
    }
    std::vector<std::vector<Least>> of_parts(parts_.size(), min_);
    parallel_for(parts_.size(), [&](std::size_t part) {
      Least* const of_classes = of_parts[part].data();
      for (std::size_t i = parts_[part].first; i < parts_[part].last; ++i) {
        const auto node = std::uint32_t(i);
        const std::int64_t latest = joined.empty() ? latest_link(node) : joined[node];
        for_constraints(node, [&](std::int64_t end, std::size_t of_class) {
          Least& min = of_classes[of_class];
          min.gap = std::min(min.gap, graph_.start[node] - end);
          min.binds |= end == latest;
        });
      }
    });
    for (const std::vector<Least>& of_part : of_parts) {
      for (std::size_t i = 0; i < min_.size(); ++i) {
        min_[i].gap = std::min(min_[i].gap, of_part[i].gap);
        min_[i].binds = min_[i].binds || of_part[i].binds;
      }
    }
  }

  // The classes whose least gap explains a start that nothing else does.
  void find_explained() {
    std::int64_t longest = 0;
    for (const Least& min : min_) longest = std::max(longest, min.latency());
    // Of classes that bind already nothing is asked.
    const bool is_asked = std::any_of(min_.begin(), min_.end(), [&](const Least& min) {
      return !min.binds && min.gap <= longest;
    });
    std::vector<std::vector<char>> of_parts(parts_.size(), std::vector<char>(min_.size(), false));
    for_parts([&](std::uint32_t node, std::size_t part) {
      if (runs_.empty()) graph_.delay[node] = delay_of(node);
      if (!is_asked || graph_.delay[node] <= 0) return;
      for_constraints(node, [&](std::int64_t end, std::size_t of_class) {
        const std::int64_t gap = min_[of_class].gap;
        if (graph_.start[node] - end == gap && gap <= longest) of_parts[part][of_class] = true;
      });
    });
    for (const std::vector<char>& of_part : of_parts) {
      for (std::size_t i = 0; i < min_.size(); ++i) {
        min_[i].binds = min_[i].binds || of_part[i];
      }
    }
  }

  std::int64_t latest_link(std::uint32_t node) const {
    std::int64_t latest = never;
    if (graph_.unit_before[node] != PathGraph::none) latest = graph_.end[graph_.unit_before[node]];
    for_links(node, [&](const PathLink& link) {
      if (!link.joins) latest = std::max(latest, graph_.end[link.from]);
    });
    return latest;
  }

  // The larger value of an op's run_begin and of the executions that begin first.
  void join(Column<std::int64_t>& values) const {
    const auto for_joins = [&](std::uint32_t node, const auto& visit) {
      for_links(node, [&](const PathLink& link) {
        if (link.joins && graph_.kind[link.from] == NodeKind::run_begin) visit(link.from);
      });
    };
    Column<std::int64_t> of_runs(values);
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      for_joins(node, [&](std::uint32_t run) {
        if (graph_.start[node] == graph_.start[run]) {
          of_runs[run] = std::max(of_runs[run], values[node]);
        }
      });
    }
    for_parts([&](std::uint32_t node, std::size_t) {
      for_joins(node,
                [&](std::uint32_t run) { values[node] = std::max(values[node], values[run]); });
    });
    for (const std::uint32_t run : runs_) {
      if (graph_.kind[run] == NodeKind::run_begin) values[run] = of_runs[run];
    }
  }

  // Whether any latency changed.
  bool write() {
    std::vector<std::int64_t> latencies;
    for (const Least& min : min_) latencies.push_back(min.latency());
    const auto of_links = latencies.begin() + std::ptrdiff_t(unit_classes_);
    const auto before = std::pair(std::move(graph_.unit_latencies), std::move(graph_.latencies));
    graph_.unit_latencies.assign(latencies.begin(), of_links);
    graph_.latencies.assign(of_links, latencies.end());
    return std::tie(before.first, before.second) !=
           std::tie(graph_.unit_latencies, graph_.latencies);
  }

  std::vector<Interval> times_of_runs() const {
    std::vector<Interval> times;
    for (const std::uint32_t node : runs_) times.push_back({graph_.start[node], graph_.end[node]});
    return times;
  }

  void set_times_of_runs(const std::vector<Interval>& times) {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      graph_.start[runs_[i]] = times[i].begin;
      graph_.end[runs_[i]] = times[i].end;
    }
  }

  // When the constraints and their latencies let the node go; `otherwise` where it has none.
  std::int64_t released(std::uint32_t node, std::int64_t otherwise) const {
    constexpr std::int64_t before_all = std::numeric_limits<std::int64_t>::min();
    std::int64_t last = before_all;
    if (const std::uint32_t before = graph_.unit_before[node]; before != PathGraph::none) {
      last = graph_.end[before] + graph_.unit_latency(node);
    }
    for_links(node,
              [&](const PathLink& link) { last = std::max(last, graph_.released_by(link, node)); });
    return last == before_all ? otherwise : last;
  }

  std::int64_t delay_of(std::uint32_t node) const {
    return graph_.start[node] - released(node, graph_.start[node]);
  }

  // What the constraints and their latencies leave of each start. Times of runs follow from one
  // another and from what was observed, delays from both.
  void find_delays() {
    for (const std::uint32_t node : runs_) {
      graph_.start[node] = graph_.end[node] = released(node, graph_.start[node]);
    }
    for_parts([&](std::uint32_t node, std::size_t) {
      graph_.delay[node] = is_run(node) ? 0 : delay_of(node);
    });
  }

  PathGraph& graph_;
  std::size_t unit_classes_;
  std::vector<RowRange> parts_;
  std::vector<Least> min_;  // of units, then of links
  std::vector<std::uint32_t> runs_;
};

}  // namespace

void find_latencies(PathGraph& graph) { Latencies(graph).run(); }

}  // namespace npuscope::analysis
