// Scan, and Loop with a known number of trips: the body stands once for each trip in place of the
// node that repeats it.
//
//   Scan 'cell' over [3 x 2]   becomes   cell/0/..., cell/1/..., cell/2/...
//
// Each trip reads the state of the one before and its own part of what is scanned; weights of the
// body are one tensor for all of them.
#include <algorithm>
#include <limits>

#include "npu/graph/importer.hpp"
#include "npu/graph/limits.hpp"

namespace npuscope::npu {
namespace {

// Of the attribute's list, which may be left out.
std::int64_t item(const std::vector<std::int64_t>& list, std::size_t at) {
  return at < list.size() ? list[at] : 0;
}

// The value of a condition or a number of trips, where it is known.
std::optional<std::int64_t> value_of(const Graph& graph, const Node& node, std::size_t input) {
  if (!node.has_input(input)) return {};
  const auto& values = graph[node.inputs[input]].values;
  return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
}

}  // namespace

// A node of the importer's own.
void Importer::add_made(std::string_view op, const std::vector<std::string_view>& results,
                        const std::vector<TensorId>& inputs, std::int64_t axis, Scope& scope) {
  NodeSource source;
  source.op = op;
  source.name = results.front();
  source.outputs = results;
  Node node;
  node.name = unique_node_name(source, graph_.nodes.size(), scope);
  node.op = op;
  node.inputs = inputs;
  node.attributes.emplace("axis", axis);
  add_operator(source, std::move(node), {}, scope);
}

TensorId Importer::add_made(std::string_view op, std::string_view result,
                            const std::vector<TensorId>& inputs, std::int64_t axis, Scope& scope) {
  add_made(op, std::vector{result}, inputs, axis, scope);
  return scope.tensors.at(result);
}

// A constant of the importer's own: one number, or a list of them.
TensorId Importer::add_integers(std::string name, std::vector<std::int64_t> values, bool is_list,
                                Scope& scope) {
  Tensor tensor;
  tensor.type = DataType::int64;
  tensor.constant = true;
  if (is_list) tensor.shape = {std::int64_t(values.size())};
  tensor.values = std::move(values);
  return add_tensor(std::move(tensor), own_names_.emplace_back(std::move(name)), scope);
}

Importer::Body Importer::read_body(const Node& node, const Attributes& attributes, Scope& scope) {
  const auto found = attributes.find("body");
  if (found == attributes.end() || !found->second.graph) {
    fail_import("node '{}' ({}) lacks its body; export the model again", node.name, node.op);
  }
  Body body{read_graph_source(*found->second.graph), {}, {}, nested(scope, node)};
  body.weights.outer = &scope;
  for (const Encoded message : body.graph.inputs)
    body.inputs.push_back(read_value_source(message).name);
  for (const Encoded message : body.graph.outputs)
    body.outputs.push_back(read_value_source(message).name);
  add_initializers(body.graph, body.weights);
  return body;
}

std::vector<TensorId> Importer::add_trip(const Body& body, const Node& node, std::size_t trip,
                                         const std::vector<TensorId>& given,
                                         const std::vector<std::string>& names) {
  inlined_nodes_ += 1 + body.inputs.size() + body.outputs.size();
  if (trip >= limits::trips || inlined_nodes_ > limits::inlined_nodes) {
    fail_import(
        "node '{}' ({}): its trips are more than the {} that the compiler writes out, or add over "
        "{} nodes; simplify the model",
        node.name, node.op, limits::trips, limits::inlined_nodes);
  }
  Scope inner = nested(*body.weights.outer, node);
  inner.outer = &body.weights;
  inner.prefix = fmt::format("{}/{}/", node.name, trip);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!inner.tensors.emplace(body.inputs[i], given[i]).second)
      fail_import("node '{}' ({}): its body has the input '{}' twice; export the model again",
                  node.name, node.op, body.inputs[i]);
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty()) inner.renamed.emplace(body.outputs[i], names[i]);
  add_nodes(body.graph.nodes, inner);
  std::vector<TensorId> results;
  for (const std::string_view output : body.outputs) {
    const auto id = find(output, inner);
    if (!id || *id == TensorId::none) {
      fail_import(
          "node '{}' ({}): '{}', a result of its body, is made by no node; export the model "
          "again",
          node.name, node.op, output);
    }
    results.push_back(*id);
  }
  return results;
}

