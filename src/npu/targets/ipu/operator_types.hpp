// What an ONNX operator is called in a fixed model.
#pragma once

#include <optional>
#include <string>

#include "npu/graph/graph.hpp"

namespace npuscope::npu::ipu {

struct OperatorType {
  std::string name;
  bool is_custom = false;
};

// None: the IPU has no such operator.
std::optional<OperatorType> operator_type_of(const Graph& graph, const Node& node);

}  // namespace npuscope::npu::ipu
