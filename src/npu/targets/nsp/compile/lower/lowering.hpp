// From nodes to tasks: owns the parts of the lowering and calls the one that each node needs.
//
//   CompileContext       model in device precision, hardware, options; constant
//   TaskWriter           tasks of the current node
//   Placement            places of tensors, and transfers between them
//   Chains               elementwise operators in a row
//   VectorLowering       operators on HVX
//   MatrixLowering       products on the HMX
//   CollectiveLowering   exchanges between devices
//   ImageRows            bands of images
//
// Each part holds references to the parts above it that it uses, none to those below.
#pragma once

#include "npu/targets/nsp/compile/devices/devices.hpp"
#include "npu/targets/nsp/compile/lower/image_rows.hpp"
#include "npu/targets/nsp/compile/lower/matrix_lowering.hpp"

namespace npuscope::npu::nsp {

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
  void expect(const TaskGraph::Size& size) { writer_.tasks().reserve(size); }
  // Whether the finished program would also fit into a VTCM with so many bytes less.
  bool has_space_for(std::uint64_t bytes) const { return place_.residency.has_space_for(bytes); }

 private:
  void place_inputs();
  void lower(const Node& node, const NodePlan& plan);
  void lower_operator(const Node& node, const NodePlan& plan);
  void check_operands(const Node& node) const;
  void lower_view(const Node& node);
  void lower_outputs();
  // Stores it in DDR in the flat layout, unless it is there; updates each core's last copy.
  void lower_output(TensorId output, std::vector<TaskIndex>& last_copy);
  bool inputs_consumed() const;
  // One on each core, after its last task in `last`: inputs may be written, outputs read.
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
  ImageRows rows_;
};

}  // namespace npuscope::npu::nsp
