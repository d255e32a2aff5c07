#include "npu/targets/nsp/compile/lower/lowering.hpp"

#include <algorithm>

#include "npu/targets/nsp/compile/devices/devices.hpp"
#include "npu/targets/nsp/compile/lower/tile_formats.hpp"

namespace npuscope::npu::nsp {
namespace {

CompileMetrics metrics_of(std::uint32_t cores) {
  CompileMetrics metrics;
  metrics.cores.resize(cores);
  return metrics;
}

}  // namespace

Lowering::Lowering(const Graph& graph, const Target& target, const CompileOptions& options,
                   std::uint64_t hoisted)
    : context_(graph, target, options),
      metrics_(metrics_of(context_.cores)),
      writer_(context_),
      place_(context_, writer_, metrics_, hoisted),
      chains_(context_, writer_, place_),
      vector_(context_, writer_, place_),
      matrix_(context_, writer_, place_, metrics_, chains_, vector_),
      collective_(context_, writer_, place_),
      rows_(context_, writer_, place_) {}

LoweredNetwork Lowering::run() {
  const std::vector<Node>& nodes = context_.graph.nodes;
  const auto release_inputs = [&] {
    writer_.drop_attributes();
    emit_semaphores("aicinputsemaphoreinc", "input_semaphore", 100, place_.ddr.last_input_read());
  };
  place_inputs();
  bool inputs_released = false;
  // A row of elementwise operators is lowered with its first node, or with the product before it:
  // the writer's position is that of the last node lowered.
  for (std::size_t at = 0; at < nodes.size(); at = writer_.position() + 1) {
    writer_.go_to(at);
    if (!chains_.lower()) lower(nodes[at], context_.plans[at]);
    rows_.deliver();
    if (inputs_released || !inputs_consumed()) continue;
    release_inputs();
    inputs_released = true;
  }
  writer_.go_to(nodes.size());
  if (!inputs_released) release_inputs();
  lower_outputs();
  writer_.tasks().complete();
  return {std::move(writer_.tasks()), writer_.take_strings(), std::move(metrics_),
          place_.ddr.take_log()};
}

void Lowering::place_inputs() {
  for (TensorId input : context_.graph.inputs) {
    const StorageId id =
        place_.storages.make(input, {context_.tensor(input).shape, replicated, 1}, Layout::flat);
    place_.storages[id].in_ddr = true;
    place_.storages[id].host_input = true;
  }
}

void Lowering::lower(const Node& node, const NodePlan& plan) {
  if (plan.fate == NodeFate::folded || plan.fate == NodeFate::fused) return;
  // Of a constant that other inputs keep from being folded a copy is made.
  const bool copies = plan.op_class == OpClass::view && node.has_input(0) &&
                      context_.tensor(node.inputs[0]).constant;
  if (plan.fate == NodeFate::view && node.has_input(0) && !copies) return lower_view(node);
  if (std::ranges::count(node.outputs, TensorId::none) == 0) return lower_operator(node, plan);
  Node named = node;  // outputs that nobody wants are not made
  std::erase(named.outputs, TensorId::none);
  if (!named.outputs.empty()) lower_operator(named, plan);
}

void Lowering::lower_operator(const Node& node, const NodePlan& plan) {
  place_.residency.pin_only({});
  writer_.begin_node(writer_.position(), node);
  check_operands(node);
  const OpClass op_class = plan.op_class;
  if (rows_.lower(node)) return;
  if (node.domain == collective_domain) {
    collective_.lower(node);
  } else if (plan.compound) {
    matrix_.lower_compound(node);
  } else if (op_class == OpClass::matmul || op_class == OpClass::convolution) {
    matrix_.lower(node, plan);
  } else if (op_class == OpClass::gather) {
    vector_.lower_gather(node);
  } else if (op_class == OpClass::scatter) {
    vector_.lower_scatter(node);
  } else {
    vector_.lower(node, op_class,
                  kernel_named(context_, node, kernel_of(context_, node, op_class)));
  }
}

// All operands of a task lie in VTCM at once, and each looks for its place among the others.
void Lowering::check_operands(const Node& node) const {
  constexpr std::size_t max_operands = 4096;
  const std::size_t operands = std::max(node.inputs.size(), node.outputs.size());
  if (operands <= max_operands) return;
  throw LoweringFailure{fmt::format(
      "node '{}' has {} operands, more than the {} that one operator can have; split it",
      writer_.node_text(), operands, max_operands)};
}

void Lowering::lower_view(const Node& node) {
  const TensorId input = node.inputs[0];
  if (context_.tensor(input).constant) return;
  const StorageId id = place_.storages.of(input);
  const Storage& storage = place_.storages[id];
  for (TensorId output : node.outputs) {
    if (output == TensorId::none || context_.tensor(output).constant) continue;
    // d32 keeps the last axes in tiles of 32: only a flat tensor can be seen in another shape.
    if (storage.layout != Layout::flat && !sees_same_tiles(context_, node) &&
        context_.tensor(output).shape != context_.tensor(input).shape) {
      writer_.begin_node(writer_.position(), node);
      place_.residency.pin(id);
      place_.transfers.convert_layout(id, Layout::flat);
    }
    place_.storages.add_view(id, output);
    if (storage.pieces != nullptr && storage.pieces->bands &&
        context_.tensor(output).shape != context_.tensor(input).shape)
      place_.storages[id].pieces.reset();  // other rows
    if (storage.buffer == BufferId::none) continue;
    writer_.tasks().is_viewed(storage.buffer, std::uint32_t(writer_.position()), output);
  }
  for (TensorId used : std::set<TensorId>(node.inputs.begin(), node.inputs.end())) {
    if (used != TensorId::none) place_.residency.use_done(used);
  }
}

// Whether the host may write the next inputs: nothing will read them again. Retained state is not
// the host's to write.
bool Lowering::inputs_consumed() const {
  return std::ranges::all_of(context_.graph.inputs, [&](TensorId input) {
    const Storage& storage = place_.storages[place_.storages.of(input)];
    return storage.uses == 0 || (context_.options.retained_state && storage.output_uses > 0);
  });
}

void Lowering::emit_semaphores(const std::string& kernel, std::string_view name, std::uint16_t port,
                               const std::vector<TaskIndex>& last) {
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (last[core] == no_task) continue;
    TaskSpec spec = writer_.vector_task(core, kernel, writer_.intern(name), DataType::int8);
    spec.cycles = vector_cycles(context_.target, kernel, 0);
    spec.flags = qaic::task_pipelined_port;
    spec.port = port;
    spec.output_bytes = 4;
    writer_.works_on(
        spec, {{TaskOperand::Use::inout, TaskOperand::Memory::vtcm, name, DataType::int8, {4}}});
    writer_.add(spec, {}, {{last[core], true}});
  }
}

