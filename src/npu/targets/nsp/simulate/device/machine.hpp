// The device: cores with their clocks, thread groups with their in-order queues, DMA engines, and
// the DDR that all cores share. One step of the machine is one task of one thread group, so a task
// costs one event whatever its length and however many threads run it.
//
//   a task starts      when its group is free and its waits hold; a wait holds one semaphore
//   latency
//                      after the task it is for has completed (longer from another core)
//   its kernel lasts   cycles * (1 + jitter), a lighter share for some HVX threads, at the core's
//                      clock; and at least as long as the DDR transfer of an HVX or HMX task, which
//                      all threads of the group start together
//   then               a barrier of the group's threads when other queues wait for it, then the
//                      cost of recording it
//   DMAIssue           the kernel only issues. The core's DMA engine serves transfers one after the
//                      other: DDR bytes over the shared bandwidth and multicast bytes over the
//                      core's own link at the same time; the latency is added at the end, where it
//                      overlaps with the next transfer. At most dma_depth transfers are in flight.
//                      The task that ends the statistics waits for all transfers and is
//                      synchronous.
//   a poll             on a target with sessions, an HMX task that waits for a transfer first waits
//   for
//                      the other cores' and threads' work, then looks whether the transfer is
//                      complete; one look takes session.poll_cycles, and the task starts when both
//                      are over
//   between devices    a transfer to another device leaves over the sender's link, which all its
//                      cores share; the link of the receiver is no limit of its own. The task that
//                      receives is an HVX task that waits for it.
//
// Semaphore latency, barrier and recording take their cycles at the nominal clock.
//
// On a target whose main thread is shared, HMX and DMAIssue of a core take turns on one thread:
// whichever is ready first, and of two that are ready the one that issues a transfer.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "formats/qaic/qpc/program.hpp"
#include "npu/targets/nsp/simulate/events.hpp"
#include "npu/targets/nsp/simulate/noise.hpp"
#include "npu/targets/nsp/simulate/record/recorder.hpp"
#include "npu/targets/nsp/target/target.hpp"

namespace npuscope::npu::nsp {

inline constexpr std::uint32_t max_hvx_threads = 16;

class Machine {
 public:
  Machine(const RecordingContext& context, EventQueue& events);

  // Starts all threads of an activation; `recorder` (may be null) takes down the inference.
  void begin(std::uint32_t activation, std::uint64_t inference, Picoseconds now,
             DeviceRecorders* recorder);
  // When the inference that ended last on the activation did.
  Picoseconds end_of(std::uint32_t activation) const { return activations_[activation].end; }
  // First begin to last end of its threads, each by the timer of its core.
  std::uint64_t ticks_of(std::uint32_t activation) const {
    return activations_[activation].end_ticks - activations_[activation].begin_ticks;
  }

  // Events of the kinds dma_transfer, task and thread_end. True when this was the end of the last
  // thread of its activation.
  bool handle(const Event& event);
  std::uint32_t activation_of(const Event& event) const;

  // For sessions, which lie around begin() and the end of the last thread: another frequency of the
  // activation's first core from `time` on, and its cycle counter then.
  void change_clock(std::uint32_t activation, Picoseconds time, double hertz) {
    if (context_.options.core_hz == 0) clocks_[activation * program_.cores].change(time, hertz);
  }
  double cycles_at(std::uint32_t activation, Picoseconds time) const {
    return clocks_[activation * program_.cores].cycles_at(time);
  }

  // What the event queue does not hold: the end of the next DDR transfer, and of the clocks' window
  // (never, when no governor is at work).
  Picoseconds next_transfer_end() const;
  void end_transfer();
  Picoseconds window_end() const { return clocks_.front().window_end(); }
  void next_window();
  // Some kernel goes on beyond this window, though nothing else may be going to happen.
  bool kernels_cross_window() const { return crossing_ > 0; }

  std::uint64_t task_events() const { return task_events_; }
  bool out_of_time() const { return out_of_time_; }

