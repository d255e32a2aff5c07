#include "npu/targets/torq/compile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/targets/torq/lowering.hpp"
#include "npu/targets/torq/target.hpp"
#include "npuscope/npu/torq/build.hpp"

namespace npuscope::npu::torq {
namespace {

// A file name that stands in a location without quoting and below a folder.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, 100)) {
    plain += is_of_word(c) || c == '-' ? c : '_';
  }
  return plain.empty() ? "model" : plain;
}

}  // namespace

Result<Compilation> compile(const Graph& graph, const Target& target, const std::string& name) {
  TRY_AS(lowering, lower(graph, target));
  Compilation compilation;
  compilation.warnings = lowering->warnings;
  compilation.program.name = plain_name(name);
  compilation.program.target_toml = target.toml;
  TRY(emit(*lowering, graph, target, compilation));
  SourceText source = write_source_text(graph);
  compilation.source_file = fmt::format("source/{}.mlir", compilation.program.name);
  compilation.source_text = std::move(source.text);
  for (std::size_t i = 0; i < lowering->operations.size(); ++i) {
    for (const NodeId id : lowering->operations[i].nodes) {
      compilation.operations[i].places.push_back(source.places[std::size_t(id)]);
    }
  }
  TRY(check_program(compilation.program, target.slices.count, name));
  compilation.places = dispatch_places(compilation);
  compilation.estimate = estimate_times(compilation.program, target);
  return compilation;
}

std::vector<DispatchPlace> dispatch_places(const Compilation& compilation) {
  const Program& program = compilation.program;
  std::vector<DispatchPlace> places;
  DispatchPlace at;
  for (const Dispatch& dispatch : program.dispatches) {
    places.push_back(at);
    for (std::uint32_t id = 0; id < dispatch.actions; ++id) {
      const ActionKind kind = program.actions[at.action++].kind;
      at.host_program += kind == ActionKind::start_host;
      if (kind != ActionKind::start_nss) continue;
      const std::uint32_t tasks = program.nss_programs[at.nss_program++].tasks;
      for (std::uint32_t i = 0; i < tasks; ++i) {
        for (std::uint32_t k = 0; k < program.tasks[at.task].steps; ++k) {
          const Step& step = program.steps[at.step++];
          const bool computes = step.unit == Unit::slice || step.unit == Unit::css;
          if (step.starts && computes)
            at.kernel = std::max<std::size_t>(at.kernel, step.kernel + 1);
        }
        ++at.task;
      }
    }
  }
  places.push_back(at);
  return places;
}

std::string location_text(const Compilation& compilation, const CompiledOperation& operation) {
  std::vector<std::string> places;
  for (const SourcePlace place : operation.places) {
    places.push_back(
        fmt::format("\"{}\":{}:{}", compilation.source_file, place.line, place.column));
  }
  if (places.empty()) return "unknown";
  return places.size() == 1 ? places[0] : fmt::format("fused[{}]", fmt::join(places, ", "));
}

namespace {

npuscope::torq::TimelineEvent event_of(Unit unit) {
  using enum npuscope::torq::TimelineEvent;
  constexpr npuscope::torq::TimelineEvent events[unit_count] = {
      slice, css, dma_in, dma_out, cdma_lram_to_dtcm, cdma_lram_to_itcm, cdma_dtcm_to_lram};
  return events[std::size_t(unit)];
}

// As the vendor's compiler orders them: transfers, slices, CSS.
int order_of(const npuscope::torq::TimelineRow& row) {
  return row.event == npuscope::torq::TimelineEvent::css
             ? 2
             : row.event == npuscope::torq::TimelineEvent::slice;
}

}  // namespace

