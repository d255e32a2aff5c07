// Transfers into and within VTCM: loads from DDR, exchanges between the cores, conversions of
// layouts, tiles of streamed operands and results.
#pragma once

#include "npu/targets/nsp/compile/place/residency.hpp"
#include "npu/targets/nsp/compile/place/storages.hpp"
#include "npu/targets/nsp/compile/tasks/task_texts.hpp"

namespace npuscope::npu::nsp {

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

class Transfers {
 public:
  Transfers(const CompileContext& context, TaskWriter& writer, Storages& storages, DdrCopies& ddr,
            Residency& residency)
      : context_(context), writer_(writer), storages_(storages), ddr_(ddr), residency_(residency) {}

  // Whole tensors. False, or no buffer: VTCM is full.
  bool load(StorageId id, const Partition& needed);
  void load_constant(const Operand& operand, Movement movement);
  bool repartition(StorageId id, const Partition& needed);
  void convert_layout(StorageId id, Layout layout);  // spills it when VTCM is full
  // A new buffer with the bytes of `from`: split as needed, or in another layout.
  BufferId exchange(StorageId id, BufferId from, const Partition& needed);
  BufferId convert(StorageId id, BufferId from, const CoreBytes& core_bytes,
                   const Partition& partition, Layout layout);

  // One tile of a streamed operand, loaded (and converted) into a new buffer.
  BufferId load_tile(const Operand& operand, std::uint64_t tile, std::uint64_t tiles);
  bool converts_tiles(const Operand& operand) const;
  // Appends each operand's buffer, or that of its tile, to `reads`. Returns the tiles' buffers.
  std::vector<BufferId> load_tiles(std::span<const Operand> operands, std::uint64_t tile,
                                   std::uint64_t tiles, std::vector<BufferId>& reads);
  // Buffer of one tile of the result: a new one where it is streamed.
  BufferId place_tile(const NodeResult& result, const CoreBytes& core_bytes) {
    return result.streamed ? residency_.allocate(core_bytes, Lifetime::tile) : result.buffer;
  }
  // One tile of a streamed result. `shapes`: as in DdrCopies::store_tile.
  void store_result_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                         const CoreShapes& shapes = {});
  // Adds `copy`, which loads a part of a tensor, and its multicast to all cores. Returns the copy.
  TaskIndex load_for_all(const TaskSpec& copy, const Shape& shape, BufferId buffer,
                         TaskNeeds needs = {});

 private:
  // Each core's part, from DDR. `movement`: kind of a constant's transfer.
  void load_parts(const Operand& operand, const CoreBytes& core_bytes, BufferId buffer,
                  StringId name, Movement movement = Movement::constant);
  void load_once_and_multicast(StorageId id, BufferId buffer);
  // Of a layout, on every core that has bytes.
  struct Conversion {
    std::string kernel;
    TensorId tensor;
    const Partition& partition;
    const CoreBytes& core_bytes;
    BufferId from, to;
    std::uint64_t tile = 0, tiles = 1;
  };
  void convert(const Conversion& conversion, const CoreShapes& shapes = {});

  const CompileContext& context_;
  TaskWriter& writer_;
  Storages& storages_;
  DdrCopies& ddr_;
  Residency& residency_;
};

}  // namespace npuscope::npu::nsp
