// A decoder in use: a prompt goes in, chunk by chunk (prefill), then tokens come out one by one
// (decode), each of which waits for the one before. What `npuscope conversation` does.
//
//   ConversationRequest request{.model = "qwen3.onnx", .prompt = 512, .tokens = 128};
//   request.contexts = {512, 1024};
//   Result<Conversation> held = hold_conversation(request);
//   held->first_token_s         0.213: 16 chunks of 32 tokens
//   held->tokens_per_second     82.1 of one activation, from the second token on
//
// Programs have fixed shapes: one for each length of input (a chunk, a token) and context, which is
// how many tokens the retained state holds. A step takes the program of the smallest context that
// holds all tokens until then, so with several contexts steps grow longer with the conversation.
// The model's symbols say what a program is compiled for; state stays on the device. Each step is
// queued by the host when the one before is finished; what choosing a token takes is not known, and
// not counted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "npu/tune/model_facts.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/npu/graph/import_options.hpp"

namespace npuscope::npu {

struct ConversationRequest {
  std::filesystem::path model;
  std::string target = "aic100";
  ImportOptions import = {};  // its batch: conversations that a program holds at once
  std::string sequence_symbol = "seq_len";
  std::string context_symbol = "ctx_len";
  bool convert_to_fp16 = true;
  bool mxfp6_matmul = false;  // as of compile
  bool mxint8_state = false;
  std::uint32_t cores = 0;  // 0: all of the target's, shared by the activations
  std::uint32_t activations = 1;
  std::uint64_t prompt = 128;                // tokens
  std::uint64_t chunk = 32;                  // of them in one inference
  std::uint64_t tokens = 128;                // that come out, the first with the last of the prompt
  std::vector<std::uint64_t> contexts = {};  // empty: one, of prompt and tokens
};

// Steps in a row that take the same program.
struct ConversationPhase {
  bool is_prefill = false;
  std::uint64_t input_tokens = 1;  // of a step
  std::uint64_t context = 0;
  std::uint64_t steps = 0;
  double seconds = 0;           // of all, from the first one's queue to the last one's result
  double median_s = 0;          // of a step
  std::uint64_t ddr_bytes = 0;  // read and written in a step, by all cores
};

struct Conversation {
  ModelFacts model;
  std::uint32_t batch = 1;
  std::uint32_t cores = 0;  // of each activation
  std::vector<ConversationPhase> phases;
  double first_token_s = 0;
  double seconds = 0;
  double tokens_per_second = 0;      // of one conversation, after the first token; 0: there is one
  double all_tokens_per_second = 0;  // of all, batches and activations
};

// Usage errors: numbers that make no sense, a context that does not hold the conversation. What
// compile and run refuse.
Result<Conversation> hold_conversation(const ConversationRequest& request);

}  // namespace npuscope::npu
