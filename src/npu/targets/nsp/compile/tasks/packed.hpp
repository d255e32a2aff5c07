// Tensors that lie in DDR as blocks of 32 values with a scale of 8 bits (OCP microscaling), and in
// VTCM as float16: HVX makes values of them on their way in, and blocks on their way out.
//
//   -mxfp6-matmul       weights of MatMul [4096, 11008]: mxfp6, 6.25 bits a value, 35,225,600 bytes
//   state in MXINT8     past_key [1, 32, 2048, 128]:     mxint8, 8.25 bits, 8,650,752 bytes
#pragma once

#include <string_view>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npuscope/npu/nsp/compile/build.hpp"

namespace npuscope::npu::nsp {

struct NodePlan;

// By tensor; undefined: as in VTCM. Packed are constants in float16 that are weights of MatMul and
// Gemm and nothing else, and retained state in float16.
std::vector<DataType> packed_types(const Graph& graph, const std::vector<NodePlan>& plans,
                                   const CompileOptions& options);

// State that a network keeps from one inference to the next (-retained-state): an input X and the
// output X_RetainedState share memory on the device.

// By tensor of the graph, whether it is such an input or output.
std::vector<bool> find_retained_state(const Graph& graph);
// The same of state that is to lie in DDR as MXINT8; none without -retained-state.
std::vector<bool> find_mxint8_state(const Graph& graph, const CompileOptions& options);
// Of an input or output, where those of `mxint8` are such state.
DataType type_in_ddr(const Graph& graph, TensorId id, const std::vector<bool>& mxint8,
                     const CompileOptions& options);

// The kernels on HVX.
std::string_view unpacking_kernel(DataType packed);
std::string_view packing_kernel(DataType packed);

}  // namespace npuscope::npu::nsp
