#include "npu/graph/importer.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "npu/graph/limits.hpp"
#include "npu/graph/operators.hpp"
#include "npu/graph/operators/experts.hpp"

namespace npuscope::npu {
namespace {

std::string_view shown_domain(std::string_view domain) {
  return domain.empty() ? std::string_view("ai.onnx") : domain;
}

// What no NPU runs, with the way out of it.
struct LeftOut {
  std::string_view domain;
  std::string_view operators;  // "": all of the domain
  std::string_view why;
};
constexpr std::string_view of_optimised_models =
    "ONNX Runtime writes for its own kernels when it optimises a model; compile the model that it "
    "was made from";
constexpr LeftOut left_out[] = {
    {"", "RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer",
     "works on texts; leave it to the host and compile the model without it"},
    {"", "ImageDecoder", "decodes files; leave it to the host and compile the model after it"},
    {"", "SequenceMap", "maps a sequence by a graph; export the model with a tensor for each"},
    {"ai.onnx.ml", "", "is classical machine learning for a host; compile the model without it"},
    {"ai.onnx.preview.training", "", "is for training; export the model for inference"},
    {"ai.onnx.contrib", "", "is pre- or postprocessing on the host; compile the model without it"},
    {"com.microsoft.extensions", "",
     "is pre- or postprocessing on the host; compile the model without it"},
    {"com.microsoft", "BeamSearch GreedySearch Sampling WhisperBeamSearch",
     "generates tokens on the host; compile its decoder, a model of its own, alone"},
    {"com.microsoft", "Tokenizer", "works on texts; leave it to the host"},
    {"com.microsoft",
     "NhwcConv NhwcFusedConv NhwcMaxPool PackedAttention PackedMultiHeadAttention PagedAttention "
     "QLinearConv RemovePadding RestorePadding",
     of_optimised_models},
    {"com.microsoft.nchwc", "", of_optimised_models},
    {"com.ms.internal.nhwc", "", of_optimised_models},
};

std::string_view why_unknown(std::string_view domain, std::string_view op) {
  for (const LeftOut& each : left_out) {
    if (each.domain != domain) continue;
    auto names = words_of(each.operators);
    if (each.operators.empty() || std::ranges::any_of(names, [&](auto name) { return name == op; }))
      return each.why;
  }
  return "npuscope does not know; pass --allow-unknown to cost it as an elementwise operation";
}

// A tensor made from constants alone is one itself, unless chance has a part in it.
bool makes_constants(const Graph& graph, const Node& node) {
  if (node.op.starts_with("Random") || node.op == "Bernoulli" || node.op == "Multinomial")
    return false;
  if (node.op == "Shape" || node.op == "Size") return true;  // shapes are all known
  return std::ranges::all_of(
      node.inputs, [&](TensorId id) { return id == TensorId::none || graph[id].constant; });
}

}  // namespace

std::int64_t opset_of(const Opsets& opsets, std::string_view domain) {
  const auto found = opsets.find(domain);
  return found == opsets.end() ? 1 : found->second;
}

Importer::Importer(const ModelSource& model, const ImportOptions& options)
    : model_(model), options_(options) {
  for (const FunctionSource& function : model.functions) {
    functions_.emplace(FunctionKey{function.domain, function.name, function.overload}, &function);
  }
}

Graph Importer::run() {
  const GraphSource source = read_graph_source(*model_.graph);
  if (source.nodes.empty()) fail_import("its graph has no nodes; export the model again");
  graph_.name = source.name;
  for (const Encoded message : source.intermediate_values) {
    ValueSource value = read_value_source(message);
    declared_.insert_or_assign(value.name, std::move(value));
  }
  for (const Encoded message : source.outputs) {
    ValueSource value = read_value_source(message);
    if (options_.batch == 0) declared_.emplace(value.name, std::move(value));
  }
  Scope scope;
  scope.opsets = &model_.opsets;
  add_initializers(source, scope);
  find_old_batch(source, scope);
  add_inputs(source, scope);
  add_nodes(source.nodes, scope);
  add_outputs(source, scope);
  check_rebatched(source, scope);
  for (const auto& [what, unknown] : unknown_) {
    graph_.warnings.push_back(
        fmt::format("{} is not known; {} node{} costed as elementwise, e.g. '{}'", what,
                    unknown.count, unknown.count == 1 ? " is" : "s are", unknown.first_node));
  }
  warn_of_experts();
  if (old_batch_ == 0) warn_of_outputs(source, scope);
  warn_of_idle_symbols();
  return std::move(graph_);
}

void Importer::warn_of_experts() {
  const auto first = std::ranges::find_if(graph_.nodes, has_experts);
  if (first == graph_.nodes.end()) return;
  const ExpertSizes sizes = expert_sizes(graph_, *first);
  graph_.warnings.push_back(fmt::format(
      "node '{}' ({}): which experts a token takes is known when the model runs; {} compiled for "
      "tokens spread evenly over as many experts as they reach, here {} of {}",
      first->name, first->op,
      std::ranges::count_if(graph_.nodes, has_experts) == 1 ? "it is" : "it and others like it are",
      sizes.used_experts(), sizes.experts));
}

void Importer::add_initializers(const GraphSource& source, Scope& scope) {
  const auto add = [&](Tensor tensor) {
    const std::size_t kept = (tensor.values ? tensor.values->size() : 0) +
                             (tensor.float_values ? tensor.float_values->size() : 0);
    if (folded_elements_ + kept > limits::folded_in_all) {
      tensor.values.reset();
      tensor.float_values.reset();
    } else {
      folded_elements_ += kept;
    }
    return tensor;
  };
  for (const Encoded message : source.initializers) {
    // The name as a view into the file: names must outlive the scope's map.
    std::string_view name;
    Tensor tensor = read_tensor(message, &name);
    add_tensor(add(std::move(tensor)), name, scope);
  }
  for (const Encoded message : source.sparse_initializers) {
    std::string_view name;
    Tensor tensor = read_sparse_tensor(message, &name);
    add_tensor(add(std::move(tensor)), name, scope);
  }
}

void Importer::add_inputs(const GraphSource& source, Scope& scope) {
  for (const Encoded message : source.inputs) {
    const ValueSource value = read_value_source(message);
    const auto known = scope.tensors.find(value.name);
    const bool is_default = known != scope.tensors.end() && graph_[known->second].constant;
    if (is_default) continue;  // an initializer: a constant
    Tensor tensor;
    tensor.type = data_type_of(value.element_type);
    if (value.is_sequence) {
      fail_import(
          "its input '{}' is a sequence of tensors, whose number is only known at run time; export "
          "the model with tensors as inputs",
          value.name);
    }
    if (!value.is_tensor || tensor.type == DataType::undefined) {
      fail_import(
          "its input '{}' is not a tensor of a known element type; export the model with "
          "tensors as inputs",
          value.name);
    }
    if (!value.dimensions) {
      fail_import("its input '{}' has no shape; export the model with the shapes of its inputs",
                  value.name);
    }
    if (value.dimensions->size() > limits::rank) {
      fail_import("its input '{}' has {} dimensions and {} are the limit; check the model",
                  value.name, value.dimensions->size(), limits::rank);
    }
    for (std::size_t axis = 0; axis < value.dimensions->size(); ++axis) {
      tensor.shape.push_back(resolve((*value.dimensions)[axis], value.name, axis));
    }
    if (const auto problem = limits::problem_of(tensor)) {
      fail_import("its input '{}' is {} and {}; give its dimensions sensible values", value.name,
                  to_text(tensor.shape), *problem);
    }
    set_given_value(tensor, value.name);
    graph_.inputs.push_back(add_tensor(std::move(tensor), value.name, scope));
  }
  require_all_symbols();
}

// What decides a branch or a number of trips may be an input; a symbol of its name is its value.
void Importer::set_given_value(Tensor& tensor, std::string_view name) {
  const auto given = options_.symbols.find(name);
  if (given == options_.symbols.end() || tensor.elements() != 1 ||
      !limits::folds_as_integer(tensor.type)) {
    return;
  }
  tensor.values = {tensor.type == DataType::boolean ? given->second != 0 : given->second};
  used_symbols_.insert(given->first);
}

// How an input of the model can decide what its nodes do alone, where it is one.
std::string Importer::deciding_input(TensorId id) const {
  while (id != TensorId::none) {
    const Tensor& tensor = graph_[id];
    if (tensor.producer == NodeId::none) {
      const bool is_input = std::ranges::find(graph_.inputs, id) != graph_.inputs.end();
      if (!is_input || tensor.elements() != 1 || !limits::folds_as_integer(tensor.type)) break;
      return fmt::format("give its input '{0}' a value (-onnx-define-symbol={0},{1}), or ",
                         tensor.name, tensor.type == DataType::boolean ? "true" : "1");
    }
    const Node& made_by = graph_[tensor.producer];
    id = TensorId::none;
    for (const TensorId input : present(made_by.inputs)) {
      if (graph_[input].values) continue;
      if (id != TensorId::none) return "";
      id = input;
    }
  }
  return "";
}

// Names in an expression of a dimension: "past_len + seq_len".
void Importer::note_symbols(std::string_view expression) {
  used_symbols_.emplace(expression);
  for (std::size_t begin = 0; begin < expression.size();) {
    std::size_t end = begin;
    while (end < expression.size() && is_of_word(expression[end])) ++end;
    if (end > begin) used_symbols_.emplace(expression.substr(begin, end - begin));
    begin = end + 1;
  }
}

void Importer::warn_of_idle_symbols() {
  for (const auto& definition : options_.symbols) {
    const std::string& symbol = definition.first;
    if (used_symbols_.contains(symbol)) continue;
    if (options_.needs_all_symbols) {
      fail_import(
          "no input has an open dimension '{}'; export the model with it, or give the name that "
          "the "
          "model has for it",
          symbol);
    }
    graph_.warnings.push_back(fmt::format(
        "-onnx-define-symbol={},{} has no effect: no input of the model has an open "
        "dimension of that name, or is one whole number or truth value of it, and no If or "
        "Loop has it",
        symbol, options_.text_of(definition)));
  }
}

std::int64_t Importer::resolve(const DimensionSource& dimension, std::string_view input,
                               std::size_t axis) {
  if (dimension.value && *dimension.value >= 0) {
    return axis == 0 && old_batch_ > 0 ? options_.batch : *dimension.value;
  }
  const std::string by_position = fmt::format("{}.{}", input, axis);
  for (const std::string_view name : {std::string_view(by_position), dimension.symbol}) {
    if (!options_.truths.contains(name)) continue;
    fail_import(
        "dimension {} of its input '{}' is a size, and -onnx-define-symbol gives '{}' a truth "
        "value; give it a number",
        axis, input, name);
  }
  const auto positioned = options_.symbols.find(by_position);
  if (positioned != options_.symbols.end()) {
    used_symbols_.insert(by_position);
    return positioned->second;
  }
  std::string missing = by_position;
  if (!dimension.symbol.empty()) {
    note_symbols(dimension.symbol);
    SymbolValue known = evaluate_dimension(dimension.symbol, options_.symbols);
    if (known.value) return *known.value;
    missing = std::move(known.missing);
  }
  if (axis == 0 && options_.batch > 0) return options_.batch;
  if (missing_symbols_.empty()) {
    first_missing_ = fmt::format(
        "dimension {} of its input '{}' is {} without a value; give it one", axis, input,
        dimension.symbol.empty() ? "open" : fmt::format("'{}'", dimension.symbol));
  }
  constexpr std::size_t most_named = 16;
  if (missing_symbols_.size() < most_named && std::ranges::count(missing_symbols_, missing) == 0)
    missing_symbols_.push_back(std::move(missing));
  return 1;  // until all inputs have been looked at
}

// One by one, a model with four open dimensions would be refused four times.
void Importer::require_all_symbols() const {
  if (missing_symbols_.empty()) return;
  std::string flags;
  for (const std::string& symbol : missing_symbols_) {
    flags += fmt::format(" -onnx-define-symbol={},value", symbol);
  }
  const bool are_many = missing_symbols_.size() > 1;
  fail_import("{}{} with{}", first_missing_, are_many ? ", and the other open ones," : "", flags);
}

void Importer::add_outputs(const GraphSource& source, const Scope& scope) {
  for (const Encoded message : source.outputs) {
    const ValueSource value = read_value_source(message);
    const auto id = find(value.name, scope);
    if (!id) fail_import("its output '{}' is made by no node; export the model again", value.name);
    const auto sequence = sequences_.find(*id);
    if (sequence == sequences_.end()) {
      graph_.outputs.push_back(*id);
    } else {
      graph_.outputs.insert(graph_.outputs.end(), sequence->second.begin(), sequence->second.end());
    }
  }
}

// The file's own statement about its outputs is a check of the propagated shapes.
void Importer::warn_of_outputs(const GraphSource& source, const Scope& scope) {
  for (const Encoded message : source.outputs) {
    const ValueSource value = read_value_source(message);
    if (!value.dimensions) continue;
    const Shape& shape = graph_[find(value.name, scope).value()].shape;
    bool same = value.dimensions->size() == shape.size();
    for (std::size_t axis = 0; same && axis < shape.size(); ++axis) {
      const auto& stated = (*value.dimensions)[axis].value;
      same = !stated || *stated < 0 || *stated == shape[axis];
    }
    if (same) continue;
    std::string stated;
    for (const DimensionSource& dimension : *value.dimensions) {
      stated += stated.empty() ? "" : "x";
      stated += dimension.value ? std::to_string(*dimension.value) : std::string(dimension.symbol);
    }
    graph_.warnings.push_back(fmt::format("output '{}' is {}, but the file states [{}]", value.name,
                                          to_text(shape), stated));
  }
}

void Importer::add_nodes(const std::vector<NodeSource>& nodes, Scope& scope) {
  for (const std::uint32_t index : topological_order(nodes)) add_node(nodes[index], index, scope);
}

void Importer::add_node(const NodeSource& source, std::size_t position, Scope& scope) {
  const Attributes attributes = bound_attributes(source, scope);
  charge(source, attributes, scope);
  Node node;
  node.name = unique_node_name(source, position, scope);
  node.op = source.op;
  node.domain = source.domain;
  for (const std::string_view input : source.inputs) {
    const auto id = input.empty() ? TensorId::none : find(input, scope);
    if (!id) {
      fail_import("node '{}' ({}) reads '{}', which nothing makes; export the model again",
                  node.name, node.op, input);
    }
    node.inputs.push_back(*id);
  }
  for (const auto& [name, attribute] : attributes) {
    if (attribute.value) node.attributes.emplace(name, *attribute.value);
  }
  if (const FunctionSource* function = find_function(source)) {
    inline_function(*function, source, node, attributes, scope);
  } else if (source.op == "If" && source.domain.empty()) {
    inline_branch(source, node, attributes, scope);
  } else if (source.op == "Scan" && source.domain.empty()) {
    unroll_scan(source, node, attributes, scope);
  } else if (source.op == "Loop" && source.domain.empty()) {
    unroll_loop(source, node, attributes, scope);
  } else if (!add_sequence(source, node, scope) &&
             !add_flat_softmax(source, node, attributes, scope)) {
    add_operator(source, std::move(node), attributes, scope);
  }
}

void Importer::add_operator(const NodeSource& source, Node node, const Attributes& attributes,
                            Scope& scope) {
  for (const TensorId input : present(node.inputs)) {
    if (!sequences_.contains(input)) continue;
    fail_import(
        "node '{}' ({}) reads the sequence '{}', which only operators on sequences can; check the "
        "model",
        node.name, node.op, graph_[input].name);
  }
  const NodeId id{std::uint32_t(graph_.nodes.size())};
  for (const std::string_view output : source.outputs) {
    Tensor tensor;
    tensor.producer = id;
    node.outputs.push_back(output.empty() ? TensorId::none
                                          : add_tensor(std::move(tensor), output, scope));
  }
  rebatch_reshape(node, scope);
  infer(source, node, attributes, scope);
  note_shapes(node);
  if (makes_constants(graph_, node)) {
    for (const TensorId output : present(node.outputs)) graph_[output].constant = true;
  }
  for (const TensorId input : present(node.inputs)) {
    auto& consumers = graph_[input].consumers;
    if (consumers.empty() || consumers.back() != id) consumers.push_back(id);
  }
  graph_.nodes.push_back(std::move(node));
}

void Importer::infer(const NodeSource& source, Node& node, const Attributes& attributes,
                     const Scope& scope) {
  const std::int64_t opset = opset_of(*scope.opsets, source.domain);
  const auto where = [&] {
    return fmt::format("node '{}' ({}, {} opset {})", node.name, node.op, shown_domain(node.domain),
                       opset);
  };
  const Operator* row = find_operator(node.domain, node.op);
  try {
    if (row == nullptr) return infer_unknown(source, node, attributes, scope);
    Operation operation(graph_, node, opset, attributes, folded_elements_);
    row->infer(operation);
    if (!operation.complete()) fail("it has more outputs than the operator makes");
    if (row->fold != nullptr) row->fold(operation);
  } catch (const UnknownSize& unknown) {
    if (use_declared(source, node, scope)) return;
    if (row->bound != nullptr && use_bound(*row, node, opset, attributes)) {
      if (auto made = present(node.outputs); !made.empty()) {
        graph_.warnings.push_back(fmt::format("{}: {}; compiled for the most, {}", where(),
                                              unknown.what, to_text(graph_[made.front()].shape)));
      }
      return;
    }
    fail_import("{}: {}; end the model before this node, or have the exporter fold it", where(),
                unknown.what);
  } catch (const OperatorFailure& failure) {
    if (old_batch_ > 0) {
      fail_import("-batchsize={}: {}: {}; export the model with a symbolic batch", options_.batch,
                  where(), failure.what);
    }
    fail_import("{}: {}; check the model and the values of its symbols", where(), failure.what);
  }
}

// An operator nobody knows: its outputs as the file states them, else as its inputs broadcast.
void Importer::infer_unknown(const NodeSource& source, Node& node, const Attributes& attributes,
                             const Scope& scope) {
  const std::int64_t opset = opset_of(*scope.opsets, source.domain);
  if (!options_.allow_unknown) {
    fail_import("node '{}' has the operator {} of domain {} (opset {}), which {}", node.name,
                node.op, shown_domain(node.domain), opset, why_unknown(node.domain, node.op));
  }
  node.unknown = true;
  const std::string what =
      fmt::format("operator {} of domain {} (opset {})", node.op, shown_domain(node.domain), opset);
  UnknownOperator& entry = unknown_.try_emplace(what, UnknownOperator{node.name, 0}).first->second;
  ++entry.count;
  if (use_declared(source, node, scope)) return;
  Operation operation(graph_, node, opset, attributes, folded_elements_);
  set_as_inputs(operation);
}

// False where the largest sizes are not known either.
bool Importer::use_bound(const Operator& row, const Node& node, std::int64_t opset,
                         const Attributes& attributes) {
  try {
    Operation operation(graph_, node, opset, attributes, folded_elements_);
    row.bound(operation);
    return operation.complete();
  } catch (const OperatorFailure&) {
    return false;
  }
}

void Importer::set_as_inputs(Operation& operation) {
  std::vector<std::size_t> present;
  for (std::size_t i = 0; i < operation.input_count(); ++i) {
    if (operation.has(i)) present.push_back(i);
  }
  if (present.empty()) fail("an unknown operator without inputs has no size that could be costed");
  Shape shape = operation.shape(present[0]);
  try {
    for (const std::size_t i : present) shape = broadcast(shape, operation.shape(i));
  } catch (const OperatorFailure&) {
    // Shapes that do not fit: the largest input stands for the work.
    for (const std::size_t i : present) {
      Tensor candidate;
      candidate.shape = shape;
      if (operation.input(i).elements() > candidate.elements()) shape = operation.shape(i);
    }
  }
  for (std::size_t i = 0; i < operation.output_count(); ++i) {
    operation.set(i, operation.type(present[0]), shape);
  }
}

// Takes the shapes that the file states for all outputs of a node; false when one is not stated.
bool Importer::use_declared(const NodeSource& source, const Node& node, const Scope& scope) {
  if (scope.depth > 0) return false;  // names of functions and branches are others
  std::vector<Tensor> stated;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == TensorId::none) continue;
    const auto found = declared_.find(source.outputs[i]);
    if (found == declared_.end() || !found->second.dimensions) return false;
    Tensor tensor;
    tensor.type = data_type_of(found->second.element_type);
    for (const DimensionSource& dimension : *found->second.dimensions) {
      auto value = dimension.value;
      if (!value && !dimension.symbol.empty()) {
        value = evaluate_dimension(dimension.symbol, options_.symbols).value;
      }
      if (!value) return false;
      tensor.shape.push_back(*value);
    }
    if (tensor.type == DataType::undefined || limits::problem_of(tensor)) return false;
    stated.push_back(std::move(tensor));
  }
  if (stated.empty()) return false;
  auto next = stated.begin();
  for (const TensorId id : present(node.outputs)) {
    graph_[id].type = next->type;
    graph_[id].shape = std::move(next++->shape);
  }
  return true;
}

