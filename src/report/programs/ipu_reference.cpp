#include "report/programs/ipu_documents.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "formats/sigmastar/image.hpp"
#include "npu/targets/ipu/simulate.hpp"

namespace npuscope::report {
namespace {

using npu::ipu::Compiled;
using npu::ipu::LayerMetrics;

std::uint64_t sum(const Compiled& compiled, std::uint64_t LayerMetrics::*what) {
  std::uint64_t total = 0;
  for (const LayerMetrics& layer : compiled.layers) total += layer.*what;
  return total;
}

Section summary(const Compiled& compiled, const IpuCompileFiles& files) {
  const auto& own = *compiled.image.own;
  const auto& operators = compiled.model.operators;
  const auto groups =
      std::ranges::count_if(compiled.layers, [](const auto& layer) { return layer.operators > 1; });
  Section section{.key = "compiled", .title = "COMPILED"};
  section.facts = {
      {{"model", "fixed model"}, files.model},
      {{"image", "offline model"}, files.image},
      {{"operators", "operators", Format::count}, operators.size()},
      {{"layers", "layers of the hardware", Format::count}, compiled.layers.size()},
      {{"fused_groups", "fused groups", Format::count}, groups},
      {{"cores", "cores", Format::count}, own.program.cores},
      {{"batch", "batch", Format::count}, own.batch.max},
      {{"batch_mode", "batch mode"}, own.batch.mode},
      {{"variable_buffer_bytes", "variable buffer", Format::bytes},
       compiled.image.variable_buffer_bytes},
      {{"multiply_accumulates", "multiply-accumulates", Format::count},
       sum(compiled, &LayerMetrics::multiply_accumulates)},
      {{"load_bytes", "loaded from DDR", Format::bytes}, sum(compiled, &LayerMetrics::load_bytes)},
      {{"weight_bytes", "of these, weights", Format::bytes},
       sum(compiled, &LayerMetrics::weight_bytes)},
      {{"input_bytes", "inputs of layers", Format::bytes},
       sum(compiled, &LayerMetrics::input_bytes)},
      {{"refetch_bytes", "again", Format::bytes}, sum(compiled, &LayerMetrics::refetch_bytes)},
      {{"store_bytes", "stored to DDR", Format::bytes}, sum(compiled, &LayerMetrics::store_bytes)}};
  section.remarks = {
      "Again: what both cores load, rows that tiles share, and what has to come back for want of "
      "room on the chip. The same for every inference."};
  return section;
}

Section layers(const Compiled& compiled) {
  Section section{.key = "layers", .title = "LAYERS"};
  section.table.fields = {{"layer", "layer", Format::count},
                          {"type", "type"},
                          {"first_operator", "operator", Format::count},
                          {"operators", "fused", Format::count},
                          {"multiply_accumulates", "MACs", Format::count},
                          {"tiles", "tiles", Format::count},
                          {"load_bytes", "loaded", Format::bytes},
                          {"weight_bytes", "weights", Format::bytes, false},
                          {"input_bytes", "inputs", Format::bytes, false},
                          {"refetch_bytes", "again", Format::bytes},
                          {"store_bytes", "stored", Format::bytes},
                          {"output", "output", Format::name, false}};
  std::uint64_t number = 0;
  for (const LayerMetrics& layer : compiled.layers) {
    section.table.rows.push_back({number++, layer.type, layer.first_operator, layer.operators,
                                  layer.multiply_accumulates, layer.tiles, layer.load_bytes,
                                  layer.weight_bytes, layer.input_bytes, layer.refetch_bytes,
                                  layer.store_bytes, layer.output});
  }
  return section;
}

}  // namespace

Document make_ipu_compile_document(const Compiled& compiled, const IpuCompileFiles& files) {
  Document document;
  document.sections = {summary(compiled, files), layers(compiled)};
  return document;
}

namespace {

using npu::ipu::RunOutcome;
using sigmastar::ImageTensor;

constexpr int max_tensors = 60;  // as the vendor's header says

const char* work_mode(const RunOutcome& outcome) {
  return outcome.image->own->program.cores > 1 ? "dual core" : "single core";
}

std::uint64_t ddr_bytes(const RunOutcome& outcome) {
  return outcome.inference->load_bytes + outcome.inference->store_bytes;
}

// An image's colours, else what its elements are.
std::string type_of(const ImageTensor& tensor, const sigmastar::InputFormat* known) {
  if (tensor.is_image && known != nullptr) return known->chip;
  const std::string format = sigmastar::element_format_name(tensor.element_format);
  return format.empty() ? sigmastar::tensor_type_name(tensor.type) : format;
}

std::string shape_of(const ImageTensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.shape, ", "));
}

std::uint64_t size_of(const ImageTensor& tensor) {
  return sigmastar::data_bytes(tensor).value_or(tensor.bytes);
}

using Formats = std::vector<sigmastar::InputFormat>;

const sigmastar::InputFormat* format_at(const Formats& formats, std::size_t i) {
  return i < formats.size() ? &formats[i] : nullptr;
}

