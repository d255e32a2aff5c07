// If: the branch that its condition decides, or that the caller names, stands in place of the node.
// Where nothing decides, both are tried and the dearer one stays.
#include <algorithm>

#include "npu/graph/importer.hpp"
#include "npu/graph/limits.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu {
namespace {

struct Work {
  std::uint64_t macs = 0, bytes = 0;
  auto operator<=>(const Work&) const = default;
};

Work work_from(const Graph& graph, std::size_t first) {
  Work work;
  for (std::size_t i = first; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const OpClass kind = classify(graph, node);
    if (kind == OpClass::folded || kind == OpClass::view) continue;
    work.macs += multiply_accumulates(graph, node);
    for (const TensorId output : present(node.outputs)) work.bytes += graph[output].bytes();
  }
  return work;
}

constexpr const char* name_of_branch(bool taken) { return taken ? "then" : "else"; }

}  // namespace

// What the caller says of a node by its name: the branch, or the number of trips.
std::optional<std::int64_t> Importer::given_to(const Node& node) {
  const auto given = options_.symbols.find(node.name);
  if (given == options_.symbols.end()) return {};
  used_symbols_.insert(given->first);
  return given->second;
}

void Importer::inline_branch(const NodeSource& source, const Node& node,
                             const Attributes& attributes, Scope& scope) {
  if (node.inputs.size() != 1 || !node.has_input(0))
    fail_import("node '{}' (If) lacks its condition; export the model again", node.name);
  std::optional<std::int64_t> decision = given_to(node);
  const Tensor& condition = graph_[node.inputs[0]];
  if (!decision && condition.values && condition.values->size() == 1)
    decision = condition.values->front();
  if (decision) return add_branch(*decision != 0, source, node, attributes, scope);
  if (const std::string input = deciding_input(node.inputs[0]); !input.empty()) {
    fail_import(
        "node '{}' (If): its condition is only known at run time, which the compiler cannot take; "
        "{}export the model for one branch",
        node.name, input);
  }
  inline_dearer_branch(source, node, attributes, scope);
}

void Importer::inline_dearer_branch(const NodeSource& source, const Node& node,
                                    const Attributes& attributes, Scope& scope) {
  const Mark start = mark();
  Work work[2];
  std::optional<ImportFailure> failures[2];
  for (const bool taken : {true, false}) {
    try {
      Scope trial{&scope, scope.opsets, scope.attributes, scope.prefix, scope.depth, {}, {}};
      add_branch(taken, source, node, attributes, trial);
      work[taken] = work_from(graph_, start.nodes);
    } catch (const ImportFailure& failure) {
      failures[taken] = failure;
    }
    roll_back(start);
  }
  if (failures[0] && failures[1]) throw ImportFailure(*failures[1]);
  const bool taken = failures[0] || (!failures[1] && work[1] >= work[0]);
  add_branch(taken, source, node, attributes, scope);
  const auto& failed = failures[!taken];
  graph_.warnings.push_back(fmt::format(
      "node '{}' (If): its condition is only known at run time; compiled for its {} branch, {}; "
      "-onnx-define-symbol={},{} compiles the other one",
      node.name, name_of_branch(taken),
      failed
          ? "since the other one cannot be: " + failed->message
          : fmt::format("the dearer one ({} multiply-accumulates and {} bytes made, against {} "
                        "and {})",
                        work[taken].macs, work[taken].bytes, work[!taken].macs, work[!taken].bytes),
      node.name, !taken));
}

void Importer::add_branch(bool taken, const NodeSource& source, const Node& node,
                          const Attributes& attributes, Scope& scope) {
  const auto branch = attributes.find(taken ? "then_branch" : "else_branch");
  if (branch == attributes.end() || !branch->second.graph) {
    fail_import("node '{}' (If) lacks its {} branch; export the model again", node.name,
                name_of_branch(taken));
  }
  const GraphSource graph = read_graph_source(*branch->second.graph);
  Scope inner = nested(scope, node);
  inner.outer = &scope;
  std::vector<std::string_view> results;
  for (const Encoded output : graph.outputs) results.push_back(read_value_source(output).name);
  if (results.size() < source.outputs.size()) {
    fail_import("node '{}' (If) has more outputs than its branch; export the model again",
                node.name);
  }
  for (std::size_t i = 0; i < source.outputs.size(); ++i) {
    if (!source.outputs[i].empty())
      inner.renamed.emplace(results[i], scope.prefix + std::string(source.outputs[i]));
  }
  add_initializers(graph, inner);
  add_nodes(graph.nodes, inner);
  bind_results(source, results, inner, scope);
}

// Everything that adding nodes changes. What trials count against the limits stays counted.

Importer::Mark Importer::mark() const {
  return {graph_.tensors.size(),  graph_.nodes.size(), graph_.warnings.size(),
          names_in_order_.size(), folded_elements_,    unknown_};
}

void Importer::roll_back(const Mark& to) {
  const TensorId first{std::uint32_t(to.tensors)};
  const NodeId first_node{std::uint32_t(to.nodes)};
  for (std::size_t i = to.nodes; i < graph_.nodes.size(); ++i) {
    for (const TensorId input : present(graph_.nodes[i].inputs)) {
      auto& consumers = graph_[input].consumers;
      while (!consumers.empty() && consumers.back() >= first_node) consumers.pop_back();
    }
  }
  graph_.nodes.resize(to.nodes);
  graph_.warnings.resize(to.warnings);
  for (std::size_t i = to.tensors; i < graph_.tensors.size(); ++i)
    of_shapes_.erase(TensorId{std::uint32_t(i)});
  graph_.tensors.resize(to.tensors);
  sequences_.erase(sequences_.lower_bound(first), sequences_.end());
  for (; names_in_order_.size() > to.names; names_in_order_.pop_back())
    node_names_.erase(node_names_.find(std::string(names_in_order_.back())));
  folded_elements_ = to.folded_elements;
  unknown_ = to.unknown;
}

}  // namespace npuscope::npu
