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

class VectorTiles {
 public:
  VectorTiles(const CompileContext& context, TaskWriter& writer, Placement& place)
      : context_(context), writer_(writer), place_(place) {}

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
  bool follow_pieces(const VectorKernel& kernel, std::span<const Operand> operands,
                     std::span<const BufferId> halos, const std::vector<NodeResult>& results);
  std::shared_ptr<const Pieces> pieces_to_follow(const VectorKernel& kernel,
                                                 std::span<const Operand> operands,
                                                 const NodeResult& result) const;
  TaskSpec describe(const VectorKernel& kernel, const VectorTile& tile,
                    const std::vector<NodeResult>& results, std::uint32_t core);
  std::vector<TaskOperand> operands_of_tile(const VectorKernel& kernel, const VectorTile& tile,
                                            const std::vector<NodeResult>& results,
                                            std::uint32_t core) const;
  // What the tile reads of an operand: of one that is streamed or as large as the result a tile,
  // of others all that the core has.
  std::uint64_t bytes_read(const Operand& operand, const VectorTile& tile, std::uint32_t core,
                           const NodeResult& result) const;

  const CompileContext& context_;
  TaskWriter& writer_;
  Placement& place_;
};

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
