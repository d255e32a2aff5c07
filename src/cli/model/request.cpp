#include "cli/model/request.hpp"

#include <cstdio>

#include "cli/choices.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::cli {
namespace {

void add_architecture_flags(Command& program, npu::ArchitectureChanges& changes) {
  program.begin_group("Architecture (changes the preset; decoder and encoder need the first five)");
  program.flag("--hidden", changes.hidden_size, "Elements of a token's vector between layers");
  program.flag("--layers", changes.layers, "Layers");
  program.flag("--heads", changes.heads, "Query heads of attention");
  program.flag("--ffn", changes.feed_forward_size, "Size inside the feed-forward network");
  program.flag("--vocab", changes.vocabulary_size, "Tokens of the vocabulary");
  program.flag("--kv-heads", changes.key_value_heads,
               "Key/value heads (otherwise as many as heads)");
  program.flag("--head-size", changes.head_size, "Elements of a head (otherwise hidden / heads)");
  program.flag("--positions", changes.max_positions, "Encoder: rows of the table of positions");
  program.flag("--rotary-base", changes.rotary_base, "Decoder: base of the rotary frequencies");
  program.flag("--name", changes.name, "Name of the graph (otherwise the preset's)");
  // Neither name given leaves the preset's choice.
  program.flag("--tied-embeddings,!--no-tied-embeddings", changes.tied_embeddings,
               "Decoder: logits use the embedding table");
  program.flag("--query-key-norm,!--no-query-key-norm", changes.query_key_norm,
               "Decoder: RMS norm over each query and key head");
}

Result<ModelReport> make(const ModelRequest& request) {
  auto architecture = npu::make_architecture(request.base, request.changes);
  if (!architecture) return tl::unexpected(architecture.error());
  npu::InputSizes sizes = npu::default_sizes(*architecture);
  sizes.batch = request.batch.value_or(sizes.batch);
  sizes.sequence = request.sequence.value_or(sizes.sequence);
  sizes.context = request.context.value_or(sizes.context);
  auto summary = npu::summarize(*architecture, sizes);
  if (!summary) return tl::unexpected(summary.error());
  ModelReport made{*architecture, sizes, request.options, *summary, request.output, 0, 0};
  if (!request.output) return made;
  auto model = npu::generate_onnx(*architecture, sizes, request.options);
  if (!model) return tl::unexpected(model.error());
  made.file_bytes = model->bytes.size();
  made.nodes = model->nodes;
  auto written = write_file_atomically(*request.output, as_byte_span(model->bytes));
  if (!written) return tl::unexpected(written.error());
  return made;
}

}  // namespace

void add_model_flags(Command& program, ModelRequest& request) {
  program.flag("preset", request.base,
               "amber-7b, qwen3-0.6b, bert-base (--list tells more), decoder or encoder");
  program.flag("-o,--output", request.output,
               "The ONNX file to write (otherwise only the summary is printed)");
  program.flag("--list", request.list, "List the presets");
  program.flag("--json", request.json, "Print the summary or the list as JSON");
  using npu::FloatType;
  add_choice<FloatType>(program, "--precision", request.options.precision,
                        {{"float32", FloatType::float32}, {"float16", FloatType::float16}},
                        "Of weights and activations");
  program.begin_group("Sizes of one inference");
  program.flag("--batch", request.batch, "Sequences at once (1)");
  program.flag("--seq", request.sequence, "Tokens that go in (32; encoders 128)");
  program.flag("--ctx", request.context, "Decoder: tokens the retained state holds (128)");
  program.flag("--symbolic", request.options.symbolic,
               "Leave batch_size, seq_len and ctx_len open; the sizes serve the summary");
  add_architecture_flags(program, request.changes);
}

namespace {

void print_answer(const ModelRequest& request, std::FILE* stream, const auto& json,
                  const auto& text) {
  if (request.json) {
    print_json(stream, json());
  } else {
    print(stream, "{}", text());
  }
}

}  // namespace

Status serve(const ModelRequest& request) {
  if (request.list) {
    print_answer(request, stdout, json_of_presets, text_of_presets);
    return {};
  }
  if (request.base.empty()) {
    return usage_error("no model named; give a preset (--list shows them), decoder or encoder");
  }
  const auto made = make(request);
  if (!made) return tl::unexpected(made.error());
  // The model itself may go to standard output; then the summary must not follow it there.
  const bool output_taken = request.output == "/dev/stdout";
  print_answer(
      request, output_taken ? stderr : stdout, [&] { return json_of(*made); },
      [&] { return text_of(*made); });
  return {};
}

}  // namespace npuscope::cli
