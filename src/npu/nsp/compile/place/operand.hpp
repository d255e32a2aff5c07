// The inputs and outputs of the node at hand, made ready for its tasks.
#pragma once

#include "npu/nsp/compile/place/storages.hpp"
#include "npu/nsp/compile/tasks/operand_text.hpp"

namespace npuscope::npu::nsp {

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

}  // namespace npuscope::npu::nsp