// What each trip adds to a result, joined along an axis of its own.
void Importer::stack_trips(const NodeSource& call, const Node& node, std::size_t output,
                           std::vector<TensorId> parts, std::int64_t axis, Scope& scope) {
  if (output >= call.outputs.size() || call.outputs[output].empty()) return;
  if (parts.empty()) {
    fail_import("node '{}' ({}) makes '{}' in no trips at all; export the model without it",
                node.name, node.op, call.outputs[output]);
  }
  const std::int64_t rank = std::int64_t(graph_[parts[0]].shape.size()) + 1;
  if (axis < -rank || axis >= rank) {
    fail_import("node '{}' ({}): axis {} is not one of the {} of '{}'; export the model again",
                node.name, node.op, axis, rank, call.outputs[output]);
  }
  const TensorId where = add_integers(
      fmt::format("{}.axes of '{}'", node.name, call.outputs[output]), {axis}, true, scope);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& name = own_names_.emplace_back(
        fmt::format("{}.part {} of '{}'", node.name, i, call.outputs[output]));
    parts[i] = add_made("Unsqueeze", name, {parts[i], where}, 0, scope);
  }
  add_made("Concat", call.outputs[output], parts, axis, scope);
}

void Importer::give_states(const NodeSource& call, const std::vector<TensorId>& states,
                           Scope& scope) const {
  for (std::size_t i = 0; i < std::min(states.size(), call.outputs.size()); ++i)
    if (!call.outputs[i].empty()) bind(call.outputs[i], states[i], scope);
}

void Importer::unroll_scan(const NodeSource& source, const Node& node, const Attributes& attributes,
                           Scope& scope) {
  if (opset_of(*scope.opsets, "") < 9) {
    fail_import(
        "node '{}' (Scan): before opset 9 it also goes over a batch; convert the model to a newer "
        "opset",
        node.name);
  }
  const std::int64_t scanned = node.int_attribute("num_scan_inputs", 0);
  const bool fits = scanned > 0 && std::uint64_t(scanned) <= node.inputs.size() &&
                    std::ranges::count(node.inputs, TensorId::none) == 0;
  if (!fits) {
    fail_import("node '{}' (Scan) scans {} of its {} inputs; export the model again", node.name,
                scanned, node.inputs.size());
  }
  const std::size_t state_count = node.inputs.size() - std::size_t(scanned);
  const Body body = read_body(node, attributes, scope);
  if (body.inputs.size() != node.inputs.size() || body.outputs.size() < state_count ||
      source.outputs.size() > body.outputs.size()) {
    fail_import(
        "node '{}' (Scan) has other inputs or outputs than its body; export the model again",
        node.name);
  }
  const auto in_axes = node.ints_attribute("scan_input_axes");
  const auto backwards = node.ints_attribute("scan_input_directions");
  std::optional<std::int64_t> trips;
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < std::size_t(scanned); ++i) {
    const Shape& shape = graph_[node.inputs[state_count + i]].shape;
    const std::int64_t rank = std::int64_t(shape.size());
    const std::int64_t axis = item(in_axes, i) + (item(in_axes, i) < 0 ? rank : 0);
    const bool same = axis >= 0 && axis < rank && (!trips || *trips == shape[std::size_t(axis)]);
    if (!same) {
      fail_import(
          "node '{}' (Scan) cannot go over axis {} of input {}, which is {}; check the model",
          node.name, item(in_axes, i), state_count + i, to_text(shape));
    }
    trips = shape[std::size_t(axis)];
    axes.push_back(axis);
  }
  std::vector<TensorId> states(node.inputs.begin(),
                               node.inputs.begin() + std::ptrdiff_t(state_count));
  std::vector<std::vector<TensorId>> made(body.outputs.size() - state_count);
  for (std::int64_t trip = 0; trip < *trips; ++trip) {
    std::vector<TensorId> given = states;
    for (std::size_t i = 0; i < std::size_t(scanned); ++i) {
      const std::int64_t at = item(backwards, i) != 0 ? *trips - 1 - trip : trip;
      const std::string prefix = fmt::format("{}/{}.input {}", node.name, trip, i);
      const TensorId index = add_integers(prefix + " at", {at}, false, scope);
      given.push_back(add_made("Gather", own_names_.emplace_back(prefix),
                               {node.inputs[state_count + i], index}, axes[i], scope));
    }
    const auto results = add_trip(
        body, node, std::size_t(trip), given,
        trip + 1 == *trips ? names_of(source, state_count, scope) : std::vector<std::string>{});
    std::copy_n(results.begin(), state_count, states.begin());
    for (std::size_t i = 0; i < made.size(); ++i) made[i].push_back(results[state_count + i]);
  }
  give_states(source, states, scope);
  const auto out_axes = node.ints_attribute("scan_output_axes");
  const auto reversed = node.ints_attribute("scan_output_directions");
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (item(reversed, i) != 0) std::ranges::reverse(made[i]);
    stack_trips(source, node, state_count + i, std::move(made[i]), item(out_axes, i), scope);
  }
}

