// Identities 8 and 9: what the viewer prints against the other files.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "formats/qnn/check/checker.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {

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
