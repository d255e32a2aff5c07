// What operators mean to a compiler: their class and their multiply-accumulate counts.
//
//   MatMul [2x5x8] x W [8x3]    class matmul, 1 x [10 x 8] [8 x 3], constant weights, 240 MACs
//   Transpose [1x1x32x128]      class view when only dimensions of size 1 move
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu {

enum class OpClass : std::uint8_t {
  folded,         // all outputs constant or known at compile time: nothing to execute
  view,           // Reshape, Squeeze, Flatten, Identity, Dropout ...: the bytes stay as they are
  matmul,         // MatMul, Gemm, MatMulInteger, QLinearMatMul, FullyConnected forms; attention
                  // and recurrent layers that are one operator
  convolution,    // Conv, ConvTranspose, QLinearConv, ConvInteger
  softmax,        // Softmax, LogSoftmax
  normalization,  // LayerNormalization, RMSNormalization, BatchNormalization, InstanceNorm, LRN ...
  elementwise,    // one output element from the same (broadcast) element of the inputs
  reduction,      // ReduceMean, ReduceSum, ArgMax, GlobalAveragePool ...
  pooling,        // MaxPool, AveragePool, LpPool
  transpose,      // Transpose, DepthToSpace, SpaceToDepth, and channel shuffles
  copy,           // Concat, Split, Slice, Pad, Tile, Expand, Resize: data movement
  gather,         // Gather, GatherElements, GatherND, Embedding forms
  scatter,        // ScatterND, ScatterElements
  sort,           // TopK, NonZero, CumSum ...
};

OpClass classify(const Graph& graph, const Node& node);

// The matrix product (or convolution seen as one) of a node of class matmul or convolution:
// `batch` independent products of [rows x depth] by [depth x columns].
//   Conv: batch = group, rows = N*OH*OW, depth = Cin/group * KH*KW, columns = Cout/group.
//   Attention: batch = N*heads, rows = queries, columns = keys, depth = key and value head size
//   together (scores, and scores with values). LSTM: depth = input and hidden size together.
//   With weights for a whole batch, rows are those of all of it and batch is 1.
struct MatrixProduct {
  std::uint64_t batch = 1;
  std::uint64_t rows = 0;
  std::uint64_t depth = 0;
  std::uint64_t columns = 0;
  bool constant_weights = false;  // the [depth x columns] side is constant
  std::uint64_t kernel_area = 1;  // KH*KW of a convolution; depth / kernel_area = channels
};
MatrixProduct matrix_product(const Graph& graph, const Node& node);

// MACs of the model as written: batch * rows * depth * columns, 0 for classes without a product.
// ResNet-50: 4,089,184,256 in all.
std::uint64_t multiply_accumulates(const Graph& graph, const Node& node);

// Axes that a reduction states, as an attribute or a constant input: from 0 on, in order. None
// where it states none, or they are known when the model runs.
Shape stated_axes(const Graph& graph, const Node& node);

// The value of a constant of one element, by its scale where that is of integers; none where the
// model's file does not hold it.
std::optional<double> scalar_of(const Tensor& tensor);
// The whole exponent of a Pow; 0 of any other.
std::int64_t power_of(const Graph& graph, const Node& node);
// Of a tensor with itself: x * x, or x to the power of a constant 2.
bool is_square(const Graph& graph, const Node& node);

// The matrix product inside each operator of the classes matmul and convolution.

// An empty product for a node whose inputs do not fit its operator (the importer lets none by).
MatrixProduct find_product(const Graph& graph, const Node& node);

// Einsum can be a product, a reduction, a transpose, or elementwise.
OpClass einsum_class(const Graph& graph, const Node& node);

std::uint64_t saturating_product(std::initializer_list<std::uint64_t> factors);

// What the integers of quantised tensors stand for. The scales stand in the model next to the
// tensors, as operands of QuantizeLinear, DequantizeLinear and the operators on quantised tensors;
// operators that only move values keep them.
//
//   x  uint8  --DequantizeLinear(x, 0.5, 128)-->  …     scales[x] = {0.5, 128}

// By tensor. None for tensors that are not quantised, or by channel, or by scales that are only
// known when the model runs.
std::vector<std::optional<TensorScale>> tensor_scales(const Graph& graph);

}  // namespace npuscope::npu
