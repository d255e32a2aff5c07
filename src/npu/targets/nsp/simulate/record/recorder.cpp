#include "npu/targets/nsp/simulate/record/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "npu/targets/nsp/simulate/events.hpp"

namespace npuscope::npu::nsp {
namespace {

using qaic::Program;
using qaic::StatsOp;
using qaic::Task;
using qaic::ThreadGroup;

constexpr std::uint32_t saturated(std::uint64_t value) {
  return std::uint32_t(std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

PmuMetric metric_named(std::string_view counts) {
  constexpr std::array<std::string_view, pmu_metrics> names{
      "cycles",         "hmx_macs",        "hmx_cycles",      "hvx_cycles", "dma_cycles",
      "ddr_read_bytes", "ddr_write_bytes", "multicast_bytes", "tasks"};
  return PmuMetric(std::ranges::find(names, counts) - names.begin());
}

// A task of a group is shared evenly by its threads; the first takes what is left over.
std::uint64_t share_of(std::uint64_t total, std::uint32_t thread, std::uint32_t threads) {
  if (total == 0) return 0;
  return total / threads + (thread == 0 ? total % threads : 0);
}

// A device that has been up for about a week: the UTIMER counts since boot.
std::uint64_t timer_at_start(std::uint64_t seed, std::uint32_t kilohertz) {
  const std::uint64_t milliseconds_up = 500'000'000 + key_of(seed, RandomUse::boot) % 200'000'000;
  return milliseconds_up * kilohertz;
}

std::vector<std::uint32_t> positions_among_recorded(const Program& program) {
  std::vector<std::uint32_t> positions;
  if (program.stats_level < 50 || program.stats_level >= 70) return positions;
  positions.resize(program.tasks.size());
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    std::uint32_t recorded = 0;
    for (auto task = program.queue_begin[queue]; task < program.queue_begin[queue + 1]; ++task) {
      positions[task] = recorded;
      if (program.records(program.tasks[task])) ++recorded;
    }
  }
  return positions;
}

std::uint64_t recorded_tasks(const Program& program, std::uint32_t queue) {
  const auto begin = program.tasks.begin() + program.queue_begin[queue];
  const auto end = program.tasks.begin() + program.queue_begin[queue + 1];
  return std::uint64_t(
      std::count_if(begin, end, [&](const Task& task) { return program.records(task); }));
}

std::uint64_t port_records(const Program& program) {
  constexpr std::uint64_t ports = 2;  // of a thread
  return ports * program.cores * program.threads_per_core();
}

template <class Body>
void for_each_thread(const Program& program, Body body) {  // body(queue, core, thread)
  for (std::uint32_t core = 0; core < program.cores; ++core) {
    for (std::uint32_t group = 0; group < qaic::thread_groups; ++group) {
      const auto first = program.first_thread(ThreadGroup(group));
      for (std::uint32_t i = 0; i < program.thread_count(ThreadGroup(group)); ++i) {
        body(core * qaic::thread_groups + group, core, first + i);
      }
    }
  }
}

}  // namespace

RecordingContext::RecordingContext(const Program& its_program, const Target& its_target,
                                   const SimulationOptions& its_options, std::uint32_t first_device,
                                   std::uint32_t devices)
    : program(its_program),
      target(its_target),
      options(its_options),
      record_positions(positions_among_recorded(its_program)) {
  const auto kilohertz = std::uint32_t(std::lround(target.timer_hz / 1000));
  const std::uint64_t start = timer_at_start(options.seed, kilohertz);
  const std::uint32_t cores = program.cores / devices;
  for (std::uint32_t i = 0; i < options.activations * program.cores; ++i) {
    constexpr std::uint32_t max_cores = 64;
    const std::uint32_t device = first_device + i % program.cores / cores;
    const std::uint32_t core = i / program.cores * cores + i % cores + device * max_cores;
    // Real ones differ by up to 5 ticks (first ticks of the cores in the BERT summary); the
    // firmware of each device syncs its timer with the time of day.
    constexpr std::uint64_t skews = 5;
    timers.emplace_back(kilohertz,
                        start + key_of(options.seed, RandomUse::core_timer, core) % skews);
    counter_bases.push_back(key_of(options.seed, RandomUse::core_timer, core, 1) >> 20);
  }
}

Recorder::Recorder(const RecordingContext& context, std::uint32_t activation,
                   std::uint64_t inference)
    : context_(context),
      first_core_(activation * context.program.cores),
      buffer_(empty_buffer(activation, inference)),
      traces_ops_(context.options.op_trace && context.target.session &&
                  context.program.cores == 1 &&
                  (inference == 0 || (activation == 0 && context.options.on_op_trace))) {
  prepare_truth();
  prepare_pmu();
}

qaic::StatsBufferWriter Recorder::empty_buffer(std::uint32_t activation,
                                               std::uint64_t inference) const {
  const Program& program = context_.program;
  qaic::StatsIdentity identity;
  identity.program_fingerprint = context_.program_fingerprint;
  identity.inference = inference;
  identity.program = context_.options.program_number;
  identity.activation = activation;
  identity.device = context_.options.device;
  identity.stats_level = program.stats_level;
  identity.stats_batch_size = program.stats_batch_size;
  identity.cores = program.cores;
  identity.threads_per_core = program.threads_per_core();
  identity.pmu_counters = std::uint32_t(program.pmu_events.size());
  identity.utimer_khz = std::uint32_t(std::lround(context_.target.timer_hz / 1000));
  identity.first_core = first_core_;
  std::copy(program.pmu_events.begin(), program.pmu_events.end(), identity.pmu_events.begin());
  std::vector<std::uint64_t> ops;
  for_each_thread(program, [&](std::uint32_t queue, std::uint32_t, std::uint32_t) {
    ops.push_back(recorded_tasks(program, queue));
  });
  return {identity, program.network_name, program.ddr_stats, port_records(program), ops};
}

void Recorder::prepare_truth() {
  const Program& program = context_.program;
  std::size_t truths = 0;
  for_each_thread(program, [&](std::uint32_t queue, std::uint32_t, std::uint32_t) {
    truth_begin_.push_back(truths);
    truths += program.queue_begin[queue + 1] - program.queue_begin[queue];
  });
  if (context_.options.keep_truth) truth_.resize(truths);
}

void Recorder::prepare_pmu() {
  pmu_.resize(buffer_.records().threads.size());
  pmu_metric_.fill(PmuMetric::nothing);
  pmu_divisor_.fill(1);
  for (std::size_t i = 0; i < context_.program.pmu_events.size(); ++i) {
    for (const PmuEvent& event : context_.target.pmu_events) {
      if (event.code != context_.program.pmu_events[i]) continue;
      pmu_metric_[i] = metric_named(event.counts);
      pmu_divisor_[i] = std::max(event.divisor, 1u);
    }
  }
}

void Recorder::thread_begin(std::uint32_t core, std::uint32_t thread, Picoseconds time,
                            double cycles) {
  qaic::StatsThread& record = buffer_.records().threads[index(core, thread)];
  record.begin_ticks = timer(core).ticks(time);
  record.begin_cycles = counter(core, cycles);
}

void Recorder::thread_end(std::uint32_t core, std::uint32_t thread, Picoseconds time,
                          double cycles) {
  qaic::StatsThread& record = buffer_.records().threads[index(core, thread)];
  record.end_ticks = timer(core).ticks(time);
  record.end_cycles = counter(core, cycles);
  PmuCounts& counts = pmu_[index(core, thread)];
  counts[std::size_t(PmuMetric::cycles)] = record.end_cycles - record.begin_cycles;
  record.pmu = counters(counts);
}

void Recorder::activation(std::uint32_t core, std::uint32_t thread, Picoseconds duration,
                          double cycles) {
  qaic::StatsThread& record = buffer_.records().threads[index(core, thread)];
  record.activation_ticks = timer(core).ticks(duration) - timer(core).ticks({});
  record.activation_cycles = std::uint64_t(cycles);
}

void Recorder::port(std::uint32_t core, std::uint32_t thread, std::uint32_t port,
                    Picoseconds wait_begin, Picoseconds wait_end, std::uint32_t poll_ticks,
                    bool doorbell) {
  qaic::StatsPort record;
  record.core = std::uint16_t(core);
  record.thread = std::uint16_t(thread);
  record.port = port;
  if (wait_end > wait_begin) {
    record.wait_ticks = timer(core).ticks(wait_end) - timer(core).ticks(wait_begin);
  }
  record.wait_ticks += poll_ticks;
  if (doorbell) record.doorbell_ticks = timer(core).ticks(wait_end);
  buffer_.records().ports[ports_++] = record;
}

PmuCounts Recorder::work_of(const TaskExecution& execution, std::uint64_t cycles) const {
  const Task& task = context_.program.tasks[execution.truth.task];
  const std::uint32_t threads = context_.program.thread_count(execution.group);
  const std::uint32_t thread =
      execution.truth.thread - context_.program.first_thread(execution.group);
  PmuCounts work{};
  const auto set = [&](PmuMetric metric, std::uint64_t value) {
    work[std::size_t(metric)] = value;
  };
  set(PmuMetric::cycles, cycles);
  if (execution.group == ThreadGroup::hmx) set(PmuMetric::hmx_cycles, cycles);
  if (execution.group == ThreadGroup::hvx) set(PmuMetric::hvx_cycles, cycles);
  set(PmuMetric::hmx_macs, execution.group == ThreadGroup::hmx ? task.macs : 0);
  set(PmuMetric::ddr_read_bytes, share_of(task.ddr_read, thread, threads));
  set(PmuMetric::ddr_write_bytes, share_of(task.ddr_write, thread, threads));
  set(PmuMetric::multicast_bytes, share_of(task.multicast, thread, threads));
  set(PmuMetric::tasks, 1);
  return work;
}

Recorder::Counters Recorder::counters(const PmuCounts& counts) const {
  Counters result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (pmu_metric_[i] == PmuMetric::nothing) continue;
    result[i] = std::uint32_t(counts[std::size_t(pmu_metric_[i])] / pmu_divisor_[i]);  // wraps
  }
  return result;
}

void Recorder::add_op(const TaskExecution& execution, const Task& task, std::uint64_t cycles,
                      const Counters& counted_before) {
  const TaskTruth& truth = execution.truth;
  const CoreTimer& clock = timer(execution.core);
  const std::uint32_t position = record_position(truth.task, execution.position);
  const std::uint64_t kernel_end_ticks = clock.ticks(truth.kernel_end);
  StatsOp op;
  op.start_ticks = clock.ticks(truth.start);
  op.sync_ticks = saturated(op.start_ticks - clock.ticks(truth.sync_begin));
  op.kernel_ticks = saturated(kernel_end_ticks - op.start_ticks);
  op.barrier_ticks = saturated(clock.ticks(truth.barrier_end) - kernel_end_ticks);
  op.cycles = saturated(cycles);
  op.position_and_flags = (position & StatsOp::position_mask) | StatsOp::written;
  if (execution.synced) op.position_and_flags |= StatsOp::synced;
  if ((task.flags & qaic::task_signals) != 0) op.position_and_flags |= StatsOp::barriered;
  const std::size_t thread = index(execution.core, truth.thread);
  buffer_.records().ops[thread][position] = op;
  if (buffer_.records().op_pmu.empty()) return;
  // Two readings of running counters: what one op leaves of a count that stands for several bytes
  // is counted with the next.
  const Counters counted = counters(pmu_[thread]);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    buffer_.records().op_pmu[thread][position].counts[i] = counted[i] - counted_before[i];
  }
}

