// Transfers of DMA engines: after what they were issued, and who waits until they drain.
#include <algorithm>
#include <limits>

#include "analysis/path/path_links.hpp"

namespace npuscope::analysis {

void PathLinks::link_transfers() {
  const auto& transfers = nodes_.transfers();
  for (std::size_t first = 0; first < transfers.size();) {
    std::size_t last = first;
    const std::size_t unit = graph_.unit_of(nodes_.of_row(transfers[first]).first);
    while (last < transfers.size() &&
           graph_.unit_of(nodes_.of_row(transfers[last]).first) == unit) {
      ++last;
    }
    link_engine(std::span(transfers).subspan(first, last - first));
    first = last;
  }
}

// `transfers` of one engine, by end.
void PathLinks::link_engine(std::span<const std::uint32_t> transfers) {
  const auto end_of = [&](std::uint32_t row) { return graph_.end[nodes_.of_row(row).last]; };
  struct Issue {
    std::uint32_t node;
    std::int64_t start;
  };
  std::vector<Issue> issues;
  UnitId issuer = UnitId::none;
  for (const std::uint32_t row : transfers) {
    const std::uint32_t issue = nodes_.issue_of(row);
    if (issue == PathGraph::none) continue;
    issuer = profile_.spans.unit[issue];
    const std::uint32_t last = nodes_.of_row(issue).last, node = nodes_.of_row(row).first;
    if (graph_.end[last] <= graph_.start[node]) add(last, node, Reason::issue);
    issues.push_back({nodes_.of_row(issue).first, graph_.start[nodes_.of_row(issue).first]});
  }
  std::stable_sort(issues.begin(), issues.end(),
                   [](const Issue& a, const Issue& b) { return a.start < b.start; });
  std::vector<std::size_t> complete(issues.size());  // when each was issued
  std::size_t done = 0, max = 0;
  for (std::size_t i = 0; i < issues.size(); ++i) {
    while (done < transfers.size() && end_of(transfers[done]) <= issues[i].start) ++done;
    complete[i] = std::min(done, i);
    max = std::max(max, i - complete[i]);
  }
  const std::size_t depth = max + 1;
  for (std::size_t i = depth; i < issues.size(); ++i) {
    const std::uint32_t oldest = nodes_.of_row(transfers[i - depth]).last;
    if (graph_.end[oldest] <= issues[i].start && graph_.row[oldest] != graph_.row[issues[i].node]) {
      add(oldest, issues[i].node, Reason::dma_wait);
    }
  }
  if (!issues.empty()) link_drains(issuer, transfers);
}

// Work of the issuing unit that moves nothing itself, depends on no op, and was waited before.
void PathLinks::link_drains(UnitId issuer, std::span<const std::uint32_t> transfers) {
  const std::size_t unit = std::min<std::size_t>(index_of(issuer), profile_.units.size());
  constexpr std::int64_t not_waiting = std::numeric_limits<std::int64_t>::max();
  std::int64_t waiting_since = not_waiting;
  for (const SpanOfUnit& span : nodes_.by_unit().spans_of(UnitId(std::uint32_t(unit)))) {
    const std::uint32_t row = span.row;
    if (!nodes_.is_work(row)) {
      const bool waits = profile_.spans.kind[row] != SpanKind::barrier;
      if (waits) waiting_since = profile_.spans.start[row] - graph_.timeline.begin;
      continue;
    }
    if (nodes_.is_transfer(row)) continue;
    const std::uint32_t node = nodes_.of_row(row).first;
    const std::size_t op = graph_.op_of(node);
    const bool alone = op >= runs_.size() || (!runs_[op].transfers && !has_edge_in_[op]);
    if (alone) {
      const auto after = std::upper_bound(transfers.begin(), transfers.end(), graph_.start[node],
                                          [&](std::int64_t time, std::uint32_t each) {
                                            return time < graph_.end[nodes_.of_row(each).last];
                                          });
      if (after != transfers.begin() &&
          graph_.end[nodes_.of_row(*(after - 1)).last] > waiting_since) {
        add(nodes_.of_row(*(after - 1)).last, node, Reason::dma_wait);
      }
    }
    waiting_since = not_waiting;
  }
}

}  // namespace npuscope::analysis
