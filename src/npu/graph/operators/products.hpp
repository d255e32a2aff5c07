// The matrix product inside each operator of the classes matmul and convolution.
#pragma once

#include <initializer_list>

#include "npu/graph/semantics.hpp"

namespace npuscope::npu {

// An empty product for a node whose inputs do not fit its operator (the importer lets none by).
MatrixProduct find_product(const Graph& graph, const Node& node);

// Einsum can be a product, a reduction, a transpose, or elementwise.
OpClass einsum_class(const Graph& graph, const Node& node);

std::uint64_t saturating_product(std::initializer_list<std::uint64_t> factors);

}  // namespace npuscope::npu
