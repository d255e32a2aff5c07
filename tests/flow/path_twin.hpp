// Runs of which the simulator knows everything, as profiles: what it does when it runs again with a
// task made faster or slower is what the path's what-if must predict.
//
//   const qaic::Program program = program_of(seed, 2, 200);
//   const auto truth = run(program, target_without_shared_bandwidth());
//   const TruthProfile made(program, truth);
//   analysis_of(made.profile).observed()      its last_end() is that of the truth
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "analysis/profile_builder.hpp"
#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npuscope/analysis/path.hpp"

namespace npuscope::test {

using analysis::CriticalPath;
using analysis::PathAnalysis;

// Without a run or a path there is nothing to compare.
[[noreturn]] inline void fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  std::abort();
}

inline constexpr std::int64_t cycle = 1'000;  // ps, at 1 GHz
inline constexpr std::int64_t sync_time = 60 * cycle, far_sync_time = 600 * cycle;
inline constexpr std::int64_t barrier_time = 15 * cycle, record_time = 40 * cycle;

// Latencies as devices have them; durations exact; every transfer over the core's own link, which
// no other shares.
inline npu::nsp::Target target_without_shared_bandwidth() {
  npu::nsp::Target target = npu::nsp::round_target();
  target.sync_cycles = 60;
  target.cross_core_sync_cycles = 600;
  target.barrier_cycles = 15;
  target.record_cycles_op = 40;
  target.ddr_bytes_per_s = target.ddr_bytes_per_s_per_core = 1e18;
  target.dma_depth = 1;
  return target;
}

inline qaic::Program program_of(std::uint64_t seed, std::uint32_t cores, std::uint32_t tasks) {
  qaic::Program program = npu::nsp::random_program(seed, cores, tasks, 70);
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    for (auto i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
      qaic::Task& task = program.tasks[i];
      const bool is_dma =
          queue % qaic::thread_groups == std::uint32_t(qaic::ThreadGroup::dma_issue);
      task.flags &= qaic::task_signals;
      task.ddr_read = task.ddr_write = 0;
      if (is_dma && task.multicast == 0) task.multicast = 2'000;
      task.multicast = is_dma ? task.multicast / 4 * 4 : 0;
      task.cycles += 2;
      task.cycles &= ~1u;
    }
  }
  return program;
}

std::vector<npu::nsp::TaskTruth> run(const qaic::Program& program, const npu::nsp::Target& target) {
  npu::nsp::SimulationOptions options;
  options.inferences = 1;
  options.set_size = 1;
  options.keep_truth = true;
  const auto result = npu::nsp::simulate(program, target, options);
  if (!result) fail(result.error());
  return result->inferences.at(0).truth;
}

inline std::uint32_t queue_of(const qaic::Program& program, std::uint32_t task) {
  const auto& begin = program.queue_begin;
  return std::uint32_t(std::upper_bound(begin.begin(), begin.end(), task) - begin.begin() - 1);
}

// What a device would tell of it, in picoseconds: an op is a task, an edge a wait.
struct TruthProfile : test_support::ProfileBuilder {
  std::vector<std::uint32_t> truth_of_row;

  TruthProfile(const qaic::Program& program, const std::vector<npu::nsp::TaskTruth>& truth)
      : ProfileBuilder("picoseconds", ClockKind::wall, 1e12) {
    const std::uint32_t threads = program.threads_per_core();
    for (std::uint32_t core = 0; core < program.cores; ++core) {
      for (std::uint32_t thread = 0; thread <= threads; ++thread) {  // the last: the DMA engine
        const UnitId issue = UnitId(std::uint32_t(profile.units.size() - 1));
        unit("thread", Engine::thread, thread < threads ? UnitId::none : issue);
        profile.units.back().core = core;
      }
    }
    for (std::uint32_t i = 0; i < program.tasks.size(); ++i) {
      op("t" + std::to_string(i));
      const qaic::Task& task = program.tasks[i];
      for (std::uint32_t w = task.wait_begin; w < task.wait_begin + task.wait_count; ++w) {
        const qaic::Wait& wait = program.waits[w];
        const std::uint32_t from = program.queue_begin[wait.queue] + wait.count - 1;
        profile.edges.push_back({OpId(from), OpId(i), EdgeKind::data});
      }
    }
    for (std::uint32_t i = 0; i < truth.size(); ++i) {
      const npu::nsp::TaskTruth& task = truth[i];
      const std::uint32_t core = queue_of(program, task.task) / qaic::thread_groups;
      const UnitId on{core * (threads + 1) + task.thread}, engine{core * (threads + 1) + threads};
      add(on, i, task.task, task.sync_begin, task.start, SpanKind::sync);
      add(on, i, task.task, task.start, task.kernel_end, SpanKind::op);
      add(on, i, task.task, task.kernel_end, task.barrier_end, SpanKind::barrier);
      if (task.transfer_end > task.kernel_end) {
        add(engine, i, task.task, task.start, task.transfer_end, SpanKind::transfer);
      }
    }
  }

 private:
  void add(UnitId on, std::uint32_t place, std::uint32_t task, Picoseconds from, Picoseconds until,
           SpanKind kind) {
    if (kind != SpanKind::op && until <= from) return;
    Spans& spans = profile.spans;
    spans.unit.push_back(on);
    spans.op.push_back(OpId(task));
    spans.kind.push_back(kind);
    spans.start.push_back(from.value);
    spans.duration.push_back((until - from).value);
    truth_of_row.push_back(place);
  }
};

inline PathAnalysis analysis_of(const Profile& profile) {
  auto made = PathAnalysis::create(profile, std::nullopt);
  if (!made) fail(made.error());
  return *made;
}

// Of all work, since the timeline's begin.
inline std::int64_t last_end(const CriticalPath& path) { return path.wall - path.tail; }

inline std::int64_t last_end(const std::vector<npu::nsp::TaskTruth>& truth) {
  std::int64_t begin = truth.at(0).sync_begin.value, end = 0;
  for (const npu::nsp::TaskTruth& task : truth) {
    begin = std::min(begin, task.sync_begin.value);
    end = std::max({end, task.kernel_end.value, task.transfer_end.value});
  }
  return end - begin;
}

inline analysis::Scaling scale(const Profile& profile, std::uint32_t task, double factor) {
  analysis::Scaling scaling;
  scaling.of_op.assign(profile.ops.size() + 1, 1);
  scaling.of_op[task] = factor;
  return scaling;
}

}  // namespace npuscope::test
