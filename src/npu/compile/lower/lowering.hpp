// From nodes to tasks: walks the model's nodes and hands each to the part that knows it.
//
//   CompileContext       the model as the device sees it, the hardware, the options: read by all
//   TaskWriter           writes the tasks of the node at hand
//   Placement            where tensors are, and moves them
//   Chains               elementwise operators in a row
//   VectorLowering       operators on HVX
//   MatrixLowering       products on the HMX
//   CollectiveLowering   exchanges between devices
//
// Each holds references to those before it that it uses, and knows nothing of those after it.
#pragma once

#include "npu/compile/devices/collective_lowering.hpp"
#include "npu/compile/lower/matrix_lowering.hpp"

namespace npuscope::npu {

struct LoweredNetwork {
  TaskGraph tasks;
  StringPool strings;
  CompileMetrics metrics;
  std::vector<SpillLog> spills;
};

class Lowering {
 public:
  // `hoisted` bytes of every core's VTCM are set aside for constants that stay there.
  Lowering(const Graph& graph, const Target& target, const CompileOptions& options,
           std::uint64_t hoisted = 0);
  LoweredNetwork run();  // once
  void log_accesses() { writer_.tasks().log_accesses(); }
  // Whether a program like the one that has just been made would find its room beside so much.
  bool leaves_room_for(std::uint64_t bytes) const {
    return place_.residency.leaves_room_for(bytes);
  }
  const std::vector<NodePlan>& plans() const { return context_.plans; }

 private:
  void place_inputs();
  void lower(const Node& node, const NodePlan& plan);
  void lower_operator(const Node& node, const NodePlan& plan);
  void check_operands(const Node& node) const;
  void lower_view(const Node& node);
  void lower_outputs();
  // To DDR, flat, where it is not there yet: then `last_copy` on each core that copies.
  void lower_output(TensorId output, std::vector<TaskIndex>& last_copy);
  bool inputs_consumed() const;
  // The host may write the next inputs, read the outputs: after the last task on each core.
  void emit_semaphores(const std::string& kernel, std::string_view name, std::uint16_t port,
                       const std::vector<TaskIndex>& last);

  const CompileContext context_;
  CompileMetrics metrics_;
  TaskWriter writer_;
  Placement place_;
  Chains chains_;
  VectorLowering vector_;
  MatrixLowering matrix_;
  CollectiveLowering collective_;
};

}  // namespace npuscope::npu
