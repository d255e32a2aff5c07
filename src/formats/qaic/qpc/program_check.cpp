#include "formats/qaic/qpc/program_check.hpp"

#include <algorithm>
#include <optional>
#include <queue>

#include "base/text.hpp"
#include "formats/qaic/stats/stats_buffer.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::uint32_t max_cores = 64;
constexpr std::uint32_t max_hvx_threads = 16;
constexpr std::uint32_t max_slices = 64;
constexpr std::uint64_t max_tasks = std::uint64_t{1} << 28;
// Longest network name: it becomes part of file names, which end at 255 bytes.
constexpr std::size_t max_name_bytes = 160;
// Sums over a program stay below these, so that simulated picoseconds fit 64 bits.
constexpr std::uint64_t max_total_cycles = std::uint64_t{1} << 48;
constexpr std::uint64_t max_total_bytes = std::uint64_t{1} << 48;
constexpr std::uint64_t max_total_macs = std::uint64_t{1} << 60;

constexpr std::uint8_t flags_of(ThreadGroup group) {
  const std::uint8_t common = task_signals | task_pipelined_port | task_end_stats;
  return group == ThreadGroup::hmx ? common | task_hmx_int8 : common;
}

// The network's name becomes part of the names of output files.
bool usable_in_file_name(std::string_view name) {
  return name.size() <= max_name_bytes && name.find('/') == std::string_view::npos &&
         printable(name) == name;
}

Status check_identity(const Program& program, std::string_view name) {
  if (!usable_in_file_name(program.network_name)) {
    return input_error(
        "{}: network name '{}' cannot be part of a file name (no '/', no control characters, at "
        "most {} bytes); rename the network",
        name, program.network_name.substr(0, max_name_bytes), max_name_bytes);
  }
  if (program.cores < 1 || program.cores > max_cores) {
    return input_error("{}: program for {} cores; 1 to {} are possible", name, program.cores,
                       max_cores);
  }
  if (program.hvx_threads < 1 || program.hvx_threads > max_hvx_threads) {
    return input_error("{}: program for {} HVX threads per core; 1 to {} are possible", name,
                       program.hvx_threads, max_hvx_threads);
  }
  if (program.batch_size < 1 || program.stats_batch_size < 1) {
    return input_error("{}: batch size {} and statistics batch size {} must both be at least 1",
                       name, program.batch_size, program.stats_batch_size);
  }
  if (program.pmu_events.size() > max_pmu_counters) {
    return input_error("{}: program counts {} PMU events; the device has {} counters", name,
                       program.pmu_events.size(), max_pmu_counters);
  }
  for (const std::uint64_t bytes : program.hoisted_bytes) {
    if (bytes > max_total_bytes / max_cores) {
      return input_error(
          "{}: program keeps {} bytes of constants in one core's VTCM, more than any has; it is "
          "damaged",
          name, bytes);
    }
  }
  if (!program.hoisted_bytes.empty() && program.hoisted_bytes.size() != program.cores) {
    return input_error("{}: program of {} cores says of {} what they keep in VTCM", name,
                       program.cores, program.hoisted_bytes.size());
  }
  for (const std::uint64_t bytes :
       {program.input_bytes, program.output_bytes, program.retained_bytes}) {
    if (bytes > max_total_bytes) {
      return input_error(
          "{}: program moves {} bytes per inference over the host link, more than "
          "any device can; it is damaged",
          name, bytes);
    }
  }
  return {};
}

Status check_queues(const Program& program, std::string_view name) {
  const auto& begin = program.queue_begin;
  if (program.tasks.size() > max_tasks) {
    return input_error("{}: program has {} tasks; at most {} are possible", name,
                       program.tasks.size(), max_tasks);
  }
  if (begin.size() != std::size_t{program.queues()} + 1) {
    return input_error("{}: program of {} cores lists {} queue bounds, expected {}", name,
                       program.cores, begin.size(), program.queues() + 1);
  }
  if (begin.front() != 0 || begin.back() != program.tasks.size() ||
      !std::is_sorted(begin.begin(), begin.end())) {
    return input_error("{}: queue bounds do not divide the program's {} tasks in order", name,
                       program.tasks.size());
  }
  return {};
}

// Adds to a total that stays below its limit; false when it would not.
bool add_within(std::uint64_t& total, std::uint64_t amount, std::uint64_t limit) {
  if (amount > limit - total) return false;
  total += amount;
  return true;
}

struct Totals {
  std::uint64_t cycles = 0;
  std::uint64_t bytes = 0;
  std::uint64_t macs = 0;
  std::uint64_t waits = 0;
  std::uint64_t dependencies = 0;

