// Texts of tasks: the names of their kernels, and what they work on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "npu/graph/graph.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/target/target.hpp"

namespace npuscope::npu::nsp {

// Kernel names, as the field knows them (formats/qaic.md section 3e lists those seen on devices;
// "element<op>" continues their scheme where none is known), and what a kernel costs.

// The HVX kernel of a node that is not a matrix product.
std::string vector_kernel(const Graph& graph, const Node& node, OpClass op_class);

// Cycles of the thread group for `output_bytes` of result on one core.
std::uint64_t vector_cycles(const Target& target, const std::string& kernel,
                            std::uint64_t output_bytes);

// Cycles of the HMX for a [rows x depth] by [depth x columns] tile, padded to its granules;
// `kernel_area` positions of depth / kernel_area channels each.
struct HmxWork {
  std::uint64_t macs = 0;  // padding included
  std::uint64_t cycles = 0;
};
HmxWork hmx_work(const Target& target, const MatrixProduct& product, std::uint64_t rows,
                 std::uint64_t columns, bool integer);

// The same product on HVX: float32, and depthwise convolutions, which would waste the HMX.
std::uint64_t hvx_product_cycles(const Target& target, std::uint64_t macs, DataType type);

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
