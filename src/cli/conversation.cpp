// npuscope conversation: a decoder's time to first token and tokens a second.
#include <memory>
#include <optional>

#include "base/try.hpp"
#include "cli/documents.hpp"
#include "cli/file_choices.hpp"
#include "npu/core/target_file.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/tune/conversation.hpp"
#include "npuscope/base/progress.hpp"
#include "report/programs/conversation_document.hpp"

namespace npuscope::cli {
namespace {

constexpr std::uint64_t max_tokens = 131'072;

struct ConversationOptions {
  std::string model;
  std::vector<std::string> symbols;
  std::vector<std::uint32_t> contexts;
  bool keeps_precision = false;
  npu::ConversationRequest request;
  PageOptions page;
};

Result<npu::Conversation> held(ConversationOptions& options) {
  npu::ConversationRequest& request = options.request;
  request.model = options.model;
  request.convert_to_fp16 = !options.keeps_precision;
  request.contexts.assign(options.contexts.begin(), options.contexts.end());
  TRY(npu::parse_symbols(options.symbols, request.import));
  BusySign sign("simulating");
  return npu::hold_conversation(request);
}

ExitStatus run(ConversationOptions& options) {
  const auto conversation = held(options);
  if (!conversation) return report(conversation.error());
  return print_answer(options.page, report::conversation_document(options.request, *conversation),
                      {});
}

}  // namespace

void add_conversation_command(Command& program) {
  Command& command =
      program.command("conversation", "A decoder in use: time to first token and tokens a second");
  const auto options = std::make_shared<ConversationOptions>();
  npu::ConversationRequest& request = options->request;
  request.import.batch = 1;
  command.flag("-m,--model,model_file", options->model, "the ONNX file, with open dimensions")
      .required();
  command.flag("--prompt", request.prompt, "tokens that go in")
      .check(whole_number(1, max_tokens))
      .shows_usual();
  command.flag("--generate", request.tokens, "tokens that come out")
      .check(whole_number(1, max_tokens))
      .shows_usual();
  command.flag("--chunk", request.chunk, "tokens of the prompt in one inference")
      .check(whole_number(1, max_tokens))
      .shows_usual();
  command
      .flag("--context", options->contexts,
            "tokens that the state holds, a program for each; default: one of all tokens")
      .separated_by(',')
      .one_each()
      .check(whole_number(1, 2 * max_tokens))
      .called("LIST");
  command
      .flag("--sequence-symbol", request.sequence_symbol, "the model's dimension of input tokens")
      .called("NAME")
      .shows_usual();
  command.flag("--context-symbol", request.context_symbol, "the model's dimension of the state")
      .called("NAME")
      .shows_usual();
  command.flag("--onnx-define-symbol", options->symbols,
               "value of another symbolic dimension: name,value (repeatable)");
  command.flag("--batchsize", request.import.batch, "conversations that a program holds at once")
      .check(whole_number(1, 1 << 16))
      .shows_usual();
  command.flag("--aic-num-cores", request.cores, "cores of each activation; default: all, shared")
      .check(whole_number(1));
  command
      .flag("-a,--aic-num-of-activations", request.activations,
            "conversations (batches) on cores of their own")
      .check(whole_number(1, 1024))
      .shows_usual();
  command.flag("--keep-precision", options->keeps_precision,
               "float32 tensors stay float32; otherwise they become float16");
  command.flag("--mxfp6-matmul", request.mxfp6_matmul, "as of compile: weights as MXFP6");
  command.flag("--mxint8-kv-cache", request.mxint8_state,
               "as of compile: retained state as MXINT8");
  command
      .flag("--target", request.target,
            npu::builtin_target_names(npu::TargetArchitecture::nsp) + " or a .toml file")
      .offers(target_names())
      .shows_usual();
  options->page.top.cut_when_printed();
  add_page_options(command, options->page);
  command.action = [options] { return run(*options); };
}

}  // namespace npuscope::cli
