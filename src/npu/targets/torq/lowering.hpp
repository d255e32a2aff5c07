// From the operators of a graph to what the parts of a Torq NPU do: which run on slices, which on
// the CSS, which the host must do, which are one kernel. What quantised models say of scales
// becomes part of the operators: int8 where their data are, bf16 otherwise.
#pragma once

#include <string>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/torq/compile.hpp"
#include "npu/targets/torq/target.hpp"

namespace npuscope::npu::torq {

enum class Executor : std::uint8_t { slices, css, host_program, dma };
std::string_view name_of(Executor executor);  // "slices", "host program"

// What an operation is on the NPU, which decides its stages.
enum class Form : std::uint8_t {
  convolution,
  depthwise,  // and average pooling
  grouped,    // or of a wide window: by the host or the CSS
  max_pooling,
  global_average,
  product,  // by constants
  matmul,   // of two tensors
  sum,
  multiplication,
  unary,  // clamp, abs
  table,
  sigmoid,
  square_root,
  division,
  error_function,
  softmax,
  layer_normalization,
  batch_normalization,
  local_normalization,
  reduction,
  transpose,
  gather,
  copy,
  css,
  host,
};

struct Operation {
  Executor executor = Executor::slices;
  Form form = Form::host;
  std::string kernel;         // "conv2d", "softmax": what the compiler calls the main one
  std::vector<NodeId> nodes;  // the first decides; those behind are part of it
  bool is_int8 = false;
  std::vector<TensorId> inputs;  // roots of data
  TensorId result = TensorId::none;
  bool reshaped = false;  // its data are read under another shape than they were written
};

struct Lowering {
  std::vector<Operation> operations;  // in the order of execution
  std::vector<TensorId> roots;        // of each tensor: whose bytes it is
  std::vector<bool> int8;             // of each tensor: kept in 1-byte elements
  std::vector<std::string> warnings;

  std::uint64_t element_bytes(const Graph& graph, TensorId id) const;
  std::uint64_t bytes(const Graph& graph, TensorId id) const;
};

// Bytes of an element on the NPU: floats are bfloat16, indices 32-bit.
std::uint64_t element_bytes(DataType type);

// All of a tensor, as the NPU stores it.
std::uint64_t storage_bytes(const Tensor& tensor);

// Input errors: tensors of strings, tensors that XRAM cannot hold.
Result<Lowering> lower(const Graph& graph, const Target& target);

// What each operator is to a Torq NPU, alone. Private to the lowering.

// Of a node that has something to execute. Sets executor, form and kernel.
Operation operation_of(const Graph& graph, NodeId id, OpClass op_class, bool is_int8);

// Whether the operation's kernel does the node behind it, too: clamps where results are scaled, a
// batch normalization where there are weights.
bool can_take_in(const Operation& operation, const Node& node);

// From stages to the tables of a program: tasks that move data and start kernels.

// Fills program and operations of a compilation; an input error where the program gets too long.
Status emit(const Lowering& lowering, const Graph& graph, const Target& target,
            Compilation& compilation);

}  // namespace npuscope::npu::torq
