// The identities that artifacts of one run obey. They were found on real files of three devices; a
// failure means a damaged file, files of different runs, or a viewer that counts otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "formats/qnn/assembly.hpp"
#include "npuscope/base/text.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {
namespace {

using Outcome = Check::Outcome;

std::string number(std::int64_t value) {
  return value < 0 ? "-" + thousands(std::uint64_t(-(value + 1)) + 1)
                   : thousands(std::uint64_t(value));
}

template <class Rows>
std::optional<std::int64_t> sum_of_cycles(const Rows& rows) {
  if (rows.empty()) return std::nullopt;
  std::int64_t sum = 0;
  for (const auto& row : rows) {
    if (row.cycles != missing) sum = saturating_add(sum, row.cycles);
  }
  return sum;
}

// Percentages are printed in full but counted in single precision.
bool nearly(double a, double b) {
  return std::abs(a - b) <= 1e-4 * std::max({1.0, std::abs(a), std::abs(b)});
}

class Checker {
 public:
  Checker(const ArtifactSet& set, const Profile& profile)
      : profile_(profile),
        qhas_(set.find<Qhas>()),
        run_(set.find<RunTrace>()),
        graph_(set.find<HtpGraph>()),
        viewer_(set.find<ViewerOutput>()),
        trace_(set.find<OpTrace>()) {
    // With several cores these identities hold per core, which no file that was seen has.
    if (qhas_ != nullptr && qhas_->cores.size() == 1) core_ = &qhas_->cores.front();
  }

  std::vector<Check> run() {
    check_sums();
    check_idle();
    check_shares();
    check_utilization();
    check_timeline();
    check_times();
    check_counts();
    check_viewer_cycles();
    check_viewer_time();
    check_ownership();
    check_instances();
    check_traffic();
    check_peak();
    check_inside();
    check_graph_cycles();
    return std::move(checks_);
  }

 private:
  void add(std::string_view name, bool passed, std::string detail) {
    checks_.push_back(
        {std::string(name), passed ? Outcome::passed : Outcome::failed, std::move(detail)});
  }
  void impossible(std::string_view name, std::string_view why) {
    checks_.push_back({std::string(name), Outcome::impossible, std::string(why)});
  }

  // Tables shorter than the counts that the summary gives have been cut.
  bool cut(const std::vector<QhasSum>& table, std::int64_t count) const {
    return core_ != nullptr && count != missing && std::int64_t(table.size()) < count;
  }

  // 1
  void check_sums() {
    constexpr std::string_view name = "cycles of instances = of QNN op types = of lanes";
    if (qhas_ == nullptr) return impossible(name, "needs QHAS");
    if (core_ == nullptr) return impossible(name, "needs the summary of one core in QHAS");
    std::int64_t lanes = 0;
    bool any_lane = false;
    for (const QhasResource& resource : core_->resources) {
      if (resource.cycles_used == missing) continue;
      lanes = saturating_add(lanes, resource.cycles_used);
      any_lane = true;
    }
    std::vector<std::int64_t> sums;
    std::string detail;
    const auto take = [&](std::string_view what, std::optional<std::int64_t> sum) {
      if (!sum) return;
      sums.push_back(*sum);
      detail += fmt::format("{}{} {}", detail.empty() ? "" : ", ", what, number(*sum));
    };
    take("instances", sum_of_cycles(qhas_->instances));
    if (!cut(qhas_->qnn_types, core_->unique_qnn_ops)) {
      take("QNN op types", sum_of_cycles(qhas_->qnn_types));
    }
    if (any_lane) take("lanes", lanes);
    if (sums.size() < 2) {
      return impossible(name, "only one of the three is there in full: " + detail);
    }
    add(name, std::count(sums.begin(), sums.end(), sums[0]) == std::ptrdiff_t(sums.size()),
        detail + " cycles");
  }

