// The queues: what the next task of each waits for, how long it runs, and who goes on after it.
#include <algorithm>
#include <utility>

#include "npu/targets/nsp/simulate/device/machine.hpp"
#include "npu/targets/nsp/simulate/events.hpp"

namespace npuscope::npu::nsp {
namespace {

using qaic::Task;
using qaic::ThreadGroup;

// Share of the kernel's cycles that a thread of the group has: the lightest thread has
// `thread_imbalance` percent fewer, the heaviest all, and which is which goes round from task to
// task.
double share_of_cycles(const Task& task, std::uint32_t task_number, std::uint32_t thread,
                       std::uint32_t threads) {
  if (task.thread_imbalance == 0 || threads < 2) return 1;
  const double lightness = double((thread + task_number) % threads) / double(threads - 1);
  return 1 - std::min(task.thread_imbalance / 100.0, 1.0) * lightness;
}

}  // namespace

bool Machine::is_asynchronous(const Queue& queue, const Task& task) const {
  return queue.group == ThreadGroup::dma_issue && (task.flags & qaic::task_end_stats) == 0;
}

bool Machine::moves_data_itself(const Queue& queue, const Task& task) const {
  return ddr_bytes(task) > 0 && !is_asynchronous(queue, task);
}

// Whether the first `count` tasks of the producer are known to complete; then the queue is ready
// no earlier than that. Otherwise the queue is parked until it is known.
bool Machine::holds(std::uint32_t index, std::uint32_t producer, std::uint32_t count,
                    Picoseconds latency) {
  if (count == 0) return true;
  Queue& queue = queues_[index];
  Queue& other = queues_[producer];
  const Picoseconds done = activations_[queue.activation].completions[other.first_task + count - 1];
  if (done != never) {
    const std::uint32_t task = other.first_task + count - 1;
    const Picoseconds time = done + latency;
    const bool transfer = other.group == ThreadGroup::dma_issue;
    if (time > queue.ready) {
      queue.waited_for = transfer ? task : nobody;
      queue.ready = time;
    }
    if (!transfer) queue.others_ready = std::max(queue.others_ready, time);
    if (transfer && (queue.transfer == nobody || time > queue.transfer_ready)) {
      queue.transfer = task;
      queue.transfer_ready = time;
    }
    return true;
  }
  queue.parked_for = count;
  queue.next_parked = other.first_parked;
  other.first_parked = index;
  return false;
}

// A descriptor slot must be free; the end of the statistics needs all of them.
bool Machine::holds_for_dma(std::uint32_t index) {
  Queue& queue = queues_[index];
  const bool drain = queue.next == queue.tasks || !is_asynchronous(queue, task_of(queue));
  if (drain) return holds(index, index, queue.next, {});
  return queue.next < dma_depth_ || holds(index, index, queue.next - dma_depth_ + 1, {});
}

// Goes as far as is known towards the start of the queue's next task.
void Machine::resolve(std::uint32_t index) {
  Queue& queue = queues_[index];
  if (queue.next < queue.tasks) {
    const Task& task = task_of(queue);
    for (; queue.resolved < task.wait_count; ++queue.resolved) {
      const qaic::Wait& wait = program_.waits[task.wait_begin + queue.resolved];
      const std::uint32_t producer = queue.activation * program_.queues() + wait.queue;
      const bool same_core = queues_[producer].core == queue.core;
      if (!holds(index, producer, wait.count, same_core ? sync_ : cross_core_sync_)) return;
    }
  }
  if (queue.group == ThreadGroup::dma_issue && !holds_for_dma(index)) return;
  if (queue.next == queue.tasks) return end_threads(index);
  const bool together = moves_data_itself(queue, task_of(queue));
  Picoseconds free = queue.thread[0].free;
  for (std::uint32_t t = 1; t < queue.threads; ++t) {
    const Picoseconds other = queue.thread[t].free;
    free = together ? std::max(free, other) : std::min(free, other);
  }
  push_start(index, std::max({free, queue.ready, now_}));
}

void Machine::push_start(std::uint32_t index, Picoseconds time) {
  const Queue& queue = queues_[index];
  const bool yields = queue.sibling != nobody && queue.group == ThreadGroup::hmx;
  events_.push(time, yields ? EventKind::main_task : EventKind::task, index);
}

// Whether the queue may start now; when its sibling has the thread, it tries again later.
bool Machine::has_main_thread(std::uint32_t index) {
  Queue& queue = queues_[index];
  if (queue.sibling == nobody) return true;
  const Queue& sibling = queues_[queue.sibling];
  if (sibling.running) {
    queue.waits_for_sibling = true;
    return false;
  }
  queue.thread[0].free = std::max(queue.thread[0].free, sibling.thread[0].free);
  if (queue.thread[0].free <= now_) return true;
  push_start(index, queue.thread[0].free);
  return false;
}

double Machine::kernel_cycles(const Queue& queue, const Task& task, std::uint32_t thread) const {
  if (task.threads > 0 && thread >= task.threads) return 0;
  const std::uint32_t number = queue.first_task + queue.next;
  double cycles =
      task.cycles * queue.noise.kernels * share_of_cycles(task, number, thread, queue.threads);
  if (target_.jitter > 0) {
    const std::uint64_t random = mix(queue.thread[thread].key + number);
    cycles *= std::max(0.05, 1 + target_.jitter * normal(random));
  }
  return cycles;
}

bool Machine::polls(const Queue& queue) const {
  return target_.session && target_.session->poll_cycles_max > 0 &&
         queue.group == ThreadGroup::hmx && queue.transfer != nobody;
}

// The thread comes to the poll when all but the transfer is there.
void Machine::poll(Queue& queue, Thread& thread) {
  const Session& session = *target_.session;
  const std::uint64_t random = mix(thread.key + ~std::uint64_t{queue.first_task + queue.next});
  double cycles = session.poll_cycles_min + (session.poll_cycles_max - session.poll_cycles_min) *
                                                double(random % 1024) / 1023;
  thread.wait = thread.start = std::max(thread.free, queue.others_ready);
  clocks_[queue.clock].run(cycles, thread.start);
  thread.start = std::max({thread.start, queue.transfer_ready, now_});
  queue.waited_for = queue.transfer;
}

void Machine::start(std::uint32_t index) {
  if (!has_main_thread(index)) return;
  Queue& queue = queues_[index];
  const Task& task = task_of(queue);
  const bool moves_data = moves_data_itself(queue, task);
  for (std::uint32_t t = 0; t < queue.threads; ++t) {
    Thread& thread = queue.thread[t];
    thread.wait = thread.free;
    thread.start = moves_data ? now_ : std::max(thread.free, queue.ready);
    if (polls(queue)) poll(queue, thread);
    thread.position = thread.start;
    thread.remaining = kernel_cycles(queue, task, t);
    thread.done = false;
  }
  queue.running = true;
  queue.transfer_end = {};
  queue.transferring = moves_data;
  if (queue.transferring)
    memories_[device_of(index)].add(now_, index, noise_.in_memory(ddr_bytes(task), queue.noise));
  progress(index);
}

void Machine::set_crossing(Queue& queue, bool crossing) {
  if (queue.crossing == crossing) return;
  queue.crossing = crossing;
  crossing_ += crossing ? 1 : -1u;
}

// Runs the queue's kernel as far as this window of the clock allows.
void Machine::progress(std::uint32_t index) {
  Queue& queue = queues_[index];
  const CoreClock& clock = clocks_[queue.clock];
  bool done = true;
  Picoseconds last = queue.transfer_end;
  for (std::uint32_t t = 0; t < queue.threads; ++t) {
    Thread& thread = queue.thread[t];
    if (!thread.done) thread.done = clock.run(thread.remaining, thread.position);
    done = done && thread.done;
    last = std::max(last, thread.position);
  }
  const bool ends_here = done && !queue.transferring && last <= clock.window_end();
  set_crossing(queue, !ends_here && !queue.transferring);
  if (ends_here) finish(index, last);
}

// The governor sees that the queue's HMX works, up to `end`.
void Machine::add_hmx_time(const Queue& queue, Picoseconds end) {
  const bool integer = (task_of(queue).flags & qaic::task_hmx_int8) != 0;
  clocks_[queue.clock].add_hmx_time(queue.thread[0].start, end,
                                    integer ? target_.hmx_int8_power_of_fp16 : 1);
}

void Machine::record(const Queue& queue, const Thread& thread, Picoseconds kernel_end,
                     Picoseconds leave) {
  const CoreClock& clock = clocks_[queue.clock];
  TaskExecution execution;
  execution.core = queue.core;
  execution.group = queue.group;
  execution.position = queue.next;
  execution.truth.task = queue.first_task + queue.next;
  execution.truth.thread =
      program_.first_thread(queue.group) + std::uint32_t(&thread - queue.thread.data());
  execution.truth.sync_begin = thread.free;
  execution.truth.start = thread.start;
  execution.truth.kernel_end = kernel_end;
  execution.truth.barrier_end = leave;
  execution.truth.transfer_end = kernel_end;
  execution.start_cycles = clock.cycles_at(thread.start);
  execution.kernel_end_cycles = clock.cycles_at(kernel_end);
  const Task& task = task_of(queue);
  if (target_.session) {  // what op records have
    execution.wait_cycles = clock.cycles_at(thread.wait);
    execution.leave_cycles = clock.cycles_at(leave);
    const std::uint32_t place = std::uint32_t(&thread - queue.thread.data());
    execution.nominal_cycles =
        task.cycles * share_of_cycles(task, execution.truth.task, place, queue.threads);
  }
  if (polls(queue) || (thread.start > thread.free && thread.start == queue.ready)) {
    execution.waited_for = queue.waited_for;
  }
  execution.synced = task.wait_count > 0 || thread.start > thread.free;
  activations_[queue.activation].recorder->task(execution);
}

// The running task's kernel is over on all threads of the group, on the last one at `last`.
void Machine::finish(std::uint32_t index, Picoseconds last) {
  Queue& queue = queues_[index];
  const Task& task = task_of(queue);
  const bool signals = (task.flags & qaic::task_signals) != 0;
  const Picoseconds barrier_end =
      last + barrier_ +
      (signals ? noise_.barrier(mix(queue.thread[0].key ^ ~std::uint64_t{queue.next}))
               : Picoseconds{});
  const Picoseconds recording = program_.records(task) ? record_op_ : Picoseconds{};
  if (queue.group == ThreadGroup::hmx) add_hmx_time(queue, last);
  for (std::uint32_t t = 0; t < queue.threads; ++t) {
    Thread& thread = queue.thread[t];
    const Picoseconds kernel_end = std::max(thread.position, queue.transfer_end);
    const Picoseconds leave = signals ? barrier_end : kernel_end;
    if (recorder_of(queue) != nullptr) record(queue, thread, kernel_end, leave);
    thread.free = leave + recording;
  }
  out_of_time_ = out_of_time_ || last > time_limit;
  task_events_ += queue.threads;
  queue.running = false;
  DmaEngine& engine = engines_[index];
  if (is_asynchronous(queue, task)) {
    engine.issued_at[engine.issued++ % dma_depth_] = last;
    serve_dma(index);
  } else {
    if (queue.group == ThreadGroup::dma_issue) engine.served = ++engine.issued;
    complete(index, queue.next, signals ? barrier_end : last);
  }
  ++queue.next;
  queue.resolved = 0;
  queue.ready = queue.others_ready = {};
  queue.waited_for = queue.transfer = nobody;
  if (queue.sibling != nobody && std::exchange(queues_[queue.sibling].waits_for_sibling, false)) {
    push_start(queue.sibling, std::max(queue.thread[0].free, now_));
  }
  resolve(index);
}

// A completion is now known; queues that were parked for it go on.
void Machine::complete(std::uint32_t index, std::uint32_t position, Picoseconds time) {
  Queue& queue = queues_[index];
  activations_[queue.activation].completions[queue.first_task + position] = time;
  std::uint32_t parked = std::exchange(queue.first_parked, nobody);
  while (parked != nobody) {
    Queue& other = queues_[parked];
    const std::uint32_t following = other.next_parked;
    if (other.parked_for <= position + 1) {
      resolve(parked);
    } else {
      other.next_parked = queue.first_parked;
      queue.first_parked = parked;
    }
    parked = following;
  }
}

}  // namespace npuscope::npu::nsp
