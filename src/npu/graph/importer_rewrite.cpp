// Models changed while they are read: another batch, older operators, and nodes that stand for
// others.
#include <algorithm>

#include "npu/graph/importer.hpp"
#include "npu/graph/limits.hpp"

namespace npuscope::npu {
namespace {

// Another batch for a model whose batch is a constant: the first dimension of all its inputs. What
// the exporter baked in of it are the first values of Reshape's shapes; everything else follows
// from the inputs, or does not, which the outputs show.

constexpr const char* advice = "export the model with a symbolic batch";

}  // namespace

std::int64_t Importer::rebatched(std::int64_t first_dimension) const {
  return first_dimension / old_batch_ * options_.batch;
}

// Sets old_batch_ where the model's is a constant and another one is asked for.
void Importer::find_old_batch(const GraphSource& source, const Scope& scope) {
  if (options_.batch <= 0) return;
  std::optional<std::int64_t> batch, other;
  for (const Encoded message : source.inputs) {
    const ValueSource value = read_value_source(message);
    const bool is_default = scope.tensors.contains(value.name);
    if (is_default || !value.dimensions || value.dimensions->empty()) continue;
    const auto& first = value.dimensions->front().value;
    if (!first || *first < 0) return;      // open: the option is its value
    if (*first == options_.batch) return;  // it is that batch already
    if (batch && *batch != *first) other = first;
    if (!batch) batch = first;
  }
  if (!batch) return;
  if (other) {
    fail_import(
        "-batchsize={}: its inputs begin with different dimensions, {} and {}, so that none is "
        "known as the batch; {}",
        options_.batch, *batch, *other, advice);
  }
  if (*batch == 0) fail_import("-batchsize={}: its batch is 0; {}", options_.batch, advice);
  old_batch_ = *batch;
  declared_.clear();  // shapes of the old batch
}

// What is computed from shapes has the new batch already.
void Importer::note_shapes(const Node& node) {
  if (old_batch_ == 0) return;
  const bool follows =
      node.op == "Shape" || node.op == "Size" ||
      std::ranges::any_of(node.inputs, [&](TensorId input) {
        return input != TensorId::none && graph_[input].constant && of_shapes_.contains(input);
      });
  if (!follows) return;
  for (const TensorId output : present(node.outputs)) of_shapes_.insert(output);
}

// A Reshape of data to a shape that the exporter wrote down.
void Importer::rebatch_reshape(Node& node, Scope& scope) {
  if (old_batch_ == 0 || node.op != "Reshape" || !node.domain.empty() || node.inputs.size() < 2) {
    return;
  }
  const TensorId data = node.inputs[0], shape = node.inputs[1];
  if (data == TensorId::none || shape == TensorId::none || graph_[data].constant ||
      of_shapes_.contains(shape)) {
    return;
  }
  const auto values = graph_[shape].values;
  if (!values || values->empty() || values->front() <= 0) return;  // 0 and -1 follow
  const std::int64_t first = values->front();
  const Shape& from = graph_[data].shape;
  if (first % old_batch_ != 0 || from.empty() || from.front() % options_.batch != 0) {
    fail_import("-batchsize={}: node '{}' reshapes {} to a first dimension of {}; {}",
                options_.batch, node.name, to_text(from), first, advice);
  }
  Tensor adapted = graph_[shape];
  adapted.consumers.clear();
  auto new_values = *values;
  new_values.front() = rebatched(first);
  adapted.values = new_values;
  node.inputs[1] =
      add_tensor(std::move(adapted), own_names_.emplace_back(node.name + ".shape of batch"), scope);
}

// Every output must have the new batch in the place of the old one, and nothing else changed.
void Importer::check_rebatched(const GraphSource& source, const Scope& scope) const {
  if (old_batch_ == 0) return;
  for (const Encoded message : source.outputs) {
    const ValueSource value = read_value_source(message);
    const Shape& shape = graph_[find(value.name, scope).value()].shape;
    bool fits = !shape.empty() && shape.front() % options_.batch == 0;
    if (value.dimensions) {
      fits = value.dimensions->size() == shape.size() && !shape.empty();
      for (std::size_t axis = 0; fits && axis < shape.size(); ++axis) {
        const auto& stated = (*value.dimensions)[axis].value;
        if (!stated || *stated < 0) continue;
        fits = shape[axis] == (axis == 0 ? rebatched(*stated) : *stated);
      }
    }
    if (!fits) {
      fail_import(
          "-batchsize={}: its output '{}' becomes {}, which is not {} times what it was; {}",
          options_.batch, value.name, to_text(shape), double(options_.batch) / double(old_batch_),
          advice);
    }
  }
}

// Before opset 13 a softmax is over all sides from its axis on, by default the second. Where
// several of them are not 1 it is one of a matrix's rows.
bool Importer::add_flat_softmax(const NodeSource& source, Node& node, const Attributes& attributes,
                                Scope& scope) {
  if ((node.op != "Softmax" && node.op != "LogSoftmax" && node.op != "Hardmax") ||
      !node.domain.empty() || opset_of(*scope.opsets, "") >= 13 || !node.has_input(0) ||
      source.outputs.size() != 1 || source.outputs[0].empty())
    return false;
  const Shape sides = graph_[node.inputs[0]].shape;
  const auto rank = std::int64_t(sides.size());
  std::int64_t axis = node.int_attribute("axis", 1);
  if (rank == 0 || axis < -rank || axis > rank) return false;
  axis = std::min(axis < 0 ? axis + rank : axis, rank - 1);
  const Shape row(sides.begin() + axis, sides.end());
  const auto is_wide = [](std::int64_t side) { return side != 1; };
  if (std::ranges::count_if(row, is_wide) < 2 || elements_of(sides) == 0) {
    const auto first = std::ranges::find_if(row, is_wide);
    node.attributes["axis"] = axis + (first == row.end() ? 0 : first - row.begin());
    return false;
  }
  const auto named = [&](std::string_view what) {
    return fmt::format("{}.{}", source.outputs[0], what);
  };
  const auto reshape = [&](std::string_view result, TensorId from, Shape to) {
    const TensorId shape =
        add_integers(fmt::format("{}.shape", result), std::move(to), true, scope);
    of_shapes_.insert(shape);
    return add_made("Reshape", result, {from, shape}, 0, scope);
  };
  node.inputs[0] = reshape(
      own_names_.emplace_back(named("rows")), node.inputs[0],
      {std::int64_t(elements_of(sides, std::size_t(axis))), std::int64_t(elements_of(row))});
  node.attributes["axis"] = std::int64_t{1};
  NodeSource softmax = source;
  softmax.outputs = {own_names_.emplace_back(named("of rows"))};
  add_operator(softmax, std::move(node), attributes, scope);
  reshape(source.outputs[0], scope.tensors.at(softmax.outputs[0]), sides);
  return true;
}

// Calls of the model's functions.

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

void Importer::bind_results(const NodeSource& call, const std::vector<std::string_view>& results,
                            const Scope& inner, Scope& scope) {
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].empty()) continue;
    const auto id = find(results[i], inner);
    if (!id || *id == TensorId::none) {
      fail_import("'{}', which {} should make as '{}', is made by no node; export the model again",
                  call.outputs[i], call.op, results[i]);
    }
    bind(call.outputs[i], *id, scope);
  }
}

void Importer::bind(std::string_view name, TensorId id, Scope& scope) const {
  if (!scope.tensors.emplace(name, id).second)
    fail_import("'{}' is made twice; export the model again", name);
}

}  // namespace npuscope::npu
