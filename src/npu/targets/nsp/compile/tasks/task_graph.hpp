// The tasks of a program while it is made: in program order, each with what it needs, and the VTCM
// buffers through which they need one another. The order of the queues is decided later (schedule).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "formats/qaic/qpc/program.hpp"
#include "npu/graph/graph.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/base/string_pool.hpp"

namespace npuscope::npu::nsp {

// Addresses in a core's VTCM. All cores run the same plan, so one allocator serves them all.
//
// Tensors lie as low as they fit, large ones as high, so that small ones do not break up the room
// that large ones need. Tiles, which live only for one task, go round robin through the rest (next
// fit): the longer an address rests, the earlier a DMA transfer may fill it again while older work
// still runs. Whoever gets an address must wait for the last users of what lay there before;
// `predecessors` names them.

class VtcmAllocator {
 public:
  static constexpr std::uint64_t alignment = 128;  // one HVX vector

  // One that `packs` takes the lowest place for tensors, for large ones the highest, whenever it
  // was used last: where one thread does everything in turn, nothing is gained by waiting less.
  explicit VtcmAllocator(std::uint64_t capacity_bytes, bool packs = false);

  struct Allocation {
    std::uint64_t address = 0;
    std::vector<std::uint32_t> predecessors;  // earlier owners of these bytes
  };
  enum class Lifetime : std::uint8_t { tensor, tile };
  // Nothing when no gap is large enough. `owner` is any number, distinct per allocation.
  std::optional<Allocation> allocate(std::uint64_t bytes, std::uint32_t owner, Lifetime lifetime);
  void release(std::uint64_t address);
  // The largest gap that there would be without the allocations at these addresses (sorted).
  std::uint64_t largest_gap_without(const std::vector<std::uint64_t>& addresses) const;

  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t live_bytes() const { return live_bytes_; }
  std::uint64_t peak_live_bytes() const { return peak_live_bytes_; }  // so far

 private:
  struct Region {
    std::uint64_t end = 0;
    std::uint32_t owner = 0;
    std::uint64_t used = 0;  // steps_ when its owner got or gave it up
  };
  struct Choice;
  void consider(std::uint64_t begin, std::uint64_t bytes, Choice& best) const;
  std::optional<std::uint64_t> choose(std::uint64_t bytes, Lifetime lifetime) const;
  std::uint64_t last_use(std::uint64_t begin, std::uint64_t end) const;
  std::optional<std::uint64_t> find_gap(std::uint64_t bytes, std::uint64_t from) const;
  std::vector<std::uint32_t> take_over(std::uint64_t begin, std::uint64_t end, std::uint32_t owner);

  std::uint64_t capacity_;
  bool packs_;
  std::uint64_t next_ = 0;
  std::uint64_t steps_ = 0;  // allocations and releases so far
  std::uint64_t live_bytes_ = 0;
  std::uint64_t peak_live_bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t> live_;  // begin -> end
  std::map<std::uint64_t, Region> last_owner_;   // begin -> who wrote here last
};

using TaskIndex = std::uint32_t;
inline constexpr TaskIndex no_task = std::numeric_limits<TaskIndex>::max();

// What a DMA task moves.
enum class Movement : std::uint8_t {
  none,  // within the device
  weights,
  bias,
  constant,
  host_input,
  output,
  spill,
  fill,
};

struct TaskSpec {
  qaic::ThreadGroup group = qaic::ThreadGroup::hvx;
  std::uint32_t core = 0;
  std::uint64_t cycles = 0;
  std::uint64_t ddr_read = 0;
  std::uint64_t ddr_write = 0;
  std::uint64_t multicast = 0;
  std::uint64_t macs = 0;
  TrafficPurpose read_purpose = TrafficPurpose::constants;  // of ddr_read
  TrafficPurpose write_purpose = TrafficPurpose::spill;     // of ddr_write
  std::uint8_t flags = 0;
  std::uint8_t thread_imbalance = 0;
  std::uint32_t threads = 0;  // of the group that share it; 0: all
  std::uint16_t port = 0;
  // Of one side of a transfer between devices
  std::uint64_t peer_bytes = 0;  // 0: it is none
  std::uint32_t peer = 0;
  std::uint32_t peer_number = 0;
  bool incoming = false;
  // For the descriptor
  std::uint64_t output_bytes = 0;
  StringId name{}, kernel{}, types{}, memory{}, shape{}, operands{}, attributes{};
  // One of several tiles of an operator whose operands and result stay in VTCM, and that could be
  // computed each as soon as its part of the operands is there; tiles 1: not one of those.
  std::uint32_t tile = 0;
  std::uint32_t tiles = 1;
  // For the schematic
  std::uint32_t node = 0;                 // in Graph::nodes; beyond them: of the outputs
  TensorId tensor = TensorId::none;       // that it makes or moves, or a part of
  TensorId read_tensor = TensorId::none;  // that ddr_read is of, if not of that
  Movement movement = Movement::none;
  std::uint64_t vtcm_read = 0;  // bytes
  std::uint64_t vtcm_write = 0;
};

struct TaskNeed {
  TaskIndex task = no_task;
  bool data = true;  // false: only its memory is reused
};

// Part of a buffer: the pieces [first, last) of `count`, as its maker cut it. Tasks on disjoint
// parts need not wait for one another; which bytes a piece has is for those who cut it to know.
struct BufferPart {
  std::uint32_t first = 0;
  std::uint32_t last = 1;
  std::uint32_t count = 1;  // 1: the whole buffer
  bool overlaps(const BufferPart& other) const {
    return std::uint64_t{first} * other.count < std::uint64_t{other.last} * count &&
           std::uint64_t{other.first} * count < std::uint64_t{last} * other.count;
  }
  bool contains(const BufferPart& other) const {
    return std::uint64_t{first} * other.count <= std::uint64_t{other.first} * count &&
           std::uint64_t{other.last} * count <= std::uint64_t{last} * other.count;
  }
};

// What a task reads and writes, collected before it is added.
using TaskNeeds = std::vector<TaskNeed>;

enum class BufferId : std::uint32_t { none = std::numeric_limits<std::uint32_t>::max() };

// What a task does with a buffer, or a part of it, in the VTCM of one core. Reading needs its
// writers there; writing needs whoever used the address before it; overwriting, which happens in
// place, needs whoever reads the old contents.
struct BufferUse {
  enum class Kind : std::uint8_t { read, write, overwrite };
  Kind kind = Kind::read;
  BufferId buffer = BufferId::none;
  std::uint32_t core = 0;
  BufferPart part;
};
inline BufferUse reads(BufferId buffer, std::uint32_t core, const BufferPart& part = {}) {
  return {BufferUse::Kind::read, buffer, core, part};
}
inline BufferUse writes(BufferId buffer, std::uint32_t core, const BufferPart& part = {}) {
  return {BufferUse::Kind::write, buffer, core, part};
}
inline BufferUse overwrites(BufferId buffer, std::uint32_t core, const BufferPart& part = {}) {
  return {BufferUse::Kind::overwrite, buffer, core, part};
}

class TaskGraph {
 public:
  // `parts_are_places`: a part of a buffer has so large a share of its addresses.
  explicit TaskGraph(std::uint32_t cores, bool parts_are_places = false)
      : cores_(cores), parts_are_places_(parts_are_places) {}

