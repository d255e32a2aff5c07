// Matrices of an HTP whose rows follow one another in the first row of tiles of 8 by 8 places, of
// which the HMX then computes eight times as many.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu::nsp {

inline constexpr std::uint64_t few_rows = 32;  // up to here they stay in one row, unless normalized
inline constexpr std::uint64_t rows_of_a_strip = 256;  // the places of one that is 32 wide

// By tensor: results and activations of products. Others have their rows by eights, as the places
// of an image: many rows, and those that a LayerNormalization has put so.
std::vector<bool> find_single_rows(const Graph& graph);

// By tensor: what a LayerNormalization has put by eights, or does next. One before reaches
// everything that is made of it, one after what is added up for it and, of integers, the products
// before that as well.
std::vector<bool> find_normalized(const Graph& graph);

// Whether the rows of a matrix by eights come in tiles to what elementwise operators make of it in
// floating point, instead of one after the other: few, those that do not fill eights, and those
// after a LayerNormalization.
std::vector<bool> find_rows_in_tiles(const Graph& graph);

}  // namespace npuscope::npu::nsp
