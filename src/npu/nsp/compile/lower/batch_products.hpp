// Products of two activations (attention): the cores share the batches, head by head, else the
// rows.
#pragma once

#include "npu/nsp/compile/lower/product_tasks.hpp"

namespace npuscope::npu::nsp {

class BatchProducts {
 public:
  BatchProducts(const CompileContext& context, TaskWriter& writer, Placement& place,
                ProductTasks& tasks)
      : context_(context), writer_(writer), place_(place), tasks_(tasks) {}

  void lower(ProductJob& job);

 private:
  Partition choose_partition(const ProductJob& job) const;
  // What an operand must be for the result to have the job's partition.
  Partition partition_needed(const ProductJob& job, TensorId id, bool weights) const;
  std::uint64_t usual_tiles(const ProductJob& job, std::span<const Operand> operands,
                            const NodeResult& result) const;
  std::uint64_t find_tiles(const ProductJob& job, std::vector<Operand>& operands,
                           NodeResult& result);
  ProductTile tile_of(const ProductJob& job, const CoreBytes& output_bytes, std::uint64_t index,
                      std::uint64_t tiles, bool streamed) const;
  // The parts of the activation from which rows [first, last) of `rows` on each core are made.
  std::vector<std::vector<BufferPart>> parts_of_rows(const Operand& activation,
                                                     const std::vector<RowRange>& rows) const;

  const CompileContext& context_;
  TaskWriter& writer_;
  Placement& place_;
  ProductTasks& tasks_;
};

}  // namespace npuscope::npu::nsp
