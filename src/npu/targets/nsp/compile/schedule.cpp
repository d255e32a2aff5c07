#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <queue>

namespace npuscope::npu::nsp {
namespace {

// Operators whose tiles are taken in turn, and the tasks that stand among them.
class Group {
 public:
  Group(const TaskGraph& tasks, std::vector<TaskIndex>& order) : tasks_(tasks), order_(order) {}

  // The tasks [begin, end): those of one operator, and those before them that are of none.
  void add(TaskIndex begin, TaskIndex end) {
    const std::uint32_t tiles = tasks_.tasks()[end - 1].tiles;
    if (begin_ < end_ && (tiles != tiles_ || !can_take(begin, end))) close(begin);
    if (begin_ == end_) {
      while (begin < end && tasks_.tasks()[begin].tiles < 2) ++begin;
      begin_ = end_ = begin;
      tiles_ = tiles;
      late_.clear();
      hmx_is_late_ = false;
      if (!can_take(begin, end)) begin_ = end;
    }
    end_ = end;
  }

  // Nothing after `next` takes part.
  void close(TaskIndex next) {
    std::vector<TaskIndex> early, mine, late;
    for (TaskIndex i = begin_; i < end_; ++i) {
      (is_tile(i) ? mine : is_late(i) ? late : early).push_back(i);
    }
    std::ranges::stable_sort(mine, [&](TaskIndex a, TaskIndex b) {
      return tasks_.tasks()[a].tile < tasks_.tasks()[b].tile;
    });
    auto at = order_.begin() + begin_;
    for (const auto* part : {&early, &mine, &late}) at = std::copy(part->begin(), part->end(), at);
    begin_ = end_ = next;
  }

 private:
  bool is_tile(TaskIndex i) const { return tasks_.tasks()[i].tiles > 1; }
  bool is_late(TaskIndex i) const { return late_[i - begin_]; }

  // Also notes which of the tasks that are no tiles need one of the group's, if by another of them:
  // they are late. In turn with the others, a tile may need none of those, nor a later tile of an
  // operator before. HVX and HMX queues must keep their order otherwise: a task on HVX that is no
  // tile ends the group, and after a late one on the HMX all there are late.
  bool can_take(TaskIndex begin, TaskIndex end) {
    late_.resize(begin - begin_, false);
    for (TaskIndex i = begin; i < end; ++i) {
      const bool on_hmx = tasks_.tasks()[i].group == qaic::ThreadGroup::hmx;
      // What comes from another device may wait for what this one sends after its tiles.
      bool late = (on_hmx && hmx_is_late_) || tasks_.tasks()[i].peer_bytes > 0;
      if (!is_tile(i) && tasks_.tasks()[i].group == qaic::ThreadGroup::hvx) return false;
      for (const TaskNeed& need : tasks_.needs(i)) {
        if (need.task < begin_) continue;
        if (!is_tile(need.task)) {
          late = late || is_late(need.task);
        } else if (!is_tile(i)) {
          late = true;
        } else if (tasks_.tasks()[need.task].tile > tasks_.tasks()[i].tile) {
          return false;
        }
      }
      if (late && is_tile(i)) return false;
      hmx_is_late_ = hmx_is_late_ || (on_hmx && late);
      late_.push_back(late);
    }
    return true;
  }