  std::optional<std::int64_t> dominant_path() const {
    std::int64_t sum = 0;
    if (qhas_ != nullptr && !qhas_->instances.empty()) {
      for (const QhasInstance& row : qhas_->instances) {
        if (row.dominant_path != missing) sum = saturating_add(sum, row.dominant_path);
      }
      return sum;
    }
    const auto name = profile_.strings.find("dominant path");
    const MeasureColumn* column = name ? profile_.spans.measure(*name) : nullptr;
    if (column == nullptr) return std::nullopt;
    for (const std::int64_t value : column->values) {
      if (value != missing) sum = saturating_add(sum, value);
    }
    return sum;
  }

  // 2
  void check_idle() {
    constexpr std::string_view name = "dominant path + idle = graph wall";
    if (core_ == nullptr) return impossible(name, "needs the summary of one core in QHAS");
    const auto path = dominant_path();
    if (!path) return impossible(name, "needs the instances of QHAS or an OP_TRACE");
    const std::int64_t wall = core_->timeline_cycles;
    if (wall == missing || !std::isfinite(core_->percent_idle)) {
      return impossible(name, "needs timeline_cycles and percent_idle");
    }
    std::int64_t idle = wall - *path;
    std::int64_t idle_rows = 0;
    bool rows = false;
    for (const QhasSegment& segment : qhas_->segments) {
      if (!segment.idle) continue;
      rows = true;
      idle_rows = saturating_add(idle_rows, segment.end_cycle - segment.start_cycle);
    }
    if (rows) idle = idle_rows;
    const double percent = wall == 0 ? 0 : 100 * double(idle) / double(wall);
    const bool passed = *path + idle == wall && nearly(percent, core_->percent_idle) &&
                        (!std::isfinite(core_->percent_utilization) ||
                         nearly(core_->percent_utilization, 100 - core_->percent_idle));
    add(name, passed,
        fmt::format("{} + {} = {} cycles; idle {:.4f} %, said {:.4f} %", number(*path),
                    number(idle), number(wall), percent, core_->percent_idle));
  }

  // 3
  void check_shares() {
    constexpr std::string_view name = "shares of cycles and of dominant path";
    if (core_ == nullptr) return impossible(name, "needs the summary of one core in QHAS");
    double cycles = 0, path = 0;
    for (const QhasResource& row : core_->resources) {
      if (row.cycles_used != missing) cycles += double(row.cycles_used);
    }
    if (core_->timeline_cycles != missing && std::isfinite(core_->percent_idle)) {
      path = std::round(double(core_->timeline_cycles) * (1 - core_->percent_idle / 100));
    }
    std::size_t rows = 0, wrong = 0;
    const auto check_table = [&](const std::vector<QhasSum>& table) {
      for (const QhasSum& row : table) {
        ++rows;
        const bool active = cycles <= 0 || row.cycles == missing ||
                            std::isnan(row.percent_active) ||
                            nearly(row.percent_active, 100 * double(row.cycles) / cycles);
        const bool dominant =
            path <= 0 || row.dominant_path.empty() || row.dominant_path[0] == missing ||
            std::isnan(row.percent_dominant) ||
            nearly(row.percent_dominant, 100 * double(row.dominant_path[0]) / path);
        wrong += active && dominant ? 0 : 1;
      }
    };
    check_table(qhas_->qnn_types);
    check_table(qhas_->qnn_nodes);
    check_table(qhas_->htp_types);
    if (rows == 0) return impossible(name, "QHAS has no rows of types or nodes");
    add(name, wrong == 0, fmt::format("{} of {} rows agree", rows - wrong, rows));
  }

  // 4
  void check_utilization() {
    constexpr std::string_view name = "utilisation of a lane = its cycles / graph wall";
    if (core_ == nullptr) return impossible(name, "needs the summary of one core in QHAS");
    if (core_->timeline_cycles <= 0) return impossible(name, "needs timeline_cycles");
    std::size_t rows = 0, wrong = 0;
    for (const QhasResource& row : core_->resources) {
      if (row.cycles_used == missing || std::isnan(row.utilization)) continue;
      ++rows;
      const double share = 100 * double(row.cycles_used) / double(core_->timeline_cycles);
      wrong += nearly(row.utilization, share) ? 0 : 1;
    }
    if (rows == 0) return impossible(name, "QHAS has no lanes");
    add(name, wrong == 0, fmt::format("{} of {} lanes agree", rows - wrong, rows));
  }

