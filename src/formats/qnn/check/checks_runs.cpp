// Identity 6 and the phases: RUN_TRACE against the summary and the ops.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/qnn/check/checker.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {

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

}  // namespace npuscope::qnn
