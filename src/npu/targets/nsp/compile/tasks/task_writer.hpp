// Tasks of the current node: their names, texts and dependencies.
//
//   TaskWriter writer(context);
//   writer.begin_node(position, node);
//   TaskSpec spec = writer.vector_task(3, "elementadd", writer.node_name(), DataType::float16);
//   const TaskIndex task = writer.add(spec, {reads(x, 3), writes(y, 3)});
#pragma once

#include <span>
#include <string>
#include <vector>

#include "npu/targets/nsp/compile/tasks/compile_context.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"
#include "npu/targets/nsp/compile/tasks/task_texts.hpp"
#include "npuscope/base/string_pool.hpp"

namespace npuscope::npu::nsp {

inline constexpr std::size_t max_tasks = 1 << 22;  // as many ops as a descriptor may have

// Transfers by the DMA engines: the kernel, and between which memories.
struct DmaKernel {
  const char* name;
  TaskOperand::Memory from, to;
};
inline constexpr DmaKernel copy_to_vtcm{"aiccopytovtcm", TaskOperand::Memory::ddr,
                                        TaskOperand::Memory::vtcm};
inline constexpr DmaKernel copy_from_vtcm{"aiccopyfromvtcm", TaskOperand::Memory::vtcm,
                                          TaskOperand::Memory::ddr};
inline constexpr DmaKernel multicast_vtcm{"aicmulticastvtcm", TaskOperand::Memory::vtcm,
                                          TaskOperand::Memory::vtcm};
inline constexpr DmaKernel multicast_to_device{"aicmulticastvtcm_out", TaskOperand::Memory::vtcm,
                                               TaskOperand::Memory::vtcm};

class TaskWriter {
 public:
  explicit TaskWriter(const CompileContext& context) : context_(context), tasks_(context.cores) {}

  // Makes it the current node, for names and texts of the next tasks.
  void begin_node(std::size_t position, const Node& node);
  // An output of the graph, behind all nodes.
  void begin_output(TensorId output);
  void go_to(std::size_t position) { position_ = position; }
  void drop_attributes() { node_attributes_ = StringId::empty; }
  std::size_t position() const { return position_; }
  StringId node_name() const { return node_name_; }
  std::string_view node_text() const { return strings_[node_name_]; }
  StringId node_types() const { return node_types_; }
  TensorId node_result() const { return node_result_; }
  StringId name_of_tile(std::uint64_t tile, std::uint64_t tiles);

  TaskSpec vector_task(std::uint32_t core, std::string_view kernel, StringId name, DataType type);
  // Moves so many bytes of a tensor, of which the core has what `whole` says.
  TaskSpec dma_task(std::uint32_t core, const DmaKernel& kernel, StringId name, TensorId id,
                    const Shape& whole, std::uint64_t bytes);
  // So many bytes of a tensor, of which the core has what `whole` says.
  TaskOperand operand(TaskOperand::Use use, TaskOperand::Memory memory, TensorId id,
                      const Shape& whole, std::uint64_t bytes) const;
  TaskOperand known_scalar(TensorId id) const;
  // Says in the descriptor what the task works on. Levels that record no operators need no texts.
  void works_on(TaskSpec& spec, std::span<const TaskOperand> operands);
  void works_on(TaskSpec& spec, std::initializer_list<TaskOperand> operands) {
    works_on(spec, std::span(operands.begin(), operands.size()));
  }
  StringId intern(std::string_view text) { return strings_.intern(text); }

  // The task needs what its uses of buffers need, and `needs`.
  TaskIndex add(const TaskSpec& spec, std::span<const BufferUse> uses, const TaskNeeds& needs = {});
  TaskIndex add(const TaskSpec& spec, std::initializer_list<BufferUse> uses,
                const TaskNeeds& needs = {}) {
    return add(spec, std::span(uses.begin(), uses.size()), needs);
  }
  // A task on its own core's VTCM: reads the buffers (none are passed over), writes one.
  // Unless the spec says otherwise, all of each buffer is read.
  // `parts` are those of the buffers that are used; those beyond its end are used whole.
  struct Parts {
    std::vector<BufferPart> reads;
    BufferPart writes;
  };
  TaskIndex add_compute(TaskSpec spec, std::span<const BufferId> reads, BufferId writes,
                        const Parts& parts = {});
  // Number of tiles of the usual size.
  std::uint64_t tiles_for(std::uint64_t bytes) const;
  void check_tiles(std::uint64_t tiles) const;  // LoweringFailure beyond max_tasks

  TaskGraph& tasks() { return tasks_; }
  const TaskGraph& tasks() const { return tasks_; }
  std::uint64_t bytes_in(std::span<const BufferId> buffers) const;  // none are passed over
  // A use that writes the buffer on every core.
  std::vector<BufferUse> written_everywhere(BufferId buffer) const;
  StringPool take_strings() { return std::move(strings_); }

 private:
  [[noreturn]] void refuse_more_tasks() const;

  const CompileContext& context_;
  TaskGraph tasks_;
  StringPool strings_;
  std::size_t position_ = 0;
  StringId node_name_{};
  StringId node_types_{};  // distinct element types of the operands, results first
  StringId node_attributes_{};
  TensorId node_result_ = TensorId::none;
  // The latest operands and their texts: the tasks of a node on several cores mostly have the same.
  std::vector<TaskOperand> described_;
  StringId described_shapes_{}, described_operands_{};
  // Of the task that is added.
  std::vector<BufferUse> uses_;
  TaskNeeds needs_;
};

}  // namespace npuscope::npu::nsp