 private:
  struct Thread {
    Picoseconds free{};      // from then on
    Picoseconds wait{};      // begin of the wait that the running task's kernel began after
    Picoseconds start{};     // of the running task's kernel
    Picoseconds position{};  // up to there the kernel has been run
    double remaining = 0;    // cycles of it
    bool done = false;
    std::uint64_t key = 0;  // of its random numbers
  };
  static constexpr std::uint32_t nobody = ~0u;

  struct Queue {
    std::uint32_t activation = 0;
    std::uint32_t core = 0;   // of the network
    std::uint32_t clock = 0;  // physical core
    qaic::ThreadGroup group = qaic::ThreadGroup::hvx;
    std::uint32_t threads = 0;
    std::uint32_t first_task = 0;  // in Program::tasks
    std::uint32_t tasks = 0;
    Noise::Factors noise;  // of the inference

    std::uint32_t next = 0;      // position of the task that runs or starts next
    std::uint32_t resolved = 0;  // its waits known to hold at `ready`
    Picoseconds ready{};
    std::uint32_t waited_for = nobody;  // the transfer, if any, that `ready` is the completion of
    Picoseconds others_ready{};         // `ready` without transfers
    std::uint32_t transfer = nobody;    // that completes last of those that the task waits for
    Picoseconds transfer_ready{};       // when it does
    std::uint32_t sibling = nobody;     // the queue that shares its thread
    bool waits_for_sibling = false;     // whose running task must end first
    bool running = false;
    bool crossing = false;                // counted in crossing_
    bool transferring = false;            // the kernel waits for its own DDR transfer
    Picoseconds transfer_end{};           // of it
    std::uint32_t first_parked = nobody;  // queues that wait for a task of this one
    std::uint32_t next_parked = nobody;   // in another queue's list
    std::uint32_t parked_for = 0;         // the count it waits for
    std::array<Thread, max_hvx_threads> thread;
  };

  struct DmaEngine {                     // by queue; unused for other groups
    std::vector<Picoseconds> issued_at;  // ring of dma_depth, by position
    std::uint32_t issued = 0;
    std::uint32_t served = 0;
    bool busy = false;
    Picoseconds free{};
    Picoseconds streaming_begin{};
    Picoseconds last_completion{};
  };

  struct Activation {
    DeviceRecorders* recorder = nullptr;
    std::uint32_t threads_left = 0;
    Picoseconds end{};                     // latest of the threads that have ended
    std::uint64_t begin_ticks = 0;         // earliest of its cores' timers
    std::uint64_t end_ticks = 0;           // latest
    std::vector<Picoseconds> completions;  // by task; never: not known yet
  };

  const qaic::Task& task_of(const Queue& queue) const {
    return program_.tasks[queue.first_task + queue.next];
  }
  DeviceRecorders* recorder_of(const Queue& queue) {
    return activations_[queue.activation].recorder;
  }
  static std::uint64_t ddr_bytes(const qaic::Task& task) { return task.ddr_read + task.ddr_write; }
  bool is_asynchronous(const Queue& queue, const qaic::Task& task) const;
  bool moves_data_itself(const Queue& queue, const qaic::Task& task) const;
  void reset(Queue& queue, std::uint64_t inference, Picoseconds now);
  void record_begin(std::uint32_t activation, Picoseconds now);

  void resolve(std::uint32_t index);
  bool holds(std::uint32_t index, std::uint32_t producer, std::uint32_t count, Picoseconds latency);
  bool holds_for_dma(std::uint32_t index);
  void push_start(std::uint32_t index, Picoseconds time);
  bool has_main_thread(std::uint32_t index);
  void start(std::uint32_t index);
  void add_hmx_time(const Queue& queue, Picoseconds end);
  bool polls(const Queue& queue) const;
  void poll(Queue& queue, Thread& thread);
  double kernel_cycles(const Queue& queue, const qaic::Task& task, std::uint32_t thread) const;
  void progress(std::uint32_t index);
  void finish(std::uint32_t index, Picoseconds last);
  void record(const Queue& queue, const Thread& thread, Picoseconds kernel_end, Picoseconds leave);
  void complete(std::uint32_t index, std::uint32_t position, Picoseconds time);
  void end_threads(std::uint32_t index);
  bool end_thread(std::uint32_t index, std::uint32_t thread);