npuscope::torq::CompileTimeline timeline_of(const Compilation& compilation) {
  const Program& program = compilation.program;
  npuscope::torq::CompileTimeline timeline;
  timeline.version = npuscope::torq::TimelineVersion::task_id;
  timeline.has_bytes = true;
  const auto& places = compilation.places;
  std::int64_t offset = 0;
  std::size_t task = 0, step = 0, nss = 0;
  for (std::size_t d = 0; d < program.dispatches.size(); ++d) {
    const std::size_t first_row = timeline.rows.size();
    for (std::size_t action = places[d].action; action < places[d + 1].action; ++action) {
      if (program.actions[action].kind != ActionKind::start_nss) continue;
      const std::size_t end = task + program.nss_programs[nss++].tasks;
      for (; task < end; ++task) {
        const auto& operation = compilation.operations[compilation.task_operations[task]];
        const StringId location =
            timeline.strings.intern(fmt::format("loc({})", location_text(compilation, operation)));
        for (std::uint32_t i = 0; i < program.tasks[task].steps; ++i, ++step) {
          const Step& each = program.steps[step];
          if (!each.starts) continue;
          npuscope::torq::TimelineRow row;
          row.id = std::int64_t(task);
          row.event = event_of(each.unit);
          if (each.unit == Unit::slice) row.slice = each.slice;
          row.start_cycles = offset + compilation.estimate.steps[step].begin;
          row.end_cycles = offset + compilation.estimate.steps[step].end;
          if (is_dma(each.unit) || is_cdma(each.unit)) row.bytes = std::int64_t(each.bytes);
          row.location = location;
          timeline.rows.push_back(row);
        }
      }
    }
    sort_rows(timeline.rows.begin() + std::ptrdiff_t(first_row), timeline.rows.end(),
              [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
    offset += compilation.estimate.dispatches[d];
  }
  return timeline;
}

Result<BuildResult> build(const std::filesystem::path& model, const BuildRequest& request) {
  TRY_AS(file, find_target_file(request.target));
  TRY_AS(target, read_target(*file));
  TRY_AS(graph, import_onnx_file(model, request.import));
  auto compilation = compile(*graph, *target, model.stem().string());
  if (!compilation) {
    const Error& error = compilation.error();
    return tl::unexpected(Error{error.kind, model.string() + ": " + error.message});
  }
  BuildResult result;
  result.program = write_program(compilation->program);
  result.warnings = graph->warnings;
  result.warnings.insert(result.warnings.end(), compilation->warnings.begin(),
                         compilation->warnings.end());
  result.compilation = std::make_shared<const Compilation>(std::move(*compilation));
  result.target = std::make_shared<const Target>(std::move(*target));
  return result;
}

namespace {

std::string_view element_type(DataType type) {
  constexpr std::string_view names[] = {"none",     "f32",  "f16",  "bf16", "f64",  "f8E4M3FN",
                                        "f4E2M1FN", "si8",  "ui8",  "si16", "ui16", "si32",
                                        "ui32",     "si64", "ui64", "si4",  "ui4",  "si2",
                                        "ui2",      "i1",   "none", "none", "none"};
  static_assert(std::size(names) == data_type_count);
  return names[std::size_t(type)];
}

bool is_identifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_of_word);
}

// Inside quotes; one line whatever the text holds.
std::string quotable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\' || c < ' ' || c > '~') {
      out += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

struct AttributeText {
  std::string operator()(std::int64_t value) const { return fmt::format("{} : si64", value); }
  std::string operator()(double value) const { return fmt::format("{:e} : f32", value); }
  std::string operator()(const std::string& value) const {
    return fmt::format("\"{}\"", quotable(value));
  }
  template <class Item>
  std::string operator()(const std::vector<Item>& values) const {
    std::vector<std::string> items;
    for (const Item value : values) items.push_back((*this)(value));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
};

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph), names_(graph.tensors.size()) {}

  SourceText run() {
    name_tensors();
    line("module {");
    line(fmt::format("  func.func @main({}){} {{", arguments(), results()));
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      const Tensor& tensor = graph_.tensors[i];
      if (!tensor.constant || tensor.producer != NodeId::none) continue;
      line(
          fmt::format("    {} = torch.operator \"onnx.Constant\"() {{torch.onnx.value = "
                      "dense_resource<__elided__>}} : () -> {}{}",
                      names_[i], type_of(tensor), comment(tensor.name)));
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::string text = node_text(graph_.nodes[i]);
      out_.places.push_back({next_line_, std::uint32_t(text.find("= ") + 3)});
      line(text);
    }
    line(fmt::format("    return {}", list(graph_.outputs)));
    line("  }");
    line("}");
    return std::move(out_);
  }

 private:
  void line(std::string_view text) {
    out_.text += text;
    out_.text += '\n';
    ++next_line_;
  }

  void name_tensors() {
    std::size_t number = 0;
    for (std::string& name : names_) name = fmt::format("%{}", number++);
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      names_[std::size_t(graph_.inputs[i])] = fmt::format("%arg{}", i);
    }
  }

  std::string type_of(const Tensor& tensor) const {
    return fmt::format("!torch.vtensor<[{}],{}>", fmt::join(tensor.shape, ","),
                       element_type(tensor.type));
  }
  std::string type_of(TensorId id) const {
    return id == TensorId::none ? "!torch.none" : type_of(graph_[id]);
  }
  std::string name_of(TensorId id) const {
    return id == TensorId::none ? "%none" : names_[std::size_t(id)];
  }

  std::string list(const std::vector<TensorId>& ids) const {
    std::vector<std::string> names;
    for (const TensorId id : ids) names.push_back(name_of(id));
    return fmt::format("{}", fmt::join(names, ", "));
  }
  std::string types(const std::vector<TensorId>& ids) const {
    std::vector<std::string> texts;
    for (const TensorId id : ids) texts.push_back(type_of(id));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  std::string arguments() const {
    std::vector<std::string> texts;
    for (const TensorId id : graph_.inputs) {
      texts.push_back(fmt::format("{}: {}", name_of(id), type_of(id)));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  std::string results() const {
    return graph_.outputs.empty() ? "" : fmt::format(" -> ({})", types(graph_.outputs));
  }

  static std::string comment(std::string_view name) {
    return name.empty() ? "" : fmt::format("  // {}", printable(name));
  }

  std::string node_text(const Node& node) const {
    std::vector<std::string> attributes;
    for (const auto& [key, value] : node.attributes) {
      if (!is_identifier(key)) continue;
      attributes.push_back(
          fmt::format("torch.onnx.{} = {}", key, std::visit(AttributeText{}, value)));
    }
    const std::string domain = node.domain.empty() ? "" : node.domain + ".";
    return fmt::format(
        "    {} = torch.operator \"onnx.{}{}\"({}){} : ({}) -> ({}){}", list(node.outputs),
        quotable(domain), quotable(node.op), list(node.inputs),
        attributes.empty() ? "" : fmt::format(" {{{}}}", fmt::join(attributes, ", ")),
        types(node.inputs), types(node.outputs), comment(node.name));
  }

  const Graph& graph_;
  std::vector<std::string> names_;
  std::uint32_t next_line_ = 1;
  SourceText out_;
};

}  // namespace

SourceText write_source_text(const Graph& graph) { return Writer(graph).run(); }

}  // namespace npuscope::npu::torq