  TaskIndex add(const TaskSpec& spec, const TaskNeeds& needs);
  struct Size {
    std::size_t tasks = 0, needs = 0;
  };
  Size size() const { return {tasks_.size(), needs_.size()}; }
  void reserve(const Size& size);  // for so many
  // When all tasks are there: lets go of what only adding takes. Logged accesses stay.
  void complete();

  const std::vector<TaskSpec>& tasks() const { return tasks_; }
  TaskSpec& task(TaskIndex index) { return tasks_[index]; }
  std::uint32_t cores() const { return cores_; }
  void add_idle_cores(std::uint32_t all) { cores_ = std::max(cores_, all); }
  // What `index` needs. Of tasks in one HVX or HMX queue only the last is kept, since those queues
  // run in program order; DMA queues are reordered later, so all of theirs are.
  std::span<const TaskNeed> needs(TaskIndex index) const {
    return std::span(needs_).subspan(need_begin_[index],
                                     need_begin_[index + 1] - need_begin_[index]);
  }
  bool runs_in_program_order(TaskIndex index) const { return is_in_order(queues_[index]); }
  std::uint32_t queue_of(TaskIndex index) const { return queues_[index]; }

  // Buffers: the same address on every core.
  // The owner number to allocate the next buffer's address under.
  std::uint32_t next_buffer() const { return std::uint32_t(buffers_.size()); }
  BufferId add_buffer(std::uint64_t bytes, VtcmAllocator::Allocation allocation);
  std::uint64_t buffer_bytes(BufferId id) const { return buffers_[std::uint32_t(id)].bytes; }
  std::uint64_t buffer_address(BufferId id) const { return buffers_[std::uint32_t(id)].address; }
  void need(const BufferUse& use, TaskNeeds& needs);
  void record(TaskIndex task, const BufferUse& use);

  // Every use of VTCM, for checks that no two tasks can collide there.
  struct Access {
    TaskIndex task = no_task;
    BufferId buffer = BufferId::none;
    std::uint32_t core = 0;  // whose VTCM
    bool writes = false;
    BufferPart part;
  };
  // Every use of a tensor in DDR, for checks that what is read there has been written.
  struct DdrAccess {
    TaskIndex task = no_task;
    std::uint32_t tensor = 0;
    bool writes = false;
  };
  // A view of what lies in a buffer: the same bytes as another tensor.
  struct View {
    std::size_t after = 0;  // so many accesses
    BufferId buffer = BufferId::none;
    std::uint32_t node = 0;
    TensorId tensor = TensorId::none;
  };
  void log_accesses() { logging_ = true; }
  const std::vector<Access>& accesses() const { return accesses_; }
  const std::vector<DdrAccess>& ddr_accesses() const { return ddr_accesses_; }
  const std::vector<View>& views() const { return views_; }
  std::size_t buffers() const { return buffers_.size(); }
  void is_viewed(BufferId buffer, std::uint32_t node, TensorId tensor) {
    if (logging_) views_.push_back({accesses_.size(), buffer, node, tensor});
  }
  void uses_ddr(const DdrAccess& access) {
    if (logging_) ddr_accesses_.push_back(access);
  }

