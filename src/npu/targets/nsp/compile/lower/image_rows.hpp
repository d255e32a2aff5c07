// Rows of an image, or images of a batch, taken out of a tensor and put together again: what a
// network that goes band by band is made of. They are moved as they lie: DDR is read for the rows
// that are asked for, and each band goes to its place as soon as it is made.
#pragma once

#include <map>

#include "npu/targets/nsp/compile/place/placement.hpp"

namespace npuscope::npu::nsp {

class ImageRows : LoweringPart {
 public:
  ImageRows(const CompileContext& context, TaskWriter& writer, Placement& place);

  // A Slice or a Concat of rows or images; false: it is not one.
  bool lower(const Node& node);
  // Puts what the node at the writer's position made into the whole that it is a part of.
  void deliver();

 private:
  struct Whole {
    NodeId node = NodeId::none;  // the Concat
    bool begun = false;          // with the first part
    NodeResult result;
  };

  bool lower_slice(const Node& node);
  Partition partition_of(TensorId id) const;
  void load(StorageId id, TensorId made, const Partition& partition, const CoreBytes& core_bytes,
            BufferId buffer);
  void begin(Whole& whole, StorageId part);
  void deliver(TensorId part, Whole& whole);
  void copy(BufferId from, BufferId to, const CoreBytes& core_bytes, TensorId tensor);

  std::map<TensorId, NodeId> wholes_of_;  // by part
  std::map<NodeId, Whole> wholes_;
};

}  // namespace npuscope::npu::nsp
