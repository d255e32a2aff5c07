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
#pragma once

#include <array>

#include "npu/targets/nsp/compile/place/placement.hpp"

namespace npuscope::npu::nsp {

class CollectiveLowering {
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

  const CompileContext& context_;
  TaskWriter& writer_;
  Placement& place_;
  std::array<BufferId, 2> landing_{BufferId::none, BufferId::none};
  std::uint32_t exchanges_ = 0;
  std::vector<TaskIndex> used_up_;  // by core: the task that used up its last exchange
};

}  // namespace npuscope::npu::nsp
