// What every part of the lowering shares: the model, the hardware, the node at hand, and the tasks
// that have been written so far.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "npu/compile/tasks/device_tensor.hpp"
#include "npu/compile/tasks/fusion.hpp"
#include "npu/compile/tasks/kernels.hpp"
#include "npu/compile/tasks/operand_text.hpp"
#include "npu/compile/tasks/task_graph.hpp"
#include "npuscope/base/string_pool.hpp"
#include "npuscope/npu/compile/compile.hpp"

namespace npuscope::npu {

// Thrown inside the compiler only; compile_network makes an Error of it.
struct LoweringFailure {
  std::string message;
};

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
 protected:
  using CoreBytes = std::vector<std::uint64_t>;  // bytes on each core

  TaskWriter(const Graph& graph, const Target& target, const CompileOptions& options);
  void begin_node(const Node& node);

  const Tensor& tensor(TensorId id) const { return graph_[id]; }
  static bool has_input(const Node& node, std::size_t index) {
    return index < node.inputs.size() && node.inputs[index] != TensorId::none;
  }
  DataType type_of(TensorId id) const {
    return device_type(graph_[id].type, options_.convert_to_fp16);
  }
  std::uint64_t bytes_of(TensorId id) const {
    return device_bytes(graph_[id].elements(), type_of(id));
  }
  TaskSpec vector_task(const std::string& kernel, StringId name, DataType type) const;
  // Moves so many bytes of a tensor, of which the core has what `whole` says.
  TaskSpec dma_task(const DmaKernel& kernel, StringId name, TensorId id, const Shape& whole,
                    std::uint64_t bytes) const;
  // So many bytes of a tensor, of which the core has what `whole` says.
  TaskOperand operand(TaskOperand::Use use, TaskOperand::Memory memory, TensorId id,
                      const Shape& whole, std::uint64_t bytes) const;
  TaskOperand known_scalar(TensorId id) const;
  Shape slice_of(const Partition& partition, std::uint32_t core) const {
    return slice_shape(partition, core, cores_);
  }
  // Says in the descriptor what the task works on. Levels that record no operators need no texts.
  void works_on(TaskSpec& spec, std::span<const TaskOperand> operands) const;
  void works_on(TaskSpec& spec, std::initializer_list<TaskOperand> operands) const {
    works_on(spec, std::span(operands.begin(), operands.size()));
  }
  std::uint64_t tiles_for(std::uint64_t bytes) const;
  void count_constant(TensorId id, std::uint64_t bytes, std::uint64_t d32_bytes);
  StringId name_of_tile(std::uint64_t tile, std::uint64_t tiles) const;
  // A task on its own core's VTCM: reads the buffers (none are passed over), writes one.
  // Unless the spec says otherwise, all of each buffer is read.
  // `parts` are those of the buffers that are used; those beyond its end are used whole.
  struct Parts {
    std::vector<BufferPart> reads;
    BufferPart writes;
  };
  TaskIndex add_compute(TaskSpec spec, std::span<const BufferId> reads, BufferId writes,
                        const Parts& parts = {});
  std::uint64_t bytes_in(std::span<const BufferId> buffers) const;  // none are passed over
  TaskIndex add(const TaskSpec& spec, TaskNeeds needs);
  [[noreturn]] void refuse_more_tasks() const;

  const Graph& graph_;
  const Target& target_;
  const CompileOptions& options_;
  const std::uint32_t cores_;
  const std::uint64_t tile_bytes_;  // streamed at a time
  std::vector<NodePlan> plans_;
  TaskGraph tasks_;
  mutable StringPool strings_;
  CompileMetrics metrics_;
  std::set<TensorId> counted_constants_;
  std::size_t position_ = 0;  // of the node at hand
  StringId node_name_{};
  StringId node_types_{};  // distinct element types of the operands, results first
  StringId node_attributes_{};
  // The latest operands and their texts: the tasks of a node on several cores mostly have the same.
  mutable std::vector<TaskOperand> described_;
  mutable StringId described_shapes_{}, described_operands_{};
  TensorId node_result_ = TensorId::none;
};

}  // namespace npuscope::npu
