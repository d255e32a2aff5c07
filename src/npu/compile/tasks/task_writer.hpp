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
#include "npu/compile/tasks/task_graph.hpp"
#include "npuscope/base/string_pool.hpp"
#include "npuscope/npu/compile/compile.hpp"

namespace npuscope::npu {

// Thrown inside the compiler only; compile_network makes an Error of it.
struct LoweringFailure {
  std::string message;
};

inline constexpr std::size_t most_tasks = 1 << 22;  // as many ops as a descriptor may have

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
  TaskSpec dma_task(const char* kernel, StringId name, DataType type, std::uint64_t bytes) const;
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
  StringId node_shape_{};
  StringId node_types_{};  // distinct element types of the operands, results first
  StringId node_operands_{};
  StringId node_attributes_{};
  TensorId node_result_ = TensorId::none;
};

}  // namespace npuscope::npu
