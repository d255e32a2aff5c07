#include "npu/tune/conversation.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/simulate/events.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"

namespace npuscope::npu {
namespace {

constexpr std::uint64_t max_tokens = 131'072;

Status check(const ConversationRequest& request) {
  if (request.prompt < 1 || request.tokens < 1 || request.chunk < 1 || request.activations < 1) {
    return usage_error("a conversation has at least 1 token each of prompt, chunk and answer");
  }
  if (request.prompt > max_tokens || request.tokens > max_tokens) {
    return usage_error("{} tokens in, {} out; at most {} each", request.prompt, request.tokens,
                       max_tokens);
  }
  const std::uint64_t all = request.prompt + request.tokens;
  if (!request.contexts.empty() && std::ranges::max(request.contexts) < all) {
    return usage_error(
        "the largest context is {}, but prompt and answer are {} tokens; give a "
        "context of {} or more",
        std::ranges::max(request.contexts), all, all);
  }
  return {};
}

class Talk {
 public:
  Talk(const ConversationRequest& request, const nsp::Target& target)
      : request_(request), target_(target), contexts_(request.contexts) {
    if (contexts_.empty()) contexts_ = {request.prompt + request.tokens};
    std::ranges::sort(contexts_);
    result_.cores =
        request.cores > 0 ? request.cores : std::max(1u, target.cores / request.activations);
  }

  Result<Conversation> run() {
    plan();
    for (ConversationPhase& phase : result_.phases) {
      TRY(run(phase));
      result_.seconds += phase.seconds;
      if (phase.is_prefill) result_.first_token_s += phase.seconds;
    }
    TRY(look_at_model());
    const double decode_s = result_.seconds - result_.first_token_s;
    if (request_.tokens > 1) {
      result_.tokens_per_second = double(request_.tokens - 1) / decode_s;
      result_.all_tokens_per_second =
          result_.tokens_per_second * result_.batch * request_.activations;
    }
    return std::move(result_);
  }

 private:
  // `held`: tokens in the state when the step has ended.
  void add_step(bool is_prefill, std::uint64_t held) {
    const std::uint64_t context = *std::ranges::lower_bound(contexts_, held);
    auto& phases = result_.phases;
    if (phases.empty() || phases.back().is_prefill != is_prefill ||
        phases.back().context != context) {
      phases.push_back({is_prefill, is_prefill ? request_.chunk : 1, context, 0, 0, 0, 0});
    }
    ++phases.back().steps;
  }

  void plan() {
    for (std::uint64_t held = 0; held < request_.prompt; held += request_.chunk) {
      add_step(true, std::min(held + request_.chunk, request_.prompt));
    }
    for (std::uint64_t token = 1; token < request_.tokens; ++token) {
      add_step(false, request_.prompt + token);
    }
  }

  ImportOptions import_of(const ConversationPhase& phase) const {
    ImportOptions import = request_.import;
    import.needs_all_symbols = true;  // of another model these are no tokens
    import.symbols.insert_or_assign(request_.sequence_symbol, std::int64_t(phase.input_tokens));
    import.symbols.insert_or_assign(request_.context_symbol, std::int64_t(phase.context));
    return import;
  }

  Status look_at_model() {
    TRY_AS(graph, import_onnx_file(request_.model, import_of(result_.phases.back())));
    result_.model = facts_of(*graph);
    return {};
  }

  Status run(ConversationPhase& phase) {
    nsp::BuildRequest build;
    build.target = request_.target;
    build.import = import_of(phase);
    build.options.cores = result_.cores;
    build.options.convert_to_fp16 = request_.convert_to_fp16;
    build.options.mxfp6_matmul = request_.mxfp6_matmul;
    build.options.mxint8_state = request_.mxint8_state;
    build.options.retained_state = true;
    TRY_AS(built, nsp::build(request_.model, build));
    const nsp::CompiledNetwork& network = built->networks->front();
    result_.batch = network.program.batch_size;
    for (const nsp::CoreMetrics& core : network.metrics.cores) {
      phase.ddr_bytes += core.ddr_read_bytes + core.ddr_write_bytes;
    }
    nsp::SimulationOptions options;
    options.activations = request_.activations;
    options.set_size = 1;
    options.inferences = phase.steps;
    options.samples = 0;
    TRY_AS(simulated, nsp::simulate(network.program, target_, options));
    phase.seconds = nsp::to_seconds(simulated->total);
    phase.median_s = nsp::request_times(*simulated).median_s;
    return {};
  }

  const ConversationRequest& request_;
  const nsp::Target& target_;
  std::vector<std::uint64_t> contexts_;  // the least first
  Conversation result_;
};

}  // namespace

Result<Conversation> hold_conversation(const ConversationRequest& request) {
  TRY(check(request));
  TRY_AS(target, nsp::find_target(request.target));
  return Talk(request, *target).run();
}

}  // namespace npuscope::npu
