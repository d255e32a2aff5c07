#include "formats/ggml/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "formats/ggml/engine_units.hpp"

namespace npuscope::ggml {

namespace {

bool hands_on_to(const Operation& operation, const Operation& next) {
  return std::ranges::any_of(operation.outputs, [&](const Tensor& output) {
    return std::ranges::find(next.inputs, output.name, &Tensor::name) != next.inputs.end();
  });
}

}  // namespace

std::vector<Layer> find_layers(const Log& log) {
  std::vector<Layer> layers(log.operations.size());
  std::vector<bool> is_known(log.operations.size(), false);
  for (const Batch& batch : log.batches) {
    std::optional<int> before;
    for (std::uint32_t i = 0; i < batch.runs; ++i) {
      const std::uint32_t number = log.runs[batch.first_run + i].operation;
      const Operation& operation = log.operations[number];
      if (is_known[number]) {
        before = layers[number].number;
        continue;
      }
      is_known[number] = true;
      std::optional<int>& layer = layers[number].number;
      layer = operation.layer;
      if (!layer && !operation.is_of_no_layer) {
        layer = before;
        // A norm before the output: its result is of what it is handed on to.
        const bool has_next = i + 1 < batch.runs;
        const Operation* next =
            has_next ? &log.operations[log.runs[batch.first_run + i + 1].operation] : nullptr;
        if (next != nullptr && hands_on_to(operation, *next)) {
          if (next->layer) layer = next->layer;
          if (next->is_of_no_layer) layer.reset();
        }
      }
      before = layer;
    }
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string& role = log.operations[i].role;
    layers[i].label = layers[i].number ? fmt::format("blk.{}.{}", *layers[i].number, role) : role;
  }
  return layers;
}

namespace {

// "MUL_MAT hmx-tiled".
std::string kernel_of(const Operation& operation) {
  const std::string_view kernel = operation.kernel;
  const bool names_it = !kernel.empty() && !kernel.starts_with("vtcm") &&
                        !kernel.starts_with("nth") && !kernel.starts_with("idx") &&
                        !kernel.starts_with("seq");
  if (!names_it) return operation.op;
  return fmt::format("{} {}", operation.op, kernel.substr(0, kernel.find(' ')));
}

std::string types_of(const Operation& operation) {
  std::vector<std::string_view> types;
  for (const auto* tensors : {&operation.inputs, &operation.outputs}) {
    for (const Tensor& tensor : *tensors) {
      if (tensor.type.empty() || std::ranges::find(types, tensor.type) != types.end()) continue;
      types.push_back(tensor.type);
    }
  }
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string operands_of(const Operation& operation) {
  std::string operands;
  const auto add = [&](const std::vector<Tensor>& tensors, const char* side) {
    for (const Tensor& tensor : tensors) {
      operands += fmt::format("{}{} {} {} {}", operands.empty() ? "" : "\n", side, tensor.name,
                              tensor.type, tensor.extents_text);
    }
  };
  add(operation.inputs, "in");
  add(operation.outputs, "out");
  return operands;
}

}  // namespace

OpId OpTable::at(std::uint32_t operation, std::size_t place) {
  std::vector<OpId>& ops = ops_[operation];
  if (place >= ops.size()) ops.resize(place + 1, OpId::none);
  if (ops[place] == OpId::none) {
    ops[place] = OpId(std::uint32_t(profile_.ops.size()));
    profile_.ops.push_back(place == 0 ? window(operation) : part(operation, place - 1));
    is_window_.push_back(place == 0);
  }
  return ops[place];
}

Op OpTable::part(std::uint32_t operation, std::size_t event) {
  Op op;
  const std::string& name = log_.event_names[event];
  const StringId kind = profile_.strings.intern(name);
  if (operation < log_.operations.size()) {
    op = window(operation);
  } else {
    op.name = op.node = profile_.strings.intern("between ops");
  }
  op.kind = kind;
  op.engine = engine_of(lane_of(name));
  return op;
}

Op OpTable::window(std::uint32_t number) {
  Op op;
  const auto text = [this](std::string_view word) { return profile_.strings.intern(word); };
  const Operation& operation = log_.operations[number];
  op.name = op.node = text(layers_[number].label);
  op.node_kind = text(operation.op);
  op.kind = text(kernel_of(operation));
  op.engine = Engine::core;
  op.operands = text(operands_of(operation));
  op.types = text(types_of(operation));
  op.attributes = text(operation.kernel);
  if (!operation.outputs.empty()) {
    const Tensor& output = operation.outputs.front();
    op.shape = text(output.extents_text);
    const std::array<std::int64_t, 4> extents{output.extents[3], output.extents[2],
                                              output.extents[1], output.extents[0]};
    const std::size_t skip = extents[0] == 1 && extents[1] == 1 ? 2 : 0;
    op.extents = profile_.shapes.intern(std::span(extents).subspan(skip));
  }
  op.once_per_inference = true;
  return op;
}

namespace {

constexpr NamedNumber model_ops{"ops of the graph", NumberQuantity::count, NumberRole::model_nodes};

std::set<std::uint32_t> graphs_of(const Log& log, const Steps& steps, const StepGroup& group) {
  const std::set<std::uint32_t> of_group(group.steps.begin(), group.steps.end());
  std::set<std::uint32_t> graphs;
  for (std::size_t i = 0; i < log.batches.size(); ++i) {
    const bool is_known = log.batches[i].graph < log.coverage.graphs().size();
    if (is_known && of_group.contains(steps.of_batch[i])) graphs.insert(log.batches[i].graph);
  }
  return graphs;
}

// "ffn_out-3" as the ops on the NPU have it: "blk.3.ffn_out".
std::string label_of(std::string_view tensor) {
  const auto named = parse_operation(fmt::format("|a -> {}|1:1 -> 1:1|f32|", tensor));
  if (!named || !named->layer || named->outputs.empty()) return std::string(tensor);
  const std::string_view base = tensor.substr(0, tensor.rfind('-'));
  return fmt::format("blk.{}.{}", *named->layer, base);
}

}  // namespace

void add_ops_elsewhere(const Log& log, const Steps& steps, const StepGroup& group,
                       Profile& profile) {
  std::vector<PlacedOp> placed;
  std::uint64_t ops = 0;
  const std::set<std::uint32_t> graphs = graphs_of(log, steps, group);
  for (const std::uint32_t graph : graphs) {
    const PlacedGraph& each = log.coverage.graphs()[graph];
    ops = std::max(ops, each.ops);
    placed.insert(placed.end(), each.elsewhere.begin(), each.elsewhere.end());
  }
  // What one session refuses may be another's.
  if (graphs.empty() && log.sessions.size() == 1) placed = log.coverage.refused_ops();
  std::set<std::pair<std::string, std::string>> seen;
  for (const PlacedOp& each : placed) {
    if (!seen.insert({each.op, each.tensor}).second) continue;
    Op op;
    op.name = op.node = profile.strings.intern(label_of(each.tensor));
    op.kind = op.node_kind = profile.strings.intern(each.op);
    op.attributes = profile.strings.intern(log.coverage.reason_of(each));
    op.engine = Engine::host;
    profile.ops.push_back(op);
  }
  if (ops > 0) {
    profile.add_measure(Measure::Subject::profile, 0, model_ops.not_additive(), Origin::measured,
                        profile.base_clock, double(std::max<std::uint64_t>(ops, seen.size())));
  }
}

}  // namespace npuscope::ggml
