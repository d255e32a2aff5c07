#include "npu/compile/lower/lowering.hpp"

#include <algorithm>
#include <limits>

#include "npu/compile/devices/shard.hpp"
#include "npu/compile/tasks/operand_text.hpp"

namespace npuscope::npu {

Lowering::Lowering(const Graph& graph, const Target& target, const CompileOptions& options)
    : CollectiveLowering(graph, target, options) {}

LoweredNetwork Lowering::run() {
  if (options_.slices > 1) reserve_landing_places();
  place_inputs();
  bool inputs_released = false;
  for (position_ = 0; position_ < graph_.nodes.size(); ++position_) {
    if (const std::size_t nodes = lower_chain(); nodes > 0) {
      position_ += nodes - 1;
    } else {
      lower(position_);
    }
    if (inputs_released || !inputs_consumed()) continue;
    emit_input_semaphores();
    inputs_released = true;
  }
  if (!inputs_released) emit_input_semaphores();
  lower_outputs();
  return {std::move(tasks_), std::move(strings_), std::move(metrics_), std::move(log_)};
}

void Lowering::place_inputs() {
  for (TensorId input : graph_.inputs) {
    const StorageId id = make_storage(input, {tensor(input).shape, replicated, 1}, Layout::flat);
    storages_[id].in_ddr = true;
    storages_[id].host_input = true;
  }
}

void Lowering::lower(std::size_t position) {
  const Node& node = graph_.nodes[position];
  const NodePlan& plan = plans_[position];
  if (plan.fate == NodeFate::folded || plan.fate == NodeFate::fused) return;
  // Of a constant that other inputs keep from being folded a copy is made.
  const bool copies =
      plan.op_class == OpClass::view && has_input(node, 0) && tensor(node.inputs[0]).constant;
  if (plan.fate == NodeFate::view && has_input(node, 0) && !copies) return lower_view(node);
  if (std::count(node.outputs.begin(), node.outputs.end(), TensorId::none) == 0) {
    return lower_operator(node, plan);
  }
  Node named = node;  // outputs that nobody wants are not made
  std::erase(named.outputs, TensorId::none);
  if (!named.outputs.empty()) lower_operator(named, plan);
}

void Lowering::lower_operator(const Node& node, const NodePlan& plan) {
  pinned_.clear();
  begin_node(node);
  check_operands(node);
  const OpClass op_class = plan.op_class;
  if (node.domain == collective_domain) {
    lower_collective(node);
  } else if (plan.compound) {
    lower_compound(node);
  } else if (op_class == OpClass::matmul || op_class == OpClass::convolution) {
    lower_matrix(node, plan);
  } else if (op_class == OpClass::gather) {
    lower_gather(node);
  } else if (op_class == OpClass::scatter) {
    lower_scatter(node);
  } else {
    lower_vector(node, op_class, kernel_named(vector_kernel(graph_, node, op_class)));
  }
}

// All operands of a task lie in VTCM at once, and each looks for its place among the others.
void Lowering::check_operands(const Node& node) const {
  constexpr std::size_t max_operands = 4096;
  const std::size_t operands = std::max(node.inputs.size(), node.outputs.size());
  if (operands <= max_operands) return;
  throw LoweringFailure{fmt::format(
      "node '{}' has {} operands, more than the {} that one operator can have; split it",
      strings_[node_name_], operands, max_operands)};
}

void Lowering::lower_view(const Node& node) {
  const TensorId input = node.inputs[0];
  if (tensor(input).constant) return;
  const StorageId id = storage_of(input);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorId output = node.outputs[i];
    if (output == TensorId::none || tensor(output).constant) continue;
    // d32 keeps the last axes in tiles of 32: only a flat tensor can be seen in another shape.
    if (storages_[id].layout != Layout::flat && tensor(output).shape != tensor(input).shape) {
      begin_node(node);
      pinned_.insert(id);
      convert_layout(id, Layout::flat);
    }
    add_view(id, output);
    if (storages_[id].buffer != BufferId::none) {
      tasks_.is_viewed(storages_[id].buffer, std::uint32_t(position_), output);
    }
  }
  for (TensorId used : std::set<TensorId>(node.inputs.begin(), node.inputs.end())) {
    if (used != TensorId::none) use_done(used);
  }
}

