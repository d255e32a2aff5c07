// Operators that the HVX executes, and those that find their data by indices: each core takes its
// slice, in one task or tile by tile.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "npu/compile/place/residency.hpp"

namespace npuscope::npu {

class VectorLowering : protected Residency {
 protected:
  using Residency::Residency;

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
  // One tile of a kernel: its share of the results, and what it uses of the operands.
  struct VectorTile {
    std::uint64_t index = 0, tiles = 1;
    std::vector<BufferId> reads;
    std::vector<BufferPart> read_parts;  // as `reads`; empty: all of them
    std::uint64_t read_bytes = 0;
    std::span<const Operand> operands;
    std::uint64_t streamed = 0, streamed_tiles = 1;  // which of their tiles
    std::vector<CoreBytes> result_bytes;             // by result
    CoreShapes result_shapes;  // of the first; empty: some of the outermost dimension
    BufferPart written;        // of results that stay in VTCM
  };
  VectorKernel kernel_named(const std::string& name) const;
  void lower_vector(const Node& node, OpClass op_class, const VectorKernel& kernel);
  Partition choose_partition(const Node& node, OpClass op_class) const;
  // Streams the operand instead when there is no room.
  BufferId exchange_halo(const Node& node, Operand& operand, const Partition& partition);
  // What input `index` must be for the output to have the partition.
  Partition partition_of_input(const Node& node, OpClass op_class, std::size_t index,
                               const Partition& output) const;
  void lower_concat_by_parts(const Node& node, OpClass op_class, const VectorKernel& kernel);
  void copy_part(const VectorKernel& kernel, const Operand& operand, std::size_t index,
                 std::size_t parts, const std::vector<NodeResult>& results);
  CoreShapes part_shapes(const Operand& operand, const CoreBytes& core_bytes) const;
  std::vector<Operand> prepare_inputs(const Node& node, OpClass op_class, const Partition& output,
                                      Layout layout);
  // Takes over the buffer of an input that has its last use here; none when there is no such input.
  BufferId take_input_buffer(const std::vector<Operand>& operands, const NodeResult& result);
  void run_vector_tiles(const Node& node, const VectorKernel& kernel, const Partition& partition,
                        Layout layout, std::vector<Operand>& operands,
                        const std::vector<BufferId>& halos);
  std::vector<NodeResult> place_vector_results(const Node& node, const VectorKernel& kernel,
                                               const Partition& partition, Layout layout,
                                               const std::vector<Operand>& operands);
  // Tiles of all that is streamed, so that the largest is as large as a tile may be.
  std::uint64_t usual_tiles(std::span<const Operand> operands,
                            std::span<const NodeResult> results) const;
  void emit_vector_tile(const VectorKernel& kernel, const VectorTile& tile,
                        const std::vector<NodeResult>& results);
  void describe_vector_tile(TaskSpec& spec, const VectorKernel& kernel, const VectorTile& tile,
                            const std::vector<NodeResult>& results) const;
  // What the tile reads of an operand: of one that is streamed or as large as the result a tile,
  // of others all that the core has.
  std::uint64_t bytes_read(const Operand& operand, const VectorTile& tile, std::uint32_t core,
                           const NodeResult& result) const;
  // Of a piece on each core.
  CoreShapes piece_shapes(const Pieces& pieces, const Partition& partition,
                          const CoreBytes& core_bytes, DataType type) const;
  // Tile by tile along the pieces in which the newest operand came about. False when there are
  // none, or when the kernel cannot be cut there.
  bool follow_pieces(const VectorKernel& kernel, std::span<const Operand> operands,
                     std::span<const BufferId> buffers, const std::vector<NodeResult>& results);
  std::shared_ptr<const Pieces> pieces_to_follow(const VectorKernel& kernel,
                                                 std::span<const Operand> operands,
                                                 const NodeResult& result) const;
  // Elementwise operators in a row on one tensor (the five of a GELU), tile by tile: what lies
  // between them is never there whole, and the result takes the place of the tensor. The number of
  // nodes lowered so, from the one at hand on; 0 when it begins no such row.
  std::size_t lower_chain();
  struct Chain {
    TensorId source = TensorId::none;
    std::vector<std::size_t> nodes;  // positions; what is folded or fused between them is not named
    std::size_t end = 0;             // position after the last
    std::set<TensorId> made;         // by them
    TensorId result = TensorId::none;
    std::int64_t source_uses = 0;  // how many of them take it
  };
  Chain find_chain() const;
  // Of at least so many nodes from `begin` on, after which nobody needs the source, which has so
  // many uses.
  Chain chain_of(TensorId source, std::int64_t uses, std::size_t begin, std::size_t fewest) const;
  // The row behind the node at hand, for tiles of its result that are on their way to DDR.
  Chain chain_behind(TensorId made, const Partition& partition) const;
  bool joins_chain(const Chain& chain, const Node& node, const NodePlan& plan) const;
  struct ChainStep {
    const Node* node = nullptr;
    std::vector<TensorId> sources;
    StringId name{};
    std::vector<BufferId> reads;
    BufferId writes = BufferId::none;
    bool in_place = false;
  };
  struct ChainTile {
    std::size_t index = 0, tiles = 1;
    BufferId home = BufferId::none;  // where the tensor is, and in the end the result
    BufferPart part;                 // of that
    CoreBytes core_bytes;
    CoreShapes shapes;
  };
  bool is_streamed(const Storage& storage) const;
  std::uint64_t max_places(const Chain& chain) const;
  std::size_t stream_chain(const Chain& chain);
  void emit_chain_tile(const Chain& chain, const ChainTile& tile);
  void emit_chain_step(const ChainStep& step, const ChainTile& tile);
  void describe_chain_step(TaskSpec& spec, const ChainStep& step, const ChainTile& tile) const;
  // Into how many tiles whole pieces make, none of them larger than a tile should be if it can be.
  std::uint64_t tiles_along(const Pieces& pieces, const CoreBytes& core_bytes) const;
  bool lower_split_reduction(const Node& node, const std::string& kernel);
  void lower_gather(const Node& node);
  void lower_scatter(const Node& node);
};

// The axis of input `index` that corresponds to `output_axis` of the node's output; `replicated`
// when that input is needed whole; `incompatible` when the output cannot be split there.
int input_axis(const Graph& graph, const Node& node, OpClass op_class, std::size_t index,
               int output_axis);

}  // namespace npuscope::npu
