#include "npu/simulate/machine.hpp"

#include <algorithm>
#include <utility>

#include "npu/simulate/random.hpp"

namespace npuscope::npu {

namespace {

using qaic::Program;
using qaic::Task;
using qaic::ThreadGroup;

Picoseconds governor_window(const Target& target) {
  // Shorter ones would only cost time: power managers act on milliseconds.
  return std::max(from_seconds(target.governor_window_s), from_seconds(1e-5));
}

std::vector<CoreClock> make_clocks(const Target& target, const SimulationOptions& options,
                                   std::uint32_t cores) {
  std::vector<CoreClock> clocks;
  const Picoseconds window = governor_window(target);
  for (std::uint32_t core = 0; core < cores; ++core) {
    if (options.core_hz > 0) {
      clocks.emplace_back(options.core_hz, options.core_hz, window);
      continue;
    }
    const double deviation = normal(key_of(options.seed, RandomUse::core_clock, core));
    const double factor = std::max(0.5, 1 + target.core_spread * deviation);
    const bool governed = target.core_hz_min > 0 && target.core_hz_min < target.core_hz;
    const double lowest = governed ? target.core_hz_min : target.core_hz;
    clocks.emplace_back(target.core_hz * factor, lowest * factor, window);
  }
  return clocks;
}

// Share of the kernel's cycles that a thread of the group has: the lightest thread has
// `thread_imbalance` percent fewer, the heaviest all, and which is which goes round from task to
// task.
double share_of_cycles(const Task& task, std::uint32_t task_number, std::uint32_t thread,
                       std::uint32_t threads) {
  if (task.thread_imbalance == 0 || threads < 2) return 1;
  const double lightness = double((thread + task_number) % threads) / double(threads - 1);
  return 1 - std::min(task.thread_imbalance / 100.0, 1.0) * lightness;
}

std::uint64_t ddr_bytes(const Task& task) { return task.ddr_read + task.ddr_write; }

}  // namespace

Machine::Machine(const RecordingContext& context, EventQueue& events)
    : context_(context),
      program_(context.program),
      target_(context.target),
      events_(events),
      cores_per_device_(program_.cores / program_.slices),
      memories_(program_.slices, SharedBandwidth(target_.ddr_bytes_per_s * target_.ddr_efficiency,
                                                 target_.ddr_bytes_per_s_per_core)),
      clocks_(make_clocks(target_, context.options, context.options.activations * program_.cores)) {
  const double hertz = context.options.core_hz > 0 ? context.options.core_hz : target_.core_hz;
  const auto at_nominal_clock = [&](double cycles) { return from_seconds(cycles / hertz); };
  const std::uint32_t level = program_.stats_level;
  const bool op_pmu = level >= 100 && !program_.pmu_events.empty();
  sync_ = at_nominal_clock(target_.sync_cycles);
  cross_core_sync_ = at_nominal_clock(target_.cross_core_sync_cycles);
  barrier_ = at_nominal_clock(target_.barrier_cycles);
  record_op_ =
      at_nominal_clock(target_.record_cycles_op + (op_pmu ? target_.record_cycles_op_pmu : 0));
  constexpr double ports = 2;
  record_thread_ = at_nominal_clock((level >= 40 ? target_.record_cycles_thread : 0) +
                                    (level >= 50 ? ports * target_.record_cycles_port : 0));
  ddr_latency_ = from_seconds(target_.ddr_latency_s);
  multicast_latency_ = from_seconds(target_.multicast_latency_s);
  peer_latency_ = from_seconds(target_.peer_latency_s);
  dma_depth_ = std::clamp(target_.dma_depth, 1u, 4096u);
  if (program_.slices > 1) {
    peer_links_.assign(program_.slices,
                       SharedBandwidth(target_.peer_bytes_per_s, target_.peer_bytes_per_s));
    peer_bytes_.resize(program_.tasks.size());
  }
  for (const qaic::PeerTransfer& transfer : program_.peer_transfers) {
    if (transfer.incoming == 0) peer_bytes_[transfer.task] = transfer.bytes;
  }

  queues_.resize(std::size_t{context.options.activations} * program_.queues());
  engines_.resize(queues_.size());
  activations_.resize(context.options.activations);
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[i];
    const std::uint32_t number = i % program_.queues();
    queue.activation = i / program_.queues();
    queue.core = number / qaic::thread_groups;
    queue.clock = queue.activation * program_.cores + queue.core;
    queue.group = ThreadGroup(number % qaic::thread_groups);
    queue.threads = program_.thread_count(queue.group);
    queue.first_task = program_.queue_begin[number];
    queue.tasks = program_.queue_begin[number + 1] - queue.first_task;
    if (queue.group == ThreadGroup::dma_issue) engines_[i].issued_at.resize(dma_depth_);
    if (!target_.shared_main_thread || queue.group == ThreadGroup::hvx) continue;
    const std::uint32_t hmx = std::uint32_t(ThreadGroup::hmx);
    const std::uint32_t dma = std::uint32_t(ThreadGroup::dma_issue);
    queue.sibling = queue.group == ThreadGroup::hmx ? i + (dma - hmx) : i - (dma - hmx);
  }
}

