// The parts of placement, each built on those before it: where tensors lie, and what moves them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "npu/targets/nsp/compile/place/storages.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"
#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

namespace npuscope::npu::nsp {

// Transfers into and within VTCM: loads from DDR, exchanges between the cores, conversions of
// layouts, tiles of streamed operands and results.

// The inputs and outputs of the node at hand, made ready for its tasks.
struct Operand {
  TensorId tensor = TensorId::none;
  StorageId storage = no_storage;         // none of a constant
  BufferId buffer = BufferId::none;       // resident in VTCM
  bool streamed = false;                  // loaded from DDR tile by tile
  bool temporary = false;                 // the buffer is this node's own
  bool hoisted = false;                   // a constant that is there from the first inference on
  Layout layout = Layout::flat;           // wanted; a streamed tile is converted after loading
  Partition partition;                    // that each core needs its part of
  std::vector<std::uint64_t> core_bytes;  // of that
  bool splat() const { return buffer == BufferId::none && !streamed; }  // a known scalar
};

struct NodeResult {
  StorageId storage = no_storage;
  std::vector<std::uint64_t> core_bytes;
  bool streamed = false;             // stored to DDR tile by tile
  BufferId buffer = BufferId::none;  // else resident here
  bool in_place = false;             // the buffer was an input's
};

struct Placement;

// What every part of the lowering works with.
struct LoweringPart {
  LoweringPart(const CompileContext& context, TaskWriter& writer, Placement& place)
      : context_(context), writer_(writer), place_(place) {}

 protected:
  const CompileContext& context_;
  TaskWriter& writer_;
  Placement& place_;
};

class Transfers : LoweringPart {
 public:
  using LoweringPart::LoweringPart;

  // Whole tensors. False, or no buffer: VTCM is full.
  bool load(StorageId id, const Partition& needed);
  void load_constant(const Operand& operand, Movement movement);
  bool repartition(StorageId id, const Partition& needed);
  void convert_layout(StorageId id, Layout layout);  // spills it when VTCM is full
  // A new buffer with the bytes of `from`: split as needed, or in another layout.
  BufferId exchange(StorageId id, BufferId from, const Partition& needed);
  // The same; `follows` has the strips or pieces of what is in `from`, then those of the result.
  BufferId convert(StorageId id, BufferId from, const CoreBytes& core_bytes,
                   const Partition& partition, Layout layout, Storage* follows = nullptr);

  // One tile of a streamed operand, loaded (and converted) into a new buffer.
  BufferId load_tile(const Operand& operand, std::uint64_t tile, std::uint64_t tiles);
  bool converts_tiles(const Operand& operand) const;
  // Appends each operand's buffer, or that of its tile, to `reads`. Returns the tiles' buffers.
  std::vector<BufferId> load_tiles(std::span<const Operand> operands, std::uint64_t tile,
                                   std::uint64_t tiles, std::vector<BufferId>& reads);
  // Buffer of one tile of the result: a new one where it is streamed.
  BufferId place_tile(const NodeResult& result, const CoreBytes& core_bytes);
  // One tile of a streamed result. `shapes`: as in DdrCopies::store_tile.
  void store_result_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                         const CoreShapes& shapes = {});
  // Adds the transfer of so many bytes of a tensor (in VTCM) to one core, or to all of them: that
  // one sends it. Values are made of what comes packed. Returns the transfer.
  struct Load {
    std::uint32_t core = 0;
    StringId name{};
    TensorId tensor = TensorId::none;
    const Shape& shape;
    std::uint64_t bytes = 0;
    Movement movement = Movement::none;
    TrafficPurpose purpose = TrafficPurpose::constants;
    DataType packed = DataType::undefined;  // in DDR
  };
  TaskIndex load_for_one(const Load& load, BufferId buffer, const TaskNeeds& needs = {});
  TaskIndex load_for_all(const Load& load, BufferId buffer, TaskNeeds needs = {});

