// Sequences (and optionals): which tensors they hold is known when a model is compiled, so that no
// node of theirs remains but the Split or Concat that they stand for.
//
//   SplitToSequence x -> s;  SequenceAt s, 1 -> y     becomes   Split x -> s.0, s.1, s.2;  y is s.1
#include <algorithm>

#include "npu/graph/importer.hpp"
#include "npu/graph/limits.hpp"

namespace npuscope::npu {

const std::vector<TensorId>& Importer::sequence_of(const Node& node, std::size_t input) const {
  const auto found = node.has_input(input) ? sequences_.find(node.inputs[input]) : sequences_.end();
  if (found == sequences_.end()) {
    fail_import("node '{}' ({}): its input {} is not a sequence; check the model", node.name,
                node.op, input);
  }
  return found->second;
}

// The position that an input names among `count`; negative: from the end.
std::size_t Importer::place_in(const Node& node, std::size_t input, std::size_t count,
                               std::size_t otherwise) const {
  if (!node.has_input(input)) return otherwise;
  const auto& values = graph_[node.inputs[input]].values;
  if (!values || values->size() != 1) {
    fail_import(
        "node '{}' ({}): its position is only known at run time; export the model with a constant "
        "one",
        node.name, node.op);
  }
  const std::int64_t at = values->front() + (values->front() < 0 ? std::int64_t(count) : 0);
  if (at < 0 || at > std::int64_t(count)) {
    fail_import("node '{}' ({}): position {} is not one of {} elements; check the model", node.name,
                node.op, values->front(), count);
  }
  return std::size_t(at);
}

void Importer::check_length(std::string_view name, std::size_t elements) {
  inlined_nodes_ += elements;
  if (elements <= limits::trips && inlined_nodes_ <= limits::inlined_nodes) return;
  fail_import(
      "its sequence '{}' has more than {} elements, or all have over {}; simplify the model", name,
      limits::trips, limits::inlined_nodes);
}

void Importer::make_sequence(std::string_view name, std::vector<TensorId> elements, Scope& scope) {
  check_length(name, elements.size());
  Tensor tensor;
  tensor.type = DataType::boolean;
  tensor.shape = {0};
  tensor.constant = true;
  sequences_.emplace(add_tensor(std::move(tensor), name, scope), std::move(elements));
}

void Importer::split_to_sequence(const NodeSource& source, const Node& node, Scope& scope) {
  const std::string_view name = source.outputs.at(0);
  const Shape shape = node.has_input(0) ? graph_[node.inputs[0]].shape : Shape{};
  const auto rank = std::int64_t(shape.size());
  const std::int64_t stated = node.int_attribute("axis", 0),
                     axis = stated + (stated < 0 ? rank : 0);
  if (axis < 0 || axis >= rank) {
    fail_import("node '{}' (SplitToSequence): axis {} is not one of {}; check the model", node.name,
                stated, to_text(shape));
  }
  const std::int64_t extent = shape[std::size_t(axis)];
  std::vector<std::int64_t> sizes;
  if (!node.has_input(1)) {
    sizes.assign(std::size_t(std::min<std::int64_t>(extent, limits::trips + 1)), 1);
  } else {
    const Tensor& split = graph_[node.inputs[1]];
    if (!split.values || (split.shape.empty() && split.values->front() < 1)) {
      fail_import(
          "node '{}' (SplitToSequence): its sizes are only known at run time; export the model "
          "with constant ones",
          node.name);
    }
    sizes = *split.values;
    if (split.shape.empty()) {
      const std::int64_t size = sizes.front();
      sizes.clear();
      for (std::int64_t left = extent; left > 0 && sizes.size() <= limits::trips; left -= size)
        sizes.push_back(std::min(left, size));
    }
  }
  check_length(name, sizes.size());
  std::vector<TensorId> parts;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    names.push_back(own_names_.emplace_back(fmt::format("{}.{}", name, i)));
  if (!node.has_input(1) && node.int_attribute("keepdims", 1) == 0) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const TensorId at =
          add_integers(fmt::format("{} at", names[i]), {std::int64_t(i)}, false, scope);
      parts.push_back(add_made("Gather", names[i], {node.inputs[0], at}, axis, scope));
    }
  } else if (!names.empty()) {
    const TensorId widths = add_integers(fmt::format("{}.sizes", name), sizes, true, scope);
    add_made("Split", names, {node.inputs[0], widths}, axis, scope);
    for (const std::string_view each : names) parts.push_back(scope.tensors.at(each));
  }
  make_sequence(name, std::move(parts), scope);
}

void Importer::join_sequence(const NodeSource& source, const Node& node, Scope& scope) {
  const std::vector<TensorId>& parts = sequence_of(node, 0);
  const std::int64_t axis = node.int_attribute("axis", 0);
  if (node.int_attribute("new_axis", 0) != 0)
    return stack_trips(source, node, 0, parts, axis, scope);
  if (parts.empty())
    fail_import("node '{}' ({}) joins an empty sequence; check the model", node.name, node.op);
  add_made("Concat", source.outputs.at(0), parts, axis, scope);
}

// False for a node that has nothing to do with them.
bool Importer::add_sequence(const NodeSource& source, const Node& node, Scope& scope) {
  if (!node.domain.empty() || source.outputs.empty()) return false;
  const std::string_view op = node.op, name = source.outputs[0];
  const bool holds = node.has_input(0) && sequences_.contains(node.inputs[0]);
  if (op == "SequenceConstruct" || op == "SequenceEmpty") {
    make_sequence(name, node.inputs, scope);
  } else if (op == "SequenceInsert") {
    std::vector<TensorId> elements = sequence_of(node, 0);
    if (!node.has_input(1))
      fail_import("node '{}' ({}) lacks what it inserts; check the model", node.name, node.op);
    const std::size_t at = place_in(node, 2, elements.size(), elements.size());
    elements.insert(elements.begin() + std::ptrdiff_t(at), node.inputs[1]);
    make_sequence(name, std::move(elements), scope);
  } else if (op == "SequenceErase" || op == "SequenceAt") {
    std::vector<TensorId> elements = sequence_of(node, 0);
    const std::size_t at = place_in(node, 1, elements.size(), elements.size() - 1);
    if (at >= elements.size())
      fail_import("node '{}' ({}): its sequence has {} elements; check the model", node.name,
                  node.op, elements.size());
    if (op == "SequenceAt") return bind(name, elements[at], scope), true;
    elements.erase(elements.begin() + std::ptrdiff_t(at));
    make_sequence(name, std::move(elements), scope);
  } else if (op == "SequenceLength") {
    const auto length = std::int64_t(sequence_of(node, 0).size());
    bind(name, add_integers(fmt::format("{}.length", name), {length}, false, scope), scope);
  } else if (op == "SplitToSequence") {
    split_to_sequence(source, node, scope);
  } else if (op == "ConcatFromSequence") {
    join_sequence(source, node, scope);
  } else if (op == "OptionalHasElement") {
    const TensorId is_there = add_integers(fmt::format("{}.is there", name),
                                           {std::int64_t{node.has_input(0)}}, false, scope);
    graph_[is_there].type = DataType::boolean;
    bind(name, is_there, scope);
  } else if (((op == "Optional" || op == "OptionalGetElement") && node.has_input(0)) ||
             (op == "Identity" && holds)) {
    bind(name, node.inputs[0], scope);
  } else {
    return false;
  }
  return true;
}

}  // namespace npuscope::npu
