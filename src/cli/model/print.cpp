#include "base/numbers.hpp"
#include "base/text.hpp"
#include "cli/model/request.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::cli {
namespace {

using Json = nlohmann::ordered_json;
using npu::ModelKind;

std::string_view name_of(npu::FloatType type) {
  return type == npu::FloatType::float16 ? "float16" : "float32";
}

Json json_of(const npu::Architecture& a) {
  Json json{{"name", a.name},
            {"kind", npu::name_of(a.kind)},
            {"hidden_size", a.hidden_size},
            {"layers", a.layers},
            {"heads", a.heads},
            {"key_value_heads", a.key_value_heads},
            {"head_size", a.head_size},
            {"feed_forward_size", a.feed_forward_size},
            {"vocabulary_size", a.vocabulary_size}};
  if (a.kind == ModelKind::encoder) {
    json["max_positions"] = a.max_positions;
  } else {
    json["tied_embeddings"] = a.tied_embeddings;
    json["query_key_norm"] = a.query_key_norm;
    json["rotary_base"] = a.rotary_base;
  }
  json["norm_epsilon"] = a.norm_epsilon;
  return json;
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
  const npu::ModelSummary& summary = report.summary;
  Json json{{"architecture", json_of(report.architecture)},
            {"batch", report.sizes.batch},
            {"sequence", report.sizes.sequence}};
  if (report.architecture.kind == ModelKind::decoder) json["context"] = report.sizes.context;
  json["symbolic"] = report.options.symbolic;
  json["precision"] = name_of(report.options.precision);
  json["parameters"] = summary.parameters;
  json["weight_bytes_float16"] = summary.weight_bytes_float16;
  json["weight_mebibytes_float16"] = summary.weight_mebibytes_float16();
  json["retained_bytes_float16"] = summary.retained_bytes_float16;
  json["multiply_accumulates"] = summary.multiply_accumulates;
  json["padded_multiply_accumulates"] = summary.padded_multiply_accumulates;
  if (!report.file) {
    json["file"] = nullptr;
  } else {
    json["file"] = {{"path", *report.file}, {"bytes", report.file_bytes}, {"nodes", report.nodes}};
  }
  return report::json_text(json);
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
  Json list = Json::array();
  for (const npu::Preset& preset : npu::presets()) {
    Json json = json_of(preset.architecture);
    json["source"] = preset.source;
    list.push_back(json);
  }
  return report::json_text(Json{{"presets", list}});
}

}  // namespace npuscope::cli
