#include "npu/targets/nsp/simulate/simulate.hpp"

#include <algorithm>
#include <memory>

#include "base/memory_use.hpp"
#include "base/try.hpp"
#include "formats/qaic/qpc/program_check.hpp"
#include "formats/qaic/qpc/program_slices.hpp"
#include "npu/targets/nsp/simulate/device/machine.hpp"
#include "npu/targets/nsp/simulate/host.hpp"

namespace npuscope::npu::nsp {
namespace {

constexpr std::uint32_t max_queued = 4096;
// Each inference's times are kept for the report, some 150 bytes.
constexpr std::uint64_t max_inferences = 10'000'000;

Status check_options(const qaic::Program& program, const Target& target,
                     const SimulationOptions& options) {
  if (options.activations == 0) {
    return usage_error("0 activations do nothing; ask for at least one (-a)");
  }
  if (std::uint64_t{options.activations} * program.cores > target.cores) {
    return usage_error(
        "{} activations of {} cores each need {} cores, but {} has {}; ask for at most {} (-a) or "
        "compile for fewer cores",
        options.activations, program.cores, std::uint64_t{options.activations} * program.cores,
        target.name, target.cores, target.cores / program.cores);
  }
  if (options.set_size == 0 || options.set_size > max_queued) {
    return usage_error("set size {} is not possible; keep 1 to {} inferences queued (-S)",
                       options.set_size, max_queued);
  }
  if (options.inferences == 0 && !(options.seconds > 0)) {
    return usage_error("neither a number of inferences nor a time is given; set one of them");
  }
  if (options.inferences > max_inferences / options.activations) {
    return usage_error(
        "{} inferences of each of {} activations are more than the {} of a run; lower --num-iter",
        options.inferences, options.activations, max_inferences);
  }
  if (options.core_hz != 0 && !(options.core_hz >= 1e6 && options.core_hz <= 1e11)) {
    return usage_error("a core clock of {:g} MHz is not possible; choose 1 to 100000 MHz",
                       options.core_hz / 1e6);
  }
  return {};
}

// What a description read from a file always fulfils (target.hpp); one made by hand may not.
Status check_target(const Target& target) {
  struct Figure {
    std::string_view name;
    double value;
    double min;
  };
  for (const Figure& figure :
       {Figure{"core_hz", target.core_hz, 1e6}, Figure{"timer_hz", target.timer_hz, 1e3},
        Figure{"ddr_bytes_per_s", target.ddr_bytes_per_s, 1},
        Figure{"ddr_efficiency", target.ddr_efficiency, 1e-3},
        Figure{"ddr_bytes_per_s_per_core", target.ddr_bytes_per_s_per_core, 1},
        Figure{"multicast_bytes_per_s_per_core", target.multicast_bytes_per_s_per_core, 1},
        Figure{"host_link_bytes_per_s", target.host_link_bytes_per_s, 1}}) {
    if (!(figure.value >= figure.min)) {
      return input_error("target {}: {} is {:g}; it must be at least {:g}", target.name,
                         figure.name, figure.value, figure.min);
    }
  }
  if (target.core_hz_min != 0 && target.core_hz_min < 1e6) {
    return input_error("target {}: core_hz_min is {:g}; it must be at least 1e6", target.name,
                       target.core_hz_min);
  }
  return {};
}

// What the device that has most sends to the host: each has a link of its own.
std::uint64_t max_output_bytes(std::span<const qaic::Program* const> slices) {
  std::uint64_t bytes = 0;
  for (const qaic::Program* slice : slices) {
    bytes = std::max(bytes, slice->output_bytes + stats_bytes(*slice));
  }
  return bytes;
}

class Simulation {
 public:
  // `program` is the slices' together.
  Simulation(const qaic::Program& program, std::span<const qaic::Program* const> slices,
             std::span<const std::uint32_t> devices, const Target& target,
             const SimulationOptions& options)
      : context_(program, target, options, 0, program.slices),
        options_(options),
        machine_(context_, events_),
        host_(context_, max_output_bytes(slices), events_),
        recorders_(options.activations),
        samples_left_(options.activations, options.samples) {
    device_options_.resize(slices.size(), options);
    for (std::uint32_t i = 0; i < slices.size(); ++i) {
      device_options_[i].device = devices[i];
      device_contexts_.push_back(
          std::make_unique<RecordingContext>(*slices[i], target, device_options_[i], i));
      if (options.samples + options.outputs == 0) continue;
      const std::uint64_t known = options.program_fingerprint;
      device_contexts_.back()->program_fingerprint =
          known != 0 ? known : qaic::fingerprint(*slices[i]);
    }
    if (!target.session) return;
    for (std::uint32_t i = 0; i < options.activations; ++i) {
      sessions_.emplace_back(context_, machine_, i);
    }
  }