  // 5
  void check_timeline() {
    constexpr std::string_view name = "graph wall = last end - first start of executed ops";
    if (core_ == nullptr || core_->timeline_cycles == missing) {
      return impossible(name, "needs the summary of one core in QHAS");
    }
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = missing;
    const Spans& spans = profile_.spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      first = std::min(first, spans.start[i]);
      last = std::max(last, saturating_add(spans.start[i], spans.duration[i]));
    }
    if (spans.size() == 0) {
      for (const QhasResource& row : core_->resources) {
        if (row.start_cycle == missing || row.end_cycle == missing) continue;
        first = std::min(first, row.start_cycle);
        last = std::max(last, row.end_cycle);
      }
    }
    if (last == missing) return impossible(name, "needs ops or lanes with their cycles");
    const std::int64_t wall = saturating_subtract(last, first);
    add(name, wall == core_->timeline_cycles,
        fmt::format("{} - {} = {}, said {} cycles", number(last), number(first), number(wall),
                    number(core_->timeline_cycles)));
  }

  const RunPhase* phase_of(std::string_view name, std::uint32_t inference) const {
    if (run_ == nullptr) return nullptr;
    for (const RunPhase& phase : run_->phases) {
      if (phase.inference == inference && run_->name_of(phase) == name) return &phase;
    }
    return nullptr;
  }

