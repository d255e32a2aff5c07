// Identities 1 to 5, 7 and traffic: what the summary says of one core, against its own tables.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

#include "formats/qnn/check/checker.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {
namespace {

template <class Rows>
std::optional<std::int64_t> sum_of_cycles(const Rows& rows) {
  if (rows.empty()) return std::nullopt;
  std::int64_t sum = 0;
  for (const auto& row : rows) {
    if (row.cycles != missing) sum = saturating_add(sum, row.cycles);
  }
  return sum;
}

}  // namespace

// 1
void Checker::check_sums() {
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
    detail += fmt::format("{}{} {}", detail.empty() ? "" : ", ", what, signed_thousands(*sum));
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

std::optional<std::int64_t> Checker::dominant_path() const {
  std::int64_t sum = 0;
  if (qhas_ != nullptr && !qhas_->instances.empty()) {
    for (const QhasInstance& row : qhas_->instances) {
      if (row.dominant_path != missing) sum = saturating_add(sum, row.dominant_path);
    }
    return sum;
  }
  const MeasureColumn* column = profile_.spans.measure(NumberRole::dominant_path);
  if (column == nullptr) return std::nullopt;
  for (const std::int64_t value : column->values) {
    if (value != missing) sum = saturating_add(sum, value);
  }
  return sum;
}

// 2
void Checker::check_idle() {
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
      fmt::format("{} + {} = {} cycles; idle {:.4f} %, said {:.4f} %", signed_thousands(*path),
                  signed_thousands(idle), signed_thousands(wall), percent, core_->percent_idle));
}

// 3
void Checker::check_shares() {
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
      const bool active = cycles <= 0 || row.cycles == missing || std::isnan(row.percent_active) ||
                          nearly(row.percent_active, 100 * double(row.cycles) / cycles);
      const bool dominant = path <= 0 || row.dominant_path.empty() ||
                            row.dominant_path[0] == missing || std::isnan(row.percent_dominant) ||
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
void Checker::check_utilization() {
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
void Checker::check_timeline() {
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
      fmt::format("{} - {} = {}, said {} cycles", signed_thousands(last), signed_thousands(first),
                  signed_thousands(wall), signed_thousands(core_->timeline_cycles)));
}

// 7
void Checker::check_counts() {
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

void Checker::check_traffic() {
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
                          signed_thousands(total));
  }
  if (!any) return impossible(name, "QHAS has no totals of bytes");
  add(name, passed, detail);
}

// Identities 8 and 9: what the viewer prints against the other files.

std::optional<std::int64_t> Checker::viewer_value(std::string_view label,
                                                  std::uint32_t execute) const {
  if (viewer_ == nullptr) return std::nullopt;
  for (const ViewerEvent& event : viewer_->events) {
    if (event.execute == execute && !event.node && viewer_->strings[event.label] == label) {
      return event.value;
    }
  }
  return std::nullopt;
}

// 8
void Checker::check_viewer_cycles() {
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
  std::map<std::string_view, std::int64_t> printed_nodes;  // a model may call a node "Input" too
  for (const ViewerEvent& event : viewer_->events) {
    if (event.execute != 0 || !event.node || event.label != event.node_name || !event.value) {
      continue;
    }
    std::int64_t& cycles = printed_nodes[viewer_->strings[event.node_name]];
    cycles = saturating_add(cycles, *event.value);
  }
  std::size_t equal = 0;
  for (const auto& [node, cycles] : printed_nodes) {
    const auto found = nodes.find(node);
    equal += (found == nodes.end() ? 0 : found->second) == cycles;
  }
  add(name, sum == *printed && equal == printed_nodes.size(),
      fmt::format("{} printed, {} in all without SystemService; {} of {} nodes agree",
                  signed_thousands(*printed), signed_thousands(sum), equal, printed_nodes.size()));
}

// 9
void Checker::check_viewer_time() {
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
    constexpr std::size_t max_detail = 200;
    if (detail.size() > max_detail) continue;
    detail += fmt::format("{}{} and {} us", detail.empty() ? "" : ", ", *printed, *traced);
  }
  if (detail.empty()) return impossible(name, "needs a RUN_TRACE or QHAS");
  add(name, passed, detail);
}

// 16
void Checker::check_node_sums() {
  constexpr std::string_view name = "cycles of nodes = of the execute";
  if (viewer_ == nullptr) return impossible(name, "needs the viewer's text, CSV or JSON");
  std::vector<std::int64_t> sums(viewer_->executes, 0);
  std::vector<std::optional<std::int64_t>> wholes(viewer_->executes);
  bool has_nodes = false;
  for (const ViewerEvent& event : viewer_->events) {
    if (event.execute == ViewerEvent::outside || !event.value) continue;
    const std::string_view label = viewer_->strings[event.label];
    if (event.node && event.label == event.node_name && event.unit == ViewerUnit::cycles) {
      has_nodes = true;
      sums[event.execute] = saturating_add(sums[event.execute], *event.value);
    } else if (!event.node && (label == "Accelerator (execute) time (cycles)" ||
                               label == "Accelerator (critical path execute) time (cycles)")) {
      wholes[event.execute] = *event.value;
    }
  }
  std::size_t known = 0, equal = 0;
  std::string different;
  for (std::size_t execute = 0; execute < sums.size(); ++execute) {
    if (!wholes[execute]) continue;
    ++known;
    equal += sums[execute] == *wholes[execute];
    if (sums[execute] == *wholes[execute] || !different.empty()) continue;
    different = fmt::format("; execute {}: {} in nodes, {} in all", execute + 1,
                            signed_thousands(sums[execute]), signed_thousands(*wholes[execute]));
  }
  if (!has_nodes || known == 0) return impossible(name, "needs nodes and the execute's cycles");
  add(name, known == equal, fmt::format("{} of {} executes{}", equal, known, different));
}

}  // namespace npuscope::qnn
