#include "npu/targets/torq/lowering.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "base/try.hpp"

namespace npuscope::npu::torq {
namespace {

constexpr std::size_t max_operations_in_dispatch = 16;
constexpr std::size_t nobody = ~std::size_t{0};

bool has_result(const Graph& graph, const Node& node) {
  return std::ranges::any_of(
      node.outputs, [&](TensorId id) { return id != TensorId::none && graph[id].elements() > 0; });
}

class Lowerer {
 public:
  Lowerer(const Graph& graph, const Target& target)
      : graph_(graph), target_(target), readers_(graph.tensors.size()) {}

  Result<Lowering> run() {
    TRY(check_tensors());
    find_roots();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add(NodeId(i));
    keep_in_lram();
    fall_back();
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

  // Views name bytes that are there already; who reads a view reads its root.
  void find_roots() {
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) roots_.push_back(TensorId(i));
    for (const Node& node : graph_.nodes) {
      const OpClass op_class = classify(graph_, node);
      classes_.push_back(op_class);
      if (op_class == OpClass::folded) continue;
      if (op_class == OpClass::view) {
        if (node.has_input(0) && !node.outputs.empty() && node.outputs[0] != TensorId::none) {
          roots_[std::size_t(node.outputs[0])] = root_of(node.inputs[0]);
        }
        continue;
      }
      for (const TensorId input : present(node.inputs)) ++readers_[std::size_t(root_of(input))];
    }
    for (const TensorId output : graph_.outputs) ++readers_[std::size_t(root_of(output))];
  }

  void add(NodeId id) {
    const Node& node = graph_[id];
    const OpClass op_class = classes_[std::size_t(id)];
    if (op_class == OpClass::folded || op_class == OpClass::view || !has_result(graph_, node))
      return;
    if (take_in(id)) return;
    Operation operation = operation_of(graph_, id, op_class, target_);
    operation.begins_dispatch = !joins(node) || operation.executor == Executor::host_copy;
    for (const TensorId output : present(node.outputs)) producers_[output] = out_.operations.size();
    out_.operations.push_back(std::move(operation));
  }

  // Into the operation whose result nobody else reads.
  bool take_in(NodeId id) {
    const Node& node = graph_[id];
    if (!node.has_input(0)) return false;
    if (node.outputs[0] == TensorId::none) return false;
    const TensorId read = root_of(node.inputs[0]);
    const std::size_t producer = producer_of(read);
    if (producer == nobody || readers_[std::size_t(read)] != 1) return false;
    Operation& operation = out_.operations[producer];
    if (!can_take_in(operation, node)) return false;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != TensorId::none && !graph_[node.inputs[i]].constant) return false;
    }
    operation.nodes.push_back(id);
    producers_[node.outputs[0]] = producer;
    return true;
  }

  // Elementwise work, and what the CSS does, follow what made their data in the same dispatch.
  bool joins(const Node& node) const {
    if (out_.operations.empty()) return false;
    const OpClass op_class = classes_[std::size_t(&node - graph_.nodes.data())];
    if (op_class != OpClass::elementwise && op_class != OpClass::softmax &&
        op_class != OpClass::normalization) {
      return false;
    }
    std::size_t length = 1;
    for (std::size_t i = out_.operations.size(); !out_.operations[--i].begins_dispatch;) ++length;
    if (length >= max_operations_in_dispatch) return false;
    return std::ranges::any_of(node.inputs, [&](TensorId input) {
      return input != TensorId::none && producer_of(input) + 1 == out_.operations.size();
    });
  }

  // Whether `second` takes what `first` made as one of its streams, and nobody else needs it.
  bool hands_over(const Operation& first, const Operation& second) const {
    const auto on_npu = [](const Operation& each) {
      return each.executor == Executor::slices || each.executor == Executor::css;
    };
    if (second.begins_dispatch || !on_npu(first) || !on_npu(second)) return false;
    const std::vector<TensorId>& results = graph_[first.nodes.back()].outputs;
    if (results.size() != 1 || readers_[std::size_t(root_of(results[0]))] != 1) return false;
    if (first.output_bytes > target_.lram_for_data() / 4) return false;
    const bool streams =
        second.executor == Executor::css || graph_[results[0]].elements() == second.elements;
    const std::vector<TensorId>& read = graph_[second.nodes.front()].inputs;
    return streams && std::ranges::any_of(read, [&](TensorId id) {
             return id != TensorId::none && root_of(id) == root_of(results[0]);
           });
  }

  // A small result that only the next operation reads stays where it is.
  void keep_in_lram() {
    for (std::size_t i = 1; i < out_.operations.size(); ++i) {
      Operation& first = out_.operations[i - 1];
      Operation& second = out_.operations[i];
      if (!hands_over(first, second)) continue;
      first.resident.output = second.resident.input = true;
      if (!fits(first) || !fits(second)) first.resident.output = second.resident.input = false;
    }
  }

  // What does not fit LRAM even in the smallest tiles is done by the host.
  void fall_back() {
    std::unordered_map<std::string, std::size_t> by_host;  // operators
    for (Operation& operation : out_.operations) {
      const Node& node = graph_[operation.nodes.front()];
      if (!fits(operation)) {
        operation.executor = Executor::host_program;
        operation.kernel = "host";
        out_.warnings.push_back(fmt::format(
            "{} ({}): its smallest tile does not fit {} bytes of LRAM; the host computes it",
            printable(node.name), printable(node.op), thousands(lram_for(operation))));
      } else if (operation.executor == Executor::host_program && by_host[node.op]++ == 0) {
        out_.warnings.push_back(fmt::format(
            "{} ({}): neither slices nor CSS have a kernel for it; the host computes it "
            "and others of its kind",
            printable(node.name), printable(node.op)));
      }
      operation.lram_bytes = lram_for(operation);
    }
  }

  bool fits(const Operation& operation) const {
    return operation.executor != Executor::slices ||
           plan_tiles(operation.slice, target_, operation.resident, lram_for(operation))
               .has_value();
  }

  std::uint64_t lram_for(const Operation& operation) const {
    std::uint64_t bytes = target_.lram_for_data();
    if (operation.resident.output) bytes -= operation.output_bytes;
    if (operation.resident.input) bytes -= std::min(bytes, (&operation - 1)->output_bytes);
    return bytes;
  }

  TensorId root_of(TensorId id) const { return roots_[std::size_t(id)]; }
  std::size_t producer_of(TensorId id) const {
    const auto found = producers_.find(root_of(id));
    return found == producers_.end() ? nobody : found->second;
  }

  const Graph& graph_;
  const Target& target_;
  Lowering out_;
  std::vector<OpClass> classes_;
  std::vector<TensorId> roots_;                          // of each tensor: whose bytes it is
  std::vector<std::uint32_t> readers_;                   // of each root
  std::unordered_map<TensorId, std::size_t> producers_;  // of roots: the operation
};

}  // namespace

std::string_view name_of(Executor executor) {
  constexpr std::string_view names[] = {"slices", "CSS", "host program", "host copy"};
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
