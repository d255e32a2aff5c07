// Kinds of work that kernels and operators of different names have in common, and shapes as they
// can be compared across layouts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace npuscope::analysis {

// 0: none known. "q::ConvLayer_s1.opt", "aicconvolutiond32", "Gemm" are one family.
std::uint8_t family_of(std::string_view kind);
bool is_product(std::string_view kind);
// What compilers do in the same pass as the product before: activations, norms, sums.
bool is_pointwise(std::string_view kind);

// The extents above 1, sorted: the same for 1, 8, 32, 256 and for 8, 256, 32.
std::vector<std::int64_t> comparable_shape(std::span<const std::int64_t> extents);

}  // namespace npuscope::analysis
