// Place, split and remaining uses of each tensor's bytes on the device.
#pragma once

#include <memory>
#include <vector>

#include "npu/nsp/compile/place/pieces.hpp"
#include "npu/nsp/compile/tasks/compile_context.hpp"
#include "npu/nsp/compile/tasks/task_graph.hpp"

namespace npuscope::npu::nsp {

enum class Layout : std::uint8_t { flat, d32, weights_d32 };

using StorageId = std::uint32_t;
inline constexpr StorageId no_storage = ~StorageId{0};

// One tensor's bytes on the device, shared by all its views (reshapes).
struct Storage {
  std::uint64_t bytes = 0;
  DataType type = DataType::undefined;
  Partition partition;
  Layout layout = Layout::flat;      // in VTCM
  BufferId buffer = BufferId::none;  // in VTCM
  bool in_ddr = false;               // a valid copy lies in DDR
  Layout ddr_layout = Layout::flat;
  bool host_input = false;               // written there by the host
  std::shared_ptr<const Pieces> pieces;  // of what is in the buffer; null: one
  static constexpr std::size_t never_spilled = ~std::size_t{0};
  std::size_t spill = never_spilled;  // the latest entry of the log
  TaskNeeds ddr_writers;              // of each queue the last, which implies those before it
  std::int64_t uses = 0;              // consumers still to come, graph outputs included
  std::int64_t output_uses = 0;       // graph outputs among them: a copy in DDR serves those
  std::vector<TensorId> views;

  // Of an output of the graph that is stored tile by tile: the host takes it flat.
  bool leaves_flat() const { return output_uses > 0 && layout == Layout::d32; }
  // Of a transfer to VTCM.
  Movement movement() const { return host_input ? Movement::host_input : Movement::fill; }
};

// All storages, by number and by tensor.
class Storages {
 public:
  explicit Storages(const CompileContext& context);

  StorageId make(TensorId tensor, Partition partition, Layout layout);
  void add_view(StorageId id, TensorId view);
  Storage& operator[](StorageId id) { return storages_[id]; }
  const Storage& operator[](StorageId id) const { return storages_[id]; }
  StorageId of(TensorId tensor) const {
    return tensor == TensorId::none ? no_storage : storage_of_[std::uint32_t(tensor)];
  }
  // How often it is an output of the graph.
  std::int64_t outputs_of(TensorId tensor) const { return outputs_of_[std::uint32_t(tensor)]; }
  // The next node from `position` on that takes it.
  std::size_t next_use(StorageId id, std::size_t position) const;
  TrafficPurpose purpose_of_reading(StorageId id) const;
  TrafficPurpose purpose_of_writing(StorageId id) const;
  // In the view that `tensor` is of it.
  Partition held_as(StorageId id, TensorId tensor) const {
    return partition_in_view(storages_[id].partition, context_.tensor(tensor).shape);
  }

 private:
  bool is_retained(const Storage& storage) const;

  const CompileContext& context_;
  std::vector<Storage> storages_;
  std::vector<StorageId> storage_of_;     // by tensor
  std::vector<std::int64_t> outputs_of_;  // by tensor
  const std::vector<bool> retained_;      // by tensor
};

}  // namespace npuscope::npu::nsp
