#include "npu/targets/nsp/compile/collisions.hpp"

#include <algorithm>
#include <map>

#include "npu/graph/parts/parts.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/describe/describe.hpp"
#include "npu/targets/nsp/compile/lower/lowering.hpp"
#include "npu/targets/nsp/compile/qnn_graph.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

namespace npuscope::npu::nsp {
namespace {

// clocks[task][queue]: how many tasks of that queue have surely completed before the task starts.
std::vector<std::vector<std::uint32_t>> happens_before(const qaic::Program& program) {
  std::vector<std::vector<std::uint32_t>> clocks(program.tasks.size());
  std::vector<std::uint32_t> next(program.queues());
  for (std::size_t done = 0; done < program.tasks.size();) {
    for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
      const std::uint32_t at = program.queue_begin[queue] + next[queue];
      if (at == program.queue_begin[queue + 1]) continue;
      const qaic::Task& task = program.tasks[at];
      std::vector<std::uint32_t> clock(program.queues(), 0);
      if (next[queue] > 0) clock = clocks[at - 1];
      clock[queue] = next[queue];
      bool ready = true;
      for (std::uint32_t i = 0; i < task.wait_count; ++i) {
        const qaic::Wait& wait = program.waits[task.wait_begin + i];
        if (next[wait.queue] < wait.count) {
          ready = false;
          break;
        }
        const auto& seen = clocks[program.queue_begin[wait.queue] + wait.count - 1];
        for (std::size_t q = 0; q < clock.size(); ++q) clock[q] = std::max(clock[q], seen[q]);
        clock[wait.queue] = std::max(clock[wait.queue], wait.count);
      }
      if (!ready) continue;
      clocks[at] = std::move(clock);
      ++next[queue];
      ++done;
    }
  }
  return clocks;
}

struct Use {
  std::uint32_t place = 0;  // in the program
  std::uint32_t queue = 0;
  std::uint32_t position = 0;  // in the queue
  std::uint64_t begin = 0, end = 0;
  bool writes = false;
};

void check_ddr(const TaskGraph& tasks, const qaic::Program& program,
               const std::vector<std::uint32_t>& place,
               const std::vector<std::vector<std::uint32_t>>& clocks, CollisionCheck& check) {
  std::map<std::uint32_t, std::vector<TaskIndex>> writers;  // by tensor, so far
  for (const auto& access : tasks.ddr_accesses()) {
    if (access.writes) {
      writers[access.tensor].push_back(access.task);
      continue;
    }
    for (TaskIndex writer : writers[access.tensor]) {
      const std::uint32_t queue = tasks.queue_of(writer);
      const std::uint32_t position = place[writer] - program.queue_begin[queue];
      ++check.ddr_reads;
      if (clocks[place[access.task]][queue] <= position) ++check.early_ddr_reads;
    }
  }
}

CollisionCheck check(const Graph& graph, const Target& target, const CompileOptions& options,
                     std::uint64_t hoisted) {
  Lowering lowering(graph, target, options, hoisted);
  lowering.log_accesses();
  LoweredNetwork network = lowering.run();
  Schedule schedule = schedule_tasks(network.tasks, target);
  qaic::Program program;
  program.cores = options.cores;
  const auto origin = emit_program(network.tasks, schedule, network.strings, program);
  std::vector<std::uint32_t> place(origin.size());
  for (std::uint32_t at = 0; at < origin.size(); ++at) place[origin[at]] = at;
  const auto clocks = happens_before(program);

  CollisionCheck check;
  for (std::uint32_t core = 0; core < options.cores; ++core) {
    std::vector<Use> uses;
    for (const auto& access : network.tasks.accesses()) {
      if (access.core != core) continue;
      Use use;
      use.place = place[access.task];
      use.queue = network.tasks.queue_of(access.task);
      use.position = use.place - program.queue_begin[use.queue];
      const std::uint64_t bytes = network.tasks.buffer_bytes(access.buffer);
      use.begin = network.tasks.buffer_address(access.buffer);
      use.end = use.begin + bytes * access.part.last / access.part.count;
      use.begin += bytes * access.part.first / access.part.count;
      use.writes = access.writes;
      uses.push_back(use);
    }
    const auto before = [&](const Use& a, const Use& b) {
      return clocks[b.place][a.queue] > a.position;
    };
    for (std::size_t i = 0; i < uses.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Use &a = uses[i], &b = uses[j];
        if (!(a.writes || b.writes) || a.place == b.place) continue;
        if (a.end <= b.begin || b.end <= a.begin || a.queue == b.queue) continue;
        // Several tasks may fill parts of one buffer at once (tiles, multicasts from all cores).
        if (a.writes && b.writes && a.begin == b.begin && a.end == b.end) continue;
        if (!before(a, b) && !before(b, a)) ++check.collisions;
      }
    }
    check.accesses += uses.size();
  }
  check_ddr(network.tasks, program, place, clocks, check);
  return check;
}

}  // namespace

CollisionCheck check_collisions(const Graph& model, const CompileOptions& options,
                                std::uint64_t hoisted) {
  const std::optional<Graph> parts = taken_apart(model);
  return check(parts ? *parts : model, aic100(), options, hoisted);
}

CollisionCheck check_collisions_of_htp(const Graph& model) {
  CompileOptions options = options_for(1);
  options.convert_to_fp16 = false;  // QNN's graph is
  return check(qnn_graph(model, true), *builtin_target("htp-v73"), options, 0);
}

}  // namespace npuscope::npu::nsp
