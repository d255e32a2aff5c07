#include "npu/graph/parts/parts.hpp"

#include <algorithm>

#include "npu/graph/limits.hpp"
#include "npu/graph/operation.hpp"
#include "npu/graph/operators.hpp"
#include "npu/graph/operators/attention.hpp"
#include "npu/graph/operators/experts.hpp"

namespace npuscope::npu {
namespace {

constexpr std::int64_t opset_of_parts = 18;

// None of an operator that is one to a compiler, too.
auto maker_of(const Node& node) -> void (*)(Parts&, const Node&) {
  if (node.unknown) return nullptr;
  if (is_attention(node)) return make_attention;
  if (has_experts(node)) return make_experts;
  if (node.op == "LinearAttention") return make_linear_attention;
  if (node.op == "CausalConvWithState") return make_causal_convolution;
  const bool recurrent = node.op == "LSTM" || node.op == "GRU" || node.op == "RNN";
  return recurrent && node.domain.empty() ? make_recurrent : nullptr;
}

}  // namespace

std::optional<Graph> taken_apart(const Graph& graph, Gates gates) {
  const auto has_parts = [](const Node& node) { return maker_of(node) != nullptr; };
  if (std::ranges::none_of(graph.nodes, has_parts)) return std::nullopt;
  Parts parts(graph, gates);
  for (const Node& node : graph.nodes) {
    const auto maker = maker_of(node);
    if (maker == nullptr || !parts.replace(node, maker)) parts.keep(node);
  }
  return parts.take();
}

Parts::Parts(const Graph& graph, Gates gates) : graph_(graph), gates_(gates) {
  graph_.nodes.clear();
  for (const Node& node : graph.nodes) names_.insert(node.name);
}

const Tensor& Parts::operator[](TensorId id) const {
  if (id == TensorId::none) fail("it lacks an input");
  return graph_[id];
}

void Parts::keep(const Node& node) { nodes_.push_back(node); }

bool Parts::replace(const Node& node, void (*make)(Parts&, const Node&)) {
  begin(node.name);
  const std::size_t nodes = nodes_.size();
  std::vector<Tensor> outputs;
  for (const TensorId id : present(node.outputs)) outputs.push_back(graph_[id]);
  try {
    make(*this, node);
    return true;
  } catch (const OperatorFailure&) {
    nodes_.resize(nodes);  // what it made has no producer, and nobody reads it
    auto output = outputs.begin();
    for (const TensorId id : present(node.outputs)) graph_[id] = *output++;
    return false;
  }
}

TensorId Parts::add(std::string_view part, std::string_view op, std::vector<TensorId> inputs,
                    Attributes attributes, TensorId into) {
  return add_outputs(part, op, std::move(inputs), 1, std::move(attributes), into)[0];
}

std::vector<TensorId> Parts::add_outputs(std::string_view part, std::string_view op,
                                         std::vector<TensorId> inputs, std::size_t count,
                                         Attributes attributes, TensorId into) {
  Node node;
  node.name = unique(prefix_ + std::string(part));
  const std::size_t dot = op.rfind('.');
  node.op = op.substr(dot == std::string_view::npos ? 0 : dot + 1);
  if (dot != std::string_view::npos) node.domain = op.substr(0, dot);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  for (std::size_t i = 0; i < count; ++i) {
    Tensor made;
    made.name = i == 0 ? node.name : fmt::format("{}:{}", node.name, i);
    node.outputs.push_back(add_tensor(std::move(made)));
  }
  const Operator* row = find_operator(node.domain, node.op);
  if (row == nullptr) fail("its part {} is not known", op);
  std::size_t folded = 0;
  const npu::Attributes none;
  Operation operation(graph_, node, opset_of_parts, none, folded);
  row->infer(operation);
  if (row->fold != nullptr) row->fold(operation);
  const TensorId own = node.outputs[0];
  if (into != TensorId::none) {
    if (graph_[own].shape != graph_[into].shape) {
      fail("its part {} makes {} and not {}", part, to_text(graph_[own].shape),
           to_text(graph_[into].shape));
    }
    node.outputs[0] = into;
  } else {
    const bool constant = std::ranges::all_of(
        node.inputs, [&](TensorId id) { return id == TensorId::none || graph_[id].constant; });
    for (const TensorId id : node.outputs) graph_[id].constant = constant;
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

std::vector<TensorId> Parts::split(std::string_view part, TensorId whole, std::int64_t axis,
                                   const std::vector<std::int64_t>& extents) {
  std::vector<TensorId> made;
  std::int64_t begin = 0;
  for (const std::int64_t extent : extents) {
    made.push_back(add(std::string(part) + "_" + std::to_string(made.size()), "Slice",
                       {whole, integers({begin}), integers({begin + extent}), integers({axis})}));
    begin += extent;
  }
  return made;
}

TensorId Parts::reshape(std::string_view part, TensorId from, const Shape& shape, TensorId into) {
  if (into == TensorId::none && (*this)[from].shape == shape) return from;
  return add(part, "Reshape", {from, integers(shape)}, {}, into);
}

TensorId Parts::transpose(std::string_view part, TensorId from, std::vector<std::int64_t> order,
                          TensorId into) {
  return add(part, "Transpose", {from}, {{"perm", std::move(order)}}, into);
}

void Parts::is_like(TensorId id, const Tensor& other) {
  graph_[id].type = other.type;
  graph_[id].scale = other.scale;
}

TensorId Parts::integers(const std::vector<std::int64_t>& values) {
  const auto [found, fresh] = integers_.emplace(values, TensorId::none);
  if (!fresh) return found->second;
  Tensor tensor;
  tensor.name = unique("constant");
  tensor.type = DataType::int64;
  tensor.shape = {std::int64_t(values.size())};
  tensor.values = values;
  tensor.constant = true;
  return found->second = add_tensor(std::move(tensor));
}

TensorId Parts::scalar(DataType type, double value) {
  const auto [found, fresh] = scalars_.emplace(std::pair(type, value), TensorId::none);
  if (!fresh) return found->second;
  Tensor tensor;
  tensor.name = unique("constant");
  tensor.type = type;
  if (is_float(type)) {
    tensor.float_values = {value};
  } else {
    tensor.values = {std::int64_t(value)};
  }
  tensor.constant = true;
  return found->second = add_tensor(std::move(tensor));
}

TensorId Parts::constant(std::string_view name, DataType type, const Shape& shape) {
  const auto [found, fresh] =
      constants_.emplace(std::tuple(std::string(name), type, shape), TensorId::none);
  if (!fresh) return found->second;
  Tensor tensor;
  tensor.name = unique(std::string(name));
  tensor.type = type;
  tensor.shape = shape;
  tensor.constant = true;
  return found->second = add_tensor(std::move(tensor));
}

TensorId Parts::zeros(std::string_view part, DataType type, const Shape& shape) {
  const TensorId id = add(part, "ConstantOfShape", {integers(shape)});
  graph_[id].type = type;
  graph_[id].constant = false;
  graph_[id].float_values.reset();
  return id;
}

Graph Parts::take() {
  graph_.nodes = std::move(nodes_);
  for (Tensor& tensor : graph_.tensors) {
    tensor.producer = NodeId::none;
    tensor.consumers.clear();
  }
  for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    for (const TensorId id : present(node.outputs)) graph_[id].producer = NodeId{i};
    for (const TensorId id : present(node.inputs)) {
      auto& consumers = graph_[id].consumers;
      if (consumers.empty() || consumers.back() != NodeId{i}) consumers.push_back(NodeId{i});
    }
  }
  return std::move(graph_);
}

TensorId Parts::add_tensor(Tensor tensor) {
  graph_.tensors.push_back(std::move(tensor));
  return TensorId{std::uint32_t(graph_.tensors.size() - 1)};
}

std::string Parts::unique(std::string name) {
  while (!names_.insert(name).second) name += "_";
  return name;
}

}  // namespace npuscope::npu
