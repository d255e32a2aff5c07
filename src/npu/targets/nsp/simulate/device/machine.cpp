// The device as a whole: how an inference begins and ends on it, and its clocks.
#include "npu/targets/nsp/simulate/device/machine.hpp"

#include <algorithm>
#include <numeric>

#include "npu/targets/nsp/simulate/events.hpp"

namespace npuscope::npu::nsp {
namespace {

using qaic::Program;
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
    constexpr std::uint64_t card = 1;  // the same whatever the seed
    const double deviation = normal(key_of(card, RandomUse::core_clock, core));
    const double factor = std::max(0.5, 1 + target.core_spread * deviation);
    const bool governed = target.core_hz_min > 0 && target.core_hz_min < target.core_hz;
    const double lowest = governed ? target.core_hz_min : target.core_hz;
    clocks.emplace_back(target.core_hz * factor, lowest * factor, window);
  }
  return clocks;
}

}  // namespace

Machine::Machine(const RecordingContext& context, EventQueue& events)
    : context_(context),
      program_(context.program),
      target_(context.target),
      noise_(context.target, context.options),
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

void Machine::reset(Queue& queue, std::uint64_t inference, Picoseconds now) {
  queue.next = queue.resolved = 0;
  queue.ready = now;
  queue.first_parked = queue.next_parked = nobody;
  queue.others_ready = now;
  queue.waited_for = queue.transfer = nobody;
  queue.waits_for_sibling = false;
  queue.noise = noise_.of(queue.activation, inference);
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
  const double hoisting = seconds_of_hoisting(program_, target_);
  for (std::uint32_t core = 0; core < program_.cores; ++core) {
    const std::uint32_t physical = activation * program_.cores + core;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      recorder.of(core).thread_begin(recorder.own(core), thread, now,
                                     clocks_[physical].cycles_at(now));
      // In the BERT summary set-up takes up to 7 % less on some threads, and a third on DMAIssue.
      const std::uint64_t random =
          key_of(context_.options.seed, RandomUse::activation, physical, thread);
      const double part = thread + 1 == threads ? 0.35 : 1 - double(random % 1000) * 7e-5;
      const double seconds = target_.activation_s * part + hoisting;
      recorder.of(core).activation(recorder.own(core), thread, from_seconds(seconds),
                                   seconds * target_.core_hz);
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
      event.kind() == EventKind::thread_end ? event.id() / max_hvx_threads : event.id();
  return queues_[index].activation;
}

bool Machine::handle(const Event& event) {
  now_ = event.time;
  switch (event.kind()) {
    case EventKind::task:
    case EventKind::main_task: start(event.id()); return false;
    case EventKind::dma_transfer: begin_dma_transfer(event.id(), event.time); return false;
    case EventKind::thread_end:
      return end_thread(event.id() / max_hvx_threads, event.id() % max_hvx_threads);
    default: return false;
  }
}

void Machine::end_threads(std::uint32_t index) {
  Queue& queue = queues_[index];
  for (std::uint32_t t = 0; t < queue.threads; ++t) {
    Thread& thread = queue.thread[t];
    thread.free = std::max(thread.free, queue.ready) + record_thread_;
    events_.push(std::max(thread.free, now_), EventKind::thread_end, index * max_hvx_threads + t);
  }
}

bool Machine::end_thread(std::uint32_t index, std::uint32_t thread) {
  Queue& queue = queues_[index];
  Activation& activation = activations_[queue.activation];
  const Picoseconds end = queue.thread[thread].free;
  if (activation.recorder != nullptr) {
    activation.recorder->of(queue.core)
        .thread_end(activation.recorder->own(queue.core),
                    program_.first_thread(queue.group) + thread, end,
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
    add_hmx_time(queue, now_);
  }
  for (CoreClock& clock : clocks_) clock.next_window();
  for (std::uint32_t i = 0; i < queues_.size(); ++i)
    if (queues_[i].running) progress(i);
  const Picoseconds next_event = std::min(events_.next_time(), next_transfer_end());
  quiet_ = crossing_ == 0 && next_event >= window_end();
  // Two quiet windows are alike, and so are those that follow: one long window stands for them.
  if (!was_quiet || !quiet_ || next_event == never) return;
  const std::int64_t windows = (next_event - window_end()).value / governor_window(target_).value;
  for (CoreClock& clock : clocks_) clock.extend_window(windows);
}

namespace {

// The DMA engines of the cores, the DDR that they share, and the links to other devices.

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
    memories_[device_of(index)].add(now, index, noise_.in_memory(bytes, queues_[index].noise));
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
    recorder->of(queue.core)
        .transfer(recorder->own(queue.core), position, engine.last_completion, cycles);
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
  auto ended = std::ranges::find_if(memories_, ends_now);
  if (ended == memories_.end()) ended = std::ranges::find_if(peer_links_, ends_now);
  const std::uint32_t index = ended->take();
  Queue& queue = queues_[index];
  if (!queue.transferring) return end_dma_transfer(index, now_);
  queue.transferring = false;
  queue.transfer_end = now_ + ddr_latency_;
  progress(index);
}

double seconds_of_hoisting(const qaic::Program& program, const Target& target) {
  const std::uint32_t cores = program.cores / program.slices;  // of a device
  double seconds = 0;
  for (std::size_t first = 0; first < program.hoisted_bytes.size(); first += cores) {
    const auto begin = program.hoisted_bytes.begin() + std::ptrdiff_t(first);
    const auto end = begin + cores;
    const double all = double(std::accumulate(begin, end, std::uint64_t{0}));
    const double max = double(*std::max_element(begin, end));
    seconds = std::max({seconds, all / (target.ddr_bytes_per_s * target.ddr_efficiency),
                        max / target.ddr_bytes_per_s_per_core});
  }
  return seconds;
}

DeviceSession::Moment DeviceSession::moment(Picoseconds time) const {
  const std::uint32_t core = activation_ * context_.program.cores;
  return {context_.timers[core].ticks(time),
          context_.counter_bases[core] + std::uint64_t(machine_.cycles_at(activation_, time))};
}

Picoseconds DeviceSession::length(double seconds, std::uint32_t which) const {
  const std::uint64_t random =
      key_of(context_.options.seed, RandomUse::session, activation_, inference_, which);
  return from_seconds(seconds * std::max(0.05, 1 + context_.target.jitter * normal(random)));
}

void DeviceSession::add_phase(std::string_view name, Moment begin, Moment end) {
  phases_.push_back({name, begin.ticks, end.ticks, begin.cycles, end.cycles});
}

Picoseconds DeviceSession::enter(std::uint64_t inference, Picoseconds now) {
  const Session& session = *context_.target.session;
  const bool cold = !used_ || to_seconds(now - ended_) >= session.cold_after_s;
  state_ = cold ? &session.cold : &session.warm;
  used_ = true;
  inference_ = inference;
  phases_.clear();
  Picoseconds time = now;
  // The clock changes for the stretches up to the next change: their moments are taken at once.
  machine_.change_clock(activation_, time, state_->vtcm_acquire_hz);
  const Moment begin = moment(time);
  add_phase("QNN DSP Execute", begin, begin);
  time += length(state_->enter_s, 0);
  const Moment acquire = moment(time);
  time += length(state_->vtcm_acquire_s, 1);
  add_phase("VTCM Acquire", acquire, moment(time));
  time += length(state_->between_s, 2);
  machine_.change_clock(activation_, time, state_->power_on_hz);
  const Moment power = moment(time);
  time += length(state_->power_on_s, 3);
  add_phase("Resource Power On", power, moment(time));
  time += length(state_->prepare_s, 4);
  machine_.change_clock(activation_, time, state_->graph_hz);
  const Moment graph = moment(time);
  add_phase("Graph Execute", graph, graph);
  return time;
}

Picoseconds DeviceSession::leave(Picoseconds graph_end) {
  const Moment graph = moment(graph_end);
  phases_.back().end_ticks = graph.ticks;
  phases_.back().end_cycles = graph.cycles;
  ended_ = graph_end + length(state_->leave_s, 5);
  const Moment end = moment(ended_);
  phases_.front().end_ticks = end.ticks;
  phases_.front().end_cycles = end.cycles;
  return ended_;
}

}  // namespace npuscope::npu::nsp