  const TaskGraph& tasks_;
  std::vector<TaskIndex>& order_;
  TaskIndex begin_ = 0, end_ = 0;
  std::uint32_t tiles_ = 0;
  std::vector<bool> late_;  // from begin_ on
  bool hmx_is_late_ = false;
};

}  // namespace

std::vector<TaskIndex> interleave_tiles(const TaskGraph& tasks) {
  std::vector<TaskIndex> order(tasks.tasks().size());
  std::iota(order.begin(), order.end(), 0u);
  Group group(tasks, order);
  const auto& all = tasks.tasks();
  TaskIndex begin = 0;  // of what has not been given to the group
  for (TaskIndex i = 0; i < all.size(); ++i) {
    if (all[i].tiles < 2) continue;
    TaskIndex end = i + 1;
    for (TaskIndex j = end; j < all.size() && all[j].node == all[i].node; ++j) {
      if (all[j].tiles > 1) end = j + 1;
    }
    group.add(begin, end);
    begin = end;
    i = end - 1;
  }
  group.close(TaskIndex(all.size()));
  return order;
}

namespace {

// How long a task keeps its unit, roughly; only the order that comes of it matters. In picoseconds.
std::int64_t estimated_duration(const TaskSpec& task, const Target& target, std::uint32_t cores) {
  const double share = std::min(target.ddr_bytes_per_s_per_core,
                                target.ddr_bytes_per_s * target.ddr_efficiency / cores);
  double seconds = double(task.cycles) / target.core_hz;
  if (task.ddr_read + task.ddr_write > 0) {
    seconds += target.ddr_latency_s + double(task.ddr_read + task.ddr_write) / share;
  }
  if (task.multicast > 0) {
    seconds +=
        target.multicast_latency_s + double(task.multicast) / target.multicast_bytes_per_s_per_core;
  }
  if (task.peer_bytes > 0 && !task.incoming) {
    seconds += target.peer_latency_s + double(task.peer_bytes) / (target.peer_bytes_per_s / cores);
  }
  return std::llround(seconds * 1e12);
}

bool is_outgoing(const TaskSpec& task) { return task.peer_bytes > 0 && !task.incoming; }
bool is_incoming(const TaskSpec& task) { return task.peer_bytes > 0 && task.incoming; }

// What all cores send to other devices in one exchange comes before what they receive in it.
void send_before_receiving(const TaskGraph& tasks, std::vector<TaskIndex>& order) {
  const auto& specs = tasks.tasks();
  const auto needs_one_of = [&](TaskIndex task, auto begin, auto end) {
    return std::any_of(begin, end, [&](TaskIndex other) {
      const auto needs = tasks.needs(task);
      return std::ranges::any_of(needs, [&](const TaskNeed& need) { return need.task == other; });
    });
  };
  for (auto begin = order.begin(); begin != order.end();) {
    auto end = begin;
    while (end != order.end() && specs[*end].peer_bytes > 0) {
      if (is_outgoing(specs[*end]) && needs_one_of(*end, begin, end)) break;
      ++end;
    }
    std::stable_partition(begin, end, [&](TaskIndex task) { return is_outgoing(specs[task]); });
    begin = end == begin ? end + 1 : end;
  }
}

// When each task begins, roughly: HVX and HMX queues in `order`, of a DMA queue whatever is first
// in it among what could go. A queue that went by what could go first would fetch the last layers'
// weights before what the next one waits for.
class Dispatch {
 public:
  Dispatch(const TaskGraph& tasks, const Target& target, const std::vector<TaskIndex>& order)
      : tasks_(tasks),
        target_(target),
        order_(order),
        begin_(order.size()),
        position_(order.size()),
        missing_(order.size(), 0),
        waiter_begin_(order.size() + 1, 0),
        queues_(tasks.cores() * qaic::thread_groups) {
    for (std::uint32_t at = 0; at < order.size(); ++at) position_[order[at]] = at;
    find_waiters();
    find_exchanges();
  }

  std::vector<std::int64_t> run() {
    for (TaskIndex task : order_) {
      if (missing_[task] == 0) queue_of(task).ready.push(position_[task]);
      if (tasks_.runs_in_program_order(task)) queue_of(task).in_order.push_back(position_[task]);
    }
    for (std::uint32_t queue = 0; queue < queues_.size(); ++queue) start_next(queue, 0);
    std::vector<std::uint32_t> touched;
    while (!ends_.empty()) {
      const std::int64_t now = ends_.top().first;
      touched.clear();
      for (; !ends_.empty() && ends_.top().first == now; ends_.pop()) {
        const TaskIndex task = order_[ends_.top().second];
        queue_of(task).busy = false;
        touched.push_back(tasks_.queue_of(task));
        finish(task, touched);
      }
      for (std::uint32_t queue : touched) start_next(queue, now);
    }
    return std::move(begin_);
  }

 private:
  using Positions = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  struct Queue {
    Positions ready;
    std::vector<std::uint32_t> in_order;  // of HVX and HMX
    std::size_t next = 0;
    bool busy = false;
  };

