// State that a network keeps from one inference to the next (-retained-state): an input X and the
// output X_RetainedState share memory on the device.
#pragma once

#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu::nsp {

// By tensor of the graph, whether it is such an input or output.
std::vector<bool> find_retained_state(const Graph& graph);

}  // namespace npuscope::npu::nsp
