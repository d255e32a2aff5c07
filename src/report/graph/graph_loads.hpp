// Ops that only bring something to another op: transfers that no op makes anything for, of
// constants as far as the profile tells tensors apart, through multicast too, and transfers and
// bookkeeping of the same node that no edge connects. A drawing shows them with that op.
//
//   const std::vector<OpId> owners = owners_of_loads(view);
//   owners[index_of(weights_of_matmul_0)]    MatMul_0's kernel
//   owners[index_of(matmul_0)]               OpId::none: it is no load
#pragma once

#include <vector>

#include "report/graph/graph_document.hpp"

namespace npuscope::report {

// By op.
std::vector<OpId> owners_of_loads(const GraphView& view);

}  // namespace npuscope::report