  Result<SimulationResult> run() {
    constexpr std::uint64_t steps_per_report = 1 << 16;
    std::uint64_t steps = 0;
    for (Status status; status;) {
      const Picoseconds next = std::min(events_.next_time(), machine_.next_transfer_end());
      const Picoseconds window_end = machine_.window_end();
      if (next == never && !machine_.kernels_cross_window()) break;
      if (machine_.out_of_time() || std::min(next, window_end) > time_limit) return out_of_time();
      if (window_end <= next) {
        machine_.next_window();
      } else if (machine_.next_transfer_end() == next) {
        machine_.end_transfer();
      } else {
        status = handle(events_.pop());
      }
      if (!status) return tl::unexpected(status.error());
      if (options_.progress && ++steps % steps_per_report == 0) report_progress();
    }
    if (!host_.all_complete()) {
      return input_error("network {}: the program stopped before its end; compile it again",
                         context_.program.network_name);
    }
    result_.task_events = machine_.task_events();
    return std::move(result_);
  }

 private:
  Status handle(const Event& event) {
    switch (event.kind()) {
      case EventKind::submit: host_.submit(event.id(), event.time); break;
      case EventKind::input: host_.send_input(event.id(), event.time); break;
      case EventKind::output: host_.take_output(event.id(), event.time); break;
      case EventKind::begin: begin(event.id(), event.time); break;
      case EventKind::completed: return complete(event.id());
      case EventKind::graph: begin_graph(event.id(), event.time); break;
      case EventKind::leave: leave(event.id(), event.time); break;
      default:
        if (machine_.handle(event)) end(machine_.activation_of(event));
    }
    return {};
  }

  void begin(std::uint32_t activation, Picoseconds now) {
    SimulatedInference& inference = host_.begin_on_device(activation, now);
    inference.sampled = is_sampled(inference);
    inference.is_output = inference.number >= options_.first_output &&
                          inference.number - options_.first_output < options_.outputs;
    if (inference.sampled) --samples_left_[activation];
    const bool traced = options_.op_trace && (inference.number == 0 || is_handed_on(inference));
    if (inference.sampled || inference.is_output || traced) {
      recorders_[activation] =
          std::make_unique<DeviceRecorders>(device_contexts_, activation, inference.number);
      host_.record_ports(activation, *recorders_[activation]);
    }
    if (sessions_.empty()) {
      machine_.begin(activation, inference.number, now, recorders_[activation].get());
    } else {
      events_.push(sessions_[activation].enter(inference.number, now), EventKind::graph,
                   activation);
    }
  }

  void begin_graph(std::uint32_t activation, Picoseconds now) {
    machine_.begin(activation, sessions_[activation].inference(), now,
                   recorders_[activation].get());
  }

  bool is_handed_on(const SimulatedInference& inference) const {
    return options_.op_trace && options_.on_op_trace && inference.activation == 0;
  }

  bool is_sampled(const SimulatedInference& inference) const {
    return samples_left_[inference.activation] > 0 && inference.number >= options_.first_sample &&
           to_seconds(inference.device_begin) >= options_.first_sample_seconds;
  }

  // All threads have ended.
  void end(std::uint32_t activation) {
    const Picoseconds now = machine_.end_of(activation);
    if (sessions_.empty()) {
      keep_records(host_.end_on_device(activation, now, machine_.ticks_of(activation)));
    } else {
      events_.push(sessions_[activation].leave(now), EventKind::leave, activation);
    }
  }

  void leave(std::uint32_t activation, Picoseconds now) {
    DeviceSession& session = sessions_[activation];
    SimulatedInference& inference = host_.end_on_device(activation, now, session.ticks());
    if (options_.op_trace) inference.phases = session.take_phases();
    keep_records(inference);
  }

  void keep_records(SimulatedInference& inference) {
    const std::uint32_t activation = inference.activation;
    if (!recorders_[activation]) return;
    DeviceRecorders& recorders = *recorders_[activation];
    const bool wanted = inference.sampled || inference.is_output;
    const bool recorded = wanted && context_.program.stats_level >= 40;
    if (recorded) inference.stats_buffer = recorders.device(0).take_buffer();
    if (wanted) inference.truth = recorders.device(0).take_truth();
    for (std::uint32_t i = 1; i < recorders.devices(); ++i) {
      if (recorded) inference.more_stats_buffers.push_back(recorders.device(i).take_buffer());
      if (wanted) inference.more_truth.push_back(recorders.device(i).take_truth());
    }
    inference.op_trace = recorders.device(0).take_op_trace();
    if (is_handed_on(inference)) options_.on_op_trace(inference);
    if (inference.number != 0) free_memory_of(inference.op_trace);
    recorders_[activation].reset();
  }

