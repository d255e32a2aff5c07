// What several files say of the same ops.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "formats/qnn/check/checker.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/owned_time.hpp"

namespace npuscope::qnn {

// The rule is tried anew: the profile's column may be QHAS's own.
void Checker::check_ownership() {
  constexpr std::string_view name = "dominant path by the ownership rule = of QHAS";
  if (qhas_ == nullptr || qhas_->instances.empty()) {
    return impossible(name, "needs the instances of QHAS");
  }
  std::map<std::int64_t, std::vector<const QhasInstance*>> by_core;
  for (const QhasInstance& row : qhas_->instances) by_core[row.core].push_back(&row);
  std::size_t rows = 0, equal = 0, segments = 0, equal_segments = 0;
  for (const auto& [core, instances] : by_core) {
    std::vector<OwnedSpan> spans;
    for (const QhasInstance* row : instances) {
      spans.push_back({row->start_cycle, saturating_add(row->start_cycle, row->cycles), row->tid,
                       std::uint8_t(row->hmx   ? 0
                                    : row->hvx ? 1
                                               : 2)});
    }
    std::vector<std::int64_t> path(instances.size(), 0);
    std::vector<std::tuple<bool, std::int64_t, std::int64_t>> owned;
    for (const OwnedTime& time : owners_of(spans)) {
      const bool idle = time.owner == OwnedTime::idle;
      if (!idle) path[time.owner] += time.end - time.start;
      owned.emplace_back(idle, time.start, time.end);
    }
    std::sort(owned.begin(), owned.end());
    for (std::size_t i = 0; i < instances.size(); ++i) {
      if (instances[i]->dominant_path == missing) continue;
      ++rows;
      equal += instances[i]->dominant_path == path[i];
    }
    for (const QhasSegment& segment : qhas_->segments) {
      if (segment.core != core) continue;
      ++segments;
      equal_segments +=
          std::binary_search(owned.begin(), owned.end(),
                             std::tuple(segment.idle, segment.start_cycle, segment.end_cycle));
    }
  }
  add(name, equal == rows && equal_segments == segments,
      fmt::format("{} of {} instances and {} of {} segments agree", equal, rows, equal_segments,
                  segments));
}

void Checker::check_instances() {
  constexpr std::string_view name = "ops of the trace = instances of QHAS";
  if (trace_ == nullptr || qhas_ == nullptr || qhas_->instances.empty()) {
    return impossible(name, "needs an OP_TRACE and the instances of QHAS");
  }
  std::vector<std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>> spans;
  for (std::size_t i = 0; i < profile_.spans.size(); ++i) {
    const Unit& unit = profile_.units[index_of(profile_.spans.unit[i])];
    spans.emplace_back(unit.core, std::int64_t(unit.lane), profile_.spans.start[i],
                       profile_.spans.duration[i]);
  }
  std::sort(spans.begin(), spans.end());
  std::size_t equal = 0;
  for (const QhasInstance& row : qhas_->instances) {
    equal += std::binary_search(
        spans.begin(), spans.end(),
        std::tuple(std::uint32_t(row.core), row.tid, row.start_cycle, row.cycles));
  }
  add(name, equal == spans.size() && equal == qhas_->instances.size(),
      fmt::format("{} of {} and {} agree in lane, start and cycles", equal, spans.size(),
                  qhas_->instances.size()));
}

void Checker::check_peak() {
  constexpr std::string_view name = "peak VTCM of QHAS = highest sample of VTCM alloc";
  if (core_ == nullptr || core_->peak_vtcm_alloc == missing) {
    return impossible(name, "needs the summary of one core in QHAS");
  }
  double highest = -1;
  const Counters& counters = profile_.counters;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (profile_.text(counters.series[counters.of[i]].name) != "VTCM alloc") continue;
    highest = std::max(highest, counters.value[i]);
  }
  if (highest < 0) return impossible(name, "needs an OP_TRACE with the counter VTCM alloc");
  add(name, highest == double(core_->peak_vtcm_alloc),
      fmt::format("{} and {:.0f} bytes", signed_thousands(core_->peak_vtcm_alloc), highest));
}

void Checker::check_graph_cycles() {
  constexpr std::string_view name = "cycles of the graph's nodes = of the ops";
  const bool timeline = profile_.spans.size() > 0;
  if (graph_ == nullptr || !timeline) {
    return impossible(name, "needs an HTP_GRAPH and ops with their cycles");
  }
  std::vector<std::tuple<std::uint64_t, std::int64_t, std::int64_t>> spans;
  for (std::size_t i = 0; i < profile_.spans.size(); ++i) {
    spans.emplace_back(profile_.ops[index_of(profile_.spans.op[i])].id, profile_.spans.start[i],
                       profile_.spans.duration[i]);
  }
  std::sort(spans.begin(), spans.end());
  std::size_t rows = 0, equal = 0;
  for (const GraphNode& node : graph_->nodes) {
    if (node.start_cycle == missing || node.cycles == missing) continue;
    ++rows;
    equal += std::binary_search(spans.begin(), spans.end(),
                                std::tuple(node.id, node.start_cycle, node.cycles));
  }
  if (rows == 0) return impossible(name, "the graph has no cycles: it was never run");
  add(name, rows == equal, fmt::format("{} of {} nodes agree", equal, rows));
}

}  // namespace npuscope::qnn
