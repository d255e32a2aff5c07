// A model as the graph that a compiled one is compared with.
#pragma once

#include "analysis/graph/graph_expected.hpp"
#include "npu/graph/graph.hpp"

namespace npuscope::report {

analysis::ExpectedGraph expected_graph(const npu::Graph& model);

}  // namespace npuscope::report
