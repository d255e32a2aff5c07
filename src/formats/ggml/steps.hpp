// Which batches make up a step of the model (a graph evaluated once: a prompt's tokens, or one
// token), and what the step is for. A graph is sent in several batches, and nothing in the log says
// where it begins: names of layers begin again.
//
//   const Steps steps = find_steps(log);
//   steps.of_batch[2]            1
//   steps.steps[1].phase         decode
//   steps.steps[1].tokens        1
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/ggml/log.hpp"

namespace npuscope::ggml {

enum class StepPhase : std::uint8_t { warm_up, prefill, several_tokens, decode, other };
const char* name_of(StepPhase phase);  // "prefill"

struct Step {
  StepPhase phase = StepPhase::other;
  std::optional<std::int64_t> tokens;  // rows of its first product with weights
};

struct Steps {
  std::vector<std::uint32_t> of_batch;
  std::vector<Step> steps;
};

Steps find_steps(const Log& log);

// The steps that become one profile.
struct StepGroup {
  StepPhase phase = StepPhase::other;
  std::vector<std::uint32_t> steps;
  bool is_interrupted = false;  // by steps of other phases
};

// In the order of the log: each stretch of a phase, or where there are many, each phase.
std::vector<StepGroup> groups_of(const std::vector<Step>& steps);

}  // namespace npuscope::ggml