bool Machine::is_asynchronous(const Queue& queue, const Task& task) const {
  return queue.group == ThreadGroup::dma_issue && (task.flags & qaic::task_end_stats) == 0;
}

bool Machine::moves_data_itself(const Queue& queue, const Task& task) const {
  return ddr_bytes(task) > 0 && !is_asynchronous(queue, task);
}

void Machine::reset(Queue& queue, std::uint64_t inference, Picoseconds now) {
  queue.next = queue.resolved = 0;
  queue.ready = now;
  queue.first_parked = queue.next_parked = nobody;
  queue.waited_for = nobody;
  queue.waits_for_sibling = false;
  const std::uint32_t first = program_.first_thread(queue.group);
  for (std::uint32_t t = 0; t < queue.threads; ++t) {
    queue.thread[t] = {};
    queue.thread[t].free = now;
    queue.thread[t].key = key_of(context_.options.seed, RandomUse::kernel, queue.activation,
                                 inference, queue.core, first + t);
  }
}

void Machine::record_begin(std::uint32_t activation, Picoseconds now) {
  DeviceRecorders& recorder = *activations_[activation].recorder;
  const std::uint32_t threads = program_.threads_per_core();
  for (std::uint32_t core = 0; core < program_.cores; ++core) {
    const std::uint32_t physical = activation * program_.cores + core;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      recorder.thread_begin(core, thread, now, clocks_[physical].cycles_at(now));
      // In the BERT summary set-up takes up to 7 % less on some threads, and a third on DMAIssue.
      const std::uint64_t random =
          key_of(context_.options.seed, RandomUse::activation, physical, thread);
      const double part = thread + 1 == threads ? 0.35 : 1 - double(random % 1000) * 7e-5;
      const double seconds = target_.activation_s * part;
      recorder.activation(core, thread, from_seconds(seconds), seconds * target_.core_hz);
    }
  }
}

void Machine::begin(std::uint32_t activation, std::uint64_t inference, Picoseconds now,
                    DeviceRecorders* recorder) {
  now_ = now;
  Activation& state = activations_[activation];
  state.recorder = recorder;
  state.threads_left = program_.cores * program_.threads_per_core();
  state.end = now;
  state.begin_ticks = std::numeric_limits<std::uint64_t>::max();
  state.end_ticks = 0;
  for (std::uint32_t core = 0; core < program_.cores; ++core) {
    const CoreTimer& timer = context_.timers[activation * program_.cores + core];
    state.begin_ticks = std::min(state.begin_ticks, timer.ticks(now));
  }
  state.completions.assign(program_.tasks.size(), never);
  const std::uint32_t first = activation * program_.queues();
  for (std::uint32_t i = first; i < first + program_.queues(); ++i) {
    reset(queues_[i], inference, now);
    DmaEngine& engine = engines_[i];
    engine.issued = engine.served = 0;
    engine.last_completion = {};
    clocks_[queues_[i].clock].forget();
  }
  if (recorder != nullptr) record_begin(activation, now);
  for (std::uint32_t i = first; i < first + program_.queues(); ++i) resolve(i);
}

std::uint32_t Machine::activation_of(const Event& event) const {
  const std::uint32_t index =
      event.kind() == EventKind::thread_end ? event.id() / most_hvx_threads : event.id();
  return queues_[index].activation;
}