  std::uint32_t device_of(std::uint32_t index) const {
    return queues_[index].core / cores_per_device_;
  }
  std::uint64_t peer_bytes(std::uint32_t task) const {
    return peer_bytes_.empty() ? 0 : peer_bytes_[task];
  }
  void serve_dma(std::uint32_t index);
  void begin_dma_transfer(std::uint32_t index, Picoseconds now);
  void end_dma_transfer(std::uint32_t index, Picoseconds now);
  void set_crossing(Queue& queue, bool crossing);

  const RecordingContext& context_;
  const qaic::Program& program_;
  const Target& target_;
  const Noise noise_;
  EventQueue& events_;
  std::uint32_t cores_per_device_;
  std::vector<SharedBandwidth> memories_;    // DDR, by device
  std::vector<SharedBandwidth> peer_links_;  // to other devices, by device; empty: it is alone
  std::vector<std::uint64_t> peer_bytes_;    // sent to another device, by task; empty: none are
  std::vector<CoreClock> clocks_;            // by physical core
  std::vector<Queue> queues_;                // by activation * queues + queue of the program
  std::vector<DmaEngine> engines_;           // as queues_
  std::vector<Activation> activations_;

  Picoseconds sync_, cross_core_sync_, barrier_, record_op_, record_thread_;
  Picoseconds ddr_latency_, multicast_latency_, peer_latency_;
  std::uint32_t dma_depth_;

  std::uint32_t crossing_ = 0;
  bool quiet_ = false;  // nothing begins or ends in this window
  Picoseconds now_{};   // of the event being handled
  std::uint64_t task_events_ = 0;
  bool out_of_time_ = false;
};

// A call to a device that has sessions (an HTP): what it does before the graph and after it, each
// phase with a frequency of its own.
//
//   QNN DSP Execute  [------------------------------------------------------]
//   VTCM Acquire        [---]
//   Resource Power On          [----------]
//   Graph Execute                            [------ the machine ------]
//
// The first call, and any after a long rest, finds the device cold: power and VTCM take longer, and
// the graph runs at a lower clock.

// How long the device sets a network up before its first inference: its threads, and the constants
// that are to stay in VTCM.

// Reading the constants alone; all cores at once, each device from its own DDR.
double seconds_of_hoisting(const qaic::Program& program, const Target& target);

inline Picoseconds set_up_time(const qaic::Program& program, const Target& target) {
  return from_seconds(target.activation_s + seconds_of_hoisting(program, target));
}

class DeviceSession {
 public:
  DeviceSession(const RecordingContext& context, Machine& machine, std::uint32_t activation)
      : context_(context), machine_(machine), activation_(activation) {}

  // The call begins; returns when the graph does.
  Picoseconds enter(std::uint64_t inference, Picoseconds now);
  // The graph has ended; returns when the call does.
  Picoseconds leave(Picoseconds graph_end);

  std::uint64_t inference() const { return inference_; }
  std::vector<SessionPhase> take_phases() { return std::move(phases_); }
  // Of the whole call.
  std::uint64_t ticks() const { return phases_.front().end_ticks - phases_.front().start_ticks; }

 private:
  struct Moment {
    std::uint64_t ticks = 0;
    std::uint64_t cycles = 0;
  };
  Moment moment(Picoseconds time) const;
  Picoseconds length(double seconds, std::uint32_t which) const;
  void add_phase(std::string_view name, Moment begin, Moment end);

  const RecordingContext& context_;
  Machine& machine_;
  std::uint32_t activation_;
  std::uint64_t inference_ = 0;
  bool used_ = false;
  Picoseconds ended_{};
  const SessionState* state_ = nullptr;
  std::vector<SessionPhase> phases_;
};

}  // namespace npuscope::npu::nsp
