#include "base/numbers.hpp"
#include "base/text.hpp"
#include "cli/model/request.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::cli {
namespace {

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

}  // namespace

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

}  // namespace npuscope::cli
