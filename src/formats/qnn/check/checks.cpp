// The identities that artifacts of one run obey. They were found on real files of three devices; a
// failure means a damaged file, files of different runs, or a viewer that counts otherwise.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "formats/qnn/check/checker.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/owned_time.hpp"

namespace npuscope::qnn {

std::string signed_thousands(std::int64_t value) {
  return value < 0 ? "-" + thousands(std::uint64_t(-(value + 1)) + 1)
                   : thousands(std::uint64_t(value));
}

bool nearly(double a, double b) {
  return std::abs(a - b) <= 1e-4 * std::max({1.0, std::abs(a), std::abs(b)});
}

Checker::Checker(const ArtifactSet& set, const Profile& profile)
    : profile_(profile),
      qhas_(set.find<Qhas>()),
      run_(set.find<RunTrace>()),
      graph_(set.find<HtpGraph>()),
      viewer_(set.find<ViewerOutput>()),
      trace_(set.find<OpTrace>()),
      estimate_(set.find<Estimate>()),
      rows_(set.find<EstimateRows>()),
      schematic_(set.find<Schematic>()) {
  // With several cores these identities hold per core, which no file that was seen has.
  if (qhas_ != nullptr && qhas_->cores.size() == 1) core_ = &qhas_->cores.front();
}

std::vector<Check> Checker::run() {
  check_estimated_cycles();
  check_estimated_traffic();
  check_estimated_ids();
  const bool has_run = qhas_ != nullptr || run_ != nullptr || graph_ != nullptr ||
                       viewer_ != nullptr || trace_ != nullptr;
  if (!has_run) return std::move(checks_);
  check_sums();
  check_idle();
  check_shares();
  check_utilization();
  check_timeline();
  check_times();
  check_counts();
  check_viewer_cycles();
  check_viewer_time();
  check_node_sums();
  check_ownership();
  check_instances();
  check_traffic();
  check_peak();
  check_inside();
  check_graph_cycles();
  return std::move(checks_);
}

void Checker::add(std::string_view name, bool passed, std::string detail) {
  const auto outcome = passed ? Check::Outcome::passed : Check::Outcome::failed;
  checks_.push_back({std::string(name), outcome, std::move(detail)});
}

void Checker::impossible(std::string_view name, std::string_view why) {
  checks_.push_back({std::string(name), Check::Outcome::impossible, std::string(why)});
}

// Tables shorter than the counts that the summary gives have been cut.
bool Checker::cut(const std::vector<QhasSum>& table, std::int64_t count) const {
  return core_ != nullptr && count != missing && std::int64_t(table.size()) < count;
}

std::vector<Check> check_set(const ArtifactSet& set, const Profile& profile) {
  return Checker(set, profile).run();
}

// Identity 6 and the phases: RUN_TRACE against the summary and the ops.

const RunPhase* Checker::phase_of(std::string_view name, std::uint32_t inference) const {
  if (run_ == nullptr) return nullptr;
  for (const RunPhase& phase : run_->phases) {
    if (phase.inference == inference && run_->name_of(phase) == name) return &phase;
  }
  return nullptr;
}

// 6
void Checker::check_times() {
  constexpr std::string_view name = "microseconds of QHAS = phases of the first execute";
  if (core_ == nullptr) return impossible(name, "needs the summary of one core in QHAS");
  const RunPhase* execute = phase_of(execute_phase, 0);
  const RunPhase* graph = phase_of(graph_phase, 0);
  if (execute == nullptr || graph == nullptr) return impossible(name, "needs a RUN_TRACE");
  const double execute_us = std::floor(execute->microseconds());
  const double graph_us = std::floor(graph->microseconds());
  const bool rate = !std::isfinite(core_->inferences_per_second) || core_->time_us <= 0 ||
                    nearly(core_->inferences_per_second, 1e6 / double(core_->time_us));
  add(name,
      double(core_->time_us) == execute_us && double(core_->graph_execute_us) == graph_us && rate,
      fmt::format("QNN DSP Execute {:.3f} us, said {}; Graph Execute {:.3f} us, said {}",
                  execute->microseconds(), signed_thousands(core_->time_us), graph->microseconds(),
                  signed_thousands(core_->graph_execute_us)));
}

void Checker::check_inside() {
  constexpr std::string_view name = "ops lie inside a Graph Execute";
  if (run_ == nullptr || profile_.spans.size() == 0) {
    return impossible(name, "needs a RUN_TRACE and ops with their cycles");
  }
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = missing;
  for (std::size_t i = 0; i < profile_.spans.size(); ++i) {
    first = std::min(first, profile_.spans.start[i]);
    last = std::max(last, saturating_add(profile_.spans.start[i], profile_.spans.duration[i]));
  }
  const auto phase =
      std::find_if(run_->phases.begin(), run_->phases.end(), [&](const RunPhase& candidate) {
        return run_->name_of(candidate) == graph_phase && candidate.start_cycle <= first &&
               last <= candidate.end_cycle;
      });
  const bool passed = phase != run_->phases.end();
  add(name, passed,
      passed ? fmt::format("cycles {} to {} in execute {}", signed_thousands(first),
                           signed_thousands(last), phase->inference + 1)
             : fmt::format("cycles {} to {} are in none", signed_thousands(first),
                           signed_thousands(last)));
}

// What several files say of the same ops.

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
