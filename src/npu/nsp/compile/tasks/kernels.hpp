// Kernel names, as the field knows them (formats/qaic.md section 3e lists those seen on devices;
// "element<op>" continues their scheme where none is known), and what a kernel costs.
#pragma once

#include <cstdint>
#include <string>

#include "npu/graph/graph.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/nsp/target/target.hpp"

namespace npuscope::npu::nsp {

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

}  // namespace npuscope::npu::nsp