// Whether the host may write the next inputs: nothing will read them again. Retained state is not
// the host's to write.
bool Lowering::inputs_consumed() const {
  return std::all_of(graph_.inputs.begin(), graph_.inputs.end(), [&](TensorId input) {
    const Storage& storage = storages_[storage_of(input)];
    return storage.uses == 0 || (options_.retained_state && storage.output_uses > 0);
  });
}

void Lowering::emit_input_semaphores() {
  const std::string kernel = "aicinputsemaphoreinc";
  node_attributes_ = StringId::empty;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (last_input_read_[core] == no_task) continue;
    TaskSpec spec = vector_task(kernel, strings_.intern("input_semaphore"), DataType::int8);
    spec.core = core;
    spec.cycles = vector_cycles(target_, kernel, 0);
    spec.flags = qaic::task_pipelined_port;
    spec.port = 100;
    describe_semaphore(spec, "input_semaphore");
    add(spec, {{last_input_read_[core], true}});
  }
}

void Lowering::describe_semaphore(TaskSpec& spec, std::string_view name) const {
  spec.output_bytes = 4;
  works_on(spec, {{TaskOperand::Use::inout, TaskOperand::Memory::vtcm, name, DataType::int8, {4}}});
}

void Lowering::lower_outputs() {
  std::vector<TaskIndex> last_copy(cores_, no_task);
  for (TensorId output : graph_.outputs) {
    const StorageId id = storage_of(output);
    if (id == no_storage) continue;  // a constant: nothing to compute
    node_name_ = strings_.intern(tensor(output).name);
    node_result_ = output;
    pinned_ = {id};
    const bool in_ddr = storages_[id].in_ddr && storages_[id].ddr_layout == Layout::flat;
    if (!in_ddr && storages_[id].layout != Layout::flat) convert_layout(id, Layout::flat);
    const Storage& storage = storages_[id];
    if (!in_ddr && storage.buffer != BufferId::none) {
      const auto core_bytes = slice_bytes(storage.partition, storage.bytes, cores_);
      for (std::uint32_t core = 0; core < cores_; ++core) {
        if (core_bytes[core] == 0 || (storage.partition.axis < 0 && core > 0)) continue;
        TaskSpec spec = dma_task(copy_from_vtcm, node_name_, output,
                                 slice_of(storage.partition, core), core_bytes[core]);
        spec.core = core;
        spec.ddr_write = core_bytes[core];
        spec.write_purpose = purpose_of_writing(id);
        spec.movement = Movement::output;
        TaskNeeds needs;
        tasks_.need_to_read(storage.buffer, core, needs);
        const TaskIndex task = add(spec, std::move(needs));
        tasks_.reads(task, storage.buffer, core);
        last_copy[core] = task;
      }
    } else {
      for (const TaskNeed& writer : storage.ddr_writers) {
        const std::uint32_t core = tasks_.tasks()[writer.task].core;
        if (last_copy[core] == no_task || writer.task > last_copy[core]) {
          last_copy[core] = writer.task;
        }
      }
    }
    use_done(output);
  }
  emit_output_semaphores(last_copy);
}

void Lowering::emit_output_semaphores(const std::vector<TaskIndex>& last_copy) {
  const std::string kernel = "aicoutputsemaphoreinc";
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (last_copy[core] == no_task) continue;
    TaskSpec spec = vector_task(kernel, strings_.intern("output_semaphore"), DataType::int8);
    spec.core = core;
    spec.cycles = vector_cycles(target_, kernel, 0);
    spec.flags = qaic::task_pipelined_port;
    spec.port = 101;
    describe_semaphore(spec, "output_semaphore");
    add(spec, {{last_copy[core], true}});
  }
}

}  // namespace npuscope::npu
