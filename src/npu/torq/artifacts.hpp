// What timeline and debug information have in common: places of a dispatch in a compilation's
// tables, and locations as MLIR prints them.
#pragma once

#include <string>

#include "npu/torq/compile.hpp"

namespace npuscope::npu::torq {

std::vector<DispatchPlace> dispatch_places(const Compilation& compilation);

// "source/model.mlir":12:10, or fused[…] of several.
std::string location_text(const Compilation& compilation, const CompiledOperation& operation);

}  // namespace npuscope::npu::torq