  Queue& queue_of(TaskIndex task) { return queues_[tasks_.queue_of(task)]; }

  void find_waiters() {
    for (TaskIndex task : order_) {
      for (const TaskNeed& need : tasks_.needs(task)) ++waiter_begin_[need.task + 1];
    }
    std::partial_sum(waiter_begin_.begin(), waiter_begin_.end(), waiter_begin_.begin());
    waiters_.resize(waiter_begin_.back());
    std::vector<std::uint64_t> at(waiter_begin_.begin(), waiter_begin_.end() - 1);
    for (TaskIndex task : order_) {
      missing_[task] = std::uint32_t(tasks_.needs(task).size());
      for (const TaskNeed& need : tasks_.needs(task)) waiters_[at[need.task]++] = task;
    }
  }

  // Devices wait for one another: were anything that follows a transfer from another to stand in a
  // queue before what this one sends in the same exchange, each could wait for the other.
  void find_exchanges() {
    for (TaskIndex task : order_) {
      if (is_outgoing(tasks_.tasks()[task])) sent_.push_back(task);
      if (!is_incoming(tasks_.tasks()[task]) || sent_.empty()) continue;
      received_.push_back({sent_.size(), task});
      ++missing_[task];
    }
    is_sent_.resize(sent_.empty() ? 0 : order_.size(), false);
  }

  void satisfy(TaskIndex task, std::vector<std::uint32_t>& touched) {
    if (--missing_[task] > 0) return;
    queue_of(task).ready.push(position_[task]);
    touched.push_back(tasks_.queue_of(task));
  }

  void finish(TaskIndex task, std::vector<std::uint32_t>& touched) {
    for (std::uint64_t at = waiter_begin_[task]; at < waiter_begin_[task + 1]; ++at)
      satisfy(waiters_[at], touched);
    if (!is_outgoing(tasks_.tasks()[task])) return;
    is_sent_[task] = true;
    while (all_sent_ < sent_.size() && is_sent_[sent_[all_sent_]]) ++all_sent_;
    for (; next_received_ < received_.size() && received_[next_received_].first <= all_sent_;
         ++next_received_)
      satisfy(received_[next_received_].second, touched);
  }

  void start_next(std::uint32_t index, std::int64_t now) {
    Queue& queue = queues_[index];
    if (queue.busy || queue.ready.empty()) return;
    const std::uint32_t at = queue.ready.top();
    if (!queue.in_order.empty() && queue.in_order[queue.next] != at) return;
    ++queue.next;
    queue.ready.pop();
    queue.busy = true;
    begin_[order_[at]] = now;
    const TaskSpec& task = tasks_.tasks()[order_[at]];
    ends_.push({now + estimated_duration(task, target_, tasks_.cores()), at});
  }

  using End = std::pair<std::int64_t, std::uint32_t>;  // when, position