 private:
  // Lists of users, in users_.
  using Users = std::uint32_t;
  static constexpr Users nobody = std::numeric_limits<Users>::max();
  struct User {
    TaskIndex task = no_task;
    BufferPart part;
    Users next = nobody;
  };
  // Of each HVX and HMX queue the last task on each part, of DMA queues all.
  struct CoreUse {
    Users readers = nobody;
    Users writers = nobody;
  };
  template <class Visit>
  void for_each(Users users, const Visit& visit) const {
    for (; users != nobody; users = users_[users].next) visit(users_[users]);
  }
  template <class Predicate>
  void erase_if(Users& users, const Predicate& predicate);
  CoreUse& use_of(BufferId buffer, std::uint32_t core) {
    return uses_[std::size_t(buffer) * cores_ + core];
  }
  void need_predecessors(const BufferUse& use, TaskNeeds& needs);
  void add_user(TaskIndex task, const BufferPart& part, Users& users);
  struct Buffer {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint32_t first_predecessor = 0;  // in predecessors_
    std::uint32_t last_predecessor = 0;
    std::uint32_t looked_at = 0;  // for latest_, when it had that number
  };
  // What writing all of a buffer needs on each core: of a multicast every sender asks for it. Of no
  // use any more when one of the buffers before it is used.
  struct WholeWrite {
    std::uint32_t number = 0;
    BufferId buffer = BufferId::none;
    TaskNeeds needs;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> of_core;  // first, last; the same: not yet
  };
  struct AddressRange {
    std::uint64_t begin = 0, end = 0;
  };
  static bool is_in_order(std::uint32_t queue) {
    return queue % qaic::thread_groups != std::uint32_t(qaic::ThreadGroup::dma_issue);
  }
  AddressRange range_of(BufferId id, const BufferPart& part) const;
  void add_predecessors(const Buffer& buffer, const AddressRange& range);

  std::uint32_t cores_;
  bool parts_are_places_;
  std::vector<TaskSpec> tasks_;
  std::vector<std::uint16_t> queues_;  // by task
  std::vector<std::uint64_t> need_begin_{0};
  std::vector<TaskNeed> needs_;
  std::vector<std::uint64_t> sorted_;  // of the task that is added
  std::vector<Buffer> buffers_;
  std::vector<std::uint32_t> predecessors_;  // of all buffers
  std::vector<CoreUse> uses_;                // by buffer and core
  std::vector<User> users_;
  Users free_users_ = nobody;
  std::vector<std::uint32_t> pending_;  // buffers to look at, of the use at hand
  WholeWrite latest_;
  bool logging_ = false;
  std::vector<Access> accesses_;
  std::vector<DdrAccess> ddr_accesses_;
  std::vector<View> views_;
};

// The order of the queues, and the waits that make it safe.
//
// The HVX and HMX queues keep program order. A DMA queue takes what comes first in the program
// among what could start: weights are fetched as early as the VTCM has space, never queue behind a
// multicast that still waits for its data, and do not keep what is needed sooner waiting.

// The order of operators that are cut into tiles and follow one another on HVX. Lowering writes
// operator by operator; a tile would wait for all tiles of the operator before. With the tiles of
// several operators taken in turn, HVX works on the first while the HMX makes the last:
//
//   as lowered     div.0 div.1 div.2 erf.0 erf.1 erf.2 mul.0 mul.1 mul.2
//   interleaved    div.0 erf.0 mul.0 div.1 erf.1 mul.1 div.2 erf.2 mul.2

// All tasks, each after what it needs. Only tasks with TaskSpec::tiles above 1 and what stands
// among them change places, and an operator's own tiles keep their order: whoever waits for its
// last tile has waited for all.
std::vector<TaskIndex> interleave_tiles(const TaskGraph& tasks);

struct Schedule {
  std::vector<std::vector<TaskIndex>> queues;  // by core * thread_groups + group
  std::vector<TaskIndex> global;               // all tasks in an order in which they could run
  std::vector<std::int64_t> begin;             // by task, in picoseconds, roughly
};

Schedule schedule_tasks(const TaskGraph& tasks, const Target& target);

// Of an inference, to compare programs of one model.
double estimated_seconds(const TaskGraph& tasks, const Schedule& schedule, const Target& target,
                         std::uint32_t stats_level);

// Fills kernels, queue_begin, tasks, waits and dependencies of `program`. Returns for every task of
// the program its index in `tasks`.
std::vector<TaskIndex> emit_program(const TaskGraph& tasks, const Schedule& schedule,
                                    const StringPool& strings, qaic::Program& program);

}  // namespace npuscope::npu::nsp
