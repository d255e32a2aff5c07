// The simulator again, slow and obvious: every thread on its own, time in floating point, and at
// each step everything that happens is moved on to the next moment at which anything changes.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "npu/targets/nsp/simulate/events.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"

namespace npuscope::npu::nsp {

class SlowTwin {
 public:
  struct Times {
    double sync_begin = 0, start = 0, kernel_end = 0, barrier_end = 0, transfer_end = 0;
  };

  // begins: of each activation's first inference on the device, in picoseconds.
  SlowTwin(const qaic::Program& program, const Target& target, const SimulationOptions& options,
           std::vector<double> begins)
      : program_(program), target_(target), options_(options), begins_(std::move(begins)) {
    const double hertz = options.core_hz > 0 ? options.core_hz : target.core_hz;
    nominal_ = 1e12 / hertz;
    for (std::uint32_t core = 0; core < begins_.size() * program.cores; ++core) {
      const double factor = 1 + target.core_spread * normal(key_of(1, RandomUse::core_clock, core));
      const bool fixed = options.core_hz > 0;
      highest_.push_back(fixed ? hertz : hertz * factor);
      lowest_.push_back(fixed || target.core_hz_min <= 0 ? highest_.back()
                                                         : target.core_hz_min * factor);
    }
    rate_ = highest_;
    hmx_busy_.assign(rate_.size(), 0);
    for (std::uint32_t activation = 0; activation < begins_.size(); ++activation) {
      for (std::uint32_t queue = 0; queue < program.queues(); ++queue) add_queue(activation, queue);
    }
  }

  void run() {
    window_end_ = target_.governor_window_s > 0 ? target_.governor_window_s * 1e12 : infinite;
    now_ = 0;
    while (!finished()) {
      while (change()) {
      }
      if (finished()) break;
      advance(next_moment());
    }
  }

