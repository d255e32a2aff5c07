// The DMA engines of the cores, the DDR that they share, and the links to other devices.
#include <algorithm>

#include "npu/nsp/simulate/device/machine.hpp"

namespace npuscope::npu::nsp {
namespace {

using qaic::Task;

}  // namespace

void Machine::serve_dma(std::uint32_t index) {
  DmaEngine& engine = engines_[index];
  if (engine.busy || engine.served == engine.issued) return;
  engine.busy = true;
  const Picoseconds issued_at = engine.issued_at[engine.served % dma_depth_];
  events_.push(std::max(engine.free, issued_at), EventKind::dma_transfer, index);
}

void Machine::begin_dma_transfer(std::uint32_t index, Picoseconds now) {
  DmaEngine& engine = engines_[index];
  engine.streaming_begin = now;
  const std::uint32_t task = queues_[index].first_task + engine.served;
  const std::uint64_t bytes = ddr_bytes(program_.tasks[task]);
  if (bytes > 0) {
    memories_[device_of(index)].add(now, index, bytes);
  } else if (peer_bytes(task) > 0) {
    peer_links_[device_of(index)].add(now, index, peer_bytes(task));
  } else {
    end_dma_transfer(index, now);
  }
}

// The part of the transfer that the engine serves in DDR, or on the link to a peer, is over.
void Machine::end_dma_transfer(std::uint32_t index, Picoseconds now) {
  const Queue& queue = queues_[index];
  DmaEngine& engine = engines_[index];
  const std::uint32_t position = engine.served++;
  const Task& task = program_.tasks[queue.first_task + position];
  const Picoseconds multicast =
      from_seconds(double(task.multicast) / target_.multicast_bytes_per_s_per_core);
  const Picoseconds streaming_end = std::max(now, engine.streaming_begin + multicast);
  const std::uint64_t to_peer = peer_bytes(queue.first_task + position);
  const Picoseconds latency = std::max({ddr_bytes(task) > 0 ? ddr_latency_ : Picoseconds{},
                                        task.multicast > 0 ? multicast_latency_ : Picoseconds{},
                                        to_peer > 0 ? peer_latency_ : Picoseconds{}});
  engine.free = streaming_end;
  engine.busy = false;
  engine.last_completion = std::max(engine.last_completion, streaming_end + latency);
  out_of_time_ = out_of_time_ || engine.last_completion > time_limit;
  DeviceRecorders* recorder = recorder_of(queue);
  if (recorder != nullptr && ddr_bytes(task) + task.multicast + to_peer > 0) {
    const CoreClock& clock = clocks_[queue.clock];
    const double cycles = clock.cycles_at(now) - clock.cycles_at(engine.streaming_begin) +
                          to_seconds(streaming_end - now) * clock.hertz();
    recorder->transfer(queue.core, position, engine.last_completion, cycles);
  }
  complete(index, position, engine.last_completion);
  serve_dma(index);
}

Picoseconds Machine::next_transfer_end() const {
  Picoseconds next = memories_.front().next_end();
  for (std::size_t i = 1; i < memories_.size(); ++i) next = std::min(next, memories_[i].next_end());
  for (const SharedBandwidth& link : peer_links_) next = std::min(next, link.next_end());
  return next;
}

void Machine::end_transfer() {
  now_ = next_transfer_end();
  const auto ends_now = [&](const SharedBandwidth& link) { return link.next_end() == now_; };
  auto ended = std::find_if(memories_.begin(), memories_.end(), ends_now);
  if (ended == memories_.end()) {
    ended = std::find_if(peer_links_.begin(), peer_links_.end(), ends_now);
  }
  const std::uint32_t index = ended->take();
  Queue& queue = queues_[index];
  if (!queue.transferring) return end_dma_transfer(index, now_);
  queue.transferring = false;
  queue.transfer_end = now_ + ddr_latency_;
  progress(index);
}

}  // namespace npuscope::npu::nsp
