// Nodes that stand for others: calls of the model's functions, and If with a decided condition.
#include "npu/graph/importer.hpp"
#include "npu/graph/limits.hpp"

namespace npuscope::npu {

const FunctionSource* Importer::find_function(const NodeSource& source) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find({source.domain, source.op, source.overload});
  return found == functions_.end() ? nullptr : found->second;
}

// A small file can call functions within functions without end; what they add is bounded.
void Importer::charge(const NodeSource& source, const Attributes& attributes, const Scope& scope) {
  if (scope.depth == 0) return;
  inlined_bytes_ += scope.prefix.size() + source.name.size();
  for (const std::string_view output : source.outputs) {
    inlined_bytes_ += scope.prefix.size() + output.size();
  }
  for (const auto& [name, attribute] : attributes) {
    inlined_bytes_ += name.size() + attribute.graph.value_or(Encoded{}).size();
    if (!attribute.value) continue;
    if (const auto* text = std::get_if<std::string>(&*attribute.value)) {
      inlined_bytes_ += text->size();
    } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&*attribute.value)) {
      inlined_bytes_ += integers->size() * sizeof(std::int64_t);
    } else if (const auto* floats = std::get_if<std::vector<double>>(&*attribute.value)) {
      inlined_bytes_ += floats->size() * sizeof(double);
    }
  }
  if (++inlined_nodes_ > limits::inlined_nodes || inlined_bytes_ > limits::inlined_bytes) {
    fail_import("its functions and branches add over {} nodes or {} bytes; simplify the model",
                limits::inlined_nodes, limits::inlined_bytes);
  }
}

// A function's body refers to the attributes of the node that calls it.
Attributes Importer::bound_attributes(const NodeSource& source, const Scope& scope) const {
  Attributes attributes = read_attribute_sources(source.attributes);
  for (auto each = attributes.begin(); each != attributes.end();) {
    const std::string_view reference = each->second.reference;
    if (reference.empty()) {
      ++each;
      continue;
    }
    const auto* given = scope.attributes;
    const auto found = given != nullptr ? given->find(reference) : Attributes::const_iterator{};
    if (given == nullptr || found == given->end()) {
      each = attributes.erase(each);  // not given: the operator's own default holds
      continue;
    }
    const std::string_view name = each->first;
    each->second = found->second;
    each->second.name = name;
    ++each;
  }
  return attributes;
}

Importer::Scope Importer::nested(const Scope& scope, const Node& node) const {
  if (scope.depth + 1 > limits::nesting) {
    fail_import("node '{}' ({}): functions and branches nest deeper than {}; simplify the model",
                node.name, node.op, limits::nesting);
  }
  Scope inner;
  inner.opsets = scope.opsets;
  inner.attributes = scope.attributes;
  inner.prefix = node.name + "/";
  inner.depth = scope.depth + 1;
  return inner;
}

void Importer::inline_function(const FunctionSource& function, const NodeSource& call,
                               const Node& node, const Attributes& attributes, Scope& scope) {
  if (node.inputs.size() > function.inputs.size() ||
      call.outputs.size() > function.outputs.size()) {
    fail_import(
        "node '{}' calls the function {} with more inputs or outputs than it has; export "
        "the model again",
        node.name, function.name);
  }
  Scope inner = nested(scope, node);
  for (const Encoded attribute : function.default_attributes) inlined_bytes_ += attribute.size();
  Attributes given = read_attribute_sources(function.default_attributes);
  for (const auto& [name, attribute] : attributes) given.insert_or_assign(name, attribute);
  inner.attributes = &given;
  if (!function.opsets.empty()) inner.opsets = &function.opsets;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    inner.tensors[function.inputs[i]] = i < node.inputs.size() ? node.inputs[i] : TensorId::none;
  }
  std::vector<std::string_view> results(
      function.outputs.begin(), function.outputs.begin() + std::ptrdiff_t(call.outputs.size()));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!call.outputs[i].empty())
      inner.renamed.emplace(results[i], scope.prefix + std::string(call.outputs[i]));
  }
  add_nodes(function.nodes, inner);
  bind_results(call, results, inner, scope);
}

void Importer::inline_branch(const NodeSource& source, const Node& node,
                             const Attributes& attributes, Scope& scope) {
  const Tensor* condition = node.inputs.size() == 1 && node.inputs[0] != TensorId::none
                                ? &graph_[node.inputs[0]]
                                : nullptr;
  if (condition == nullptr || !condition->values || condition->values->size() != 1) {
    fail_import(
        "node '{}' (If): its condition is only known at run time, which the compiler "
        "cannot take; export the model for one branch",
        node.name);
  }
  const bool taken = condition->values->front() != 0;
  const auto branch = attributes.find(taken ? "then_branch" : "else_branch");
  if (branch == attributes.end() || !branch->second.graph) {
    fail_import("node '{}' (If) lacks its {} branch; export the model again", node.name,
                taken ? "then" : "else");
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

void Importer::bind_results(const NodeSource& call, const std::vector<std::string_view>& results,
                            const Scope& inner, Scope& scope) {
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].empty()) continue;
    const auto id = find(results[i], inner);
    if (!id || *id == TensorId::none) {
      fail_import("'{}', which {} should make as '{}', is made by no node; export the model again",
                  call.outputs[i], call.op, results[i]);
    }
    if (!scope.tensors.emplace(call.outputs[i], *id).second) {
      fail_import("'{}' is made twice; export the model again", call.outputs[i]);
    }
  }
}

}  // namespace npuscope::npu