void append_tensors(std::string& text, const char* what, const std::vector<ImageTensor>& tensors,
                    const Formats& formats) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const ImageTensor& tensor = tensors[i];
    fmt::format_to(
        std::back_inserter(text),
        "{}({}):\n    name:       {}\n    dtype:      {}\n    shape:      {}\n    size:  "
        "     {}\n",
        what, i, printable(tensor.name), printable(type_of(tensor, format_at(formats, i))),
        shape_of(tensor), size_of(tensor));
  }
}

Section tensors_section(const char* key, const std::vector<ImageTensor>& tensors,
                        const Formats& formats) {
  Section section{.key = key};
  section.table.fields = {{"name", "name"},
                          {"dtype", "dtype"},
                          {"shape", "shape", Format::numbers},
                          {"bytes", "size", Format::count}};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const ImageTensor& tensor = tensors[i];
    section.table.rows.push_back(
        {tensor.name, type_of(tensor, format_at(formats, i)),
         std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end()), size_of(tensor)});
  }
  return section;
}

}  // namespace

std::string ipu_logging_remark(const RunOutcome& outcome) {
  if (!outcome.is_logged) return {};
  return "a log was written: Invoke Time, IPU Time and BandWidth are not to be trusted; take them "
         "from a run without --ipu_log";
}

std::string ipu_run_text(const RunOutcome& outcome, const std::string& image) {
  const auto& batch = outcome.image->own->batch;
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "mi_ipu_datatype.h info:\nMax Input:      {0}\nMax Output:     {0}\n",
                 max_tensors);
  fmt::format_to(out, "NAME(0): {}\n", printable(image));
  const char* mark = outcome.is_logged ? " (logging)" : "";
  fmt::format_to(out, "Invoke Time: {:.5f} ms{}\n", outcome.invoke_s * 1e3, mark);
  fmt::format_to(out, "IPU Time: {:.5f} ms{}\n", outcome.ipu_s * 1e3, mark);
  fmt::format_to(out, "BandWidth: {:.3f} MB{}\n", double(ddr_bytes(outcome)) / 1e6, mark);
  fmt::format_to(out, "Variable size: {}\n", outcome.image->variable_buffer_bytes);
  fmt::format_to(out, "work_mode: {}\n", work_mode(outcome));
  fmt::format_to(out, "Batch mode: {}\nSetting batch: {}\nSuggest batch: {}\n",
                 printable(batch.mode), batch.max, batch.suggested);
  append_tensors(text, "Input", outcome.image->inputs, outcome.image->own->inputs);
  append_tensors(text, "Output", outcome.image->outputs, {});
  for (const npu::ipu::LogFile& log : outcome.logs) {
    fmt::format_to(out, "IPU log: {} ({} bytes)\n", printable(log.path.string()), log.bytes);
  }
  if (!outcome.logs.empty()) {
    fmt::format_to(out, "IPU clock: {:.6g} MHz, what ipu timeline takes as -f\n",
                   outcome.clock_hz / 1e6);
  }
  return text;
}

Document make_ipu_run_document(const RunOutcome& outcome, const std::string& image) {
  const auto& batch = outcome.image->own->batch;
  Section run{.key = "run"};
  run.facts = {{{"image"}, image},
               {{"inferences", "", Format::count}, outcome.inferences},
               {{"invoke_seconds", "", Format::seconds}, outcome.invoke_s},
               {{"ipu_seconds", "", Format::seconds}, outcome.ipu_s},
               {{"ipu_cycles", "", Format::count}, outcome.inference->cycles},
               {{"hertz", "", Format::hertz}, outcome.clock_hz},
               {{"bandwidth_bytes", "", Format::bytes}, ddr_bytes(outcome)},
               {{"load_bytes", "", Format::bytes}, outcome.inference->load_bytes},
               {{"store_bytes", "", Format::bytes}, outcome.inference->store_bytes},
               {{"variable_bytes", "", Format::bytes}, outcome.image->variable_buffer_bytes},
               {{"work_mode"}, work_mode(outcome)},
               {{"batch_mode"}, batch.mode},
               {{"setting_batch", "", Format::count}, batch.max},
               {{"suggest_batch", "", Format::count}, batch.suggested},
               {{"times_can_be_trusted", "", Format::truth}, !outcome.is_logged}};
  Section logs{.key = "logs"};
  logs.table.fields = {{"log"},
                       {"path"},
                       {"bytes", "", Format::bytes},
                       {"needed_bytes", "", Format::bytes},
                       {"lost_records", "", Format::count}};
  for (const npu::ipu::LogFile& log : outcome.logs) {
    logs.table.rows.push_back(
        {log.log, log.path.string(), log.bytes, log.needed_bytes, log.lost_records});
  }
  Document document;
  document.sections = {run,
                       tensors_section("inputs", outcome.image->inputs, outcome.image->own->inputs),
                       tensors_section("outputs", outcome.image->outputs, {}), logs};
  return document;
}

}  // namespace npuscope::report
