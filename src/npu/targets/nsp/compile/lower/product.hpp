// A matrix product or convolution while it is lowered: what it multiplies, how the cores share it,
// and the tiles that it is cut into.
#pragma once

#include <span>
#include <vector>

#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/lower/chains.hpp"

namespace npuscope::npu::nsp {

struct ProductJob {
  const Node* node = nullptr;
  const NodePlan* plan = nullptr;
  MatrixProduct product;     // rows of all batches where the weights are shared
  std::uint64_t groups = 1;  // independent products with weights of their own
  std::uint64_t weight_bytes = 0;
  bool in_place = false;    // a convolution without strides
  double padding = 1;       // rows that the HMX computes for each of the result
  double slowdown = 1;      // of the HMX, where windows have gaps
  Partition partition;      // of the result
  bool by_columns = false;  // each core has columns (and their weights) of its own
  bool on_hmx = true;
  Chain chain;  // that its tiles go through before they are stored in DDR

  bool is_convolution() const { return plan->op_class == OpClass::convolution; }
};

struct RowRange {
  std::uint64_t first = 0, last = 0, all = 0;
};

struct ProductTile {
  StringId name{};
  std::vector<BufferId> reads;
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
  bool is_strip = false;    // of an image or a matrix of an HTP, all its columns
  bool whole_depth = true;  // not one of several sums that are still to be added up
};

// On a core that has so many rows, columns and groups of it: cycles, and the multiply-accumulates,
// of the HMX with padding.
struct ProductWork {
  std::uint64_t cycles = 0;
  std::uint64_t macs = 0;
};
ProductWork product_work(const CompileContext& context, const ProductJob& job, std::uint64_t rows,
                         std::uint64_t columns, std::uint64_t groups);

// How the cores share a product with constant weights: the faster of columns and rows.
void choose_product_partition(const CompileContext& context, ProductJob& job);

// What products with constant weights and those of two activations have in common: bias, result,
// and the tasks of a tile.
class ProductTasks : LoweringPart {
 public:
  ProductTasks(const CompileContext& context, TaskWriter& writer, Placement& place, Chains& chains)
      : LoweringPart(context, writer, place), chains_(chains) {}

  void load_bias(const ProductJob& job, std::vector<Operand>& operands);
  NodeResult make_result(const ProductJob& job, Layout layout);
  // One tile on all cores. A result that does not stay goes through the operators that follow, and
  // to DDR.
  void emit(const ProductJob& job, const ProductTile& tile, const NodeResult& result);
  // Of a chunk of the weights: of whole columns, where its bytes are those of the tile's columns.
  Shape chunk_shape(const ProductJob& job, const ProductTile& tile, std::uint64_t depth,
                    std::uint32_t core, std::uint64_t bytes) const;

 private:
  void store(const ProductJob& job, const ProductTile& tile, const NodeResult& result,
             BufferId made);

  Chains& chains_;
};

// One whose weights are constant, and one of two activations.
void lower_constant_product(const CompileContext& context, TaskWriter& writer, Placement& place,
                            Chains& chains, ProductTasks& tasks, ProductJob& job);
void lower_batch_product(const CompileContext& context, TaskWriter& writer, Placement& place,
                         ProductTasks& tasks, ProductJob& job);

}  // namespace npuscope::npu::nsp
