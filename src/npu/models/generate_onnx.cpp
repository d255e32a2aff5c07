#include "npuscope/npu/models/generate_onnx.hpp"

#include "base/try.hpp"
#include "npu/models/onnx_builder.hpp"
#include "npu/models/summary.hpp"

namespace npuscope::npu {
namespace {

std::string describe(const Architecture& architecture, const InputSizes& sizes, bool symbolic) {
  std::string text =
      fmt::format("{}: {} of {} layers, weights replaced by ConstantOfShape", architecture.name,
                  name_of(architecture.kind), architecture.layers);
  if (symbolic) return text;
  text += fmt::format("; batch {}, sequence {}", sizes.batch, sizes.sequence);
  if (architecture.kind == ModelKind::decoder) text += fmt::format(", context {}", sizes.context);
  return text;
}

}  // namespace

Result<GeneratedModel> generate_onnx(const Architecture& architecture, const InputSizes& sizes,
                                     const GenerateOptions& options) {
  TRY(summarize(architecture, sizes));
  models::OnnxBuilder builder(architecture.name, options.precision);
  const auto dimensions = models::input_dimensions(sizes, options.symbolic);
  if (architecture.kind == ModelKind::decoder) {
    models::build_decoder(builder, architecture, dimensions);
  } else {
    models::build_encoder(builder, architecture, dimensions);
  }
  return builder.finish(describe(architecture, sizes, options.symbolic));
}

}  // namespace npuscope::npu