  // The waits and dependencies of all tasks together fit their tables: ranges that shared entries
  // would let a small file ask for quadratic work.
  bool add(const Task& task, const Program& program) {
    return add_within(cycles, task.cycles, max_total_cycles) &&
           add_within(bytes, task.ddr_read, max_total_bytes) &&
           add_within(bytes, task.ddr_write, max_total_bytes) &&
           add_within(bytes, task.multicast, max_total_bytes) &&
           add_within(macs, task.macs, max_total_macs) &&
           add_within(waits, task.wait_count, program.waits.size()) &&
           add_within(dependencies, task.dependency_count, program.dependencies.size());
  }
};

bool range_fits(std::uint64_t begin, std::uint64_t count, std::size_t size) {
  return begin + count <= size;
}

Status check_task(const Program& program, std::size_t index, ThreadGroup group,
                  std::string_view name) {
  const Task& task = program.tasks[index];
  if (task.kernel >= program.kernels.size()) {
    return input_error("{}: task {} runs kernel {} of {}", name, index, task.kernel,
                       program.kernels.size());
  }
  if (!range_fits(task.wait_begin, task.wait_count, program.waits.size())) {
    return input_error("{}: task {} has waits {} to {} of {}", name, index, task.wait_begin,
                       std::uint64_t{task.wait_begin} + task.wait_count, program.waits.size());
  }
  if (!range_fits(task.dependency_begin, task.dependency_count, program.dependencies.size())) {
    return input_error(
        "{}: task {} has dependencies {} to {} of {}", name, index, task.dependency_begin,
        std::uint64_t{task.dependency_begin} + task.dependency_count, program.dependencies.size());
  }
  if ((task.flags & ~flags_of(group)) != 0 || task.thread_imbalance > 100 ||
      task.threads > program.hvx_threads ||
      (task.port != 0 && task.port != host_input_port && task.port != host_output_port)) {
    return input_error(
        "{}: task {} has flags {}, imbalance {} %, {} threads and port {}, which mean nothing",
        name, index, task.flags, task.thread_imbalance, task.threads, task.port);
  }
  return {};
}

Status check_tasks(const Program& program, std::string_view name) {
  Totals totals;
  std::uint32_t queue = 0;
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    while (program.queue_begin[queue + 1] <= i) ++queue;
    const auto group = ThreadGroup(queue % thread_groups);
    if (auto checked = check_task(program, i, group, name); !checked) return checked;
    if (!totals.add(program.tasks[i], program)) {
      return input_error(
          "{}: cycles, bytes, waits or dependencies of the tasks up to {} add up to "
          "more than a program can have; it is damaged",
          name, i);
    }
  }
  return {};
}

Status check_waits(const Program& program, std::string_view name) {
  for (std::size_t i = 0; i < program.waits.size(); ++i) {
    const Wait& wait = program.waits[i];
    if (wait.queue >= program.queues()) {
      return input_error("{}: wait {} is for queue {} of {}", name, i, wait.queue,
                         program.queues());
    }
    const auto length = program.queue_begin[wait.queue + 1] - program.queue_begin[wait.queue];
    if (wait.count > length) {
      return input_error("{}: wait {} is for {} tasks of queue {}, which has {}", name, i,
                         wait.count, wait.queue, length);
    }
  }
  const auto is_sound = [tasks = program.tasks.size()](const Dependency& dependency) {
    return dependency.task < tasks && dependency.kind <= 1;
  };
  Dependency largest;  // without a branch for each: which is at fault matters where one is
  for (const Dependency& dependency : program.dependencies) {
    largest = {std::max(largest.task, dependency.task), largest.kind | dependency.kind};
  }
  if (program.dependencies.empty() || is_sound(largest)) return {};
  const auto fault = std::ranges::find_if_not(program.dependencies, is_sound);
  return input_error("{}: dependency {} is on task {} of {} with kind {}", name,
                     fault - program.dependencies.begin(), fault->task, program.tasks.size(),
                     fault->kind);
}

bool is_side_of_transfer(const Program& program, const PeerTransfer& transfer) {
  const auto after =
      std::upper_bound(program.queue_begin.begin(), program.queue_begin.end(), transfer.task);
  const auto queue = std::size_t(after - program.queue_begin.begin()) - 1;
  const auto group = ThreadGroup(queue % thread_groups);
  const Task& task = program.tasks[transfer.task];
  if (transfer.incoming != 0) return group != ThreadGroup::dma_issue;
  return group == ThreadGroup::dma_issue && task.ddr_read + task.ddr_write + task.multicast == 0 &&
         (task.flags & task_end_stats) == 0;
}

Status check_peer_transfers(const Program& program, std::string_view name) {
  if (program.slices < 1 || program.slices > max_slices || program.slice >= program.slices) {
    return input_error("{}: program of device {} of {}; 1 to {} devices are possible", name,
                       program.slice, program.slices, max_slices);
  }
  std::uint64_t bytes = 0;
  std::optional<std::uint32_t> last;
  for (std::size_t i = 0; i < program.peer_transfers.size(); ++i) {
    const PeerTransfer& transfer = program.peer_transfers[i];
    const bool sound = transfer.task < program.tasks.size() && (!last || *last < transfer.task) &&
                       transfer.peer < program.slices && transfer.peer != program.slice &&
                       transfer.incoming <= 1 && transfer.bytes <= 0xFFFF'FFFFu &&
                       is_side_of_transfer(program, transfer) &&
                       add_within(bytes, transfer.bytes, max_total_bytes);
    if (!sound) {
      return input_error(
          "{}: transfer {} between devices (task {}, device {}, {} bytes) makes no sense; the "
          "program is damaged",
          name, i, transfer.task, transfer.peer, transfer.bytes);
    }
    last = transfer.task;
  }
  return {};
}