void Recorder::add_to_op_trace(const TaskExecution& execution) {
  const Session& session = *context_.target.session;
  OpTraceRecord record;
  record.task = execution.truth.task;
  record.thread = execution.truth.thread;
  record.waited_for = execution.waited_for;
  record.packets = saturated(std::uint64_t(
      std::max(1.0, std::round(execution.nominal_cycles / session.cycles_per_packet))));
  record.wait_cycle = counter(execution.core, execution.wait_cycles);
  record.start_cycle = counter(execution.core, execution.start_cycles);
  record.polls = saturated(
      std::uint64_t(std::max(1.0, std::round(double(record.start_cycle - record.wait_cycle) /
                                             session.polling_cycles_per_packet))));
  record.end_cycle = counter(execution.core, execution.kernel_end_cycles);
  record.leave_cycle = counter(execution.core, execution.leave_cycles);
  op_trace_.push_back(record);
}

void Recorder::task(const TaskExecution& execution) {
  const TaskTruth& truth = execution.truth;
  const Task& task = context_.program.tasks[truth.task];
  const std::size_t thread = index(execution.core, truth.thread);
  const std::uint64_t cycles = counter(execution.core, execution.kernel_end_cycles) -
                               counter(execution.core, execution.start_cycles);
  Counters counted_before{};
  if (!context_.program.pmu_events.empty()) {
    if (!buffer_.records().op_pmu.empty()) counted_before = counters(pmu_[thread]);
    const PmuCounts work = work_of(execution, cycles);
    for (std::size_t i = 0; i < work.size(); ++i) pmu_[thread][i] += work[i];
  }
  if (!buffer_.records().cores.empty() &&
      truth.thread == context_.program.first_thread(execution.group)) {
    buffer_.records().cores[execution.core].ddr_read_bytes += task.ddr_read;
    buffer_.records().cores[execution.core].ddr_write_bytes += task.ddr_write;
  }
  if (context_.program.records(task)) add_op(execution, task, cycles, counted_before);
  if (!truth_.empty()) truth_[truth_begin_[thread] + execution.position] = truth;
  const std::uint32_t place = truth.thread - context_.program.first_thread(execution.group);
  const bool has_part = task.threads == 0 || place < task.threads;
  if (traces_ops_ && has_part) add_to_op_trace(execution);
}