  const Times& times(std::uint32_t activation, std::uint32_t task,
                     std::uint32_t thread_of_group) const {
    for (const Queue& queue : queues_) {
      if (queue.activation != activation || task < queue.first || task >= queue.first + queue.count)
        continue;
      return queue.times[task - queue.first][thread_of_group];
    }
    std::abort();
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  // Two moments closer than this are one; far above rounding, far below a picosecond.
  static constexpr double epsilon = 1e-3;

  struct Thread {
    double free = 0;
    std::uint32_t position = 0;
    bool running = false;
    bool computing = false;
    double remaining = 0;
    double computed_at = 0;
    std::uint64_t key = 0;
  };
  struct Flow {
    bool active = false;
    double remaining = 0;
  };
  struct Queue {
    std::uint32_t activation = 0, number = 0, core = 0, clock = 0, first = 0, count = 0;
    qaic::ThreadGroup group{};
    std::vector<Thread> threads;
    std::vector<std::vector<Times>> times;
    std::vector<double> completion;  // by position; infinite: unknown
    std::vector<double> flow_end;    // by position, for synchronous transfers
    std::vector<std::uint32_t> threads_done;
    std::vector<double> last_kernel_end;
    // the DMA engine
    std::vector<double> issued;  // by position; infinite: not yet
    std::uint32_t serving = 0;
    bool streaming = false;
    double streaming_begin = 0, engine_free = 0, last_completion = 0;
    Flow flow;  // of the kernel or of the DMA engine
    std::uint32_t flow_position = 0;
  };

  void add_queue(std::uint32_t activation, std::uint32_t number) {
    Queue queue;
    queue.activation = activation;
    queue.number = number;
    queue.core = number / 3;
    queue.clock = activation * program_.cores + queue.core;
    queue.group = qaic::ThreadGroup(number % 3);
    queue.first = program_.queue_begin[number];
    queue.count = program_.queue_begin[number + 1] - queue.first;
    queue.threads.resize(program_.thread_count(queue.group));
    for (std::uint32_t t = 0; t < queue.threads.size(); ++t) {
      queue.threads[t].free = begins_[activation];
      queue.threads[t].key = key_of(options_.seed, RandomUse::kernel, activation, 0, queue.core,
                                    program_.first_thread(queue.group) + t);
    }
    queue.times.assign(queue.count, std::vector<Times>(queue.threads.size()));
    queue.completion.assign(queue.count, infinite);
    queue.flow_end.assign(queue.count, infinite);
    queue.threads_done.assign(queue.count, 0);
    queue.last_kernel_end.assign(queue.count, 0);
    queue.issued.assign(queue.count, infinite);
    queues_.push_back(std::move(queue));
  }

  const qaic::Task& task(const Queue& queue, std::uint32_t position) const {
    return program_.tasks[queue.first + position];
  }
  static double bytes(const qaic::Task& task) { return double(task.ddr_read + task.ddr_write); }
  bool synchronous(const Queue& queue, const qaic::Task& task) const {
    return queue.group != qaic::ThreadGroup::dma_issue || (task.flags & qaic::task_end_stats);
  }

  bool finished() const {
    for (const Queue& queue : queues_) {
      for (double completion : queue.completion) {
        if (completion == infinite) return false;
      }
    }
    return true;
  }

  // When the thread's next task may start; infinite when that is not known yet.
  double start_time(const Queue& queue, const Thread& thread) const {
    const std::uint32_t position = thread.position;
    const qaic::Task& next = task(queue, position);
    double time = thread.free;
    if (bytes(next) > 0 && synchronous(queue, next)) {  // on all threads together
      for (const Thread& other : queue.threads) {
        if (other.position < position) return infinite;
        if (!other.running) time = std::max(time, other.free);
      }
    }
    for (std::uint32_t i = 0; i < next.wait_count; ++i) {
      const qaic::Wait& wait = program_.waits[next.wait_begin + i];
      const Queue& producer = queues_[queue.activation * program_.queues() + wait.queue];
      const double cycles =
          producer.core == queue.core ? target_.sync_cycles : target_.cross_core_sync_cycles;
      if (wait.count > 0)
        time = std::max(time, producer.completion[wait.count - 1] + cycles * nominal_);
    }
    if (queue.group == qaic::ThreadGroup::dma_issue) {
      if (synchronous(queue, next)) {
        if (position > 0) time = std::max(time, queue.completion[position - 1]);
      } else if (position >= target_.dma_depth) {
        time = std::max(time, queue.completion[position - target_.dma_depth]);
      }
    }
    return time;
  }

  double kernel_cycles(const Queue& queue, std::uint32_t position, std::uint32_t t) const {
    const qaic::Task& it = task(queue, position);
    const double threads = double(queue.threads.size());
    double cycles = it.cycles;
    if (threads > 1) {
      const double lightness =
          double((t + queue.first + position) % queue.threads.size()) / (threads - 1);
      cycles *= 1 - it.thread_imbalance / 100.0 * lightness;
    }
    if (target_.jitter > 0) {
      cycles *= 1 + target_.jitter * normal(mix(queue.threads[t].key + queue.first + position));
    }
    return cycles;
  }

  // Whatever can change at this very moment; true when something did.
  bool change() {
    bool changed = false;
    if (now_ >= window_end_ - epsilon) {
      for (std::size_t core = 0; core < rate_.size(); ++core) {
        const double duty = hmx_busy_[core] / (target_.governor_window_s * 1e12);
        rate_[core] = highest_[core] - (highest_[core] - lowest_[core]) * duty;
        hmx_busy_[core] = 0;
      }
      window_end_ += target_.governor_window_s * 1e12;
      changed = true;
    }
    for (Queue& queue : queues_) {
      changed = change_flow(queue) || changed;
      for (std::uint32_t t = 0; t < queue.threads.size(); ++t) {
        changed = change_thread(queue, t) || changed;
      }
      if (queue.group == qaic::ThreadGroup::dma_issue) changed = change_engine(queue) || changed;
    }
    return changed;
  }

  bool change_flow(Queue& queue) {
    if (!queue.flow.active || queue.flow.remaining > epsilon * 1e-3) return false;
    queue.flow.active = false;
    if (queue.streaming) return true;
    queue.flow_end[queue.flow_position] = now_ + target_.ddr_latency_s * 1e12;
    return true;
  }

  bool change_thread(Queue& queue, std::uint32_t t) {
    Thread& thread = queue.threads[t];
    if (thread.position == queue.count) return false;
    const std::uint32_t position = thread.position;
    const qaic::Task& it = task(queue, position);
    Times& times = queue.times[position][t];
    const bool moves = bytes(it) > 0 && synchronous(queue, it);
    if (!thread.running) {
      if (start_time(queue, thread) > now_ + epsilon) return false;
      times.sync_begin = thread.free;
      times.start = now_;
      thread.running = thread.computing = true;
      thread.remaining = kernel_cycles(queue, position, t);
      if (moves && !queue.flow.active && queue.flow_end[position] == infinite) {
        queue.flow = {true, bytes(it)};
        queue.flow_position = position;
      }
      return true;
    }
    if (thread.computing) {
      if (thread.remaining > epsilon * 1e-3) return false;
      thread.computing = false;
      thread.computed_at = now_;
      return true;
    }
    if (moves && queue.flow_end[position] > now_ + epsilon) return false;
    times.kernel_end = now_;
    times.transfer_end = now_;
    finish_kernel(queue, t, it);
    return true;
  }

  void finish_kernel(Queue& queue, std::uint32_t t, const qaic::Task& it) {
    Thread& thread = queue.threads[t];
    const std::uint32_t position = thread.position;
    const bool signals = (it.flags & qaic::task_signals) != 0;
    const double record = program_.records(it) ? record_cycles() * nominal_ : 0;
    thread.running = false;
    ++thread.position;
    thread.free = signals ? infinite : now_ + record;
    queue.times[position][t].barrier_end = now_;
    if (++queue.threads_done[position] < queue.threads.size()) return;
    const double leave = now_ + (signals ? target_.barrier_cycles * nominal_ : 0);
    if (signals) {
      for (std::uint32_t i = 0; i < queue.threads.size(); ++i) {
        queue.threads[i].free = leave + record;
        queue.times[position][i].barrier_end = leave;
      }
    }
    if (synchronous(queue, it)) {
      queue.completion[position] = leave;
    } else {
      queue.issued[position] = now_;
    }
  }

  double record_cycles() const {
    return target_.record_cycles_op +
           (program_.stats_level >= 100 ? target_.record_cycles_op_pmu : 0);
  }

  bool change_engine(Queue& queue) {
    if (queue.serving == queue.count) return false;
    const qaic::Task& it = task(queue, queue.serving);
    if (synchronous(queue, it)) {
      if (queue.completion[queue.serving] == infinite) return false;
      ++queue.serving;
      return true;
    }
    if (!queue.streaming) {
      if (std::max(queue.issued[queue.serving], queue.engine_free) > now_ + epsilon) return false;
      queue.streaming = true;
      queue.streaming_begin = now_;
      queue.flow = {bytes(it) > 0, bytes(it)};
      return true;
    }
    if (queue.flow.active) return false;
    const double multicast = double(it.multicast) / target_.multicast_bytes_per_s_per_core * 1e12;
    queue.engine_free = std::max(now_, queue.streaming_begin + multicast);
    const double latency = std::max(bytes(it) > 0 ? target_.ddr_latency_s : 0,
                                    it.multicast > 0 ? target_.multicast_latency_s : 0) *
                           1e12;
    queue.last_completion = std::max(queue.last_completion, queue.engine_free + latency);
    queue.completion[queue.serving] = queue.last_completion;
    if (bytes(it) > 0 || it.multicast > 0) {
      queue.times[queue.serving][0].transfer_end = queue.last_completion;
    }
    queue.streaming = false;
    ++queue.serving;
    return true;
  }

  double flow_rate() const {  // bytes per picosecond of one
    double active = 0;
    for (const Queue& queue : queues_) active += queue.flow.active ? 1 : 0;
    return std::min(target_.ddr_bytes_per_s_per_core,
                    target_.ddr_bytes_per_s * target_.ddr_efficiency / std::max(active, 1.0)) *
           1e-12;
  }

  double next_moment() const {
    double next = window_end_;
    const double flow_rate_now = flow_rate();
    const auto at = [&](double time) {
      if (time > now_) next = std::min(next, time);
    };
    for (const Queue& queue : queues_) {
      if (queue.flow.active) at(now_ + queue.flow.remaining / flow_rate_now);
      for (std::uint32_t t = 0; t < queue.threads.size(); ++t) {
        const Thread& thread = queue.threads[t];
        if (thread.position == queue.count) continue;
        if (!thread.running) at(start_time(queue, thread));
        if (thread.computing) at(now_ + thread.remaining / rate_[queue.clock] * 1e12);
        if (thread.running && !thread.computing) at(queue.flow_end[thread.position]);
      }
      if (queue.group == qaic::ThreadGroup::dma_issue && queue.serving < queue.count) {
        at(std::max(queue.issued[queue.serving], queue.engine_free));
      }
    }
    return next;
  }

  void advance(double moment) {
    const double flow_rate_now = flow_rate();
    for (Queue& queue : queues_) {
      if (queue.flow.active) queue.flow.remaining -= flow_rate_now * (moment - now_);
      for (Thread& thread : queue.threads) {
        if (thread.computing) thread.remaining -= rate_[queue.clock] * 1e-12 * (moment - now_);
        if (thread.running && queue.group == qaic::ThreadGroup::hmx) {
          const bool integer = (task(queue, thread.position).flags & qaic::task_hmx_int8) != 0;
          hmx_busy_[queue.clock] +=
              (moment - now_) * (integer ? target_.hmx_int8_power_of_fp16 : 1);
        }
      }
    }
    now_ = moment;
  }

  const qaic::Program& program_;
  const Target& target_;
  const SimulationOptions& options_;
  std::vector<double> begins_;
  std::vector<double> highest_, lowest_, rate_, hmx_busy_;  // by physical core
  std::vector<Queue> queues_;
  double nominal_ = 0;  // picoseconds per cycle
  double now_ = 0;
  double window_end_ = infinite;
};

}  // namespace npuscope::npu::nsp
