// Small graphs from text, and the operators that an HTP's compiler makes of them:
//
//   ops_of(graph_of("float[1,16,64] x, float e", "float[1,16,64] y", "y = Pow (x, e)"))
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "npu/graph/parsed_onnx.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/qnn_graph.hpp"

namespace npuscope::npu::nsp {

// The inputs after the first are constants. `body`: of x, makes y.
inline Graph graph_of(std::string_view inputs, std::string_view output, std::string_view body) {
  Graph graph =
      parsed(fmt::format(R"(<ir_version: 8, opset_import: ["" : 13]> model ({}) => ({}) {{ {} }})",
                         inputs, output, body));
  for (const TensorId id : std::vector(graph.inputs.begin() + 1, graph.inputs.end()))
    graph[id].constant = true;
  graph.inputs.resize(1);
  return graph;
}

inline std::string ops_of(const Graph& graph) {
  const Graph made = qnn_graph(graph, true);
  std::string text;
  for (const Node& node : made.nodes)
    if (classify(made, node) != OpClass::folded) text += node.op + " ";
  return text;
}

}  // namespace npuscope::npu::nsp