  // 6
  void check_times() {
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
                    execute->microseconds(), number(core_->time_us), graph->microseconds(),
                    number(core_->graph_execute_us)));
  }

  // 7
  void check_counts() {
    constexpr std::string_view name = "counts of QHAS = rows of its tables";
    if (core_ == nullptr) return impossible(name, "needs the summary of one core in QHAS");
    std::string detail;
    bool passed = true;
    const auto count = [&](std::string_view what, std::size_t rows, std::int64_t said) {
      if (said == missing) return;
      passed = passed && std::int64_t(rows) == said;
      detail += fmt::format("{}{} {} of {}", detail.empty() ? "" : ", ", what, rows, said);
    };
    count("QNN op types", qhas_->qnn_types.size(), core_->unique_qnn_ops);
    count("QNN nodes", qhas_->qnn_nodes.size(), core_->qnn_nodes);
    count("HTP op types", qhas_->htp_types.size(), core_->unique_htp_ops);
    count("instances", qhas_->instances.size(), core_->htp_nodes);
    if (detail.empty()) return impossible(name, "QHAS says no counts");
    add(name, passed, detail);
  }

  // --- the viewer

  std::optional<std::int64_t> viewer_value(std::string_view label, std::uint32_t execute) const {
    if (viewer_ == nullptr) return std::nullopt;
    for (const ViewerEvent& event : viewer_->events) {
      if (event.execute == execute && !event.node && viewer_->strings[event.label] == label) {
        return event.value;
      }
    }
    return std::nullopt;
  }

  // 8
  void check_viewer_cycles() {
    constexpr std::string_view name = "cycles that the viewer prints = of QHAS";
    constexpr std::string_view service = "SystemService";
    if (viewer_ == nullptr) return impossible(name, "needs the viewer's text, CSV or JSON");
    const auto printed = viewer_value("Accelerator (execute) time (cycles)", 0);
    if (!printed) return impossible(name, "the first execute has no 'time (cycles)'");
    std::map<std::string_view, std::int64_t> nodes;
    std::int64_t sum = 0;
    const auto add_node = [&](std::string_view node, std::int64_t cycles) {
      nodes[node] = saturating_add(nodes[node], cycles);
      if (!node.starts_with(service)) sum = saturating_add(sum, cycles);
    };
    if (qhas_ != nullptr && !qhas_->qnn_nodes.empty() &&
        !(core_ != nullptr && cut(qhas_->qnn_nodes, core_->qnn_nodes))) {
      for (const QhasSum& node : qhas_->qnn_nodes) {
        if (node.cycles != missing) add_node(qhas_->strings[node.op], node.cycles);
      }
    } else {
      for (std::size_t i = 0; i < profile_.spans.size(); ++i) {
        const Op& op = profile_.ops[index_of(profile_.spans.op[i])];
        add_node(profile_.text(op.node), profile_.spans.duration[i]);
      }
    }
    if (nodes.empty()) return impossible(name, "needs QHAS in full or an OP_TRACE");
    std::size_t rows = 0, equal = 0;
    for (const ViewerEvent& event : viewer_->events) {
      if (event.execute != 0 || !event.node || event.label != event.node_name || !event.value) {
        continue;
      }
      const auto node = nodes.find(viewer_->strings[event.node_name]);
      ++rows;
      equal += (node == nodes.end() ? 0 : node->second) == *event.value;
    }
    add(name, sum == *printed && equal == rows,
        fmt::format("{} printed, {} in all without SystemService; {} of {} nodes agree",
                    number(*printed), number(sum), equal, rows));
  }

  // 9
  void check_viewer_time() {
    constexpr std::string_view name = "execute excluding wait = Graph Execute, rounded down";
    if (viewer_ == nullptr) return impossible(name, "needs the viewer's text, CSV or JSON");
    std::string detail;
    bool passed = true;
    for (std::uint32_t execute = 0; execute < viewer_->executes; ++execute) {
      const auto printed = viewer_value("Accelerator (execute excluding wait) time", execute);
      if (!printed) continue;
      const RunPhase* phase = phase_of(graph_phase, execute);
      std::optional<std::int64_t> traced;
      if (phase != nullptr) {
        traced = std::int64_t(std::floor(phase->microseconds()));
      } else if (run_ == nullptr && execute == 0 && core_ != nullptr &&
                 core_->graph_execute_us != missing) {
        traced = core_->graph_execute_us;
      }
      if (!traced) continue;
      passed = passed && *traced == *printed;
      constexpr std::size_t most_detail = 200;
      if (detail.size() > most_detail) continue;
      detail += fmt::format("{}{} and {} us", detail.empty() ? "" : ", ", *printed, *traced);
    }
    if (detail.empty()) return impossible(name, "needs a RUN_TRACE or QHAS");
    add(name, passed, detail);
  }

  // --- what the files say twice

  // The rule is tried anew: the profile's column may be QHAS's own.
  void check_ownership() {
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

  void check_instances() {
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

  void check_traffic() {
    constexpr std::string_view name = "bytes of instances = of lanes = in all";
    if (core_ == nullptr) return impossible(name, "needs the summary of one core in QHAS");
    std::string detail;
    bool passed = true, any = false;
    for (std::size_t kind = 0; kind < Traffic::kinds; ++kind) {
      const auto sum = [&](const auto& rows) {
        std::int64_t bytes = 0;
        for (const auto& row : rows) {
          if (row.traffic.bytes[kind] != missing) {
            bytes = saturating_add(bytes, row.traffic.bytes[kind]);
          }
        }
        return bytes;
      };
      const std::int64_t total = core_->traffic.bytes[kind];
      if (total == missing) continue;
      any = true;
      passed = passed && sum(core_->resources) == total &&
               (qhas_->instances.empty() || sum(qhas_->instances) == total);
      detail += fmt::format("{}{} {}", detail.empty() ? "" : ", ", Traffic::qhas_keys[kind],
                            number(total));
    }
    if (!any) return impossible(name, "QHAS has no totals of bytes");
    add(name, passed, detail);
  }

  void check_peak() {
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
        fmt::format("{} and {:.0f} bytes", number(core_->peak_vtcm_alloc), highest));
  }

  void check_inside() {
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
        passed ? fmt::format("cycles {} to {} in execute {}", number(first), number(last),
                             phase->inference + 1)
               : fmt::format("cycles {} to {} are in none", number(first), number(last)));
  }

  void check_graph_cycles() {
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

  const Profile& profile_;
  const Qhas* qhas_;
  const RunTrace* run_;
  const HtpGraph* graph_;
  const ViewerOutput* viewer_;
  const OpTrace* trace_;
  const QhasCore* core_ = nullptr;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> check_set(const ArtifactSet& set, const Profile& profile) {
  return Checker(set, profile).run();
}

}  // namespace npuscope::qnn
