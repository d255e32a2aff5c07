#include "formats/ggml/notes.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/ggml/numbers.hpp"

namespace npuscope::ggml {
namespace {

// "SSM_CONV 2, ROPE 1".
std::string listed(const std::map<std::string, std::uint64_t>& counts) {
  constexpr std::size_t max_listed = 12;
  std::string text;
  std::size_t listed = 0;
  for (const auto& [name, count] : counts) {
    if (++listed > max_listed) return text + ", …";
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

}  // namespace

void add_notes(const Log& log, const Placement& placement, const StepGroup& group,
               const LostEvents& lost, Profile& profile) {
  profile.notes = log.notes;
  const auto note = [&](Severity severity, std::uint64_t count, std::string message) {
    profile.notes.push_back({severity, log.name, 0, std::move(message), count});
  };
  if (lost.events > 0) {
    note(Severity::warning, lost.events,
         fmt::format("trace events were lost: shares of HVX, HMX and DMA are lower bounds, of {} "
                     "ops from the first lost event on; set a larger GGML_HEXAGON_OPTRACE",
                     thousands(lost.ops)));
  }
  if (lost.batches > 0) {
    note(Severity::warning, lost.batches,
         "batches whose trace buffer was full, whose last events have no end or whose count of "
         "them is not in the log: events may be lost, and shares of HVX, HMX and DMA are lower "
         "bounds; set a larger GGML_HEXAGON_OPTRACE");
  }
  if (log.calls_below_ops > 0) {
    note(Severity::warning, log.calls_below_ops,
         "ops that took longer than the call that waited for them: the log was recorded without "
         "GGML_HEXAGON_OPSYNC=1, and its times belong to other ops");
  }
  if (!placement.has_counter()) {
    note(Severity::warning, 1,
         "the log has no start times: ops follow each other without the gaps between them, so "
         "that the wall is the sum of the ops");
  } else if (!placement.has_print_times()) {
    note(Severity::info, 1,
         "lines have no times: gaps between batches are lower bounds, because the NPU's counter "
         "nearly stops while it waits; record with --log-prefix and --log-timestamps");
  }
  if (placement.printing_us() > 0) {
    note(Severity::info, 1,
         fmt::format("the host printed the profile for {:.3f} ms between batches, which is left "
                     "out of the timeline",
                     double(placement.printing_us()) / 1e3));
  }
  if (!log.coverage.refused().empty()) {
    note(Severity::info, 1,
         "ops that the NPU refused, by their lines: " + listed(log.coverage.refused()));
  } else if (log.coverage.graphs().empty()) {
    note(Severity::info, 1, "ops on CPU and GPU are not in this log");
  }
  if (group.is_interrupted) {
    note(Severity::info, 1,
         "steps of other phases ran in between: idle time of this phase includes them");
  }
}

}  // namespace npuscope::ggml
