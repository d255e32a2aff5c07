// `npuscope graph`: the compiled graph of a profile as a document.
//
//   const GraphView view(analysis);
//   Document document = graph_document(view, {.top = 10});
//
//   COMPILED GRAPH
//     ops             45   of which run   43
//     longest chain   14
//   KINDS OF OPS · EDGES · TENSORS · OPS THAT DID NOT RUN · FALSE DEPENDENCIES
//
//   path_document_of(view, "MatMul_0", "Output", kinds)    the shortest path and the heaviest
//   around_document(view, "MatMul_3", 2, kinds)            what is at most two edges away
//
// A GraphView refers to the analysis, which must outlive it and its documents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/graph/false_dependencies.hpp"
#include "analysis/graph/graph_expected.hpp"
#include "analysis/graph/graph_facts.hpp"
#include "analysis/ops/op_times.hpp"
#include "npu/graph/graph.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/graph.hpp"
#include "npuscope/base/result.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

struct GraphView {
  explicit GraphView(const analysis::Analysis& of);

  const Profile& profile;
  const analysis::OpGraph& graph;
  const analysis::OpTimes& times;
  analysis::GraphFacts facts;
};

// Which inference its times are of (provenance.hpp).
std::string scope_of(const GraphView& view);

struct GraphDocumentOptions {
  std::size_t top = 10;   // rows of each table; the document says how many there are
  std::size_t rows = 10;  // of those tables that are in no table of `whole`
  bool whole = false;     // with all nodes, edges and tensors: for machines
  const analysis::ExpectedGraph* expected = nullptr;  // to compare with
};

// A usage error for a profile without ops.
Result<Document> graph_document(const GraphView& view, const GraphDocumentOptions& options);

// Of ops as analysis::find_ops() takes them.
Result<Document> graph_path_document(const GraphView& view, const std::string& from,
                                     const std::string& to, analysis::EdgeKinds kinds);
Result<Document> graph_around_document(const GraphView& view, const std::string& centre,
                                       std::uint32_t hops, analysis::EdgeKinds kinds);

// A model as the graph that a compiled one is compared with.

analysis::ExpectedGraph expected_graph(const npu::Graph& model);

}  // namespace npuscope::report
