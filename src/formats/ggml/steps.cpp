#include "formats/ggml/steps.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>

namespace npuscope::ggml {
namespace {

// What a session has done of its step. A name stands for an operation whatever its dimensions are:
// those of a prompt differ from those of a token.
struct OpenStep {
  std::uint32_t step = 0;
  bool any = false;
  int layer = -1;
  std::unordered_set<std::size_t> names;
};

std::vector<std::size_t> names_of(const Log& log) {
  std::vector<std::size_t> names;
  for (const Operation& operation : log.operations) {
    std::string all = operation.role;
    for (const Tensor& input : operation.inputs) all += " x " + input.name;
    for (const Tensor& output : operation.outputs) all += " > " + output.name;
    names.push_back(std::hash<std::string>{}(all));
  }
  return names;
}

void find_phases(const Log& log, std::vector<Step>& steps) {
  constexpr std::int64_t max_together = 16;  // sequences, or guesses of a draft
  bool has_decoded = false;
  const auto is_prompt = [](const Step& step) { return step.tokens.value_or(0) > 2; };
  const auto first_prompt = std::ranges::find_if(steps, is_prompt);
  // Programs run one or two tokens before the prompt.
  const auto before = first_prompt == steps.end() ? 0 : first_prompt - steps.begin();
  constexpr std::ptrdiff_t max_warm_up = 4;
  std::ptrdiff_t warm_up = before <= max_warm_up ? before : 0;
  if (first_prompt == steps.end() && log.results.decode.tokens > 0) {
    const auto decoded =
        std::ranges::count_if(steps, [](const Step& step) { return step.tokens.value_or(0) == 1; });
    const double more = double(decoded) - log.results.decode.tokens;
    if (more == 1 || more == 2) warm_up = std::ptrdiff_t(more);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Step& step = steps[i];
    if (std::ptrdiff_t(i) < warm_up) {
      step.phase = StepPhase::warm_up;
    } else if (!step.tokens) {
      step.phase = StepPhase::other;
    } else if (*step.tokens == 1) {
      step.phase = StepPhase::decode;
      has_decoded = true;
    } else {
      const bool is_between = has_decoded && *step.tokens <= max_together;
      step.phase = is_between ? StepPhase::several_tokens : StepPhase::prefill;
    }
  }
}

}  // namespace

const char* name_of(StepPhase phase) {
  constexpr const char* names[] = {"warm-up", "prefill", "decode of several tokens", "decode",
                                   "ops without weights"};
  return names[std::size_t(phase)];
}

Steps find_steps(const Log& log) {
  Steps found;
  const std::vector<std::size_t> names = names_of(log);
  std::vector<OpenStep> open(log.sessions.size());
  for (const Batch& batch : log.batches) {
    OpenStep& session = open[batch.session];
    int first_layer = -1, last_layer = -1;
    std::optional<std::int64_t> tokens;
    std::optional<std::size_t> first_name;
    const auto runs = std::span(log.runs).subspan(batch.first_run, batch.runs);
    for (const OpRun& run : runs) {
      const Operation& operation = log.operations[run.operation];
      if (operation.synchronises) continue;
      if (!first_name) first_name = names[run.operation];
      if (!tokens) tokens = operation.tokens;
      if (!operation.layer) continue;
      if (first_layer < 0) first_layer = *operation.layer;
      last_layer = std::max(last_layer, *operation.layer);
    }
    const bool goes_back = first_layer >= 0 && first_layer < session.layer;
    const bool repeats = first_name && session.names.contains(*first_name);
    if (session.any && (goes_back || repeats)) {
      session = {session.step + 1, false, -1, {}};
    }
    session.any = true;
    session.layer = std::max(session.layer, last_layer);
    for (const OpRun& run : runs) session.names.insert(names[run.operation]);
    if (found.steps.size() <= session.step) found.steps.resize(session.step + 1);
    Step& step = found.steps[session.step];
    if (!step.tokens) step.tokens = tokens;
    found.of_batch.push_back(session.step);
  }
  find_phases(log, found.steps);
  return found;
}

std::vector<StepGroup> groups_of(const std::vector<Step>& steps) {
  constexpr std::size_t max_stretches = 8;
  std::vector<StepGroup> groups;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    if (groups.empty() || groups.back().phase != steps[i].phase) {
      groups.push_back({steps[i].phase, {}});
    }
    groups.back().steps.push_back(i);
  }
  if (groups.size() <= max_stretches) return groups;
  std::vector<StepGroup> merged;
  for (StepGroup& group : groups) {
    const auto found = std::ranges::find(merged, group.phase, &StepGroup::phase);
    if (found == merged.end()) {
      merged.push_back(std::move(group));
      continue;
    }
    found->is_interrupted = true;
    found->steps.insert(found->steps.end(), group.steps.begin(), group.steps.end());
  }
  return merged;
}

}  // namespace npuscope::ggml
