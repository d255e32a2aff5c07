// npuscope-model: writes transformer models as ONNX files without weight data.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/choices.hpp"
#include "cli/command.hpp"
#include "cli/description.hpp"
#include "npu/models/summary.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"
#include "report/document/document_json.hpp"

namespace npuscope::cli {
namespace {

// What npuscope-model was asked for, and doing it.
struct ModelRequest {
  std::string base;  // a preset, "decoder" or "encoder"
  npu::ArchitectureChanges changes;
  std::optional<std::int64_t> batch, sequence, context;
  npu::GenerateOptions options;
  std::optional<std::string> output;  // without one only the summary is made
  bool list = false;
  bool json = false;
};

// What was made: the fields that both forms of the summary print.
struct ModelReport {
  npu::Architecture architecture;
  npu::InputSizes sizes;
  npu::GenerateOptions options;
  npu::ModelSummary summary;
  std::optional<std::string> file;  // none when none was written
  std::size_t file_bytes = 0;
  std::size_t nodes = 0;
};

// Writes the model and prints its summary, or prints the list of presets.
Status serve(const ModelRequest& request);

std::string text_of(const ModelReport& report);
std::string json_of(const ModelReport& report);
std::string text_of_presets();
std::string json_of_presets();

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
  TRY_AS(architecture, npu::make_architecture(request.base, request.changes));
  npu::InputSizes sizes = npu::default_sizes(*architecture);
  sizes.batch = request.batch.value_or(sizes.batch);
  sizes.sequence = request.sequence.value_or(sizes.sequence);
  sizes.context = request.context.value_or(sizes.context);
  TRY_AS(summary, npu::summarize(*architecture, sizes));
  ModelReport made{*architecture, sizes, request.options, *summary, request.output, 0, 0};
  if (!request.output) return made;
  TRY_AS(model, npu::generate_onnx(*architecture, sizes, request.options));
  made.file_bytes = model->bytes.size();
  made.nodes = model->nodes;
  TRY(write_file_atomically(*request.output, as_byte_span(model->bytes)));
  return made;
}

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

void print_answer(const ModelRequest& request, std::FILE* stream, const auto& json,
                  const auto& text) {
  if (request.json) {
    print_json(stream, json());
  } else {
    print(stream, "{}", text());
  }
}

Status serve(const ModelRequest& request) {
  if (request.list) {
    print_answer(request, stdout, json_of_presets, text_of_presets);
    return {};
  }
  if (request.base.empty()) {
    return usage_error("no model named; give a preset (--list shows them), decoder or encoder");
  }
  TRY_AS(made, make(request));
  // The model itself may go to standard output; then the summary must not follow it there.
  const bool output_taken = request.output == "/dev/stdout";
  print_answer(
      request, output_taken ? stderr : stdout, [&] { return json_of(*made); },
      [&] { return text_of(*made); });
  return {};
}

using npu::ModelKind;
using report::Json;

std::string_view name_of(npu::FloatType type) {
  return type == npu::FloatType::float16 ? "float16" : "float32";
}

void write_architecture(Json& json, const npu::Architecture& a) {
  json.member("name", a.name);
  json.member("kind", npu::name_of(a.kind));
  json.member("hidden_size", a.hidden_size);
  json.member("layers", a.layers);
  json.member("heads", a.heads);
  json.member("key_value_heads", a.key_value_heads);
  json.member("head_size", a.head_size);
  json.member("feed_forward_size", a.feed_forward_size);
  json.member("vocabulary_size", a.vocabulary_size);
  if (a.kind == ModelKind::encoder) {
    json.member("max_positions", a.max_positions);
  } else {
    json.member("tied_embeddings", a.tied_embeddings);
    json.member("query_key_norm", a.query_key_norm);
    json.member("rotary_base", a.rotary_base);
  }
  json.member("norm_epsilon", a.norm_epsilon);
}

void write_report(Json& json, const ModelReport& report) {
  const npu::ModelSummary& summary = report.summary;
  json.object("architecture", [&] { write_architecture(json, report.architecture); });
  json.member("batch", report.sizes.batch);
  json.member("sequence", report.sizes.sequence);
  if (report.architecture.kind == ModelKind::decoder) json.member("context", report.sizes.context);
  json.member("symbolic", report.options.symbolic);
  json.member("precision", name_of(report.options.precision));
  json.member("parameters", summary.parameters);
  json.member("weight_bytes_float16", summary.weight_bytes_float16);
  json.member("weight_mebibytes_float16", summary.weight_mebibytes_float16());
  json.member("retained_bytes_float16", summary.retained_bytes_float16);
  json.member("multiply_accumulates", summary.multiply_accumulates);
  json.member("padded_multiply_accumulates", summary.padded_multiply_accumulates);
  json.key("file");
  if (!report.file) return json.null();
  json.object([&] {
    json.member("path", *report.file);
    json.member("bytes", report.file_bytes);
    json.member("nodes", report.nodes);
  });
}

std::string line(std::string_view what, std::string_view value) {
  return fmt::format("  {:<32}{}\n", what, value);
}

std::string mebibytes(double value) {
  const std::string digits = fmt::format("{:.2f}", value);
  std::string_view rest = digits;
  const std::uint64_t whole = take_number<std::uint64_t>(rest).value_or(0);
  return fmt::format("{}{} MiB", thousands(whole), rest);
}

std::string text_of(const ModelReport& report) {
  const npu::Architecture& a = report.architecture;
  const npu::ModelSummary& summary = report.summary;
  const bool decoder = a.kind == ModelKind::decoder;
  std::string heads = fmt::format("{} heads", a.heads);
  if (a.key_value_heads != a.heads) heads += fmt::format(" ({} key/value)", a.key_value_heads);
  std::string text = fmt::format("{}: {} of {} layers, hidden {}, {} of {}, ffn {}, vocab {}\n",
                                 printable(a.name), npu::name_of(a.kind), a.layers, a.hidden_size,
                                 heads, a.head_size, a.feed_forward_size, a.vocabulary_size);
  text += fmt::format("one inference: batch {}, {} tokens{}\n", report.sizes.batch,
                      report.sizes.sequence,
                      decoder ? fmt::format(", context {}", report.sizes.context) : "");
  text += line("parameters", thousands(summary.parameters));
  text += line("weights at float16", mebibytes(summary.weight_mebibytes_float16()));
  if (decoder) {
    text += line("retained state at float16", mebibytes(summary.retained_mebibytes_float16()));
  }
  text += line("multiply-accumulates", thousands(summary.multiply_accumulates));
  text += line(fmt::format("  with rows padded to {}", npu::padded_row_multiple),
               thousands(summary.padded_multiply_accumulates));
  if (!report.file) return text + "no file written; -o FILE.onnx writes the model\n";
  return text + fmt::format("wrote {}: {} nodes, {} bytes, {}{}\n", printable(*report.file),
                            thousands(report.nodes), thousands(report.file_bytes),
                            name_of(report.options.precision),
                            report.options.symbolic ? ", symbolic sizes" : "");
}

std::string json_of(const ModelReport& report) {
  return report::json_text([&](Json& json) { write_report(json, report); });
}

std::string text_of_presets() {
  std::string text = fmt::format("{:<12}{:<9}{:>7}{:>8}{:>7}{:>9}{:>7}{:>8}{:>9}  {}\n", "preset",
                                 "kind", "layers", "hidden", "heads", "kv-heads", "size", "ffn",
                                 "vocab", "sizes published in");
  for (const npu::Preset& preset : npu::presets()) {
    const npu::Architecture& a = preset.architecture;
    text += fmt::format("{:<12}{:<9}{:>7}{:>8}{:>7}{:>9}{:>7}{:>8}{:>9}  {}\n", a.name,
                        npu::name_of(a.kind), a.layers, a.hidden_size, a.heads, a.key_value_heads,
                        a.head_size, a.feed_forward_size, a.vocabulary_size, preset.source);
  }
  return text;
}

std::string json_of_presets() {
  return report::json_text([](Json& json) {
    json.objects("presets", npu::presets(), [&](const npu::Preset& preset) {
      write_architecture(json, preset.architecture);
      json.member("source", preset.source);
    });
  });
}

void add_model_command(Command& program, std::string_view) {
  const auto request = std::make_shared<ModelRequest>();
  add_model_flags(program, *request);
  const auto man = std::make_shared<bool>(false);
  program.flag("--man-page", *man, "print the man page").under("");  // for the installation
  program.action = [request, man, &program] {
    if (*man) {
      print(stdout, "{}", man_page(describe(program), NPUSCOPE_VERSION));
      return ExitStatus::done;
    }
    const Status done = serve(*request);
    return done ? ExitStatus::done : report(done.error());
  };
}

}  // namespace
}  // namespace npuscope::cli

int main(int argc, char** argv) {
  using namespace npuscope::cli;
  return run_program(
      {"npuscope-model",
       "Writes transformer models as ONNX without weight data, to profile with npuscope"},
      add_model_command, argc, argv);
}
