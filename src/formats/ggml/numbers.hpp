// The numbers of profiles of llama.cpp's logs, with what they mean.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/ggml/log.hpp"
#include "formats/ggml/placement.hpp"
#include "formats/ggml/steps.hpp"

namespace npuscope::ggml {

// Ops of one session run one after the other: the window of each is its part of the path.
inline constexpr NamedNumber op_window{"op window", MeasureKind::dominant_path,
                                       NumberRole::op_window};
inline constexpr NamedNumber read_bytes{"weight and cache bytes", NumberQuantity::bytes,
                                        NumberRole::ddr_read};
inline constexpr NamedNumber op_macs{"MACs", NumberQuantity::macs};

// The counts of PMU counter `place`, without values.
MeasureColumn make_pmu_column(const Log& log, std::size_t place, Profile& profile);

// Tokens, how long llama.cpp says they took, and what the NPU had of that.
void add_run_numbers(const Log& log, const Steps& steps, const std::vector<std::uint32_t>& of,
                     const Placement& placement, Profile& profile);
// Of llama-bench and test-backend-ops.
void add_result_numbers(const Results& results, Profile& profile);

// What a reader of a profile must know of it that no number says.

// Of the batches of one profile.
struct LostEvents {
  std::uint64_t events = 0;
  std::uint64_t ops = 0;      // from the first lost one on
  std::uint64_t batches = 0;  // whose log does not say how many
};

// After those of the log itself.
void add_notes(const Log& log, const Placement& placement, const StepGroup& group,
               const LostEvents& lost, Profile& profile);

}  // namespace npuscope::ggml