bool Machine::handle(const Event& event) {
  now_ = event.time;
  switch (event.kind()) {
    case EventKind::task:
    case EventKind::main_task: start(event.id()); return false;
    case EventKind::dma_transfer: begin_dma_transfer(event.id(), event.time); return false;
    case EventKind::thread_end:
      return end_thread(event.id() / most_hvx_threads, event.id() % most_hvx_threads);
    default: return false;
  }
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
    if (done + latency > queue.ready) {
      const bool transfer = other.group == ThreadGroup::dma_issue;
      queue.waited_for = transfer ? other.first_task + count - 1 : nobody;
      queue.ready = done + latency;
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
  const std::uint32_t number = queue.first_task + queue.next;
  double cycles = task.cycles * share_of_cycles(task, number, thread, queue.threads);
  if (target_.jitter > 0) {
    const std::uint64_t random = mix(queue.thread[thread].key + number);
    cycles *= std::max(0.05, 1 + target_.jitter * normal(random));
  }
  return cycles;
}

void Machine::start(std::uint32_t index) {
  if (!has_main_thread(index)) return;
  Queue& queue = queues_[index];
  const Task& task = task_of(queue);
  const bool moves_data = moves_data_itself(queue, task);
  for (std::uint32_t t = 0; t < queue.threads; ++t) {
    Thread& thread = queue.thread[t];
    thread.start = moves_data ? now_ : std::max(thread.free, queue.ready);
    thread.position = thread.start;
    thread.remaining = kernel_cycles(queue, task, t);
    thread.done = false;
  }
  queue.running = true;
  queue.transfer_end = {};
  queue.transferring = moves_data;
  if (queue.transferring) memories_[device_of(index)].add(now_, index, ddr_bytes(task));
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
  execution.wait_cycles = clock.cycles_at(thread.free);
  execution.start_cycles = clock.cycles_at(thread.start);
  execution.kernel_end_cycles = clock.cycles_at(kernel_end);
  execution.leave_cycles = clock.cycles_at(leave);
  const std::uint32_t place = std::uint32_t(&thread - queue.thread.data());
  const Task& task = task_of(queue);
  execution.nominal_cycles =
      task.cycles * share_of_cycles(task, execution.truth.task, place, queue.threads);
  if (thread.start > thread.free && thread.start == queue.ready) {
    execution.waited_for = queue.waited_for;
  }
  execution.synced = task_of(queue).wait_count > 0 || thread.start > thread.free;
  activations_[queue.activation].recorder->task(execution);
}

// The running task's kernel is over on all threads of the group, on the last one at `last`.
void Machine::finish(std::uint32_t index, Picoseconds last) {
  Queue& queue = queues_[index];
  const Task& task = task_of(queue);
  const bool signals = (task.flags & qaic::task_signals) != 0;
  const Picoseconds barrier_end = last + barrier_;
  const Picoseconds recording = program_.records(task) ? record_op_ : Picoseconds{};
  if (queue.group == ThreadGroup::hmx) {
    clocks_[queue.clock].add_hmx_time(queue.thread[0].start, last);
  }
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
  queue.ready = {};
  queue.waited_for = nobody;
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

void Machine::end_threads(std::uint32_t index) {
  Queue& queue = queues_[index];
  for (std::uint32_t t = 0; t < queue.threads; ++t) {
    Thread& thread = queue.thread[t];
    thread.free = std::max(thread.free, queue.ready) + record_thread_;
    events_.push(std::max(thread.free, now_), EventKind::thread_end, index * most_hvx_threads + t);
  }
}

bool Machine::end_thread(std::uint32_t index, std::uint32_t thread) {
  Queue& queue = queues_[index];
  Activation& activation = activations_[queue.activation];
  const Picoseconds end = queue.thread[thread].free;
  if (activation.recorder != nullptr) {
    activation.recorder->thread_end(queue.core, program_.first_thread(queue.group) + thread, end,
                                    clocks_[queue.clock].cycles_at(end));
  }
  activation.end = std::max(activation.end, end);
  const CoreTimer& timer = context_.timers[queue.activation * program_.cores + queue.core];
  activation.end_ticks = std::max(activation.end_ticks, timer.ticks(end));
  return --activation.threads_left == 0;
}

void Machine::next_window() {
  now_ = window_end();
  const bool was_quiet = quiet_ && crossing_ == 0;
  for (Queue& queue : queues_) {
    if (!queue.running || queue.group != ThreadGroup::hmx) continue;
    clocks_[queue.clock].add_hmx_time(queue.thread[0].start, now_);
  }
  for (CoreClock& clock : clocks_) clock.next_window();
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    if (queues_[i].running) progress(i);
  }
  const Picoseconds next_event = std::min(events_.next_time(), next_transfer_end());
  quiet_ = crossing_ == 0 && next_event >= window_end();
  // Two quiet windows are alike, and so are those that follow: one long window stands for them.
  if (!was_quiet || !quiet_ || next_event == never) return;
  const std::int64_t windows = (next_event - window_end()).value / governor_window(target_).value;
  for (CoreClock& clock : clocks_) clock.extend_window(windows);
}

}  // namespace npuscope::npu
