#include "npu/targets/nsp/simulate/host.hpp"

#include <algorithm>

#include "npu/targets/nsp/simulate/device/machine.hpp"
#include "npu/targets/nsp/simulate/events.hpp"

namespace npuscope::npu::nsp {
namespace {

// Finding an output port open costs a poll of up to this many ticks (BERT summary: 0 to 2).
constexpr std::uint32_t longest_poll_ticks = 2;

Picoseconds one_tick(const Target& target) { return from_seconds(1 / target.timer_hz); }

// One thread of each core waits for the input's doorbell; which one differs from core to core
// (BERT summary: t0 of c0, t4 of c1).
std::uint32_t input_port_owner(const qaic::Program& program, std::uint32_t core) {
  return core * 4 % program.threads_per_core();
}

}  // namespace

Host::Host(const RecordingContext& context, std::uint64_t output_bytes, EventQueue& events)
    : context_(context),
      noise_(context.target, context.options),
      events_(events),
      activations_(context.options.activations),
      host_thread_free_(std::max(context.options.host_threads, 1u)) {
  const Target& target = context.target;
  const double rate = target.host_link_bytes_per_s;
  input_time_ = from_seconds(double(context.program.input_bytes) / rate);
  output_time_ = from_seconds(double(output_bytes) / rate);
  latency_ = from_seconds(target.host_latency_s);
  enqueue_time_ = from_seconds(target.host_enqueue_s);
  prepare_time_ = from_seconds(target.host_preprocess_s);
  submit_time_ = from_seconds(target.host_submit_s);
  wake_time_ = from_seconds(target.host_wake_s);
  postprocess_time_ = from_seconds(target.host_postprocess_s);
  for (std::uint32_t i = 0; i < activations_.size(); ++i) {
    activations_[i].idle_since = set_up_time(context.program, target);
    submit_next(i, {});
  }
}

bool Host::wants_more(const Activation& activation, Picoseconds now) const {
  const SimulationOptions& options = context_.options;
  if (activation.submitted - activation.completed >= options.set_size) return false;
  if (options.inferences > 0) return activation.submitted < options.inferences;
  return to_seconds(now) < options.seconds;
}

void Host::submit_next(std::uint32_t index, Picoseconds now) {
  Activation& activation = activations_[index];
  if (activation.submitting || !wants_more(activation, now)) return;
  activation.submitting = true;
  activation.queued_at = now;
  const Picoseconds thread_free = host_thread_free_[index % host_thread_free_.size()];
  const Picoseconds enqueue = noise_.host_step(enqueue_time_, index, activation.submitted, 1);
  events_.push(std::max(now + enqueue, thread_free), EventKind::submit, index);
}

void Host::submit(std::uint32_t index, Picoseconds now) {
  Activation& activation = activations_[index];
  Picoseconds& thread_free = host_thread_free_[index % host_thread_free_.size()];
  if (thread_free > now) return events_.push(thread_free, EventKind::submit, index);
  const Picoseconds prepare = noise_.host_step(prepare_time_, index, activation.submitted, 0);
  thread_free = now + prepare + submit_time_;
  SimulatedInference inference;
  inference.activation = index;
  inference.number = activation.submitted++;
  inference.queued = activation.queued_at;
  inference.taken = now;
  inference.prepared = now + prepare;
  inference.submitted = thread_free;
  inference.in_queue = std::uint32_t(activation.submitted - activation.completed);
  activation.in_flight.push_back(std::move(inference));
  activation.submitting = false;
  send_next(index);
  submit_next(index, now);
}

// A new input needs the buffer of the inference two before.
void Host::send_next(std::uint32_t index) {
  Activation& activation = activations_[index];
  if (activation.sending || activation.sent == activation.submitted) return;
  if (activation.sent >= activation.ended + 2) return;
  activation.sending = true;
  const Picoseconds handed_over = in_flight(activation, activation.sent).submitted + latency_;
  const Picoseconds buffer_free = activation.sent >= 2 ? activation.idle_since : Picoseconds{};
  events_.push(std::max({handed_over, buffer_free, activation.input_sent}), EventKind::input,
               index);
}

void Host::send_input(std::uint32_t index, Picoseconds now) {
  Activation& activation = activations_[index];
  SimulatedInference& inference = in_flight(activation, activation.sent++);
  inference.input_sent = std::max(now, input_free_);
  input_free_ = inference.input_sent + input_time_;
  inference.input_ready = input_free_;
  activation.input_sent = input_free_;
  activation.sending = false;
  begin_next(index);
  send_next(index);
}

void Host::begin_next(std::uint32_t index) {
  Activation& activation = activations_[index];
  if (activation.begun != activation.ended || activation.begun >= activation.sent) return;
  if (activation.taken + 2 <= activation.begun) return;  // both output buffers are full
  const SimulatedInference& next = in_flight(activation, activation.begun);
  if (next.device_begin > Picoseconds{}) return;  // on its way
  activation.begin_wait = std::max(activation.idle_since, next.input_ready);
  const Picoseconds open = std::max(activation.begin_wait, activation.output_free[next.number % 2]);
  const Picoseconds poll = one_tick(context_.target) * longest_poll_ticks;
  in_flight(activation, activation.begun).device_begin = open + poll;
  events_.push(open + poll, EventKind::begin, index);
}

SimulatedInference& Host::begin_on_device(std::uint32_t index, Picoseconds now) {
  Activation& activation = activations_[index];
  SimulatedInference& inference = in_flight(activation, activation.begun++);
  inference.device_begin = now;
  inference.input_wait = std::max(Picoseconds{}, inference.input_ready - activation.idle_since);
  inference.output_wait = now - activation.begin_wait;
  const CoreTimer& timer = context_.timers[index * context_.program.cores];
  const auto waited = [&](Picoseconds begin, Picoseconds end) {
    return end > begin ? timer.ticks(end) - timer.ticks(begin) : 0;
  };
  inference.input_wait_ticks = waited(activation.idle_since, inference.input_ready);
  inference.output_wait_ticks =
      waited(activation.begin_wait, output_opened(inference)) + longest_poll_ticks;
  return inference;
}

Picoseconds Host::output_opened(const SimulatedInference& inference) const {
  return inference.device_begin - one_tick(context_.target) * longest_poll_ticks;
}

std::uint32_t Host::poll_ticks(std::uint32_t activation, std::uint64_t number, std::uint32_t core,
                               std::uint32_t thread) const {
  if (core == 0 && thread == 0) return longest_poll_ticks;  // the one that the others go by
  return std::uint32_t(
      key_of(context_.options.seed, RandomUse::port, activation, number, core, thread) %
      (longest_poll_ticks + 1));
}

void Host::record_ports(std::uint32_t index, DeviceRecorders& recorder) const {
  const qaic::Program& program = context_.program;
  if (program.stats_level < 50) return;
  const Activation& activation = activations_[index];
  const SimulatedInference& inference = in_flight(activation, activation.begun - 1);
  const std::uint32_t threads = program.threads_per_core();
  const Picoseconds output_open = output_opened(inference);
  for (std::uint32_t core = 0; core < program.cores; ++core) {
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      const bool owner = thread == input_port_owner(program, core);
      recorder.of(core).port(recorder.own(core), thread, qaic::host_input_port,
                             owner ? activation.idle_since : inference.input_ready,
                             inference.input_ready, 0, owner);
    }
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      recorder.of(core).port(recorder.own(core), thread, qaic::host_output_port,
                             activation.begin_wait, output_open,
                             poll_ticks(index, inference.number, core, thread), false);
    }
  }
}

