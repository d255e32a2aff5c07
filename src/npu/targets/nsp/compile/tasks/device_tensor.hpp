// How a tensor lies on the device: element type, split over cores, bytes per core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "npu/graph/graph.hpp"

namespace npuscope::npu::nsp {

using CoreBytes = std::vector<std::uint64_t>;  // by core
using CoreShapes = std::vector<Shape>;

// 0 of none.
std::uint64_t largest(const std::vector<std::uint64_t>& values);

// Element type on the device: float16 for floats when converting.
DataType device_type(DataType type, bool convert_to_fp16);
std::uint64_t device_bytes(std::uint64_t elements, DataType type);

// One of so many even parts.
std::uint64_t even_part(std::uint64_t all, std::uint64_t index, std::uint64_t parts);
// The same of the bytes of a tensor of that type: whole elements.
std::uint64_t even_bytes(std::uint64_t bytes, std::uint64_t index, std::uint64_t parts,
                         DataType type);
CoreBytes even_bytes(const CoreBytes& bytes, std::uint64_t index, std::uint64_t parts,
                     DataType type);

inline constexpr int replicated = -1;    // every core holds all of it
inline constexpr int incompatible = -2;  // no axis of this shape matches the split

// A split of `shape` along `axis` in steps of `unit` elements, or replicated.
struct Partition {
  Shape shape;
  int axis = replicated;
  std::int64_t unit = 1;
};

// The same split seen in `view`, a reshape of partition.shape (same bytes in the same order). It
// survives when as many elements lie outside the axis in both shapes and no step is cut; otherwise
// the result's axis is `incompatible`.
Partition partition_in_view(const Partition& partition, const Shape& view);

// Elements along an axis of `extent` that each core gets, in whole units, the first cores first.
std::uint64_t share(std::int64_t extent, std::int64_t unit, std::uint32_t core,
                    std::uint32_t cores);
std::vector<std::uint64_t> shares(std::int64_t extent, std::int64_t unit, std::uint32_t cores);

// Bytes that each core holds of a tensor of `bytes` with this partition.
std::vector<std::uint64_t> slice_bytes(const Partition& partition, std::uint64_t bytes,
                                       std::uint32_t cores);

// The shape of what one of the cores holds.
Shape slice_shape(const Partition& partition, std::uint32_t core, std::uint32_t cores);

// Whether a tensor held as `held` is where `needed` wants it, both in the same shape.
bool satisfies(const Partition& held, const Partition& needed, std::uint32_t cores);

// "1 x 32 x 4096"
std::string shape_text(const Shape& shape);

}  // namespace npuscope::npu::nsp
