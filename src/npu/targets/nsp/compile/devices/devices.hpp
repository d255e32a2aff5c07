// Tensor parallelism: one model on several devices, each with a part of the weights.
//
//   x ── q_proj ──┬─ attention of half of the heads ── o_proj ── partial sums ── AllReduce ── x'
//   whole  columns│  everything between stays on its device    rows of weights      whole
//          of weights
//
// Products with constant weights are split by columns where their input is whole, and by rows where
// it is split along the depth: then each device has a partial sum, and an AllReduce adds them up.
// What lies between follows the split as far as each operator allows; where one does not, an
// AllGather makes its input whole again. What no rule splits, every device computes whole.
// Retained state and other inputs are split as their first use wants them.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/place/placement.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp {

// Operators that exchange data between devices. AllReduce: partial sums of a tensor in, the sum
// out. AllGather: a part along `axis`, in steps of `unit` elements, in; the whole tensor out.
inline constexpr std::string_view collective_domain = "npuscope";
inline constexpr std::string_view all_reduce = "AllReduce";
inline constexpr std::string_view all_gather = "AllGather";

// How a tensor is split over the devices: as a Partition over cores, whose shape is the tensor's.
struct DeviceSplit {
  int axis = replicated;
  std::int64_t unit = 1;
  bool operator==(const DeviceSplit&) const = default;
};

struct ShardedGraph {
  Graph graph;                      // with the whole model's shapes, and the exchanges
  std::vector<DeviceSplit> splits;  // by tensor
  std::uint32_t devices = 1;
  std::vector<std::string> whole_products;  // that every device computes, by name
};

// Columns are dealt out in multiples of `column_grain`, or in whole heads.
ShardedGraph shard_graph(const Graph& graph, std::uint32_t devices, std::int64_t column_grain);

// What one device executes, with the shapes of its parts.
Graph device_graph(const ShardedGraph& sharded, std::uint32_t device);

// Exchanges between devices, from nodes to tasks.
//
// Everything goes through two landing places in VTCM, which every core keeps for the whole program
// and uses in turn. A core may send its next exchange once it has used up the data of its last one:
// then the receiver has used up what it got in the exchange before that, whose place is taken, for
// otherwise it could not have sent its share of the last one. So no device asks another first.
//
//   AllReduce, per core     part p to device p, for every p; sum of what came and the own part;
//                           the sum to every device; all sums to their place
//   AllGather, per core     the own part to every device; all parts to their place
//
// Of P bytes on n devices an AllReduce thus sends (n - 1) / n * 2 * P per device, as the best of
// them do.

class CollectiveLowering : LoweringPart {
 public:
  // Among several devices it sets the landing places aside: before anything else is placed.
  CollectiveLowering(const CompileContext& context, TaskWriter& writer, Placement& place);
  void lower(const Node& node);

 private:
  using DeviceBytes = std::vector<CoreBytes>;  // by device

  void reserve_landing_places();
  void lower_all_reduce(const Node& node);
  void lower_all_gather(const Node& node);
  Partition collective_partition(const Node& node) const;
  // `sent`: by device to which; `received`: by device from which. Data comes out of `from`; what
  // came lies in the returned landing place.
  BufferId exchange_with_peers(BufferId from, const DeviceBytes& sent, const DeviceBytes& received,
                               StringId name);
  std::vector<TaskIndex> send(BufferId from, const DeviceBytes& sent, std::uint32_t core,
                              StringId name);
  void receive(BufferId place, const DeviceBytes& received, std::uint32_t core, StringId name,
               const std::vector<TaskIndex>& sent);
  // One HVX task per core that uses up the landing place.
  std::vector<TaskOperand> used_up_operands(BufferId place, std::uint64_t bytes,
                                            std::uint64_t times) const;
  void use_up(const char* kernel, BufferId place, BufferId own, BufferId writes,
              const CoreBytes& output_bytes, std::uint64_t times, StringId name);
  TaskSpec peer_task(TaskSpec spec, std::uint32_t peer, std::uint64_t bytes, bool incoming);
  std::uint32_t number_of(std::uint32_t core) const { return exchanges_ * context_.cores + core; }
  DeviceBytes for_each_device(const CoreBytes& bytes) const {
    return DeviceBytes(context_.options.slices, bytes);
  }

  std::array<BufferId, 2> landing_{BufferId::none, BufferId::none};
  std::uint32_t exchanges_ = 0;
  std::vector<TaskIndex> used_up_;  // by core: the task that used up its last exchange
};

}  // namespace npuscope::npu::nsp
