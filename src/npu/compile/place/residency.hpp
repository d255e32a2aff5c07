// Where tensors are: VTCM, split over the cores or repeated on each, or DDR, and the ways between.
//
// A Storage is one tensor's bytes on the device, shared by all its views (reshapes). Tensors whose
// slice is larger than two fifths of the VTCM stay in DDR and are streamed tile by tile; smaller
// ones stay in VTCM until their last use, or until something needed sooner pushes them out (spill).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "npu/compile/place/pieces.hpp"
#include "npu/compile/place/vtcm.hpp"
#include "npu/compile/tasks/task_writer.hpp"

namespace npuscope::npu {

enum class Layout : std::uint8_t { flat, d32, weights_d32 };

using StorageId = std::uint32_t;
inline constexpr StorageId no_storage = ~StorageId{0};

struct Storage {
  std::uint64_t bytes = 0;
  DataType type = DataType::undefined;
  Partition partition;
  Layout layout = Layout::flat;      // in VTCM
  BufferId buffer = BufferId::none;  // in VTCM
  bool in_ddr = false;               // a valid copy lies in DDR
  Layout ddr_layout = Layout::flat;
  bool host_input = false;  // written there by the host
  bool constant = false;
  std::shared_ptr<const Pieces> pieces;  // of what is in the buffer; null: one
  static constexpr std::size_t never_spilled = ~std::size_t{0};
  std::size_t spill = never_spilled;  // the latest entry of the log
  TaskNeeds ddr_writers;              // of each queue the last, which implies those before it
  std::int64_t uses = 0;              // consumers still to come, graph outputs included
  std::int64_t output_uses = 0;       // graph outputs among them: a copy in DDR serves those
  std::vector<TensorId> views;
};

// An input made ready for a node's tasks.
struct Operand {
  TensorId tensor = TensorId::none;
  StorageId storage = no_storage;
  BufferId buffer = BufferId::none;       // resident in VTCM
  bool streamed = false;                  // loaded from DDR tile by tile
  bool temporary = false;                 // the buffer is this node's own
  bool hoisted = false;                   // a constant that is there from the first inference on
  Layout layout = Layout::flat;           // wanted; a streamed tile is converted after loading
  Partition partition;                    // that each core needs its part of
  std::vector<std::uint64_t> core_bytes;  // of that
  bool splat() const { return buffer == BufferId::none && !streamed; }  // a known scalar
};

struct NodeResult {  // one output of the node being lowered
  StorageId storage = no_storage;
  std::vector<std::uint64_t> core_bytes;
  bool streamed = false;             // stored to DDR tile by tile
  BufferId buffer = BufferId::none;  // else resident here
  bool in_place = false;             // the buffer was an input's
};

// A spill while the program is made: its times are known when it is scheduled.
struct SpillLog {
  Spill spill;
  TaskIndex out = no_task;   // the first store
  TaskIndex back = no_task;  // the first load after it
};

class Residency : protected TaskWriter {
 protected:
  using Lifetime = VtcmAllocator::Lifetime;

  Residency(const Graph& graph, const Target& target, const CompileOptions& options);

  // Sets aside so much of every core's VTCM for constants that stay there; before anything else.
  void hoist_into(std::uint64_t bytes);
  // Whether a program like the one that has just been made would find its room beside that.
  bool leaves_room_for(std::uint64_t hoisted) const;

  StorageId make_storage(TensorId tensor, Partition partition, Layout layout);
  StorageId storage_of(TensorId tensor) const {
    return tensor == TensorId::none ? no_storage : storage_of_[std::uint32_t(tensor)];
  }
  void add_view(StorageId id, TensorId view);
  void use_done(TensorId tensor);
  std::size_t next_use(const Storage& storage) const;

