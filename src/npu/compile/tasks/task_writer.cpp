#include "npu/compile/tasks/task_writer.hpp"

#include <algorithm>

namespace npuscope::npu {
TaskWriter::TaskWriter(const Graph& graph, const Target& target, const CompileOptions& options)
    : graph_(graph),
      target_(target),
      options_(options),
      cores_(options.cores),
      tile_bytes_((target.vtcm_bytes - target.vtcm_reserved_bytes) / 16),
      plans_(plan_nodes(graph)),
      tasks_(cores_) {
  metrics_.cores.resize(cores_);
}

void TaskWriter::begin_node(const Node& node) {
  node_result_ = plans_[position_].result;
  for (TensorId output : node.outputs) {
    if (node_result_ == TensorId::none) node_result_ = output;
  }
  node_name_ = strings_.intern(node.name);
  node_types_ = strings_.intern(types_of(graph_, node, options_.convert_to_fp16));
  node_attributes_ =
      options_.op_stats_verbosity >= 2 ? strings_.intern(attributes_of(node)) : StringId::empty;
}

TaskSpec TaskWriter::vector_task(const std::string& kernel, StringId name, DataType type) const {
  TaskSpec spec;
  spec.group = qaic::ThreadGroup::hvx;
  spec.name = name;
  spec.kernel = strings_.intern(kernel);
  spec.types = strings_.intern(name_of(type));
  spec.memory = strings_.intern("TCM");
  spec.attributes = node_attributes_;
  spec.thread_imbalance = 4;
  return spec;
}

TaskSpec TaskWriter::dma_task(const DmaKernel& kernel, StringId name, TensorId id,
                              const Shape& whole, std::uint64_t bytes) const {
  TaskSpec spec;
  spec.group = qaic::ThreadGroup::dma_issue;
  spec.name = name;
  spec.kernel = strings_.intern(kernel.name);
  const bool on_chip = kernel.from == kernel.to;
  spec.memory = strings_.intern(on_chip ? "TCM" : "DDR");
  works_on(spec, {operand(TaskOperand::Use::out, kernel.to, id, whole, bytes),
                  operand(TaskOperand::Use::in, kernel.from, id, whole, bytes)});
  spec.output_bytes = bytes;
  spec.tensor = id;
  spec.cycles = std::uint64_t(target_.dma_issue_cycles);
  return spec;
}

TaskOperand TaskWriter::operand(TaskOperand::Use use, TaskOperand::Memory memory, TensorId id,
                                const Shape& whole, std::uint64_t bytes) const {
  const DataType type = type_of(id);
  return {use, memory, tensor(id).name, type, part_of_shape(whole, bytes, type)};
}

TaskOperand TaskWriter::known_scalar(TensorId id) const {
  return operand(TaskOperand::Use::in, TaskOperand::Memory::none, id, tensor(id).shape,
                 bytes_of(id));
}

void TaskWriter::works_on(TaskSpec& spec, std::span<const TaskOperand> operands) const {
  if (options_.stats_level < 50) return;
  if (!std::ranges::equal(operands, described_) || described_.empty()) {
    described_.assign(operands.begin(), operands.end());
    described_shapes_ = strings_.intern(shapes_of(described_));
    described_operands_ = options_.op_stats_verbosity >= 2
                              ? strings_.intern(operands_of(described_))
                              : StringId::empty;
  }
  spec.shape = described_shapes_;
  spec.operands = described_operands_;
}

void TaskWriter::refuse_more_tasks() const {
  throw LoweringFailure{
      fmt::format("node '{}' brings the program over {} tasks, more than a statistics descriptor "
                  "can name; use a "
                  "smaller model or batch",
                  strings_[node_name_], max_tasks)};
}

TaskIndex TaskWriter::add(const TaskSpec& spec, TaskNeeds needs) {
  if (tasks_.tasks().size() >= max_tasks) refuse_more_tasks();
  TaskSpec complete = spec;
  complete.node = std::uint32_t(position_);
  if (complete.tensor == TensorId::none) complete.tensor = node_result_;
  const bool moves = spec.group == qaic::ThreadGroup::dma_issue;
  if (moves && spec.ddr_read == 0) complete.vtcm_read = spec.output_bytes;
  if (spec.ddr_write == 0) complete.vtcm_write = spec.output_bytes;
  return tasks_.add(complete, std::move(needs));
}

TaskIndex TaskWriter::add_compute(TaskSpec spec, std::span<const BufferId> reads, BufferId writes,
                                  const Parts& parts) {
  const auto part = [&](std::size_t i) {
    return i < parts.reads.size() ? parts.reads[i] : BufferPart{};
  };
  TaskNeeds needs;
  if (spec.vtcm_read == 0) spec.vtcm_read = bytes_in(reads);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (reads[i] != BufferId::none) tasks_.need_to_read(reads[i], spec.core, needs, part(i));
  }
  tasks_.need_to_write(writes, spec.core, needs, parts.writes);
  const TaskIndex task = add(spec, std::move(needs));
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (reads[i] != BufferId::none) tasks_.reads(task, reads[i], spec.core, part(i));
  }
  tasks_.writes(task, writes, spec.core, parts.writes);
  return task;
}

std::uint64_t TaskWriter::bytes_in(std::span<const BufferId> buffers) const {
  std::uint64_t bytes = 0;
  for (BufferId buffer : buffers) {
    if (buffer != BufferId::none) bytes += tasks_.buffer_bytes(buffer);
  }
  return bytes;
}

std::uint64_t TaskWriter::tiles_for(std::uint64_t bytes) const {
  const std::uint64_t tiles = std::max<std::uint64_t>(1, divide_up(bytes, tile_bytes_));
  if (tiles > max_tasks) refuse_more_tasks();
  return tiles;
}

void TaskWriter::count_constant(TensorId id, std::uint64_t bytes, std::uint64_t d32_bytes) {
  if (!counted_constants_.insert(id).second) return;
  metrics_.constant_bytes += bytes;
  metrics_.d32_constant_bytes += d32_bytes;
}

StringId TaskWriter::name_of_tile(std::uint64_t tile, std::uint64_t tiles) const {
  if (tiles <= 1) return node_name_;
  return strings_.intern(fmt::format("{}/__{}", strings_[node_name_], tile));
}

}  // namespace npuscope::npu