 private:
  // Each core's part, from DDR. `movement`: kind of a constant's transfer.
  void load_parts(const Operand& operand, const CoreBytes& core_bytes, BufferId buffer,
                  StringId name, Movement movement = Movement::constant);
  // So many bytes that every core needs: some, from the first on, load a part each and send it to
  // all.
  struct Senders {
    std::uint32_t first = 0, count = 0;
  };
  void load_once_and_multicast(const Operand& operand, std::uint64_t bytes, BufferId buffer,
                               StringId name, Senders senders);
  // What of a load follows from the copy in DDR.
  void describe_stored(StorageId id, Load& load) const;
  TaskSpec transfer_of(const Load& load);
  TaskSpec unpacking_of(const Load& load, std::uint64_t packed_bytes);
  // Of a layout, on every core that has bytes.
  struct Conversion {
    std::string kernel;
    TensorId tensor;
    const Partition& partition;
    const CoreBytes& core_bytes;
    BufferId from, to;
    std::uint64_t tile = 0, tiles = 1;
    BufferPart part{};
    VectorWork work{};  // of a part
  };
  Pieces pieces_of_conversion(const Storage& storage, const CoreBytes& core_bytes,
                              bool begins) const;
  VectorWork work_of_conversion(const std::string& kernel, TensorId tensor,
                                std::uint64_t bytes) const;
  void convert(const Conversion& conversion, const CoreShapes& shapes = {});
};

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

// Parts of constants that several nodes take (the weights of a recurrent layer, step after step):
// they stay in VTCM from one to the next, until their place is needed.
class HeldConstants : LoweringPart {
 public:
  using LoweringPart::LoweringPart;

  // None where it has not been held, or not any more. Else it stays while the current node is
  // lowered.
  BufferId find(TensorId id, std::uint64_t part, std::uint64_t parts, const CoreBytes& core_bytes);
  void hold(TensorId id, std::uint64_t part, std::uint64_t parts, const CoreBytes& core_bytes,
            BufferId buffer);
  // False: this buffer is not of one that is held.
  bool is_held(TensorId id, BufferId buffer) const { return find(id, buffer) != no_storage; }
  void drop(TensorId id, BufferId buffer);

 private:
  StorageId find(TensorId id, BufferId buffer) const;

  struct Held {
    CoreBytes core_bytes;
    StorageId storage = no_storage;
  };
  std::map<std::tuple<TensorId, std::uint64_t, std::uint64_t>, Held> held_;
};

// Inputs and outputs of the current node: placed before its tasks, released after them.
//
//   Operand x = operands.prepare(node.inputs[0], needed, Layout::d32);
//   NodeResult y = operands.make_result(node.outputs[0], partition, Layout::d32);
//   ...                                          // tasks that read x.buffer and write y.buffer
//   operands.finish(x);
//   operands.keep_result(y);
class Operands : LoweringPart {
 public:
  using LoweringPart::LoweringPart;

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
    return writer_.in_vtcm(TaskOperand::Use::in, operand.tensor,
                           context_.slice_of(operand.partition, core), bytes);
  }
  CoreShapes shapes_of(const Operand& operand, const CoreBytes& core_bytes) const;

 private:
  Operand prepare_constant(TensorId tensor, const Partition& needed, Layout layout,
                           Movement movement);
  void prepare_beside(Operand& operand);

  std::set<TensorId> finished_;  // operands of the node at finished_at_
  std::size_t finished_at_ = ~std::size_t{0};
};

// Number of tiles of a node, so that they fit into VTCM next to its resident tensors.
class TilePlanner : LoweringPart {
 public:
  using LoweringPart::LoweringPart;

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
  std::size_t tiles_at_once(const NodeResult& result) const;
  // Tiles of all that is streamed, so that the largest is as large as a tile may be.
  std::uint64_t usual_tiles(std::span<const Operand> operands,
                            std::span<const NodeResult> results) const;
  // What one of `tiles` tiles reads of the operands that lie in VTCM.
  std::uint64_t bytes_of_resident(std::span<const Operand> operands, std::uint64_t tiles) const;

 private:
  bool stream_largest(std::span<Operand> operands, std::span<NodeResult> results);
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
        held(context, writer, *this),
        transfers(context, writer, *this),
        operands(context, writer, *this),
        tiles(context, writer, *this) {}
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  const std::uint64_t hoisted_bytes;
  Storages storages;
  DdrCopies ddr;
  Residency residency;
  Constants constants;
  HeldConstants held;
  Transfers transfers;
  Operands operands;
  TilePlanner tiles;
};

}  // namespace npuscope::npu::nsp