  BufferId allocate(const CoreBytes& core_bytes, Lifetime lifetime);
  // None when there is no room even after everything that may go has gone to DDR.
  BufferId try_allocate(const CoreBytes& core_bytes, Lifetime lifetime);
  void release(BufferId buffer);
  bool evict_one();
  void spill(StorageId id, Spill::Cause cause);
  void drop_if_unused(StorageId id);
  bool fits(const CoreBytes& core_bytes) const;
  Operand prepare(TensorId tensor, const Partition& needed, Layout layout);
  Operand prepare_constant(TensorId tensor, const Partition& needed, Layout layout,
                           Movement movement = Movement::constant);
  // A buffer that keeps part `part` of `parts` of a constant from the first inference on; none
  // where there is no room for more.
  BufferId hoist(TensorId id, std::uint64_t part, std::uint64_t parts, const CoreBytes& core_bytes);
  Movement movement_to_vtcm(StorageId id) const;
  bool load(StorageId id, const Partition& needed);
  void load_once_and_multicast(StorageId id, BufferId buffer);
  void reads_ddr(TaskIndex task, StorageId id);
  void writes_ddr(TaskIndex task, StorageId id);
  void prepare_beside(Operand& operand, const Partition& needed);
  // A copy to DDR, unless one is there already.
  void write_back(StorageId id, Spill::Cause cause);
  void begins_spill(StorageId id, Spill::Cause cause);
  bool is_retained(const Storage& storage) const;
  TrafficPurpose purpose_of_reading(StorageId id) const;
  TrafficPurpose purpose_of_writing(StorageId id) const;
  // The storage's bytes from buffer `from`, elsewhere or in another layout; none without room.
  BufferId exchange(StorageId id, BufferId from, const Partition& needed);
  BufferId convert(StorageId id, BufferId from, const CoreBytes& core_bytes,
                   const Partition& partition, Layout layout);
  bool repartition(StorageId id, const Partition& needed);
  void convert_layout(StorageId id, Layout layout);
  void place_result(NodeResult& result, bool resident);
  void finish(Operand& operand);
  // Sizes of the tiles that lie in VTCM at once, in the order in which they get their places, when
  // cut so many times finer than usual.
  using TileSizes = std::function<std::vector<std::uint64_t>(std::uint64_t finer)>;
  // How many times finer a node must be cut for its tiles to find room. What the node holds in VTCM
  // is streamed as well when that is what it takes.
  std::uint64_t find_room(const TileSizes& sizes, std::span<Operand> operands,
                          std::span<NodeResult> results);
  std::uint64_t room_for_tiles() const;
  void stream(Operand& operand);
  bool stream_largest(std::span<Operand> operands, std::span<NodeResult> results);
  // Of the operands and results that are streamed, cut into so many tiles.
  std::vector<std::uint64_t> streamed_sizes(std::span<const Operand> operands,
                                            std::uint64_t tiles) const;
  bool converts_tiles(const Operand& operand) const;
  // One tile of a streamed operand: loads it (and converts it) into a buffer of its own.
  BufferId load_tile(const Operand& operand, std::uint64_t tile, std::uint64_t tiles);
  // What one of `tiles` tiles reads of the operands that lie in VTCM.
  std::uint64_t bytes_of_resident(std::span<const Operand> operands, std::uint64_t tiles) const;
  // `shapes`: of the tile on each core, where it is not some of the outermost dimension.
  using CoreShapes = std::vector<Shape>;
  void store_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                  const CoreShapes& shapes = {});
  // The same of a result that is stored tile by tile: the host takes outputs flat.
  void store_result_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                         const CoreShapes& shapes = {});
  // A layout's conversion within VTCM.
  TaskSpec convert_task(const std::string& kernel, StringId name, TensorId id, const Shape& whole,
                        std::uint64_t bytes) const;
  // So many bytes of an operand that lies in VTCM, tiles of it included.
  TaskOperand read_of(const Operand& operand, std::uint32_t core, std::uint64_t bytes) const {
    return this->operand(TaskOperand::Use::in, TaskOperand::Memory::vtcm, operand.tensor,
                         slice_of(operand.partition, core), bytes);
  }
  bool leaves_flat(StorageId id) const {
    return storages_[id].output_uses > 0 && storages_[id].layout == Layout::d32;
  }
  // How many tiles of a streamed result lie in VTCM at once.
  std::size_t tiles_at_once(const NodeResult& result) const {
    return leaves_flat(result.storage) ? 2 : 1;
  }
  void keep_result(const NodeResult& result);

  // Whether operators on tensors in VTCM are cut along the pieces of those. Schematics, which
  // targets with sessions have, name operators, not tiles. Programs for several devices only
  // where that is asked for.
  const bool cuts_resident_;
  const std::uint64_t resident_limit_;  // a larger slice stays in DDR
  VtcmAllocator vtcm_;
  std::uint64_t hoist_at_ = 0;    // the next constant's address; behind all that vtcm_ has
  std::uint64_t hoist_left_ = 0;  // bytes
  struct Hoisted {
    CoreBytes core_bytes;
    BufferId buffer = BufferId::none;
  };
  std::map<std::tuple<TensorId, std::uint64_t, std::uint64_t>, Hoisted> hoisted_;
  std::vector<Storage> storages_;
  std::vector<StorageId> storage_of_;       // by tensor
  std::vector<StorageId> resident_;         // storages with a buffer, oldest first
  std::set<StorageId> pinned_;              // inputs and outputs of the node being lowered
  std::vector<std::int64_t> outputs_of_;    // by tensor: how often it is an output of the graph
  std::vector<TaskIndex> last_input_read_;  // by core: the last transfer from host inputs
  const std::vector<bool> retained_;        // by tensor
  std::uint64_t wanted_bytes_ = 0;          // for what there was no room last
  std::vector<SpillLog> log_;
  std::set<TensorId> finished_;  // operands of the node at finished_at_
  std::size_t finished_at_ = ~std::size_t{0};
};

}  // namespace npuscope::npu
