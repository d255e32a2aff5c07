// From the operators of a graph to what the parts of a Torq NPU do: which run on slices, which on
// the CSS, which the host must do, which are one kernel, which share a dispatch.
#pragma once

#include <string>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/torq/compile.hpp"
#include "npu/targets/torq/tiles.hpp"

namespace npuscope::npu::torq {

enum class Executor : std::uint8_t { slices, css, host_program, host_copy };
std::string_view name_of(Executor executor);  // "slices", "host program"

struct Operation {
  Executor executor = Executor::slices;
  std::string kernel;         // "conv2d", "softmax"
  std::vector<NodeId> nodes;  // the first decides; those behind are fused into it
  bool begins_dispatch = true;

  SliceOperation slice;  // of slices
  Resident resident;
  std::uint64_t lram_bytes = 0;  // of slices: for tiles, what is resident left out

  std::uint64_t elements = 0;  // written; of a host program also those read
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::uint64_t multiply_accumulates = 0;
  std::uint64_t runs = 1;  // of contiguous bytes, of host copies
};

struct Lowering {
  std::vector<Operation> operations;  // in the order of execution
  std::vector<std::string> warnings;
};

// Bytes of an element on the NPU: floats are bfloat16, indices 32-bit.
std::uint64_t element_bytes(DataType type);

// Input errors: tensors of strings, tensors that XRAM cannot hold.
Result<Lowering> lower(const Graph& graph, const Target& target);

// What each operator is to a Torq NPU, alone: executor, kernel, sizes. Private to the lowering.

// Of a node that has something to execute. `nodes` holds the node.
Operation operation_of(const Graph& graph, NodeId id, OpClass op_class, const Target& target);

// Whether the activation unit, or the weights, can take the node in behind an operation: clamps
// behind everything that it scales, a batch normalization behind products.
bool can_take_in(const Operation& operation, const Node& node);

// All of a tensor, as the NPU stores it.
std::uint64_t storage_bytes(const Tensor& tensor);

// From operations to the tables of a program: tasks that move tiles and start kernels.

// Fills program and operations of a compilation; an input error where the program gets too long.
Status emit(const Lowering& lowering, const Graph& graph, const Target& target,
            Compilation& compilation);

}  // namespace npuscope::npu::torq
