#include "npu/torq/artifacts.hpp"

#include <fmt/ranges.h>

namespace npuscope::npu::torq {

std::vector<DispatchPlace> dispatch_places(const Compilation& compilation) {
  const Program& program = compilation.program;
  std::vector<DispatchPlace> places;
  DispatchPlace at;
  for (const Dispatch& dispatch : program.dispatches) {
    places.push_back(at);
    for (std::uint32_t id = 0; id < dispatch.actions; ++id) {
      const ActionKind kind = program.actions[at.action++].kind;
      at.host_program += kind == ActionKind::start_host;
      if (kind != ActionKind::start_nss) continue;
      const std::uint32_t tasks = program.nss_programs[at.nss_program++].tasks;
      for (std::uint32_t i = 0; i < tasks; ++i) at.step += program.tasks[at.task++].steps;
    }
    const std::uint32_t last = compilation.action_operations[at.action - 1];
    while (at.kernel < program.kernels.size() && compilation.kernel_operations[at.kernel] <= last) {
      ++at.kernel;
    }
  }
  places.push_back(at);
  return places;
}

std::string location_text(const Compilation& compilation, const CompiledOperation& operation) {
  std::vector<std::string> places;
  for (const SourcePlace place : operation.places) {
    places.push_back(
        fmt::format("\"{}\":{}:{}", compilation.source_file, place.line, place.column));
  }
  if (places.empty()) return "unknown";
  return places.size() == 1 ? places[0] : fmt::format("fused[{}]", fmt::join(places, ", "));
}

}  // namespace npuscope::npu::torq
