// Sizes and product of layers of which each token takes a few experts (com.microsoft.MoE, QMoE).
//
//   QMoE of a token, 4 of 32 experts, 2880 wide, gated: 4 x 2880 x (2 x 2880 + 2880)
//   multiply-accumulates, and the weights of 4 experts
#pragma once

#include "npu/graph/operation.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu {

struct ExpertSizes {
  std::int64_t tokens = 0, hidden = 0, inner = 0, experts = 0;
  std::int64_t experts_per_token = 0;
  // Columns of the first product (twice `inner` where it holds the gate as well), and of a gate of
  // its own, or 0.
  std::int64_t first_columns = 0, gate_columns = 0;
  std::int64_t bits = 0, block = 0;  // of packed weights; 0: not packed

  std::int64_t routed_rows() const { return tokens * experts_per_token; }
  // Where tokens spread as far as they can: the most weights that an inference can need.
  std::int64_t used_experts() const { return std::min(experts, routed_rows()); }
};

// Where each layer's weights are, in the order fc1, fc2, fc3.
struct ExpertInputs {
  std::size_t weights = 0, bias = 0, scales = 0;  // scales: 0 for weights that are not packed
};
ExpertInputs expert_inputs(const Node& node, std::size_t layer);

bool has_experts(const Node& node);

// Throw OperatorFailure where the inputs do not fit each other.
ExpertSizes expert_sizes(const Graph& graph, const Node& node);
MatrixProduct expert_product(const Graph& graph, const Node& node);

}  // namespace npuscope::npu
