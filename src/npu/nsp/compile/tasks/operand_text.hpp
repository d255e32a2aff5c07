// What a task works on, as texts for the statistics descriptor, in the form that the vendor's
// descriptor has them (formats/qaic.md section 3c). They are of the task, not of its node: a tile
// of 64 of 512 columns says
//
//   Dest [1 x 128 x 64], Src [1 x 128 x 768], Src1 [768 x 64]
//   out TCM Dest y float16 <1 x 128 x 64> 16KB
//   in TCM Src x float16 <1 x 128 x 768> 192KB
//   in TCM Src1 w float16 <768 x 64> 96KB
//
// and the bytes of what it writes are those of the statistics' output size.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "npu/graph/graph.hpp"

namespace npuscope::npu::nsp {

// A tensor or the part of one that a task reads or writes.
struct TaskOperand {
  enum class Use : std::uint8_t { in, out, inout };
  enum class Memory : std::uint8_t { none, vtcm, ddr };  // none: a scalar that the kernel knows
  Use use = Use::in;
  Memory memory = Memory::vtcm;
  std::string_view name;
  DataType type = DataType::undefined;
  Shape shape;
  bool operator==(const TaskOperand&) const = default;
};

// As many elements of `whole`, in as many dimensions: all of the inner ones, some of the outermost
// that comes out even. 96 of [2 x 8 x 6] are [2 x 8 x 6], 24 are [1 x 4 x 6], 60 are [1 x 10 x 6].
Shape part_of_shape(const Shape& whole, std::uint64_t elements);
// The same for so many bytes of a type.
Shape part_of_shape(const Shape& whole, std::uint64_t bytes, DataType type);

// What is only copied or converted is there once: "Dest [1 x 128 x 64]".
std::string shapes_of(std::span<const TaskOperand> operands);
// Distinct element types, results first: "float16, index32"
std::string types_of(const Graph& graph, const Node& node, bool convert_to_fp16);
// One operand a line.
std::string operands_of(std::span<const TaskOperand> operands);

// "{Kernels: [1, 1], Strides: [1, 1], Group: 1}" for convolutions; "" for others.
std::string attributes_of(const Node& node);

}  // namespace npuscope::npu::nsp
