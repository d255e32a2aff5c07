// Bounds that keep hostile files from costing more than their bytes do, far above real models.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "npu/graph/graph.hpp"

namespace npuscope::npu::limits {

inline constexpr std::size_t rank = 64;
inline constexpr std::size_t folded_integers = 4096;  // elements of one tensor (graph.hpp)
inline constexpr std::size_t folded_floats = 64;
inline constexpr std::size_t folded_in_all = 1 << 24;  // elements; beyond it, values are not kept
inline constexpr std::size_t nesting = 32;             // functions and branches within each other
inline constexpr std::size_t inlined_nodes = 1 << 20;  // that functions and branches may add
inline constexpr std::size_t inlined_bytes = 1 << 28;  // of names and attributes of those

// Integers and booleans whose values shape arithmetic can use.
bool folds_as_integer(DataType type);

// Why no tensor can have this shape ("has a dimension of -3"), if so.
std::optional<std::string> problem_of(const Tensor& tensor);

}  // namespace npuscope::npu::limits
