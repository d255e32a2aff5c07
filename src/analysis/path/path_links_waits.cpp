// Long waits for data: after which transfer, and which other threads waited with them.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "analysis/path/path_links.hpp"

namespace npuscope::analysis {

// A long wait is for the transfer of the ops that it depends on, or else of the op of its name, as
// HTPs call both alike. Where neither is known, it is only a wait.
void PathLinks::link_landings() {
  if (!nodes_.has_dma_waits()) return;
  std::vector<std::uint32_t> unknown;  // ops
  for (std::uint32_t op = 0; op < runs_.size(); ++op) {
    bool waits = false;
    for (const Execution& each : nodes_.of_op(op)) {
      if (!nodes_.is_long_wait(each.kind, profile_.spans.duration[each.row])) continue;
      waits = true;
      if (has_edge_in_[op]) add_landing(each.row);
    }
    if (waits && !has_edge_in_[op]) unknown.push_back(op);
  }
  if (unknown.empty()) return;
  const auto key = [&](std::uint32_t op) {
    const Op& of = profile_.ops[op];
    return std::tuple(of.name, of.kind, of.node);
  };
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); };
  std::vector<std::uint32_t> all(runs_.size());
  std::iota(all.begin(), all.end(), 0u);
  std::stable_sort(all.begin(), all.end(), before);
  std::stable_sort(unknown.begin(), unknown.end(), before);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    if (i > 0 && key(unknown[i]) == key(unknown[i - 1])) continue;
    const auto [first, last] = std::equal_range(all.begin(), all.end(), unknown[i], before);
    link_named(std::span(first, last));
  }
}

// Each long wait of these ops after the last of their executions that had ended when it began, or
// after the first of all if that ended while it lasted.
void PathLinks::link_named(std::span<const std::uint32_t> ops) {
  std::vector<std::uint32_t> issues, waits;  // rows
  for (const std::uint32_t op : ops) {
    for (const Execution& each : nodes_.of_op(op)) {
      if (!each.is_dma_wait()) issues.push_back(each.row);
      const bool is_long = nodes_.is_long_wait(each.kind, profile_.spans.duration[each.row]);
      if (is_long && !has_edge_in_[op]) waits.push_back(each.row);
    }
  }
  const auto end_of = [&](std::uint32_t row) { return graph_.end[nodes_.of_row(row).last]; };
  const auto begin_of = [&](std::uint32_t row) {
    return profile_.spans.start[row] - graph_.timeline.begin;
  };
  std::stable_sort(issues.begin(), issues.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return end_of(a) < end_of(b); });
  std::stable_sort(waits.begin(), waits.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return begin_of(a) < begin_of(b); });
  std::size_t ended = 0;
  for (const std::uint32_t row : waits) {
    while (ended < issues.size() && end_of(issues[ended]) <= begin_of(row)) ++ended;
    if (issues.empty()) continue;
    const std::uint32_t issue = issues[ended == 0 ? 0 : ended - 1];
    if (end_of(issue) > graph_.start[nodes_.of_row(row).first]) continue;
    add(nodes_.of_row(issue).last, nodes_.of_row(row).first, Reason::issue);
    add_landing(row);
  }
}

void PathLinks::add_landing(std::uint32_t row) {
  const auto [landing, wait] = nodes_.of_row(row);
  push(wait, {landing, Reason::dma_wait, 0, true, false});
  landed_.push_back(row);
}

// Of the threads that share the work of an op one alone records the wait for its data; the others
// begin when it does.
void PathLinks::link_peers() {
  std::sort(landed_.begin(), landed_.end());
  std::vector<bool> waits(profile_.units.size(), false);
  for (const std::uint32_t row : landed_) {
    const std::size_t unit = index_of(profile_.spans.unit[row]);
    if (unit < waits.size()) waits[unit] = true;
  }
  for (std::uint32_t unit = 0; unit < waits.size(); ++unit) {
    if (!waits[unit]) continue;
    std::uint32_t wait = PathGraph::none;
    for (const SpanOfUnit& span : nodes_.by_unit().spans_of(UnitId(unit))) {
      if (span.kind == SpanKind::dma_wait) {
        const bool landed = std::binary_search(landed_.begin(), landed_.end(), span.row);
        wait = landed ? span.row : PathGraph::none;
      } else if (nodes_.is_work(span.row) && !nodes_.is_transfer(span.row)) {
        if (wait != PathGraph::none) link_peers_of(wait, span, UnitId(unit));
        wait = PathGraph::none;
      }
    }
  }
}

void PathLinks::link_peers_of(std::uint32_t wait, const SpanOfUnit& next, UnitId unit) {
  constexpr std::int64_t at_once = 100;  // ticks: threads wake one after the other
  constexpr int max_threads = 64;        // of a core, so that a forged trace costs no square
  const std::uint32_t landing = nodes_.of_row(wait).first;
  const std::int64_t over = graph_.end[landing];
  const std::int64_t begin = next.begin - graph_.timeline.begin;
  if (index_of(next.op) >= runs_.size() || begin < over || begin - over > at_once) return;
  const auto executions = nodes_.of_op(index_of(next.op));
  auto peer = std::ranges::lower_bound(executions, over, {},
                                       [](const Execution& each) { return each.begin; });
  const Unit& here = profile_.units[index_of(unit)];
  for (int looked_at = 0; looked_at < max_threads && peer != executions.end(); ++looked_at) {
    const Execution execution = *peer++;
    if (execution.begin - over > at_once) break;
    const std::size_t other = index_of(execution.unit);
    if (execution.unit == unit || execution.is_transfer() || execution.is_dma_wait()) continue;
    if (other >= profile_.units.size() || profile_.units[other].core != here.core ||
        profile_.units[other].device != here.device) {
      continue;
    }
    add(landing, execution.first_node, Reason::dma_wait);
  }
}

}  // namespace npuscope::analysis
