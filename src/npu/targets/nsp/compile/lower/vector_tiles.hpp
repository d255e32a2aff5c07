// Tasks of a node on HVX: each core's slice of the result, at once, tile by tile of what is
// streamed, or along the pieces and strips in which its operands came about.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {

// One tile of a kernel: its share of the results, and what it uses of the operands.
struct VectorTile {
  std::uint64_t index = 0, tiles = 1;
  std::vector<BufferId> reads;
  std::vector<BufferPart> read_parts;  // as `reads`; empty: all of them
  std::uint64_t read_bytes = 0;
  std::span<const Operand> operands;
  std::uint64_t streamed = 0, streamed_tiles = 1;  // which of their tiles
  std::vector<CoreBytes> result_bytes;             // by result
  VectorWork work;                                 // of strips; no cycles: by the bytes
  CoreShapes result_shapes;  // of the first; empty: some of the outermost dimension
  BufferPart written;        // of results that stay in VTCM
};

class VectorTiles : LoweringPart {
 public:
  using LoweringPart::LoweringPart;
  // Places the node's results and makes them of the operands (and of halos), in tiles where
  // something is streamed or the operands came about in pieces.
  void run(const Node& node, const VectorKernel& kernel, const Partition& partition, Layout layout,
           std::vector<Operand>& operands, const std::vector<BufferId>& halos);
  // One tile on all cores.
  void emit(const VectorKernel& kernel, const VectorTile& tile,
            const std::vector<NodeResult>& results);

 private:
  std::vector<NodeResult> place_results(const Node& node, const VectorKernel& kernel,
                                        const Partition& partition, Layout layout,
                                        const std::vector<Operand>& operands);
  // Takes over the buffer of an input that has its last use here; none when there is no such input.
  BufferId take_input_buffer(const std::vector<Operand>& operands, const NodeResult& result);
  std::uint64_t find_tiles(std::vector<Operand>& operands, std::vector<NodeResult>& results);
  // Tile by tile along the pieces in which the newest operand came about. False when there are
  // none, or when the kernel cannot be cut there.
  bool follow_pieces(const Node& node, const VectorKernel& kernel,
                     std::span<const Operand> operands, std::span<const BufferId> halos,
                     const std::vector<NodeResult>& results);
  // The same along the strips of an image or a matrix of an HTP.
  bool follow_strips(const Node& node, const VectorKernel& kernel,
                     std::span<const Operand> operands, const std::vector<NodeResult>& results);
  // Of an image; 0: it is none.
  std::uint64_t rows_of(const Node& node) const;
  std::shared_ptr<const Pieces> newest_pieces(std::span<const Operand> operands) const;
  // Whether pieces of the result are those of a tensor as large.
  static bool cuts_elements(const VectorKernel& kernel, const Pieces& pieces,
                            const NodeResult& result);
  static CoreBytes sum_of(const Pieces& pieces);
  TaskSpec describe(const VectorKernel& kernel, const VectorTile& tile,
                    const std::vector<NodeResult>& results, std::uint32_t core);
  std::vector<TaskOperand> operands_of_tile(const VectorKernel& kernel, const VectorTile& tile,
                                            const std::vector<NodeResult>& results,
                                            std::uint32_t core) const;
  // What the tile reads of an operand: of one that is streamed or as large as the result a tile,
  // of others all that the core has.
  std::uint64_t bytes_read(const Operand& operand, const VectorTile& tile, std::uint32_t core,
                           const NodeResult& result) const;
};

}  // namespace npuscope::npu::nsp
