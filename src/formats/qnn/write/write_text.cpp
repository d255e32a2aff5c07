#include "formats/qnn/write/write_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace npuscope::qnn::optrace {

std::string trace_header(std::string_view artifact) {
  return fmt::format(
      "{{\n  \"header\": {{\n    \"header_version\": {{\n      \"major\": 1,\n      \"minor\": 0,\n"
      "      \"patch\": 0\n    }},\n    \"version\": {{\n      \"major\": 1,\n      \"minor\": 1,\n"
      "      \"patch\": 0\n    }},\n    \"artifact_type\": \"{}\"\n  }},\n\"traceEvents\": [",
      artifact);
}

std::vector<std::uint32_t> ops_by_id(const OptraceSet& set) {
  std::vector<std::uint32_t> order(set.ops.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return set.ops[a].id < set.ops[b].id; });
  return order;
}

std::vector<std::uint32_t> representatives(const OptraceSet& set) {
  std::vector<std::uint32_t> first(set.ops.size(), ~0u);
  for (std::uint32_t i = 0; i < set.instances.size(); ++i) {
    const Instance& instance = set.instances[i];
    std::uint32_t& best = first[instance.op];
    const auto place = [](const Instance& it) { return std::tuple(it.tid, it.start_cycle); };
    if (best == ~0u || place(instance) < place(set.instances[best])) best = i;
  }
  return first;
}

const Phase* find_phase(const Execute& execute, std::string_view name) {
  for (const Phase& phase : execute) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

std::uint64_t whole_microseconds(const OptraceSet& set, const Phase* phase) {
  if (phase == nullptr) return 0;
  // Multiplied first: the quotient of two whole numbers is not rounded below a whole one.
  return std::uint64_t(double(phase->end_ticks - phase->start_ticks) * 1e6 / set.timer_hz);
}

double cycles_per_packet(const Instance& instance) {
  return instance.packets == 0 ? 0
                               : double(float(double(instance.cycles) / double(instance.packets)));
}

}  // namespace npuscope::qnn::optrace
