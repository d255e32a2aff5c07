// Values of symbolic dimensions. Exporters also write sums and products of symbols ("past + 1",
// "2*heads"), so a dimension that is not a symbol itself is read as such an expression.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "npu/graph/import_onnx.hpp"

namespace npuscope::npu {

struct SymbolValue {
  std::optional<std::int64_t> value;
  std::string missing;  // without a value: the first symbol that nobody defined, or the whole text
};

SymbolValue evaluate_dimension(std::string_view text, const Symbols& symbols);

}  // namespace npuscope::npu
