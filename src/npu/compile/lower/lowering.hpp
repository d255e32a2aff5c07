// From nodes to tasks. Five layers, each using those before it:
//
//   TaskWriter           writes tasks of the node at hand
//   Residency            where tensors are, and moves them
//   VectorLowering       operators on HVX
//   MatrixLowering       products on the HMX
//   CollectiveLowering   exchanges between devices
//
// Lowering walks the model's nodes and hands each to the layer that knows it.
#pragma once

#include "npu/compile/devices/collective_lowering.hpp"

namespace npuscope::npu {

struct LoweredNetwork {
  TaskGraph tasks;
  StringPool strings;
  CompileMetrics metrics;
  std::vector<SpillLog> spills;
};

class Lowering : private CollectiveLowering {
 public:
  Lowering(const Graph& graph, const Target& target, const CompileOptions& options);
  LoweredNetwork run();
  using CollectiveLowering::hoist_into;
  using CollectiveLowering::leaves_room_for;
  void log_accesses() { tasks_.log_accesses(); }
  const std::vector<NodePlan>& plans() const { return plans_; }

 private:
  void place_inputs();
  void lower(std::size_t position);
  void lower_operator(const Node& node, const NodePlan& plan);
  void check_operands(const Node& node) const;
  void lower_view(const Node& node);
  void lower_outputs();
  void emit_output_semaphores(const std::vector<TaskIndex>& last_copy);
  bool inputs_consumed() const;
  void emit_input_semaphores();
  void describe_semaphore(TaskSpec& spec, std::string_view name) const;
};

}  // namespace npuscope::npu
