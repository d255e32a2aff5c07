// The parts of placement, each built on those before it: where tensors lie, and what moves them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "npu/targets/nsp/compile/place/transfers.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

namespace npuscope::npu::nsp {

// Constants of the model: sizes of those in use, and buffers of those that stay in VTCM, which DDR
// is read for once, before the first inference.
class Constants {
 public:
  // The last `bytes` of every core's VTCM are for those that stay. Counts in `metrics`.
  Constants(const CompileContext& context, TaskGraph& tasks, CompileMetrics& metrics,
            std::uint64_t bytes)
      : context_(context),
        tasks_(tasks),
        metrics_(metrics),
        next_address_(context.vtcm_bytes - bytes),
        left_(bytes) {}

  // Adds a constant to the metrics, once.
  void count(TensorId id, std::uint64_t bytes, std::uint64_t d32_bytes);
  // A buffer that keeps part `part` of `parts` of a constant from the first inference on; none
  // when those bytes are full.
  BufferId keep(TensorId id, std::uint64_t part, std::uint64_t parts, const CoreBytes& core_bytes);

 private:
  const CompileContext& context_;
  TaskGraph& tasks_;
  CompileMetrics& metrics_;
  std::set<TensorId> counted_;
  std::uint64_t next_address_;
  std::uint64_t left_;  // bytes
  struct Kept {
    CoreBytes core_bytes;
    BufferId buffer = BufferId::none;
  };
  std::map<std::tuple<TensorId, std::uint64_t, std::uint64_t>, Kept> kept_;
};

// Inputs and outputs of the current node: placed before its tasks, released after them.
//
//   Operand x = operands.prepare(node.inputs[0], needed, Layout::d32);
//   NodeResult y = operands.make_result(node.outputs[0], partition, Layout::d32);
//   ...                                          // tasks that read x.buffer and write y.buffer
//   operands.finish(x);
//   operands.keep_result(y);
class Operands {
 public:
  Operands(const CompileContext& context, TaskWriter& writer, Storages& storages, DdrCopies& ddr,
           Residency& residency, Constants& constants, Transfers& transfers)
      : context_(context),
        writer_(writer),
        storages_(storages),
        ddr_(ddr),
        residency_(residency),
        constants_(constants),
        transfers_(transfers) {}

  // Loads, splits and converts it as needed. `movement`: kind of a constant's transfer.
  Operand prepare(TensorId tensor, const Partition& needed, Layout layout,
                  Movement movement = Movement::constant);
  void finish(Operand& operand);

  // With a storage, pinned, without a buffer.
  NodeResult make_result(TensorId tensor, const Partition& partition, Layout layout);
  // In VTCM where it fits; otherwise in DDR, stored tile by tile.
  void place_result(NodeResult& result);
  void keep_result(const NodeResult& result);

  // Text form of so many bytes of it, in VTCM.
  TaskOperand read_of(const Operand& operand, std::uint32_t core, std::uint64_t bytes) const {
    return writer_.operand(TaskOperand::Use::in, TaskOperand::Memory::vtcm, operand.tensor,
                           context_.slice_of(operand.partition, core), bytes);
  }
  CoreShapes shapes_of(const Operand& operand, const CoreBytes& core_bytes) const;

 private:
  Operand prepare_constant(TensorId tensor, const Partition& needed, Layout layout,
                           Movement movement);
  void prepare_beside(Operand& operand);

  const CompileContext& context_;
  TaskWriter& writer_;
  Storages& storages_;
  DdrCopies& ddr_;
  Residency& residency_;
  Constants& constants_;
  Transfers& transfers_;
  std::set<TensorId> finished_;  // operands of the node at finished_at_
  std::size_t finished_at_ = ~std::size_t{0};
};

// Number of tiles of a node, so that they fit into VTCM next to its resident tensors.
class TilePlanner {
 public:
  TilePlanner(TaskWriter& writer, Storages& storages, DdrCopies& ddr, Residency& residency,
              Transfers& transfers)
      : writer_(writer),
        storages_(storages),
        ddr_(ddr),
        residency_(residency),
        transfers_(transfers) {}

  // Sizes of the tiles that lie in VTCM at once, in the order in which they get their places, when
  // cut so many times finer than usual.
  using TileSizes = std::function<std::vector<std::uint64_t>(std::uint64_t finer)>;
  // How many times finer than usual a node must be cut for its tiles to fit. Streams the node's
  // resident tensors as well, the largest first, when no cut is enough.
  std::uint64_t find_cuts(const TileSizes& sizes, std::span<Operand> operands,
                          std::span<NodeResult> results);
  // Makes a resident operand a streamed one.
  void stream(Operand& operand);

  // Of the operands that are streamed, cut into so many tiles.
  std::vector<std::uint64_t> streamed_sizes(std::span<const Operand> operands,
                                            std::uint64_t tiles) const;
  // How many tiles of a streamed result lie in VTCM at once.
  std::size_t tiles_at_once(const NodeResult& result) const {
    return storages_[result.storage].leaves_flat() ? 2 : 1;
  }
  // Tiles of all that is streamed, so that the largest is as large as a tile may be.
  std::uint64_t usual_tiles(std::span<const Operand> operands,
                            std::span<const NodeResult> results) const;
  // What one of `tiles` tiles reads of the operands that lie in VTCM.
  std::uint64_t bytes_of_resident(std::span<const Operand> operands, std::uint64_t tiles) const;

 private:
  bool stream_largest(std::span<Operand> operands, std::span<NodeResult> results);

  TaskWriter& writer_;
  Storages& storages_;
  DdrCopies& ddr_;
  Residency& residency_;
  Transfers& transfers_;
};

struct Placement {
  // `hoisted` bytes of every core's VTCM are for constants that stay there. Counts in `metrics`.
  Placement(const CompileContext& context, TaskWriter& writer, CompileMetrics& metrics,
            std::uint64_t hoisted)
      : hoisted_bytes(hoisted / VtcmAllocator::alignment * VtcmAllocator::alignment),
        storages(context),
        ddr(context, writer, storages),
        residency(context, writer, storages, ddr, metrics, context.vtcm_bytes - hoisted_bytes),
        constants(context, writer.tasks(), metrics, hoisted_bytes),
        transfers(context, writer, storages, ddr, residency),
        operands(context, writer, storages, ddr, residency, constants, transfers),
        tiles(writer, storages, ddr, residency, transfers) {}
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  const std::uint64_t hoisted_bytes;
  Storages storages;
  DdrCopies ddr;
  Residency residency;
  Constants constants;
  Transfers transfers;
  Operands operands;
  TilePlanner tiles;
};

}  // namespace npuscope::npu::nsp
