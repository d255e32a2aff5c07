#include "npuscope/npu/ipu/build.hpp"

#include "formats/sigmastar/write_image.hpp"
#include "formats/sigmastar/write_model.hpp"
#include "npu/core/target_file.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/targets/ipu/compile.hpp"

namespace npuscope::npu::ipu {

Result<BuildResult> build(const std::filesystem::path& model, BuildRequest request) {
  const auto file = find_target_file(request.target);
  if (!file) return tl::unexpected(file.error());
  const auto target = parse_target(file->toml, file->name);
  if (!target) return tl::unexpected(target.error());
  if (request.import.batch == 0)
    request.import.batch = 1;  // options.batch repeats what it computes
  const auto graph = import_onnx_file(model, request.import);
  if (!graph) return tl::unexpected(graph.error());
  request.options.model_name = model.string();
  request.options.description = model.stem().string();
  auto compiled = compile(*graph, *target, request.options);
  if (!compiled) return tl::unexpected(compiled.error());
  return BuildResult{sigmastar::write_model(compiled->model),
                     sigmastar::write_image(compiled->image), graph->warnings,
                     std::make_shared<const Compiled>(std::move(*compiled))};
}

}  // namespace npuscope::npu::ipu