// Executes the queues without time: only which task can follow which. Every wait is looked at once
// and every task finishes once, so the cost is linear (but for a heap of at most `queues` entries).
class DryRun {
 public:
  DryRun(const Program& program, std::string_view name)
      : program_(program),
        name_(name),
        completed_(program.queues(), 0),
        next_wait_(program.queues(), 0),
        blocked_(program.queues()),
        done_(program.tasks.size(), 0) {}

  Status run() {
    std::vector<std::uint32_t> runnable;
    for (std::uint32_t queue = program_.queues(); queue-- > 0;) runnable.push_back(queue);
    while (!runnable.empty()) {
      const std::uint32_t queue = runnable.back();
      runnable.pop_back();
      if (auto advanced = advance(queue, runnable); !advanced) return advanced;
    }
    for (std::uint32_t queue = 0; queue < program_.queues(); ++queue) {
      if (completed_[queue] < length(queue)) return deadlock(queue);
    }
    return {};
  }

 private:
  struct Blocked {
    std::uint32_t count = 0;  // completed tasks it needs
    std::uint32_t queue = 0;  // that waits
    bool operator>(const Blocked& other) const { return count > other.count; }
  };

  std::uint32_t length(std::uint32_t queue) const {
    return program_.queue_begin[queue + 1] - program_.queue_begin[queue];
  }
  std::uint32_t next_task(std::uint32_t queue) const {
    return program_.queue_begin[queue] + completed_[queue];
  }

  // Runs the queue's tasks until one has to wait; queues that may go on join `runnable`.
  Status advance(std::uint32_t queue, std::vector<std::uint32_t>& runnable) {
    while (completed_[queue] < length(queue)) {
      const std::uint32_t index = next_task(queue);
      if (!waits_hold(queue, program_.tasks[index])) return {};
      if (auto ordered = dependencies_done(index); !ordered) return ordered;
      done_[index] = 1;
      ++completed_[queue];
      next_wait_[queue] = 0;
      auto& waiting = blocked_[queue];
      while (!waiting.empty() && waiting.top().count <= completed_[queue]) {
        runnable.push_back(waiting.top().queue);
        waiting.pop();
      }
    }
    return {};
  }

  bool waits_hold(std::uint32_t queue, const Task& task) {
    for (; next_wait_[queue] < task.wait_count; ++next_wait_[queue]) {
      const Wait& wait = program_.waits[task.wait_begin + next_wait_[queue]];
      if (completed_[wait.queue] < wait.count) {
        blocked_[wait.queue].push({wait.count, queue});
        return false;
      }
    }
    return true;
  }

  Status dependencies_done(std::uint32_t index) const {
    const Task& task = program_.tasks[index];
    for (std::uint32_t i = 0; i < task.dependency_count; ++i) {
      const std::uint32_t needed = program_.dependencies[task.dependency_begin + i].task;
      if (done_[needed] == 0) {
        return input_error("{}: task {} depends on task {} but no wait makes it come later", name_,
                           index, needed);
      }
    }
    return {};
  }

  tl::unexpected<Error> deadlock(std::uint32_t queue) const {
    const Task& task = program_.tasks[next_task(queue)];
    const Wait& wait = program_.waits[task.wait_begin + next_wait_[queue]];
    return input_error(
        "{}: task {} (core {}, {}) waits for {} tasks of queue {}, of which only {} "
        "can ever complete: the program deadlocks",
        name_, next_task(queue), queue / thread_groups, name_of(ThreadGroup(queue % thread_groups)),
        wait.count, wait.queue, completed_[wait.queue]);
  }

  const Program& program_;
  std::string_view name_;
  std::vector<std::uint32_t> completed_;  // tasks, by queue
  std::vector<std::uint32_t> next_wait_;  // of the queue's next task; those before it hold
  std::vector<std::priority_queue<Blocked, std::vector<Blocked>, std::greater<>>> blocked_;
  std::vector<std::uint8_t> done_;  // by task; bits take longer to ask
};

}  // namespace

Status check_program(const Program& program, std::string_view name) {
  for (const auto check :
       {check_identity, check_queues, check_tasks, check_waits, check_peer_transfers}) {
    if (auto checked = check(program, name); !checked) return checked;
  }
  return check_that_it_ends(program, name);
}

Status check_that_it_ends(const Program& program, std::string_view name) {
  return DryRun(program, name).run();
}

}  // namespace npuscope::qaic
