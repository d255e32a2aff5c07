#include "npu/torq/compile.hpp"

#include "npu/torq/artifacts.hpp"
#include "npu/torq/emit.hpp"
#include "npu/torq/source_text.hpp"

namespace npuscope::npu::torq {
namespace {

// A file name that stands in a location without quoting and below a folder.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, 100)) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    plain += kept ? c : '_';
  }
  return plain.empty() ? "model" : plain;
}

}  // namespace

Result<Compilation> compile(const Graph& graph, const Target& target, const std::string& name) {
  const auto lowering = lower(graph, target);
  if (!lowering) return tl::unexpected(lowering.error());
  Compilation compilation;
  compilation.warnings = lowering->warnings;
  compilation.program.name = plain_name(name);
  compilation.program.target_toml = target.toml;
  if (auto ok = emit(*lowering, graph, target, compilation); !ok) {
    return tl::unexpected(ok.error());
  }
  SourceText source = write_source_text(graph);
  compilation.source_file = fmt::format("source/{}.mlir", compilation.program.name);
  compilation.source_text = std::move(source.text);
  for (std::size_t i = 0; i < lowering->operations.size(); ++i) {
    for (const NodeId id : lowering->operations[i].nodes) {
      compilation.operations[i].places.push_back(source.places[std::size_t(id)]);
    }
  }
  if (auto ok = check_program(compilation.program, target.slices.count, name); !ok) {
    return tl::unexpected(ok.error());
  }
  compilation.places = dispatch_places(compilation);
  compilation.estimate = estimate_times(compilation.program, target);
  return compilation;
}

}  // namespace npuscope::npu::torq
