#include "report/programs/conversation_document.hpp"

#include "report/document/document_value.hpp"
#include "report/programs/trust.hpp"

namespace npuscope::report {

Document conversation_document(const npu::ConversationRequest& request,
                               const npu::Conversation& conversation) {
  Section facts{.key = "conversation", .title = "CONVERSATION"};
  facts.facts = {
      {{"target", "target"}, request.target},
      {{"prompt_tokens", "prompt, tokens", Format::count}, request.prompt},
      {{"generated_tokens", "generated, tokens", Format::count}, request.tokens},
      {{"batch", "batch", Format::count}, conversation.batch},
      {{"activations", "activations", Format::count}, request.activations},
      {{"cores", "cores", Format::count}, conversation.cores},
      {{"first_token_seconds", "first token", Format::seconds}, conversation.first_token_s},
      {{"total_seconds", "all tokens", Format::seconds}, conversation.seconds},
      {{"tokens_per_second", "tokens per second", Format::number},
       if_positive(conversation.tokens_per_second)},
      {{"all_tokens_per_second", "all conversations", Format::number},
       if_positive(conversation.all_tokens_per_second)}};
  facts.remarks = {
      "tokens per second: of one conversation, after its first token; all conversations: times "
      "batch "
      "and activations. Simulated on the reference NPU; choosing a token takes no time."};
  const npu::ModelFacts& model = conversation.model;
  const bool is_float32 = model.is_float32 && !request.convert_to_fp16;
  add_trust(facts,
            trust_in(request.target, {model.family, model.is_quantized, is_float32,
                                      request.mxfp6_matmul && !is_float32, request.mxint8_state}));
  Section phases{.key = "phases", .title = "PHASES"};
  phases.table.fields = {{"phase", "phase"},
                         {"input_tokens", "input", Format::count},
                         {"context", "context", Format::count},
                         {"steps", "steps", Format::count},
                         {"seconds", "time", Format::seconds},
                         {"step_seconds", "per step, median", Format::seconds},
                         {"step_ddr_bytes", "DDR per step", Format::bytes}};
  for (const npu::ConversationPhase& phase : conversation.phases) {
    phases.table.rows.push_back({phase.is_prefill ? "prefill" : "decode", phase.input_tokens,
                                 phase.context, phase.steps, phase.seconds, phase.median_s,
                                 phase.ddr_bytes});
  }
  Document document;
  document.sections = {std::move(facts), std::move(phases)};
  return document;
}

}  // namespace npuscope::report
