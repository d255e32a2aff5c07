#include "npu/targets/torq/lowering.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "base/try.hpp"

namespace npuscope::npu::torq {
namespace {

bool has_result(const Graph& graph, const Node& node) {
  return std::ranges::any_of(
      node.outputs, [&](TensorId id) { return id != TensorId::none && graph[id].elements() > 0; });
}

bool is_dequantization(const Node& node) { return node.op == "DequantizeLinear"; }
bool is_quantization(const Node& node) { return node.op == "QuantizeLinear"; }

class Lowerer {
 public:
  Lowerer(const Graph& graph, const Target& target)
      : graph_(graph), target_(target), readers_(graph.tensors.size()) {}

  Result<Lowering> run() {
    TRY(check_tensors());
    find_roots();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add(NodeId(i));
    warn_of_host();
    warn_of_limits();
    warn_of_normalisations();
    return std::move(out_);
  }

 private:
  Status check_tensors() const {
    std::uint64_t constants = 0;
    for (const Tensor& tensor : graph_.tensors) {
      if (tensor.type == DataType::string) {
        return input_error("tensor {} holds texts, which a {} cannot; cut the model before it",
                           printable(tensor.name), family_of(TargetArchitecture::torq));
      }
      const std::uint64_t bytes = storage_bytes(tensor);
      const bool fits = bytes <= target_.xram_bytes;
      constants += tensor.constant && fits ? bytes : 0;
      if (!fits || constants > target_.xram_bytes) {
        const std::string what = fits ? "the model's constants have more"
                                      : fmt::format("tensor {} has {} bytes, more",
                                                    printable(tensor.name), thousands(bytes));
        return input_error("{} than the {} bytes of XRAM that {} addresses; use a smaller model",
                           what, thousands(target_.xram_bytes), target_.name);
      }
    }
    return {};
  }

  // Views name bytes that are there already; who reads a view reads its root. What is quantised
  // between two operators stands for the first one's result in 1-byte elements.
  void find_roots() {
    out_.int8.resize(graph_.tensors.size());
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      out_.roots.push_back(TensorId(i));
      out_.int8[i] = element_bytes(graph_.tensors[i].type) == 1;
    }
    for (const Node& node : graph_.nodes) {
      OpClass op_class = classify(graph_, node);
      if (op_class != OpClass::folded && is_scale(node)) op_class = OpClass::view;
      classes_.push_back(op_class);
      if (op_class == OpClass::folded) continue;
      if (op_class == OpClass::view) {
        view(node);
        continue;
      }
      for (const TensorId input : present(node.inputs)) ++readers_[std::size_t(root_of(input))];
    }
    for (const TensorId output : graph_.outputs) ++readers_[std::size_t(root_of(output))];
  }

  // A scale that becomes part of operators: not of the model's own inputs and results in floats,
  // which the host converts.
  bool is_scale(const Node& node) const {
    if (!node.has_input(0) || node.outputs.empty() || node.outputs[0] == TensorId::none)
      return false;
    if (is_quantization(node)) return graph_[root_of(node.inputs[0])].producer != NodeId::none;
    return is_dequantization(node) &&
           std::ranges::find(graph_.outputs, node.outputs[0]) == graph_.outputs.end();
  }

  void view(const Node& node) {
    if (!node.has_input(0) || node.outputs.empty() || node.outputs[0] == TensorId::none) return;
    const TensorId root = root_of(node.inputs[0]);
    out_.roots[std::size_t(node.outputs[0])] = root;
    if (is_quantization(node)) quantise(root);
  }

  // The tensor and what the kernel that makes it takes in, back to its result.
  void quantise(TensorId id) {
    out_.int8[std::size_t(id)] = true;
    const NodeId producer = graph_[id].producer;
    if (producer == NodeId::none) return;
    const Node& node = graph_[producer];
    const bool passes = node.op == "Relu" || node.op == "Clip";
    if (passes && node.has_input(0) && !out_.int8[std::size_t(root_of(node.inputs[0]))]) {
      quantise(root_of(node.inputs[0]));
    }
  }

  bool is_int8(const Node& node) const {
    if (!node.has_input(0)) return false;
    const TensorId root = root_of(node.inputs[0]);
    return !graph_[root].constant ? bool(out_.int8[std::size_t(root)])
           : node.has_input(1)    ? bool(out_.int8[std::size_t(root_of(node.inputs[1]))])
                                  : false;
  }

