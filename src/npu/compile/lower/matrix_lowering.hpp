// Matrix products and convolutions: on the HMX, on HVX in float32.
#pragma once

#include <vector>

#include "npu/compile/lower/vector_lowering.hpp"

namespace npuscope::npu {

class MatrixLowering : protected VectorLowering {
 protected:
  using VectorLowering::VectorLowering;

  struct MatrixJob {
    const Node* node = nullptr;
    const NodePlan* plan = nullptr;
    MatrixProduct product;     // rows of all batches where the weights are shared
    std::uint64_t groups = 1;  // independent products with weights of their own
    std::uint64_t weight_bytes = 0;
    Partition partition;      // of the result
    bool by_columns = false;  // each core has columns (and their weights) of its own
    bool on_hmx = true;
    Chain chain;  // that its tiles go through before they are stored in DDR
  };
  void lower_matrix(const Node& node, const NodePlan& plan);
  void lower_depthwise(const Node& node, const NodePlan& plan);
  void lower_compound(const Node& node);
  void lower_constant_product(MatrixJob& job);
  void lower_dynamic_product(MatrixJob& job);
  MatrixJob describe(const Node& node, const NodePlan& plan) const;
  void choose_product_partition(MatrixJob& job) const;
  Partition choose_batch_partition(const MatrixJob& job) const;
  std::uint64_t product_cycles(const MatrixJob& job, std::uint64_t rows, std::uint64_t columns,
                               std::uint64_t groups, std::uint64_t* macs) const;
  struct ProductTiling {
    std::uint64_t rows = 1;         // tiles of the activation
    std::uint64_t chunks = 1;       // of the weights' columns
    std::uint64_t depth_parts = 1;  // of each chunk
  };
  BufferId load_weights(const MatrixJob& job, const ProductTiling& tiling, std::uint64_t load);
  void load_bias(const MatrixJob& job, std::vector<Operand>& operands);
  struct RowRange {
    std::uint64_t first = 0, last = 0, all = 0;
  };
  struct ProductTile {
    StringId name{};
    std::vector<BufferId> reads;
    BufferId writes = BufferId::none;
    std::uint64_t read_bytes = 0;  // from VTCM
    CoreBytes output_bytes;
    CoreBytes rows, columns, groups;                  // of each core
    std::vector<RowRange> row_range;                  // of whole rows on each core; else empty
    std::vector<std::vector<BufferPart>> read_parts;  // by core; empty: all is read
    BufferPart written;                               // of a result that stays in VTCM
    std::span<const Operand> operands;
    BufferId halo = BufferId::none;
    std::uint64_t depth = 0;               // of the product; a part of it where that is cut
    std::uint64_t row = 0, row_tiles = 1;  // of the activation's tiles
    bool adds_up = false;                  // to the sums of the parts before
    std::uint64_t index = 0, tiles = 1;
    bool whole_depth = true;  // not one of several sums that are still to be added up
  };
  // What one core's task of a tile reads and writes, in its own shapes.
  std::vector<TaskOperand> product_operands(const MatrixJob& job, const ProductTile& tile,
                                            std::uint32_t core) const;
  // Whether two cores' tasks of a tile have operands of the same shapes.
  bool alike(const MatrixJob& job, const ProductTile& tile, std::uint32_t a, std::uint32_t b) const;
  static bool goes_by_batches(const MatrixJob& job, const ProductTile& tile);
  Shape result_shape(const MatrixJob& job, const ProductTile& tile, std::uint32_t core) const;
  CoreShapes result_shapes(const MatrixJob& job, const ProductTile& tile) const;
  Shape image_shape(const MatrixJob& job, const ProductTile& tile, std::uint32_t core) const;
  Shape activation_shape(const MatrixJob& job, const ProductTile& tile, const Shape& made,
                         std::uint32_t core) const;
  Shape weights_shape(const MatrixJob& job, const Shape& made, std::uint64_t columns,
                      std::uint64_t groups, std::uint64_t depth) const;
  // Of a chunk of the weights: of whole columns, where its bytes are those of the tile's columns.
  Shape chunk_shape(const MatrixJob& job, const ProductTile& tile, std::uint64_t depth,
                    std::uint32_t core, std::uint64_t bytes) const;
  TaskOperand bias_operand(const Operand& bias, std::int64_t columns, std::uint32_t core) const;
  void emit_product(const MatrixJob& job, ProductTile& tile, const NodeResult& result);
  ProductTiling plan_tiling(const MatrixJob& job, std::span<const Operand> operands,
                            const NodeResult& result, std::uint64_t finer) const;
  std::vector<std::uint64_t> product_sizes(const MatrixJob& job, std::span<const Operand> operands,
                                           const NodeResult& result,
                                           const ProductTiling& tiling) const;
  std::uint64_t own_weight_bytes(const MatrixJob& job) const;
  void store_product(const MatrixJob& job, const ProductTile& tile, const NodeResult& result);
  NodeResult make_product_result(const MatrixJob& job, Layout layout);
  void run_product_tiles(const MatrixJob& job, std::vector<Operand>& operands, BufferId halo,
                         NodeResult& result);
  Partition needed_for_batches(const MatrixJob& job, TensorId id, bool weights) const;
  std::uint64_t batch_tiles(const MatrixJob& job, std::span<const Operand> operands,
                            const NodeResult& result) const;
  std::uint64_t find_batch_room(const MatrixJob& job, std::vector<Operand>& operands,
                                NodeResult& result);
  ProductTile batch_tile(const MatrixJob& job, const CoreBytes& output_bytes, std::uint64_t index,
                         std::uint64_t tiles, bool streamed) const;
  ProductTile product_tile(const MatrixJob& job, const CoreBytes& output_bytes,
                           std::uint64_t row_tile, std::uint64_t row_tiles, std::uint64_t chunk,
                           std::uint64_t chunks) const;
  // The parts of the activation from which rows [first, last) of `rows` on each core are made.
  std::vector<std::vector<BufferPart>> parts_of_rows(const Operand& activation,
                                                     const std::vector<RowRange>& rows) const;
  std::int64_t column_unit(TensorId result) const;
};

}  // namespace npuscope::npu