void Lowering::lower_outputs() {
  std::vector<TaskIndex> last_copy(context_.cores, no_task);
  for (TensorId output : context_.graph.outputs) {
    if (place_.storages.of(output) == no_storage) continue;  // a constant: nothing to compute
    writer_.begin_output(output);
    lower_output(output, last_copy);
    place_.residency.use_done(output);
  }
  emit_semaphores("aicoutputsemaphoreinc", "output_semaphore", 101, last_copy);
}

void Lowering::lower_output(TensorId output, std::vector<TaskIndex>& last_copy) {
  const StorageId id = place_.storages.of(output);
  const Storage& storage = place_.storages[id];
  place_.residency.pin_only({id});
  const bool in_ddr = storage.in_ddr && storage.ddr_layout == Layout::flat;
  if (!in_ddr && storage.layout != Layout::flat) place_.transfers.convert_layout(id, Layout::flat);
  if (in_ddr || storage.buffer == BufferId::none) {
    for (const TaskNeed& writer : storage.ddr_writers) {
      TaskIndex& last = last_copy[writer_.tasks().task(writer.task).core];
      if (last == no_task || writer.task > last) last = writer.task;
    }
    return;
  }
  const Pieces pieces = place_.ddr.pieces_to_leave(id);
  const auto count = std::uint32_t(pieces.core_bytes.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const CoreBytes& bytes = pieces.core_bytes[i];
    const CoreShapes shapes = piece_shapes(pieces, storage.partition, bytes, storage.type);
    for (std::uint32_t core = 0; core < context_.cores; ++core) {
      if (bytes[core] == 0 || (storage.partition.axis < 0 && core > 0)) continue;
      last_copy[core] = place_.ddr.store(id, core, output, shapes[core], bytes[core],
                                         storage.buffer, {i, i + 1, count});
    }
  }
}

}  // namespace npuscope::npu::nsp
