#include "npu/compile/lowering.hpp"

#include <algorithm>
#include <limits>

#include "npu/compile/operand_text.hpp"

namespace npuscope::npu {

Lowering::Lowering(const Graph& graph, const Target& target, const CompileOptions& options)
    : graph_(graph),
      target_(target),
      options_(options),
      cores_(options.cores),
      resident_limit_((target.vtcm_bytes - target.vtcm_reserved_bytes) * 2 / 5),
      tile_bytes_((target.vtcm_bytes - target.vtcm_reserved_bytes) / 16),
      plans_(plan_nodes(graph)),
      tasks_(cores_),
      vtcm_(target.vtcm_bytes - target.vtcm_reserved_bytes),
      storage_of_(graph.tensors.size(), no_storage),
      last_input_read_(cores_, no_task) {
  metrics_.cores.resize(cores_);
}

LoweredNetwork Lowering::run() {
  place_inputs();
  for (position_ = 0; position_ < graph_.nodes.size(); ++position_) lower(position_);
  emit_input_semaphores();
  lower_outputs();
  return {std::move(tasks_), std::move(strings_), std::move(metrics_)};
}

void Lowering::place_inputs() {
  for (TensorId input : graph_.inputs) {
    const StorageId id = make_storage(input, {tensor(input).shape, replicated, 1}, Layout::flat);
    storages_[id].in_ddr = true;
    storages_[id].host_input = true;
  }
}

StorageId Lowering::make_storage(TensorId id, Partition partition, Layout layout) {
  Storage storage;
  storage.bytes = bytes_of(id);
  storage.type = type_of(id);
  storage.partition = std::move(partition);
  storage.layout = layout;
  storage.uses = std::int64_t(tensor(id).consumers.size());
  storage.output_uses = std::count(graph_.outputs.begin(), graph_.outputs.end(), id);
  storage.uses += storage.output_uses;
  storage.views.push_back(id);
  storages_.push_back(std::move(storage));
  storage_of_[std::uint32_t(id)] = StorageId(storages_.size() - 1);
  return StorageId(storages_.size() - 1);
}

void Lowering::add_view(StorageId id, TensorId view) {
  Storage& storage = storages_[id];
  storage_of_[std::uint32_t(view)] = id;
  storage.views.push_back(view);
  const auto outputs = std::count(graph_.outputs.begin(), graph_.outputs.end(), view);
  storage.output_uses += outputs;
  storage.uses += std::int64_t(tensor(view).consumers.size()) + outputs;
}

std::size_t Lowering::next_use(const Storage& storage) const {
  std::size_t next = std::numeric_limits<std::size_t>::max();
  for (TensorId view : storage.views) {
    for (NodeId consumer : tensor(view).consumers) {
      const std::size_t at = std::uint32_t(consumer);
      if (at >= position_) next = std::min(next, at);
    }
  }
  return next;
}

void Lowering::use_done(TensorId id) {
  const StorageId storage = storage_of(id);
  if (storage == no_storage) return;
  --storages_[storage].uses;
  drop_if_unused(storage);
}

void Lowering::lower(std::size_t position) {
  const Node& node = graph_.nodes[position];
  const NodePlan& plan = plans_[position];
  if (plan.fate == NodeFate::folded || plan.fate == NodeFate::fused) return;
  if (plan.fate == NodeFate::view) return lower_view(node);
  pinned_.clear();
  node_name_ = strings_.intern(node.name);
  node_shape_ = strings_.intern(shapes_of(graph_, node));
  const bool verbose = options_.op_stats_verbosity >= 2;
  node_operands_ = verbose ? strings_.intern(operands_of(graph_, node, options_.convert_to_fp16))
                           : StringId::empty;
  node_attributes_ = verbose ? strings_.intern(attributes_of(node)) : StringId::empty;
  const OpClass op_class = plan.op_class;
  if (plan.compound) {
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

void Lowering::lower_view(const Node& node) {
  const TensorId input = node.inputs[0];
  if (tensor(input).constant) return;
  const StorageId id = storage_of(input);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorId output = node.outputs[i];
    if (output == TensorId::none || tensor(output).constant) continue;
    // d32 keeps the last axes in tiles of 32: only a flat tensor can be seen in another shape.
    if (storages_[id].layout != Layout::flat && tensor(output).shape != tensor(input).shape) {
      node_name_ = strings_.intern(node.name);
      node_shape_ = strings_.intern(shapes_of(graph_, node));
      pinned_.insert(id);
      convert_layout(id, Layout::flat);
    }
    add_view(id, output);
  }
  for (TensorId used : node.inputs) {
    if (used != TensorId::none) use_done(used);
  }
}

void Lowering::emit_input_semaphores() {
  const std::string kernel = "aicinputsemaphoreinc";
  node_shape_ = StringId::empty;
  node_operands_ = node_attributes_ = StringId::empty;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (last_input_read_[core] == no_task) continue;
    TaskSpec spec = vector_task(kernel, strings_.intern("input_semaphore"), DataType::int8);
    spec.core = core;
    spec.cycles = vector_cycles(target_, kernel, 0);
    spec.flags = qaic::task_pipelined_port;
    spec.port = 100;
    spec.output_bytes = 4;
    add(spec, {{last_input_read_[core], true}});
  }
}

void Lowering::lower_outputs() {
  std::vector<TaskIndex> last_copy(cores_, no_task);
  for (TensorId output : graph_.outputs) {
    const StorageId id = storage_of(output);
    if (id == no_storage) continue;  // a constant: nothing to compute
    node_name_ = strings_.intern(tensor(output).name);
    node_shape_ = strings_.intern("Dest [" + shape_text(tensor(output).shape) + "]");
    pinned_ = {id};
    const bool in_ddr = storages_[id].in_ddr && storages_[id].ddr_layout == Layout::flat;
    if (!in_ddr && storages_[id].layout != Layout::flat) convert_layout(id, Layout::flat);
    const Storage& storage = storages_[id];
    if (!in_ddr && storage.buffer != BufferId::none) {
      const auto core_bytes = slice_bytes(storage.partition, storage.bytes, cores_);
      for (std::uint32_t core = 0; core < cores_; ++core) {
        if (core_bytes[core] == 0 || (storage.partition.axis < 0 && core > 0)) continue;
        TaskSpec spec = dma_task("aiccopyfromvtcm", node_name_, storage.type);
        spec.core = core;
        spec.ddr_write = spec.output_bytes = core_bytes[core];
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
    spec.shape = StringId::empty;
    spec.core = core;
    spec.cycles = vector_cycles(target_, kernel, 0);
    spec.flags = qaic::task_pipelined_port;
    spec.port = 101;
    spec.output_bytes = 4;
    add(spec, {{last_copy[core], true}});
  }
}

TaskSpec Lowering::vector_task(const std::string& kernel, StringId name, DataType type) const {
  TaskSpec spec;
  spec.group = qaic::ThreadGroup::hvx;
  spec.name = name;
  spec.kernel = strings_.intern(kernel);
  spec.types = strings_.intern(name_of(type));
  spec.memory = strings_.intern("TCM");
  spec.shape = node_shape_;
  spec.operands = node_operands_;
  spec.attributes = node_attributes_;
  spec.thread_imbalance = 4;
  return spec;
}

TaskSpec Lowering::dma_task(const char* kernel, StringId name, DataType) const {
  TaskSpec spec;
  spec.group = qaic::ThreadGroup::dma_issue;
  spec.name = name;
  spec.kernel = strings_.intern(kernel);
  const bool on_chip = std::string_view(kernel).find("multicast") != std::string_view::npos;
  spec.memory = strings_.intern(on_chip ? "TCM" : "DDR");
  spec.shape = node_shape_;
  spec.cycles = std::uint64_t(target_.dma_issue_cycles);
  return spec;
}

TaskIndex Lowering::add_compute(const TaskSpec& spec, std::span<const BufferId> reads,
                                BufferId writes) {
  TaskNeeds needs;
  for (BufferId read : reads) {
    if (read != BufferId::none) tasks_.need_to_read(read, spec.core, needs);
  }
  tasks_.need_to_write(writes, spec.core, needs);
  const TaskIndex task = add(spec, std::move(needs));
  for (BufferId read : reads) {
    if (read != BufferId::none) tasks_.reads(task, read, spec.core);
  }
  tasks_.writes(task, writes, spec.core);
  return task;
}

std::uint64_t Lowering::tiles_for(std::uint64_t bytes) const {
  return std::max<std::uint64_t>(1, divide_up(bytes, tile_bytes_));
}

void Lowering::count_constant(TensorId id, std::uint64_t bytes, std::uint64_t d32_bytes) {
  if (!counted_constants_.insert(id).second) return;
  metrics_.constant_bytes += bytes;
  metrics_.d32_constant_bytes += d32_bytes;
}

StringId Lowering::name_of_tile(std::uint64_t tile, std::uint64_t tiles) const {
  if (tiles <= 1) return node_name_;
  return strings_.intern(fmt::format("{}/__{}", strings_[node_name_], tile));
}

}  // namespace npuscope::npu
