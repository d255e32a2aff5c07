#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {
void TaskWriter::begin_node(std::size_t position, const Node& node) {
  position_ = position;
  node_result_ = context_.plans[position].result;
  for (TensorId output : node.outputs) {
    if (node_result_ == TensorId::none) node_result_ = output;
  }
  node_name_ = strings_.intern(node.name);
  node_types_ = strings_.intern(types_of(context_.graph, node, context_.options.convert_to_fp16));
  node_attributes_ = context_.options.op_stats_verbosity >= 2 ? strings_.intern(attributes_of(node))
                                                              : StringId::empty;
}

void TaskWriter::begin_output(TensorId output) {
  node_name_ = strings_.intern(context_.tensor(output).name);
  node_result_ = output;
}

TaskSpec TaskWriter::vector_task(std::uint32_t core, std::string_view kernel, StringId name,
                                 DataType type) {
  TaskSpec spec;
  spec.group = qaic::ThreadGroup::hvx;
  spec.core = core;
  spec.name = name;
  spec.kernel = strings_.intern(kernel);
  spec.types = strings_.intern(name_of(type));
  spec.memory = strings_.intern("TCM");
  spec.attributes = node_attributes_;
  spec.thread_imbalance = 4;
  return spec;
}

TaskSpec TaskWriter::dma_task(std::uint32_t core, const DmaKernel& kernel, StringId name,
                              TensorId id, const Shape& whole, std::uint64_t bytes) {
  TaskSpec spec;
  spec.group = qaic::ThreadGroup::dma_issue;
  spec.core = core;
  spec.name = name;
  spec.kernel = strings_.intern(kernel.name);
  const bool on_chip = kernel.from == kernel.to;
  spec.memory = strings_.intern(on_chip ? "TCM" : "DDR");
  works_on(spec, {operand(TaskOperand::Use::out, kernel.to, id, whole, bytes),
                  operand(TaskOperand::Use::in, kernel.from, id, whole, bytes)});
  spec.output_bytes = bytes;
  spec.tensor = id;
  spec.cycles = std::uint64_t(context_.target.dma_issue_cycles);
  return spec;
}

TaskOperand TaskWriter::operand(TaskOperand::Use use, TaskOperand::Memory memory, TensorId id,
                                const Shape& whole, std::uint64_t bytes) const {
  const DataType type = context_.type_of(id);
  return {use, memory, context_.tensor(id).name, type, part_of_shape(whole, bytes, type)};
}

TaskOperand TaskWriter::known_scalar(TensorId id) const {
  return operand(TaskOperand::Use::in, TaskOperand::Memory::none, id, context_.tensor(id).shape,
                 context_.bytes_of(id));
}

void TaskWriter::works_on(TaskSpec& spec, std::span<const TaskOperand> operands) {
  if (context_.options.stats_level < 50) return;
  if (!std::ranges::equal(operands, described_) || described_.empty()) {
    described_.assign(operands.begin(), operands.end());
    described_shapes_ = strings_.intern(shapes_of(described_));
    described_operands_ = context_.options.op_stats_verbosity >= 2
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

TaskIndex TaskWriter::add(const TaskSpec& spec, std::span<const BufferUse> uses,
                          const TaskNeeds& needs) {
  if (tasks_.tasks().size() >= max_tasks) refuse_more_tasks();
  TaskSpec complete = spec;
  complete.node = std::uint32_t(position_);
  if (complete.tensor == TensorId::none) complete.tensor = node_result_;
  const bool moves = spec.group == qaic::ThreadGroup::dma_issue;
  if (moves && spec.ddr_read == 0) complete.vtcm_read = spec.output_bytes;
  if (spec.ddr_write == 0) complete.vtcm_write = spec.output_bytes;
  needs_ = needs;
  for (const BufferUse& use : uses) tasks_.need(use, needs_);
  const TaskIndex task = tasks_.add(complete, needs_);
  for (const BufferUse& use : uses) tasks_.record(task, use);
  return task;
}

TaskIndex TaskWriter::add_compute(TaskSpec spec, std::span<const BufferId> reads, BufferId writes,
                                  const Parts& parts) {
  if (spec.vtcm_read == 0) spec.vtcm_read = bytes_in(reads);
  uses_.clear();
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const BufferPart part = i < parts.reads.size() ? parts.reads[i] : BufferPart{};
    if (reads[i] != BufferId::none) uses_.push_back(nsp::reads(reads[i], spec.core, part));
  }
  uses_.push_back(nsp::writes(writes, spec.core, parts.writes));
  return add(spec, uses_);
}

std::uint64_t TaskWriter::bytes_in(std::span<const BufferId> buffers) const {
  std::uint64_t bytes = 0;
  for (BufferId buffer : buffers) {
    if (buffer != BufferId::none) bytes += tasks_.buffer_bytes(buffer);
  }
  return bytes;
}

std::vector<BufferUse> TaskWriter::written_everywhere(BufferId buffer) const {
  std::vector<BufferUse> uses;
  for (std::uint32_t core = 0; core < context_.cores; ++core) uses.push_back(writes(buffer, core));
  return uses;
}

std::uint64_t TaskWriter::tiles_for(std::uint64_t bytes) const {
  const std::uint64_t tiles = std::max<std::uint64_t>(1, divide_up(bytes, context_.tile_bytes));
  check_tiles(tiles);
  return tiles;
}

void TaskWriter::check_tiles(std::uint64_t tiles) const {
  if (tiles > max_tasks) refuse_more_tasks();
}

StringId TaskWriter::name_of_tile(std::uint64_t tile, std::uint64_t tiles) {
  if (tiles <= 1) return node_name_;
  return strings_.intern(fmt::format("{}/__{}", strings_[node_name_], tile));
}

}  // namespace npuscope::npu::nsp
