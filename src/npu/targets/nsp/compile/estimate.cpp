// How long a program takes, to compare ways of compiling it: queues in their order, DDR as one
// server that takes transfers as they come. The simulator knows more: clocks, threads, noise.
#include <algorithm>
#include <queue>

#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

namespace npuscope::npu::nsp {
namespace {

constexpr std::uint32_t nobody = ~std::uint32_t{0};

class Estimate {
 public:
  Estimate(const TaskGraph& tasks, const Schedule& schedule, const Target& target)
      : tasks_(tasks),
        schedule_(schedule),
        target_(target),
        end_(tasks.tasks().size(), -1),
        first_waiter_(tasks.tasks().size(), nobody),
        queues_(schedule.queues.size()) {}

  double seconds() {
    for (std::uint32_t queue = 0; queue < queues_.size(); ++queue) look_at(queue);
    while (!ready_.empty()) {
      const auto [start, queue] = ready_.top();
      ready_.pop();
      const TaskIndex task = schedule_.queues[queue][queues_[queue].next++];
      run(task, start, queues_[queue]);
      last_ = std::max(last_, end_[task]);
      std::uint32_t waiter = std::exchange(first_waiter_[task], nobody);
      while (waiter != nobody) look_at(std::exchange(waiter, queues_[waiter].next_waiter));
      look_at(queue);
    }
    return last_;
  }

 private:
  struct Queue {
    std::size_t next = 0;
    double free_at = 0;
    double engine_free_at = 0;  // of DMA
    std::uint32_t next_waiter = nobody;
  };

  // Its next task starts when everything that it needs has ended; until that is known the queue
  // waits for the first that has not.
  void look_at(std::uint32_t index) {
    Queue& queue = queues_[index];
    if (queue.next == schedule_.queues[index].size()) return;
    const TaskIndex task = schedule_.queues[index][queue.next];
    double start = queue.free_at;
    for (const TaskNeed& need : tasks_.needs(task)) {
      if (end_[need.task] < 0) {
        queue.next_waiter = std::exchange(first_waiter_[need.task], index);
        return;
      }
      if (tasks_.queue_of(need.task) == index && index % qaic::thread_groups != dma) continue;
      const bool own = tasks_.tasks()[need.task].core == tasks_.tasks()[task].core;
      const double signal = own ? target_.sync_cycles : target_.cross_core_sync_cycles;
      start = std::max(start, end_[need.task] + signal / target_.core_hz);
    }
    ready_.push({start, index});
  }

  void run(TaskIndex index, double start, Queue& queue) {
    const TaskSpec& task = tasks_.tasks()[index];
    const bool moves = task.ddr_read + task.ddr_write > 0;
    const double issued = start + (double(task.cycles) + target_.barrier_cycles) / target_.core_hz;
    if (task.group != qaic::ThreadGroup::dma_issue) {
      const double moved = moves ? transfer(task, start) + target_.ddr_latency_s : start;
      queue.free_at = end_[index] = std::max(issued, moved);
      return;
    }
    // With one transfer at a time, issuing waits for the engine.
    const double begin = queue.free_at = std::max(issued, queue.engine_free_at);
    queue.engine_free_at = transfer(task, begin);
    end_[index] = queue.engine_free_at + (moves                ? target_.ddr_latency_s
                                          : task.multicast > 0 ? target_.multicast_latency_s
                                                               : 0);
  }

  double transfer(const TaskSpec& task, double begin) {
    const double bytes = double(task.ddr_read + task.ddr_write);
    double end = begin + double(task.multicast) / target_.multicast_bytes_per_s_per_core;
    if (bytes == 0) return end;
    ddr_free_at_ =
        std::max(ddr_free_at_, begin) + bytes / (target_.ddr_bytes_per_s * target_.ddr_efficiency);
    end = std::max(end, begin + bytes / target_.ddr_bytes_per_s_per_core);
    return std::max(end, ddr_free_at_);
  }

  static constexpr std::uint32_t dma = std::uint32_t(qaic::ThreadGroup::dma_issue);
  using Ready = std::pair<double, std::uint32_t>;  // when, queue

  const TaskGraph& tasks_;
  const Schedule& schedule_;
  const Target& target_;
  std::vector<double> end_;  // by task; below 0: not known
  std::vector<std::uint32_t> first_waiter_;
  std::vector<Queue> queues_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  double ddr_free_at_ = 0, last_ = 0;
};

}  // namespace

double estimated_seconds(const TaskGraph& tasks, const Schedule& schedule, const Target& target) {
  return Estimate(tasks, schedule, target).seconds();
}

}  // namespace npuscope::npu::nsp
