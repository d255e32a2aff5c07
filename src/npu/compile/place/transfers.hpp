// The ways into VTCM and within it: loads from DDR, exchanges between the cores, conversions of
// layouts, and tiles on their way in and out.
#pragma once

#include "npu/compile/place/operand.hpp"
#include "npu/compile/place/residency.hpp"

namespace npuscope::npu {

class Transfers {
 public:
  Transfers(const CompileContext& context, TaskWriter& writer, Storages& storages, DdrCopies& ddr,
            Residency& residency)
      : context_(context), writer_(writer), storages_(storages), ddr_(ddr), residency_(residency) {}

  // Of whole tensors; false or none where there is no room.
  bool load(StorageId id, const Partition& needed);
  void load_constant(const Operand& operand, Movement movement);
  bool repartition(StorageId id, const Partition& needed);
  void convert_layout(StorageId id, Layout layout);  // where there is no room, it is spilled
  // The storage's bytes from buffer `from`, elsewhere or in another layout.
  BufferId exchange(StorageId id, BufferId from, const Partition& needed);
  BufferId convert(StorageId id, BufferId from, const CoreBytes& core_bytes,
                   const Partition& partition, Layout layout);

  // One tile of a streamed operand: loads it (and converts it) into a buffer of its own.
  BufferId load_tile(const Operand& operand, std::uint64_t tile, std::uint64_t tiles);
  bool converts_tiles(const Operand& operand) const;
  // Of each operand its buffer or that of a tile, behind those in `reads`; the tiles' own buffers.
  std::vector<BufferId> load_tiles(std::span<const Operand> operands, std::uint64_t tile,
                                   std::uint64_t tiles, std::vector<BufferId>& reads);
  // Where a tile of the result is made: in a buffer of its own where those are stored one by one.
  BufferId place_tile(const NodeResult& result, const CoreBytes& core_bytes) {
    return result.streamed ? residency_.allocate(core_bytes, Lifetime::tile) : result.buffer;
  }
  // Of a result that is stored tile by tile. `shapes`: of the tile on each core, where it is not
  // some of the outermost dimension.
  void store_result_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                         const CoreShapes& shapes = {});
  // `copy` brings a part of a tensor to its core, from where it goes to all: the copy.
  TaskIndex load_for_all(const TaskSpec& copy, const Shape& shape, BufferId buffer,
                         TaskNeeds needs = {});

 private:
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

}  // namespace npuscope::npu
