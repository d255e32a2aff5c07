#include "report/programs/ipu_compile.hpp"

#include <algorithm>

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
  const auto groups = std::count_if(compiled.layers.begin(), compiled.layers.end(),
                                    [](const auto& layer) { return layer.operators > 1; });
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

}  // namespace npuscope::report