  const TaskGraph& tasks_;
  const Target& target_;
  const std::vector<TaskIndex>& order_;
  std::vector<std::int64_t> begin_;
  std::vector<std::uint32_t> position_;  // in the order
  std::vector<std::uint32_t> missing_;   // needs that have not ended
  std::vector<std::uint64_t> waiter_begin_;
  std::vector<TaskIndex> waiters_;
  std::vector<Queue> queues_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<TaskIndex> sent_;
  std::vector<bool> is_sent_;
  std::size_t all_sent_ = 0;                                 // the first of sent_ that have ended
  std::vector<std::pair<std::size_t, TaskIndex>> received_;  // after so many of sent_
  std::size_t next_received_ = 0;
};

}  // namespace

Schedule schedule_tasks(const TaskGraph& tasks, const Target& target) {
  std::vector<TaskIndex> order = interleave_tiles(tasks);
  send_before_receiving(tasks, order);
  std::vector<std::int64_t> begin = Dispatch(tasks, target, order).run();
  Schedule schedule;
  schedule.global = order;
  // What a task needs begins no later than it and precedes it in this order, so sorting by (begin,
  // order) keeps every need before its task: the queues cannot deadlock.
  std::ranges::stable_sort(schedule.global,
                           [&](TaskIndex a, TaskIndex b) { return begin[a] < begin[b]; });
  schedule.begin = std::move(begin);
  schedule.queues.resize(tasks.cores() * qaic::thread_groups);
  for (TaskIndex task : schedule.global) schedule.queues[tasks.queue_of(task)].push_back(task);
  return schedule;
}

std::vector<TaskIndex> emit_program(const TaskGraph& tasks, const Schedule& schedule,
                                    const StringPool& strings, qaic::Program& program) {
  const std::size_t count = tasks.tasks().size();
  std::vector<std::uint32_t> place(count);     // in program.tasks
  std::vector<std::uint32_t> position(count);  // in its queue
  std::vector<TaskIndex> origin;
  origin.reserve(count);
  program.queue_begin.clear();
  for (const auto& queue : schedule.queues) {
    program.queue_begin.push_back(std::uint32_t(origin.size()));
    for (std::uint32_t i = 0; i < queue.size(); ++i) {
      place[queue[i]] = std::uint32_t(origin.size());
      position[queue[i]] = i;
      origin.push_back(queue[i]);
    }
  }
  program.queue_begin.push_back(std::uint32_t(origin.size()));
  program.tasks.assign(count, {});

  // Waits, in an order in which the tasks could run: a queue that has once seen another queue's
  // progress need not look for less.
  const std::size_t queue_count = schedule.queues.size();
  std::vector<std::uint32_t> seen(queue_count * queue_count, 0);
  std::vector<qaic::Wait> waits;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waits_of(count);  // first, last
  for (TaskIndex index : schedule.global) {
    const std::uint32_t queue = tasks.queue_of(index);
    const std::size_t first = waits.size();
    for (const TaskNeed& need : tasks.needs(index)) {
      const std::uint32_t other = tasks.queue_of(need.task);
      const std::uint32_t done = position[need.task] + 1;
      std::uint32_t& known = seen[queue * queue_count + other];
      if (other == queue || known >= done) continue;
      known = done;
      const auto same = std::find_if(waits.begin() + std::ptrdiff_t(first), waits.end(),
                                     [&](const qaic::Wait& wait) { return wait.queue == other; });
      if (same != waits.end()) {
        same->count = done;
      } else {
        waits.push_back({other, done});
      }
    }
    waits_of[index] = {std::uint32_t(first), std::uint32_t(waits.size())};
  }
  std::vector<bool> signals(count);  // by place
  for (const qaic::Wait& wait : waits) {
    signals[program.queue_begin[wait.queue] + wait.count - 1] = true;
  }
  program.waits.reserve(waits.size());
  program.dependencies.reserve(tasks.size().needs);
  std::map<StringId, std::uint32_t> kernel_numbers;
  for (std::uint32_t at = 0; at < count; ++at) {
    const TaskSpec& spec = tasks.tasks()[origin[at]];
    const auto [kernel, added] =
        kernel_numbers.emplace(spec.kernel, std::uint32_t(program.kernels.size()));
    if (added) program.kernels.emplace_back(strings[spec.kernel]);
    qaic::Task& task = program.tasks[at];
    task.kernel = kernel->second;
    task.cycles = std::uint32_t(std::min<std::uint64_t>(spec.cycles, 0xFFFFFFFFu));
    task.ddr_read = spec.ddr_read;
    task.ddr_write = spec.ddr_write;
    task.multicast = spec.multicast;
    task.macs = spec.macs;
    task.flags = spec.flags;
    if (signals[at]) task.flags |= qaic::task_signals;
    task.thread_imbalance = spec.thread_imbalance;
    task.threads = spec.threads;
    task.port = spec.port;
    task.wait_begin = std::uint32_t(program.waits.size());
    const auto [first_wait, last_wait] = waits_of[origin[at]];
    task.wait_count = last_wait - first_wait;
    program.waits.insert(program.waits.end(), waits.begin() + first_wait,
                         waits.begin() + last_wait);
    task.dependency_begin = std::uint32_t(program.dependencies.size());
    for (const TaskNeed& need : tasks.needs(origin[at])) {
      program.dependencies.push_back({place[need.task], need.data ? 0u : 1u});
    }
    task.dependency_count = std::uint32_t(program.dependencies.size()) - task.dependency_begin;
  }
  return origin;
}

}  // namespace npuscope::npu::nsp