  Status complete(std::uint32_t activation) {
    SimulatedInference inference = host_.complete(activation);
    result_.total = std::max(result_.total, inference.finished);
    if ((inference.sampled || inference.is_output) && options_.on_sample) {
      TRY(options_.on_sample(inference));
      free_memory_of(inference.stats_buffer, inference.truth, inference.more_stats_buffers,
                     inference.more_truth);
    }
    if (result_.inferences.size() >= max_inferences) {
      return usage_error(
          "the run reaches its limit of {} inferences before {:g} s are over; lower --time",
          max_inferences, options_.seconds);
    }
    result_.inferences.push_back(std::move(inference));
    return {};
  }

  void report_progress() const {
    const qaic::Program& program = context_.program;
    std::uint64_t per_inference = 0;
    for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
      const auto group = qaic::ThreadGroup(queue % qaic::thread_groups);
      per_inference += std::uint64_t{program.thread_count(group)} *
                       (program.queue_begin[queue + 1] - program.queue_begin[queue]);
    }
    options_.progress(machine_.task_events(),
                      per_inference * options_.inferences * options_.activations);
  }

  tl::unexpected<Error> out_of_time() const {
    return input_error(
        "network {}: the run takes more than 11 days of the device's time; check "
        "the figures of target {}",
        context_.program.network_name, context_.target.name);
  }

  RecordingContext context_;
  const SimulationOptions& options_;
  EventQueue events_;
  Machine machine_;
  Host host_;
  std::vector<DeviceSession> sessions_;  // by activation; empty: the target has none
  std::vector<SimulationOptions> device_options_;
  std::vector<std::unique_ptr<RecordingContext>> device_contexts_;
  std::vector<std::unique_ptr<DeviceRecorders>> recorders_;  // by activation; null: not sampled
  std::vector<std::uint64_t> samples_left_;                  // by activation
  SimulationResult result_;
};

}  // namespace

Status check_simulation(std::span<const qaic::Program* const> slices, const Target& target,
                        const SimulationOptions& options) {
  if (slices.empty()) return usage_error("no program to run");
  if (slices.size() == 1 && slices[0]->slices > 1) {
    return input_error("network {}: is the part of device {} of {}; all parts run together",
                       slices[0]->network_name, slices[0]->slice, slices[0]->slices);
  }
  if (slices.size() > 1 && !(target.peer_bytes_per_s >= 1)) {
    return usage_error("target {} has no link between devices ([peer]); run one device's program",
                       target.name);
  }
  TRY(check_target(target));
  return check_options(*slices[0], target, options);
}

Result<SimulationResult> simulate(std::span<const qaic::Program* const> slices,
                                  std::span<const std::uint32_t> devices, const Target& target,
                                  const SimulationOptions& options) {
  TRY(check_simulation(slices, target, options));
  if (devices.size() != slices.size()) {
    return usage_error("{} devices are named for a program of {}; name one for each",
                       devices.size(), slices.size());
  }
  if (slices.size() == 1) return Simulation(*slices[0], slices, devices, target, options).run();
  for (const qaic::Program* slice : slices) TRY(qaic::check_program(*slice, slice->network_name));
  TRY_AS(joined, qaic::join_slices(slices, slices[0]->network_name));
  return Simulation(*joined, slices, devices, target, options).run();
}

Result<SimulationResult> simulate(const qaic::Program& program, const Target& target,
                                  const SimulationOptions& options) {
  TRY(qaic::check_program(program, program.network_name));
  const qaic::Program* only = &program;
  return simulate(std::span(&only, 1), std::span(&options.device, 1), target, options);
}

RequestTimes request_times(const SimulationResult& result) {
  std::vector<double> times;
  times.reserve(result.inferences.size());
  for (const SimulatedInference& each : result.inferences) {
    times.push_back(to_seconds(each.finished - each.queued));
  }
  if (times.empty()) return {};
  std::ranges::sort(times);
  const auto percentile = [&](double share) {
    const double place = share * double(times.size() - 1);
    const auto below = std::size_t(place);
    const double above = times[std::min(below + 1, times.size() - 1)];
    return times[below] + (above - times[below]) * (place - double(below));
  };
  return {percentile(0.5), percentile(0.99)};
}

double samples_per_second(const SimulationResult& result, std::uint32_t batch_size) {
  const double microseconds = double(result.total.value) * 1e-6;
  if (!(microseconds > 0)) return 0;
  return double(result.inferences.size()) * batch_size / microseconds * 1e6;
}

}  // namespace npuscope::npu::nsp
