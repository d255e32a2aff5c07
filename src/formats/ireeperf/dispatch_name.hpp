// What IREE's compiler says of a dispatch in its name, which is all that is left of the model
// there:
//
//   const DispatchName name = dispatch_name("net$async_dispatch_2_conv_64x64x64x32x3x3_f32");
//   name.operation    // "conv"
//   name.extents      // "64x64x64x32x3x3": of its loops
//   name.types        // "f32"
//   name.macs         // 75'497'472: of a product each pass of its loops is one
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace npuscope::ireeperf {

struct DispatchName {
  std::string_view operation, extents, types;  // empty: the name does not say
  std::optional<double> macs;
};

DispatchName dispatch_name(std::string_view name);

}  // namespace npuscope::ireeperf
