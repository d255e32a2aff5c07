// An ONNX graph as the operators of a fixed model: TFLite's names, activations and batch
// normalisations folded into what they follow, Fix2Float behind outputs that are not whole numbers.
//
//   Conv, BatchNormalization, Relu     CONV_2D
//   Reshape of [1, 2048, 1, 1]         Reshape_Alias: another view of the same bytes
//   output "probabilities"             Fix2Float of "probabilities_fix"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/graph/semantics.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::npu::ipu {

struct Operator {
  std::string type;
  bool is_custom = false;
  std::vector<TensorId> inputs;  // of Lowered::graph
  std::vector<TensorId> outputs;
  NodeId node = NodeId::none;  // whose attributes it has; none: npuscope added it
  OpClass op_class = OpClass::elementwise;

  bool is_alias() const { return is_custom && type == "Reshape_Alias"; }
};

struct Lowered {
  Graph graph;  // with the tensors that only the fixed model has
  std::vector<Operator> operators;
  std::vector<std::int32_t> tensor_types;  // TFLite's, by tensor
};

// TFLite's TensorType of what the IPU computes with.
namespace tensor_type {
inline constexpr std::int32_t float32 = 0, int32 = 2, uint8 = 3, boolean = 6, int16 = 7, int8 = 9;
}

std::uint32_t bytes_of_type(std::int32_t tensor_type);

// A network input that a camera could deliver: four dimensions, three channels.
bool is_image(const Tensor& tensor);

// An input error that names every operator that the IPU does not have. `model` begins it.
Result<Lowered> lower(const Graph& graph, const std::string& model);

}  // namespace npuscope::npu::ipu