  void add(NodeId id) {
    const Node& node = graph_[id];
    const OpClass op_class = classes_[std::size_t(id)];
    if (op_class == OpClass::folded || op_class == OpClass::view || !has_result(graph_, node))
      return;
    if (take_in(id)) return;
    Operation operation = operation_of(graph_, id, op_class, is_int8(node));
    operation.result = root_of(operation.result);
    for (const TensorId input : present(node.inputs)) {
      const TensorId root = root_of(input);
      if (graph_[root].constant) continue;
      const bool is_read = std::ranges::find(operation.inputs, root) != operation.inputs.end();
      if (!is_read || operation.form != Form::unary) operation.inputs.push_back(root);
      operation.reshaped |= graph_[root].shape != graph_[input].shape;
    }
    for (const TensorId output : present(node.outputs)) producers_[output] = out_.operations.size();
    out_.operations.push_back(std::move(operation));
  }

  // Into the operation whose result nobody else reads.
  bool take_in(NodeId id) {
    const Node& node = graph_[id];
    if (!node.has_input(0)) return false;
    if (node.outputs[0] == TensorId::none) return false;
    const TensorId read = root_of(node.inputs[0]);
    const auto producer = producers_.find(read);
    if (producer == producers_.end() || readers_[std::size_t(read)] != 1) return false;
    Operation& operation = out_.operations[producer->second];
    if (!can_take_in(operation, node)) return false;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != TensorId::none && !graph_[node.inputs[i]].constant) return false;
    }
    const bool convolves =
        graph_[operation.nodes.front()].op == "Conv" && node.op != "BatchNormalization";
    if (operation.is_int8 && convolves && is_quantised(node.outputs[0])) limited_.push_back(id);
    operation.nodes.push_back(id);
    operation.result = root_of(node.outputs[0]);
    producers_[node.outputs[0]] = producer->second;
    return true;
  }

  void warn_of_host() {
    std::unordered_map<std::string, std::size_t> by_host;  // operators
    for (const Operation& operation : out_.operations) {
      const Node& node = graph_[operation.nodes.front()];
      if (operation.executor != Executor::host_program || by_host[node.op]++ > 0) continue;
      out_.warnings.push_back(fmt::format(
          "{} ({}): neither slices nor CSS have a kernel for it{}; the host computes it and others "
          "of its kind",
          printable(node.name), printable(node.op), operation.is_int8 ? " in int8" : ""));
    }
  }

  bool is_quantised(TensorId id) const {
    return std::ranges::any_of(graph_[id].consumers,
                               [&](NodeId reader) { return is_quantization(graph_[reader]); });
  }

  static std::string others(const std::vector<NodeId>& nodes) {
    return nodes.size() > 1 ? fmt::format(" and {} others", nodes.size() - 1) : "";
  }

  void warn_of_normalisations() {
    std::vector<NodeId> alone;
    for (const Operation& operation : out_.operations)
      if (operation.form == Form::batch_normalization) alone.push_back(operation.nodes.front());
    if (alone.empty()) return;
    out_.warnings.push_back(fmt::format(
        "{} (BatchNormalization){}: torq-compiler 2.3.0 runs it on the CSS, channel by channel; "
        "fold it into the convolution before it",
        printable(graph_[alone.front()].name), others(alone)));
  }

  void warn_of_limits() {
    if (limited_.empty()) return;
    const Node& first = graph_[limited_.front()];
    out_.warnings.push_back(fmt::format(
        "{} ({}){}: torq-compiler 2.3.0 runs an int8 convolution with a limit before its "
        "QuantizeLinear on the CSS, about ten times as long as here; quantise with a tool that "
        "leaves the limit out (asymmetric activations)",
        printable(first.name), printable(first.op), others(limited_)));
  }

  TensorId root_of(TensorId id) const { return out_.roots[std::size_t(id)]; }

  const Graph& graph_;
  const Target& target_;
  Lowering out_;
  std::vector<OpClass> classes_;
  std::vector<NodeId> limited_;                          // behind convolutions in int8
  std::vector<std::uint32_t> readers_;                   // of each root
  std::unordered_map<TensorId, std::size_t> producers_;  // of roots: the operation
};

}  // namespace

std::uint64_t Lowering::element_bytes(const Graph& graph, TensorId id) const {
  return int8[std::size_t(id)] ? 1 : torq::element_bytes(graph[id].type);
}

std::uint64_t Lowering::bytes(const Graph& graph, TensorId id) const {
  return saturating_product({graph[id].elements(), element_bytes(graph, id)});
}

std::string_view name_of(Executor executor) {
  constexpr std::string_view names[] = {"slices", "CSS", "host program", "DMA"};
  return names[std::size_t(executor)];
}

Result<Lowering> lower(const Graph& graph, const Target& target) {
  TRY_AS(lowering, Lowerer(graph, target).run());
  if (lowering->operations.empty()) {
    return input_error("{}: nothing to execute; every result is a constant or an input",
                       printable(graph.name));
  }
  return lowering;
}

}  // namespace npuscope::npu::torq