TensorId Importer::add_tensor(Tensor tensor, std::string_view name, Scope& scope) {
  const TensorId id{std::uint32_t(graph_.tensors.size())};
  if (!scope.tensors.emplace(name, id).second) {
    fail_import("'{}' is made twice; export the model again", name);
  }
  const auto renamed = scope.renamed.find(name);
  tensor.name = renamed != scope.renamed.end() ? renamed->second : scope.prefix + std::string(name);
  graph_.tensors.push_back(std::move(tensor));
  return id;
}

std::optional<TensorId> Importer::find(std::string_view name, const Scope& scope) const {
  for (const Scope* each = &scope; each != nullptr; each = each->outer) {
    const auto found = each->tensors.find(name);
    if (found != each->tensors.end()) return found->second;
  }
  return std::nullopt;
}

std::string Importer::unique_node_name(const NodeSource& source, std::size_t position,
                                       const Scope& scope) {
  std::string name = scope.prefix + (source.name.empty() ? fmt::format("{}_{}", source.op, position)
                                                         : std::string(source.name));
  // Later namesakes take their number, which is new itself, into their name.
  if (!node_names_.insert(name).second) {
    name = fmt::format("{}_{}", name, graph_.nodes.size());
    while (!node_names_.insert(name).second) name += '_';
  }
  names_in_order_.push_back(*node_names_.find(name));
  return name;
}

}  // namespace npuscope::npu
