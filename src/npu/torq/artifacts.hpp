// What timeline and debug information have in common: places of a dispatch in a compilation's
// tables, and locations as MLIR prints them.
#pragma once

#include <string>

#include "npuscope/npu/torq/compile.hpp"

namespace npuscope::npu {

std::vector<TorqDispatchPlace> dispatch_places(const TorqCompilation& compilation);

// "source/model.mlir":12:10, or fused[…] of several.
std::string location_text(const TorqCompilation& compilation,
                          const TorqCompiledOperation& operation);

}  // namespace npuscope::npu
