// Operators on HVX.
#pragma once

#include <functional>
#include <string>

#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/place/placement.hpp"
#include "npu/targets/nsp/compile/place/storages.hpp"
#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

namespace npuscope::npu::nsp {

// The tasks of a node on HVX: each core's slice of the result, at once or tile by tile.

// A kernel on HVX (or, of compound operators, on the HMX) and how a node uses it.
struct VectorKernel {
  std::string name;
  std::function<std::uint64_t(std::uint64_t output_bytes)> cycles;
  bool reads_ddr = false;           // as many bytes as it puts out, element by element
  TensorId table = TensorId::none;  // of this
  StorageId source = no_storage;    // which lies here; no storage: a constant
  bool in_place = false;            // may write over an input of the same size
  std::uint64_t hmx_macs = 0;       // of the whole operator; then it runs on the HMX
  // What must be computed at once: so many elements that follow one another; 0: everything.
  std::uint64_t row_elements = 0;
};

// One whose cycles the target's description gives.
inline VectorKernel kernel_named(const Target& target, const std::string& name) {
  VectorKernel kernel;
  kernel.name = name;
  kernel.cycles = [&target, name](std::uint64_t bytes) {
    return vector_cycles(target, name, bytes);
  };
  return kernel;
}

class VectorLowering {
 public:
  VectorLowering(const CompileContext& context, TaskWriter& writer, Placement& place)
      : context_(context), writer_(writer), place_(place) {}

  void lower(const Node& node, OpClass op_class, const VectorKernel& kernel);
  // Data that is found by indices, often in DDR (embedding tables, KV caches).
  void lower_gather(const Node& node);
  void lower_scatter(const Node& node);

 private:
  std::vector<Operand> prepare_inputs(const Node& node, OpClass op_class, const Partition& output,
                                      Layout layout);
  // A Concat of very many parts: each is copied to its place in the result, one after the other.
  void lower_concat_by_parts(const Node& node, OpClass op_class, const VectorKernel& kernel);
  void copy_part(const VectorKernel& kernel, const Operand& operand, std::size_t index,
                 std::size_t parts, const std::vector<NodeResult>& results);
  // A reduction over the very axis that the cores share: each reduces its slice, the small partial
  // results go to every core, and each combines them. False where the cores share another.
  bool lower_split_reduction(const Node& node, const std::string& kernel);
  bool reduces_split_axis(const Node& node) const;

  const CompileContext& context_;
  TaskWriter& writer_;
  Placement& place_;
};

}  // namespace npuscope::npu::nsp
