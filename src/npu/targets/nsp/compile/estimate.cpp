// How long a program takes, to compare ways of compiling it: queues in their order, transfers that
// share the DDR. The simulator knows more: a clock that changes, threads, noise.
#include <algorithm>
#include <queue>

#include "npu/targets/nsp/compile/tasks/task_graph.hpp"
#include "npu/targets/nsp/target/shared_bandwidth.hpp"

namespace npuscope::npu::nsp {
namespace {

constexpr std::uint32_t nobody = ~std::uint32_t{0};

class Estimate {
 public:
  Estimate(const TaskGraph& tasks, const Schedule& schedule, const Target& target,
           double recording_cycles)
      : tasks_(tasks),
        schedule_(schedule),
        target_(target),
        recording_(cycles(recording_cycles)),
        ddr_(target.ddr_bytes_per_s * target.ddr_efficiency, target.ddr_bytes_per_s_per_core),
        end_(tasks.tasks().size(), never),
        first_waiter_(tasks.tasks().size(), nobody),
        queues_(schedule.queues.size()) {}

  double seconds() {
    for (std::uint32_t queue = 0; queue < queues_.size(); ++queue) look_at(queue);
    while (true) {
      const Picoseconds next = ready_.empty() ? never : ready_.top().first;
      if (next == never && ddr_.next_end() == never) return double(last_.value) * 1e-12;
      if (ddr_.next_end() <= next) {
        const Picoseconds now = ddr_.next_end();
        end_transfer(ddr_.take(), now);
        continue;
      }
      const std::uint32_t queue = ready_.top().second;
      ready_.pop();
      queues_[queue].issued ? begin_transfer(queue, next) : start(queue, next);
    }
  }

 private:
  struct Queue {
    std::size_t next = 0;
    bool issued = false;  // its task has run, what that moves is still to come
    Picoseconds ran{};    // when its task had run
    Picoseconds begin{};  // of the transfer
    std::uint32_t next_waiter = nobody;
  };

  Picoseconds cycles(double count) const { return from_seconds(count / target_.core_hz); }
  const TaskSpec& task_of(std::uint32_t queue) const {
    return tasks_.tasks()[schedule_.queues[queue][queues_[queue].next]];
  }

  // Its next task starts when everything that it needs has ended; until that is known the queue
  // waits for the first that has not.
  void look_at(std::uint32_t index) {
    Queue& queue = queues_[index];
    if (queue.next == schedule_.queues[index].size()) return;
    const TaskIndex task = schedule_.queues[index][queue.next];
    Picoseconds start = queue.ran;
    for (const TaskNeed& need : tasks_.needs(task)) {
      const Picoseconds end = end_[need.task];
      if (end == never) {
        queue.next_waiter = std::exchange(first_waiter_[need.task], index);
        return;
      }
      const std::uint32_t other = tasks_.queue_of(need.task);
      if (other == index) continue;
      const bool own = other / qaic::thread_groups == index / qaic::thread_groups;
      start =
          std::max(start, end + cycles(own ? target_.sync_cycles : target_.cross_core_sync_cycles));
    }
    ready_.push({start, index});
  }

  void start(std::uint32_t index, Picoseconds now) {
    Queue& queue = queues_[index];
    const TaskSpec& task = task_of(index);
    queue.ran = now + cycles(double(task.cycles) + target_.barrier_cycles);
    const bool on_dma = task.group == qaic::ThreadGroup::dma_issue;
    if (!on_dma && task.ddr_read + task.ddr_write == 0) return finish(index, queue.ran);
    queue.issued = true;
    // DMA moves when the task has run, others meanwhile.
    ready_.push({on_dma ? queue.ran : now, index});
  }

  void begin_transfer(std::uint32_t index, Picoseconds now) {
    const TaskSpec& task = task_of(index);
    queues_[index].begin = now;
    const std::uint64_t bytes = task.ddr_read + task.ddr_write;
    bytes > 0 ? ddr_.add(now, index, bytes) : end_transfer(index, now);
  }

  void end_transfer(std::uint32_t index, Picoseconds now) {
    Queue& queue = queues_[index];
    const TaskSpec& task = task_of(index);
    const Picoseconds sent =
        queue.begin + from_seconds(double(task.multicast) / target_.multicast_bytes_per_s_per_core);
    const double latency = task.ddr_read + task.ddr_write > 0 ? target_.ddr_latency_s
                           : task.multicast > 0               ? target_.multicast_latency_s
                                                              : 0;
    finish(index, std::max({now, sent, queue.ran}) + from_seconds(latency));
  }

  // One transfer of a queue at a time.
  void finish(std::uint32_t index, Picoseconds end) {
    Queue& queue = queues_[index];
    const TaskIndex task = schedule_.queues[index][queue.next++];
    queue.issued = false;
    end = std::min(end, time_limit);
    queue.ran = end + recording_;
    end_[task] = end;
    last_ = std::max(last_, end);
    std::uint32_t waiter = std::exchange(first_waiter_[task], nobody);
    while (waiter != nobody) look_at(std::exchange(waiter, queues_[waiter].next_waiter));
    look_at(index);
  }

  using Ready = std::pair<Picoseconds, std::uint32_t>;  // when, queue

  const TaskGraph& tasks_;
  const Schedule& schedule_;
  const Target& target_;
  const Picoseconds recording_;  // of each task
  SharedBandwidth ddr_;
  std::vector<Picoseconds> end_;  // by task; never: not known
  std::vector<std::uint32_t> first_waiter_;
  std::vector<Queue> queues_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  Picoseconds last_{};
};

}  // namespace

double estimated_seconds(const TaskGraph& tasks, const Schedule& schedule, const Target& target,
                         std::uint32_t stats_level) {
  const double recording = (stats_level >= 70 ? target.record_cycles_op : 0) +
                           (stats_level >= 100 ? target.record_cycles_op_pmu : 0);
  return Estimate(tasks, schedule, target, recording).seconds();
}

}  // namespace npuscope::npu::nsp
