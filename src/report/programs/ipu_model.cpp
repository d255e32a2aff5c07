#include "report/programs/ipu_documents.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/counted.hpp"
#include "base/numbers.hpp"
#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "formats/sigmastar/log_layout.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::report {

namespace {

using sigmastar::Image;
using sigmastar::ImageTensor;

constexpr const char* unknown = "unknown";

Fact unknown_fact(std::string key, std::string label) {
  return {{std::move(key), std::move(label)}, unknown};
}

// Where the vendor's files keep these is not public; npuscope's compiler says them in a section of
// its own.
Fact own_fact(std::string key, std::string label, bool known, const Value& value,
              Format format = Format::name) {
  if (!known) return unknown_fact(std::move(key), std::move(label));
  return {{std::move(key), std::move(label), format}, value};
}

std::string supported_batches(const sigmastar::ImageBatch& batch) {
  if (batch.supported.empty()) return batch.max == 1 ? "1" : fmt::format("1 to {}", batch.max);
  return fmt::format("{}", fmt::join(batch.supported, ", "));
}

Section model_section(const Image& image) {
  Section section{.key = "offline_model", .title = "OFFLINE MODEL"};
  const bool is_s3 = image.header == sigmastar::ImageHeader::s3;
  const bool is_own = image.own.has_value();
  const sigmastar::ImageBatch batch = is_own ? image.own->batch : sigmastar::ImageBatch{};
  section.facts = {{{"version", "Offline IMG Version"}, image.version},
                   {{"bytes", "Offline Model Size", Format::count}, image.stated_bytes},
                   own_fact("max_batch_number", "Offline Model Max Batch Number", is_own, batch.max,
                            Format::count),
                   own_fact("suggested_batch", "Offline Model Suggested Batch", is_own,
                            batch.suggested, Format::count),
                   own_fact("supported_batch", "Offline Model Supported Batch", is_own,
                            supported_batches(batch)),
                   {{"variable_buffer_bytes", "Offline Model Variable Buffer Size", Format::count},
                    image.variable_buffer_bytes},
                   {{"header", "header"}, is_s3 ? "S3.x" : "S1.0.x"},
                   {{"file_bytes", "size of the file", Format::count}, image.file_bytes}};
  if (is_own) {
    section.remarks = {
        "Sizes are bytes. Made by npuscope for its reference NPU: batches, layouts and formats are "
        "from a section of its own."};
  } else {
    section.remarks = {
        "Sizes are bytes. The variable buffer is the first; where a file says a second, or its "
        "batches, is not public."};
  }
  return section;
}

std::vector<std::int64_t> numbers_of(const std::vector<std::uint32_t>& shape) {
  return {shape.begin(), shape.end()};
}

// As a double with the float's own digits: 0.00055925, not 0.0005592500092461705.
Value shortest(float number) {
  return parse_number<double>(fmt::format("{}", number)).value_or(double(number));
}

std::string format_text(const ImageTensor& tensor) {
  const std::string name = sigmastar::element_format_name(tensor.element_format);
  return name.empty() ? fmt::format("{} ({})", unknown, tensor.element_format) : name;
}

std::vector<Fact> common_facts(const ImageTensor& tensor, std::size_t index) {
  return {{{"name", "name"}, tensor.name},
          {{"index", "index", Format::count}, index},
          {{"dtype", "dtype"}, sigmastar::tensor_type_name(tensor.type)},
          {{"shape", "shape", Format::numbers}, numbers_of(tensor.shape)}};
}

void add_placement(const Image& image, const ImageTensor& tensor, std::vector<Fact>& facts) {
  facts.push_back({{"bytes", "size", Format::count}, sigmastar::data_bytes(tensor)});
  facts.push_back({{"buffer_bytes", "buffer", Format::count}, tensor.bytes});
  facts.push_back(
      {{"padded_width", "innermost dimension in memory", Format::count}, tensor.padded_width});
  facts.push_back(
      {{"inner_stride_bytes", "innermost stride", Format::count}, tensor.inner_stride_bytes});
  facts.push_back({{"zero_point", "zero point", Format::count}, tensor.zero_point});
  facts.push_back({{"scale", "scale", Format::exact}, shortest(tensor.scale)});
  const bool is_own = image.own.has_value();
  facts.push_back(
      own_fact("batch", "batch", is_own, is_own ? image.own->batch.max : 0, Format::count));
  facts.push_back(
      own_fact("batch_mode", "batch_mode", is_own, is_own ? image.own->batch.mode : std::string()));
}

Fact width_alignment(const ImageTensor& tensor, const std::string& chip) {
  const auto alignment = sigmastar::alignment_of_chip(chip);
  if (!alignment || !tensor.is_image) {
    return unknown_fact("input_width_alignment", "input_width_alignment");
  }
  return {{"input_width_alignment", "input_width_alignment"},
          fmt::format("{} (of {})", *alignment, chip)};
}

Section input_section(const Image& image, std::size_t index, const std::string& chip) {
  const ImageTensor& tensor = image.inputs[index];
  Section section{.key = "inputs", .title = fmt::format("INPUT {}", index)};
  section.in_list = true;
  section.facts = common_facts(tensor, index);
  auto& facts = section.facts;
  const bool is_own = image.own && index < image.own->inputs.size();
  const sigmastar::InputFormat own = is_own ? image.own->inputs[index] : sigmastar::InputFormat{};
  facts.insert(facts.begin() + 3, own_fact("layouts", "layouts", !own.layout.empty(), own.layout));
  facts.push_back(
      own_fact("training_input_formats", "training_input_formats", is_own, own.training));
  facts.push_back({{"input_formats", "input_formats"}, is_own ? own.chip : format_text(tensor)});
  facts.push_back(is_own ? own_fact("input_width_alignment", "input_width_alignment", true,
                                    own.width_alignment, Format::count)
                         : width_alignment(tensor, chip));
  facts.push_back(own_fact("input_height_alignment", "input_height_alignment", is_own,
                           own.height_alignment, Format::count));
  add_placement(image, tensor, facts);
  facts.push_back({{"is_image", "image", Format::truth}, tensor.is_image});
  return section;
}

Section output_section(const Image& image, std::size_t index) {
  const ImageTensor& tensor = image.outputs[index];
  Section section{.key = "outputs", .title = fmt::format("OUTPUT {}", index)};
  section.in_list = true;
  section.facts = common_facts(tensor, index);
  section.facts.push_back({{"format", "format"}, format_text(tensor)});
  add_placement(image, tensor, section.facts);
  return section;
}

Section operators_section(const Image& image) {
  Section section{.key = "operators", .title = "OPERATORS"};
  if (!image.model) {
    section.remarks = {"The model in the file cannot be read."};
    return section;
  }
  const auto& operators = image.model->operators;
  const auto groups = std::ranges::count_if(
      operators, [](const auto& each) { return each.fusion == sigmastar::Fusion::first; });
  section.facts = {{{"count", "operators", Format::count}, operators.size()},
                   {{"fused_groups", "fused groups", Format::count}, groups},
                   {{"identifier", "identifier"}, image.model->identifier},
                   {{"description", "description"}, image.model->description}};
  if (image.is_stripped()) {
    section.remarks = {"The operators have been stripped from this file; the rest is whole."};
    return section;
  }
  std::map<std::string, std::uint64_t> types;
  for (const auto& each : operators) ++types[each.type];
  std::vector<std::pair<std::string, std::uint64_t>> rows(types.begin(), types.end());
  sort_rows(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  section.table.fields = {{"type", "type"}, {"operators", "operators", Format::count}};
  for (const auto& [type, count] : rows) section.table.rows.push_back({type, count});
  return section;
}

}  // namespace

Document make_image_document(const Image& image, const std::string& chip) {
  Document document;
  document.sections.push_back(model_section(image));
  for (std::size_t i = 0; i < image.inputs.size(); ++i) {
    document.sections.push_back(input_section(image, i, chip));
  }
  for (std::size_t i = 0; i < image.outputs.size(); ++i) {
    document.sections.push_back(output_section(image, i));
  }
  document.sections.push_back(operators_section(image));
  return document;
}

namespace {

using sigmastar::Fusion;
using sigmastar::Model;
using sigmastar::ModelOperator;
using sigmastar::ModelTensor;

const ModelTensor* tensor_at(const Model& model, std::int32_t index) {
  return index >= 0 && std::size_t(index) < model.tensors.size()
             ? &model.tensors[std::size_t(index)]
             : nullptr;
}

std::vector<std::string> names_of(const Model& model, const std::vector<std::int32_t>& tensors) {
  std::vector<std::string> names;
  for (const std::int32_t index : tensors) {
    const ModelTensor* tensor = tensor_at(model, index);
    if (tensor != nullptr) names.push_back(tensor->name);
  }
  return names;
}

Section summary(const Model& model, std::uint64_t layers) {
  const auto& operators = model.operators;
  const auto groups = std::ranges::count_if(
      operators, [](const auto& each) { return each.fusion == Fusion::first; });
  Section section{.key = "model", .title = "MODEL"};
  section.facts = {{{"identifier", "identifier"}, model.identifier},
                   {{"description", "description"}, model.description},
                   {{"operators", "operators", Format::count}, operators.size()},
                   {{"layers", "layers of the hardware", Format::count}, layers},
                   {{"fused_groups", "fused groups", Format::count}, groups},
                   {{"tensors", "tensors", Format::count}, model.tensors.size()}};
  return section;
}

}  // namespace

Document make_ipu_operators_document(const Model& model) {
  Section section{.key = "operators", .title = "OPERATORS"};
  section.table.fields = {{"index", "index", Format::count},
                          {"type", "type"},
                          {"layer", "layer", Format::count},
                          {"group", "group"},
                          {"output", "first output"},
                          {"shape", "shape", Format::numbers, false},
                          {"dtype", "dtype", Format::name, false},
                          {"inputs", "inputs", Format::names, false},
                          {"outputs", "", Format::names}};
  std::int64_t layers = 0;
  for (std::size_t i = 0; i < model.operators.size(); ++i) {
    const ModelOperator& each = model.operators[i];
    layers += each.takes_layer();
    const ModelTensor* output =
        each.outputs.empty() ? nullptr : tensor_at(model, each.outputs.front());
    Value shape, type;
    if (output != nullptr) {
      shape = std::vector<std::int64_t>(output->shape.begin(), output->shape.end());
      type = sigmastar::tensor_type_name(output->type);
    }
    section.table.rows.push_back({i, each.type, each.is_alias() ? Value() : Value(layers - 1),
                                  name_of(each.fusion), each.label, std::move(shape),
                                  std::move(type), names_of(model, each.inputs),
                                  names_of(model, each.outputs)});
  }
  section.remarks = {
      "A fused group (first, member) is one layer of the hardware, whose time is its first "
      "operator's. A Reshape_Alias is a view and takes none."};
  Document document;
  document.sections = {summary(model, std::uint64_t(layers)), std::move(section)};
  return document;
}

namespace {

using sigmastar::CoreLog;
using sigmastar::LogEngine;

// An engine's busy time: the union of its intervals.
std::int64_t busy(const CoreLog& log, LogEngine engine) {
  std::int64_t until = std::numeric_limits<std::int64_t>::min();
  std::int64_t sum = 0;
  for (const auto& each : log.intervals) {  // by begin
    if (each.engine != engine) continue;
    sum = saturating_add(sum, length_of({std::max(until, each.begin), each.end}));
    until = std::max(until, each.end);
  }
  return sum;
}

std::vector<Value> row_of(const CoreLog& log, const std::string& name, double hertz) {
  std::int64_t first = 0, last = 0;
  for (const auto& each : log.intervals) {
    first = &each == &log.intervals.front() ? each.begin : std::min(first, each.begin);
    last = std::max(last, each.end);
  }
  const std::int64_t wall = length_of({first, last});
  std::vector<Value> row{name, log.records, log.layers.size(), wall, double(wall) / hertz};
  for (const LogEngine engine : {LogEngine::conv, LogEngine::vector, LogEngine::dma_load,
                                 LogEngine::dma_store, LogEngine::scalar}) {
    row.emplace_back(busy(log, engine));
  }
  row.emplace_back(log.unclosed);
  return row;
}

}  // namespace

Document make_ipu_timeline_document(const sigmastar::IpuTimeline& timeline,
                                    const std::string& output) {
  Section section{.key = "logs", .title = "LOGS, in cycles"};
  section.facts = {{{"output", "wrote"}, output},
                   {{"hertz", "frequency", Format::hertz}, timeline.hertz}};
  const auto& waits = timeline.waits;
  if (!waits.edges.empty()) {
    section.facts.push_back({{"waits", "arrows", Format::count}, waits.edges.size()});
  }
  section.table.fields = {{"log", "log"},
                          {"records", "records", Format::count},
                          {"layers", "layers", Format::count},
                          {"wall_cycles", "first to last", Format::count},
                          {"wall_seconds", "time", Format::seconds},
                          {"conv_busy_cycles", "conv busy", Format::count},
                          {"vector_busy_cycles", "vector busy", Format::count},
                          {"dma_load_busy_cycles", "load busy", Format::count},
                          {"dma_store_busy_cycles", "store busy", Format::count},
                          {"scalar_busy_cycles", "scalar busy", Format::count, false},
                          {"intervals_without_end", "without end", Format::count, false}};
  for (std::size_t i = 0; i < timeline.cores.size(); ++i) {
    section.table.rows.push_back(row_of(
        timeline.cores[i], fmt::format("core {}", timeline.core_numbers[i]), timeline.hertz));
  }
  if (timeline.control) {
    section.table.rows.push_back(row_of(*timeline.control, "corectrl", timeline.hertz));
  }
  section.remarks = {"Engines run side by side: their busy times overlap."};
  if (waits.too_many) {
    section.remarks.push_back("What waits for what is left out: too many arrows for a trace.");
  }
  if (waits.contradictory > 0) {
    section.remarks.push_back(
        fmt::format("Left out: {} that the layout's [tiles] give and that did not happen so: the "
                    "log is not complete, or its layout another.",
                    counted(waits.contradictory, "wait")));
  }
  if (!timeline.related) {
    section.remarks.push_back(
        "The layout does not relate the clocks of the logs: each begins at 0, and what lies beside "
        "what across them says nothing.");
  }
  Document document;
  document.sections.push_back(std::move(section));
  return document;
}

namespace {

constexpr double percent = 100;

std::string share_text(double share, bool seen) {
  return seen ? fmt::format("{:.3f}%", percent * share) : "not seen";
}

// Empty where the log covers the model.
std::string coverage_line(const sigmastar::OperatorCosts& costs) {
  if (!costs.is_partial()) return "";
  return fmt::format("partial: the log {}; shares are of what was seen\n",
                     sigmastar::coverage_text(costs));
}

Value share_value(double share, bool seen) { return seen ? Value(share) : Value(); }

Section operators_section(const sigmastar::Model& model, const sigmastar::OperatorCosts& costs,
                          const std::string& time_key) {
  Section section{.key = "operators", .title = "OPERATORS"};
  section.table.fields = {{"index", "index", Format::count},
                          {"type", "type"},
                          {"share", "of all layers", Format::share},
                          {time_key, time_key, Format::count},
                          {"layers", "layers", Format::count},
                          {"seen", "seen", Format::truth},
                          {"group", "group"},
                          {"output", "first output"}};
  for (std::size_t i = 0; i < model.operators.size(); ++i) {
    const auto& cost = costs.operators[i];
    section.table.rows.push_back({i, model.operators[i].type, share_value(cost.share, cost.seen),
                                  share_value(cost.time, cost.seen), cost.layers, cost.seen,
                                  name_of(model.operators[i].fusion), model.operators[i].label});
  }
  return section;
}

Section types_section(const sigmastar::OperatorCosts& costs, const std::string& time_key) {
  Section section{.key = "types", .title = "TYPES"};
  section.table.fields = {{"type", "type"},
                          {"share", "of all layers", Format::share},
                          {time_key, time_key, Format::count},
                          {"operators", "operators", Format::count},
                          {"operators_seen", "seen", Format::count}};
  for (const auto& type : costs.types) {
    section.table.rows.push_back({type.type, share_value(type.share, type.seen > 0),
                                  share_value(type.time, type.seen > 0), type.operators,
                                  type.seen});
  }
  return section;
}

}  // namespace

std::string op_cost_totals_text(const sigmastar::OperatorCosts& costs, std::size_t rows) {
  std::string out = coverage_line(costs);
  for (const auto& type : std::span(costs.types).first(std::min(rows, costs.types.size()))) {
    out += fmt::format("{} {}\n", printable(type.type), share_text(type.share, type.seen > 0));
  }
  return out;
}

std::string op_cost_each_text(const sigmastar::Model& model, const sigmastar::OperatorCosts& costs,
                              std::size_t rows) {
  std::string out = coverage_line(costs);
  for (std::size_t i = 0; i < std::min(rows, model.operators.size()); ++i) {
    const auto& cost = costs.operators[i];
    out += fmt::format("{} {} {}\n", i, printable(model.operators[i].type),
                       share_text(cost.share, cost.seen));
  }
  return out;
}

Document make_op_cost_document(const sigmastar::Model& model,
                               const sigmastar::OperatorCosts& costs) {
  const std::string time_key = costs.in_cycles ? "work_cycles" : "work_nanoseconds";
  Document document;
  Section all{.key = "all"};
  all.facts = {
      {{time_key, "work of all layers", Format::count}, costs.sum},
      {{"layers", "layers", Format::count}, costs.layers},
      {{"operators_that_take_one", "operators that take one", Format::count}, costs.takers},
      {{"operators_seen", "of these, seen", Format::count}, costs.seen_takers},
      {{"is_partial", "partial", Format::truth}, costs.is_partial()},
      {{"share_of_wall", "of wall", Format::share}, costs.share_of_wall},
      {{"cores", "cores", Format::count}, costs.cores},
      {{"by_own_indices", "by the timeline's indices", Format::truth}, costs.by_own_indices}};
  all.remarks = costs.remarks;
  document.sections = {types_section(costs, time_key), operators_section(model, costs, time_key),
                       std::move(all)};
  return document;
}

}  // namespace npuscope::report