void Recorder::transfer(std::uint32_t core, std::uint32_t position, Picoseconds end,
                        double streaming_cycles) {
  const Program& program = context_.program;
  const std::uint32_t queue = core * qaic::thread_groups + std::uint32_t(ThreadGroup::dma_issue);
  const std::uint32_t task = program.queue_begin[queue] + position;
  const std::size_t thread = index(core, program.first_thread(ThreadGroup::dma_issue));
  const auto streaming = std::uint64_t(streaming_cycles);
  std::uint64_t& dma_cycles = pmu_[thread][std::size_t(PmuMetric::dma_cycles)];
  const std::uint64_t before = dma_cycles;
  dma_cycles += streaming;
  if (!truth_.empty()) truth_[truth_begin_[thread] + position].transfer_end = end;
  if (!program.records(program.tasks[task])) return;
  const std::uint32_t place = record_position(task, position);
  StatsOp& op = buffer_.records().ops[thread][place];
  op.transfer_ticks = saturated(timer(core).ticks(end) - op.start_ticks);
  if (buffer_.records().op_pmu.empty()) return;
  for (std::size_t i = 0; i < pmu_metric_.size(); ++i) {
    if (pmu_metric_[i] != PmuMetric::dma_cycles) continue;
    buffer_.records().op_pmu[thread][place].counts[i] =
        std::uint32_t(dma_cycles / pmu_divisor_[i] - before / pmu_divisor_[i]);
  }
}

std::uint64_t stats_bytes(const Program& program) {
  if (program.stats_level < 40) return 0;
  qaic::StatsIdentity identity;
  identity.stats_level = program.stats_level;
  identity.cores = program.cores;
  identity.threads_per_core = program.threads_per_core();
  identity.pmu_counters = std::uint32_t(program.pmu_events.size());
  std::uint64_t ops = 0;
  for_each_thread(program, [&](std::uint32_t queue, std::uint32_t, std::uint32_t) {
    ops += recorded_tasks(program, queue);
  });
  return qaic::stats_buffer_bytes(identity, program.ddr_stats, port_records(program), ops,
                                  program.network_name);
}

DeviceRecorders::DeviceRecorders(const std::vector<std::unique_ptr<RecordingContext>>& contexts,
                                 std::uint32_t activation, std::uint64_t inference)
    : cores_(contexts.front()->program.cores) {
  recorders_.reserve(contexts.size());
  std::uint32_t first_task = 0;
  for (const auto& context : contexts) {
    recorders_.emplace_back(*context, activation, inference);
    first_task_.push_back(first_task);
    first_task += std::uint32_t(context->program.tasks.size());
  }
}

}  // namespace npuscope::npu::nsp
