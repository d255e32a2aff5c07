// The names that Qualcomm's tools for the HTP give to what the reference compiler makes: types of
// QNN ops and of HTP ops. Seen in public optraces where possible (docs/formats/qnn-written.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "npu/graph/graph.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

namespace npuscope::npu::nsp {

// "FullyConnected" of a Gemm; an operator without a known counterpart keeps its ONNX name.
std::string qnn_op_type(const Graph& graph, const Node& node);

// Of a compute task, by its kernel: "q::Softmax". `qnn_type` names those without a name of their
// own.
std::string htp_compute_type(std::string_view kernel, std::string_view qnn_type, bool on_hmx,
                             bool integer);

std::string_view htp_movement_type(Movement movement);

// QNN_DATATYPE_ of a tensor in device precision; of int8 and uint8 the fixed-point one.
std::uint32_t qnn_data_type(DataType type);

}  // namespace npuscope::npu::nsp
