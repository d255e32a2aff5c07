// The lines that an ONNX model has as MLIR, for locations whose .mlir is not there: importers of
// torch-mlir (iree.compiler.tools.import_onnx) write the module, the function, each initializer, a
// `%none`, and then each node, a line each.
//
//   const auto lines = lines_of_onnx(model);
//   lines[50]     torch.operator "onnx.Conv"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::torq {

// Up to the first node that holds graphs, which takes several lines; empty for what is no model.
std::vector<std::string> lines_of_onnx(std::string_view model);

// Whether a kernel is one of those that run such an operator, "conv2d_6" of "onnx.Conv"; neither
// true nor false of kernels that run several or whose operators are not known here.
enum class KernelFit : std::uint8_t { unknown, fits, contradicts };
KernelFit fit_of(std::string_view kernel, std::string_view name);

}  // namespace npuscope::torq
