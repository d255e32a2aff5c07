// What happens next: a heap of events ordered by time, then kind, then whom it concerns, never by
// when they were made. Events equal in all three are alike, so a run is repeatable.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "npu/nsp/simulate/time.hpp"

namespace npuscope::npu::nsp {

enum class EventKind : std::uint32_t {
  submit,        // activation: the host hands over the next inference
  input,         // activation: the next input goes on the link
  output,        // activation: the output goes on the link
  completed,     // activation: the host sees an inference completed
  begin,         // activation: the next inference begins on the device
  dma_transfer,  // queue: its DMA engine begins a transfer
  task,          // queue: the next task starts
  main_task,     // queue: the same of an HMX that shares its thread, after transfers are issued
  thread_end,    // queue * threads + thread: its inference is over
  graph,         // activation: its session has readied the device for the graph
  leave,         // activation: its session is over
};

struct Event {
  Picoseconds time;
  std::uint32_t order = 0;  // kind << 28 | id

  Event() = default;
  Event(Picoseconds at, EventKind kind, std::uint32_t id)
      : time(at), order(std::uint32_t(kind) << 28 | id) {}
  EventKind kind() const { return EventKind(order >> 28); }
  std::uint32_t id() const { return order & 0x0fff'ffff; }
  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

class EventQueue {
 public:
  void push(Picoseconds time, EventKind kind, std::uint32_t id) {
    heap_.emplace_back(time, kind, id);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  Picoseconds next_time() const { return heap_.empty() ? never : heap_.front().time; }
  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }

 private:
  std::vector<Event> heap_;
};

}  // namespace npuscope::npu::nsp