SimulatedInference& Host::end_on_device(std::uint32_t index, Picoseconds end, std::uint64_t ticks) {
  Activation& activation = activations_[index];
  SimulatedInference& inference = in_flight(activation, activation.ended++);
  inference.device_end = end;
  inference.device_ticks = ticks;
  activation.idle_since = end;
  if (activation.taken + 1 == activation.ended) {
    events_.push(end, EventKind::output, index);
  }
  send_next(index);
  begin_next(index);
  return inference;
}

void Host::take_output(std::uint32_t index, Picoseconds now) {
  Activation& activation = activations_[index];
  output_free_ = std::max(now, output_free_) + output_time_;
  SimulatedInference& inference = in_flight(activation, activation.taken);
  activation.output_free[activation.taken++ % 2] = output_free_;
  inference.completed = output_free_ + latency_;
  inference.awake = inference.completed + wake_time_;
  inference.finished = inference.awake + postprocess_time_;
  events_.push(inference.finished, EventKind::completed, index);
  if (activation.taken < activation.ended) events_.push(output_free_, EventKind::output, index);
  begin_next(index);
}

SimulatedInference Host::complete(std::uint32_t index) {
  Activation& activation = activations_[index];
  SimulatedInference inference = std::move(activation.in_flight.front());
  activation.in_flight.pop_front();
  ++activation.completed;
  submit_next(index, inference.finished);
  return inference;
}

bool Host::all_complete() const {
  return std::ranges::all_of(activations_, [](const Activation& a) { return a.in_flight.empty(); });
}

std::uint32_t Host::unfinished() const {
  for (std::uint32_t i = 0; i < activations_.size(); ++i) {
    if (activations_[i].begun > activations_[i].ended) return i;
  }
  return 0;
}

}  // namespace npuscope::npu::nsp
