// What a reader of a profile must know of it that no number says.
#pragma once

#include <cstdint>

#include "formats/ggml/log.hpp"
#include "formats/ggml/placement.hpp"
#include "formats/ggml/steps.hpp"

namespace npuscope::ggml {

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
