#include "npuscope/npu/torq/build.hpp"

#include "npu/graph/import_onnx.hpp"
#include "npu/torq/compile.hpp"
#include "npu/torq/target.hpp"

namespace npuscope::npu::torq {

Result<BuildResult> build(const std::filesystem::path& model, const BuildRequest& request) {
  const auto file = find_target_file(request.target);
  if (!file) return tl::unexpected(file.error());
  auto target = read_target(*file);
  if (!target) return tl::unexpected(target.error());
  const auto graph = import_onnx_file(model, request.import);
  if (!graph) return tl::unexpected(graph.error());
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

}  // namespace npuscope::npu::torq
