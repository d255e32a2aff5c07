#include "npu/graph/import_onnx.hpp"

#include "base/text.hpp"
#include "npu/graph/importer.hpp"

namespace npuscope::npu {
namespace {

Result<Graph> import_bytes(ByteSpan bytes, std::string_view name, const ImportOptions& options) {
  if (as_text(bytes).starts_with("version https://git-lfs")) {
    return input_error("{}: a git-lfs pointer, not the model itself; run git lfs pull", name);
  }
  ModelSource model;
  try {
    model = read_model_source(bytes);
  } catch (const ImportFailure& failure) {
    return input_error("{}: not an ONNX model: {}", name, printable(failure.message));
  }
  if (!model.graph || (model.ir_version <= 0 && model.opsets.empty())) {
    return input_error("{}: not an ONNX model; name a .onnx file", name);
  }
  try {
    return Importer(model, options).run();
  } catch (const ImportFailure& failure) {
    return input_error("{}: {}", name, printable(failure.message));
  }
}

}  // namespace

Result<Graph> import_onnx(ByteSpan bytes, std::string_view name, const ImportOptions& options) {
  for (const auto& [symbol, value] : options.symbols) {
    if (value < 0)
      return usage_error("symbol '{}' has the value {}; give one from 0 on", printable(symbol),
                         value);
  }
  return import_bytes(bytes, name, options);
}

Result<Graph> import_onnx_file(const std::filesystem::path& path, const ImportOptions& options) {
  const auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  return import_onnx(file->bytes(), path.string(), options);
}

}  // namespace npuscope::npu
