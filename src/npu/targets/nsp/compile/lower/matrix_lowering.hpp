// Matrix products and convolutions: on the HMX, on HVX in float32.
#pragma once

#include "npu/targets/nsp/compile/lower/product.hpp"
#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {

// Products with constant weights. The cores share the work by columns (each core streams its own
// columns' weights from DDR; all need the whole activation) or by rows (each core has rows of the
// activation; every weight is read from DDR once and multicast).

class ConstantProducts {
 public:
  ConstantProducts(const CompileContext& context, TaskWriter& writer, Placement& place,
                   Chains& chains, ProductTasks& tasks)
      : context_(context), writer_(writer), place_(place), chains_(chains), tasks_(tasks) {}

  // With the row of elementwise operators after it, where its tiles go through that: the writer's
  // position is then that of the row's last node.
  void lower(ProductJob& job);

 private:
  struct Tiling {
    std::uint64_t rows = 1;         // tiles of the activation
    std::uint64_t chunks = 1;       // of the weights' columns
    std::uint64_t depth_parts = 1;  // of each chunk
    std::uint64_t loads() const { return chunks * depth_parts; }
  };
  void count_weights(const ProductJob& job);
  void run_tiles(const ProductJob& job, std::vector<Operand>& operands, BufferId halo,
                 NodeResult& result);
  Tiling find_tiling(const ProductJob& job, std::vector<Operand>& operands, NodeResult& result);
  Tiling plan_tiling(const ProductJob& job, std::span<const Operand> operands,
                     const NodeResult& result, std::uint64_t finer) const;
  std::vector<std::uint64_t> tile_sizes(const ProductJob& job, std::span<const Operand> operands,
                                        const NodeResult& result, const Tiling& tiling) const;
  std::uint64_t own_weight_bytes(const ProductJob& job) const;
  // A chunk of the weights in VTCM. By columns each core loads its own; by rows each loads a part
  // and sends it to all, so that DDR is read once.
  BufferId load_weights(const ProductJob& job, const Tiling& tiling, std::uint64_t load);
  ProductTile tile_of(const ProductJob& job, const CoreBytes& output_bytes, std::uint64_t row_tile,
                      std::uint64_t row_tiles, std::uint64_t chunk, std::uint64_t chunks) const;

  const CompileContext& context_;
  TaskWriter& writer_;
  Placement& place_;
  Chains& chains_;
  ProductTasks& tasks_;
};

// Products of two activations (attention): the cores share the batches, head by head, else the
// rows.
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

class MatrixLowering {
 public:
  // Counts multiply-accumulates in `metrics`.
  MatrixLowering(const CompileContext& context, TaskWriter& writer, Placement& place,
                 CompileMetrics& metrics, Chains& chains, VectorLowering& vector)
      : context_(context),
        metrics_(metrics),
        vector_(vector),
        tasks_(context, writer, place, chains),
        constant_(context, writer, place, chains, tasks_),
        batch_(context, writer, place, tasks_) {}

  void lower(const Node& node, const NodePlan& plan);
  // Attention, recurrent cells, Einsum: several products in one operator.
  void lower_compound(const Node& node);

 private:
  ProductJob describe(const Node& node, const NodePlan& plan) const;
  void lower_depthwise(const ProductJob& job);
  void lower_empty(const ProductJob& job);

  const CompileContext& context_;
  CompileMetrics& metrics_;
  VectorLowering& vector_;
  ProductTasks tasks_;
  ConstantProducts constant_;
  BatchProducts batch_;
};

}  // namespace npuscope::npu::nsp