void Importer::unroll_loop(const NodeSource& source, const Node& node, const Attributes& attributes,
                           Scope& scope) {
  auto most = given_to(node);
  if (!most) most = value_of(graph_, node, 0);
  if (node.inputs.size() < 2 || (node.has_input(0) && !most)) {
    fail_import(
        "node '{}' (Loop): its number of trips is only known at run time, which the compiler "
        "cannot take; {}give the node one (-onnx-define-symbol={},8)",
        node.name, deciding_input(node.inputs.empty() ? TensorId::none : node.inputs[0]),
        node.name);
  }
  // What exporters write for loops that only a condition ends.
  if (most == std::numeric_limits<std::int64_t>::max()) most.reset();
  const bool bounded = most.has_value();
  const Body body = read_body(node, attributes, scope);
  std::vector<TensorId> states(node.inputs.begin() + 2, node.inputs.end());
  if (body.inputs.size() != states.size() + 2 || body.outputs.size() < states.size() + 1 ||
      source.outputs.size() + 1 > body.outputs.size() ||
      std::ranges::count(states, TensorId::none) > 0) {
    fail_import(
        "node '{}' (Loop) has other inputs or outputs than its body; export the model again",
        node.name);
  }
  std::vector<std::vector<TensorId>> made(body.outputs.size() - 1 - states.size());
  std::optional<std::int64_t> goes_on = node.has_input(1) ? value_of(graph_, node, 1) : 1;
  TensorId condition = node.has_input(1) ? node.inputs[1] : TensorId::none;
  bool may_end = false;
  for (std::int64_t trip = 0; (!bounded || trip < *most) && goes_on != 0; ++trip) {
    if (!goes_on && !bounded) {
      fail_import(
          "node '{}' (Loop) ends when a condition says so that is only known at run time; give "
          "the node a number of trips (-onnx-define-symbol={},8)",
          node.name, node.name);
    }
    may_end = may_end || !goes_on;
    const std::string prefix = fmt::format("{}/{}", node.name, trip);
    std::vector<TensorId> given{add_integers(prefix + ".trip", {trip}, false, scope)};
    if (condition == TensorId::none) {
      condition = add_integers(prefix + ".condition", {1}, false, scope);
      graph_[condition].type = DataType::boolean;
    }
    given.push_back(condition);
    given.insert(given.end(), states.begin(), states.end());
    std::vector<std::string> names;  // of the last trip, where it is known beforehand
    if (bounded && trip + 1 == *most) {
      names = names_of(source, states.size(), scope);
      names.insert(names.begin(), std::string{});
    }
    const auto results = add_trip(body, node, std::size_t(trip), given, names);
    condition = results[0];
    const auto& known = graph_[condition].values;
    goes_on = known && known->size() == 1 ? std::optional(known->front()) : std::nullopt;
    std::copy_n(results.begin() + 1, states.size(), states.begin());
    for (std::size_t i = 0; i < made.size(); ++i) made[i].push_back(results[1 + states.size() + i]);
  }
  if (may_end) {
    graph_.warnings.push_back(
        fmt::format("node '{}' (Loop) may end before its {} trips; compiled for all of them",
                    node.name, *most));
  }
  give_states(source, states, scope);
  for (std::size_t i = 0; i < made.size(); ++i)
    stack_trips(source, node, states.size() + i, std::move(made[i]), 0, scope);
}

// What the caller calls the first results of a body.
std::vector<std::string> Importer::names_of(const NodeSource& call, std::size_t count,
                                            const Scope& scope) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(count, call.outputs.size()); ++i) {
    names.push_back(call.outputs[i].empty() ? std::string{}
                                            : scope.prefix + std::string(call.outputs[i]));
  }
  return names;
}

}  // namespace npuscope::npu
