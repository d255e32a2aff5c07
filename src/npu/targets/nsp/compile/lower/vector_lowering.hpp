// Operators on HVX.
#pragma once

#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/lower/vector_tiles.hpp"

namespace npuscope::npu::nsp {

class VectorLowering {
 public:
  VectorLowering(const CompileContext& context, TaskWriter& writer, Placement& place)
      : context_(context), writer_(writer), place_(place), tiles_(context, writer, place) {}

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
  VectorTiles tiles_;
};

}  // namespace npuscope::npu::nsp
