// The critical path, slack and what-if against the simulator: what it knows of every task, and what
// it does when it runs again with a task made faster or slower.
#include "npuscope/analysis/path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npu/nsp/simulate/random_program.hpp"
#include "npu/nsp/simulate/simulate.hpp"

namespace npuscope::path_test {
namespace {

using analysis::CriticalPath;
using analysis::PathAnalysis;
using analysis::Reason;

constexpr std::int64_t cycle = 1'000;  // ps, at 1 GHz
constexpr std::int64_t sync_time = 60 * cycle, far_sync_time = 600 * cycle;
constexpr std::int64_t barrier_time = 15 * cycle, record_time = 40 * cycle;

// Latencies as devices have them; durations exact; every transfer over the core's own link, which
// no other shares.
npu::nsp::Target target_without_shared_bandwidth() {
  npu::nsp::Target target = npu::nsp::round_target();
  target.sync_cycles = 60;
  target.cross_core_sync_cycles = 600;
  target.barrier_cycles = 15;
  target.record_cycles_op = 40;
  target.ddr_bytes_per_s = target.ddr_bytes_per_s_per_core = 1e18;
  target.dma_depth = 1;
  return target;
}

qaic::Program program_of(std::uint64_t seed, std::uint32_t cores, std::uint32_t tasks) {
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
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? result->inferences.at(0).truth : std::vector<npu::nsp::TaskTruth>();
}

std::uint32_t queue_of(const qaic::Program& program, std::uint32_t task) {
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

PathAnalysis analysis_of(const Profile& profile) {
  auto made = PathAnalysis::create(profile, std::nullopt);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

// Of all work, since the timeline's begin.
std::int64_t last_end(const CriticalPath& path) { return path.wall - path.tail; }

std::int64_t last_end(const std::vector<npu::nsp::TaskTruth>& truth) {
  std::int64_t begin = truth.at(0).sync_begin.value, end = 0;
  for (const npu::nsp::TaskTruth& task : truth) {
    begin = std::min(begin, task.sync_begin.value);
    end = std::max({end, task.kernel_end.value, task.transfer_end.value});
  }
  return end - begin;
}

analysis::Scaling scale(const Profile& profile, std::uint32_t task, double factor) {
  analysis::Scaling scaling;
  scaling.of_op.assign(profile.ops.size() + 1, 1);
  scaling.of_op[task] = factor;
  return scaling;
}

TEST(PathAgainstTheSimulator, WhatIfIsARunWithTheTaskMadeFasterOrSlower) {
  const npu::nsp::Target target = target_without_shared_bandwidth();
  std::size_t changed = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const qaic::Program program = program_of(seed, 1 + seed % 3, 200);
    const auto truth = run(program, target);
    const TruthProfile made(program, truth);
    const PathAnalysis analysis = analysis_of(made.profile);
    const CriticalPath path = analysis.observed();
    ASSERT_EQ(last_end(path), last_end(truth));
    std::mt19937_64 random(seed);
    for (int round = 0; round < 12; ++round) {
      // Half of them on the path.
      const std::uint32_t task = round % 2 == 0
                                     ? index_of(path.steps[random() % path.steps.size()].op)
                                     : std::uint32_t(random() % program.tasks.size());
      const double factor = round % 3 == 0 ? 2 : 0.5;
      qaic::Program other = program;
      other.tasks[task].cycles = std::uint32_t(double(program.tasks[task].cycles) * factor);
      other.tasks[task].multicast = std::uint64_t(double(program.tasks[task].multicast) * factor);
      const double predicted =
          analysis.what_if(scale(made.profile, task, factor)).after - double(path.tail);
      const std::int64_t really = last_end(run(other, target));
      EXPECT_NEAR(predicted, double(really), 0.5) << "seed " << seed << " task " << task;
      changed += really != last_end(truth);
      all += 1;
    }
  }
  EXPECT_GT(changed, all / 2);
}

// When the simulator let the target of a step go because of the step before it.
std::int64_t release_of(const qaic::Program& program, const npu::nsp::TaskTruth& before,
                        const npu::nsp::TaskTruth& task, Reason reason) {
  const std::uint32_t from = queue_of(program, before.task), to = queue_of(program, task.task);
  const bool same_core = from / qaic::thread_groups == to / qaic::thread_groups;
  const bool is_dma = from % qaic::thread_groups == std::uint32_t(qaic::ThreadGroup::dma_issue);
  switch (reason) {
    case Reason::data:
      return (is_dma ? before.transfer_end : before.barrier_end).value +
             (same_core ? sync_time : far_sync_time);
    case Reason::unit:
    case Reason::barrier: return before.barrier_end.value + record_time;
    case Reason::dma_wait: return before.transfer_end.value;
    case Reason::issue: return before.kernel_end.value;
    default: return -1;
  }
}

TEST(PathAgainstTheSimulator, EveryStepStartedWhenTheOneBeforeItLetItGo) {
  const npu::nsp::Target target = target_without_shared_bandwidth();
  std::map<Reason, std::size_t> seen;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const qaic::Program program = program_of(seed, 1 + seed % 4, 300);
    const auto truth = run(program, target);
    const TruthProfile made(program, truth);
    const CriticalPath path = analysis_of(made.profile).observed();
    EXPECT_EQ(path.lead, 0);
    for (std::size_t i = 1; i < path.steps.size(); ++i) {
      const npu::nsp::TaskTruth& before = truth[made.truth_of_row[path.steps[i - 1].row]];
      const npu::nsp::TaskTruth& task = truth[made.truth_of_row[path.steps[i].row]];
      EXPECT_EQ(release_of(program, before, task, path.steps[i].reason), path.steps[i].start)
          << "seed " << seed << " step " << i << ": " << name_of(path.steps[i].reason);
      seen[path.steps[i].reason] += 1;
    }
  }
  for (const Reason reason :
       {Reason::data, Reason::unit, Reason::barrier, Reason::dma_wait, Reason::issue}) {
    EXPECT_GT(seen[reason], 20u) << name_of(reason);
  }
}

// But for a latency that held nothing back in the run, and so cannot be known from it.
TEST(PathAgainstTheSimulator, SlackIsHowMuchLongerATaskMayTake) {
  const npu::nsp::Target target = target_without_shared_bandwidth();
  std::size_t slack_seen = 0, all = 0, unknown = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    qaic::Program program = program_of(seed, 1 + seed % 3, 150);
    for (qaic::Task& task : program.tasks) task.thread_imbalance = 0;
    const auto truth = run(program, target);
    const TruthProfile made(program, truth);
    const auto times = analysis_of(made.profile).executions();
    std::map<std::uint32_t, std::int64_t> slack_of;  // by task: the least of its threads
    for (std::size_t row = 0; row < made.profile.spans.size(); ++row) {
      if (made.profile.spans.kind[row] != SpanKind::op) continue;
      const std::uint32_t task = index_of(made.profile.spans.op[row]);
      const auto found = slack_of.emplace(task, times.slack[row]).first;
      found->second = std::min(found->second, times.slack[row]);
    }
    std::mt19937_64 random(seed);
    for (int round = 0; round < 8; ++round) {
      const auto at = std::next(slack_of.begin(), std::ptrdiff_t(random() % slack_of.size()));
      const auto [task, slack] = *at;
      slack_seen += slack > 0;
      qaic::Program slower = program;
      slower.tasks[task].cycles += std::uint32_t(slack / cycle);
      const std::int64_t late = last_end(run(slower, target)) - last_end(truth);
      EXPECT_GE(late, 0);
      EXPECT_LE(late, far_sync_time + barrier_time) << "seed " << seed;
      unknown += late > 0;
      all += 1;
      slower.tasks[task].cycles += 1;
      EXPECT_GT(last_end(run(slower, target)), last_end(truth))
          << "seed " << seed << " task " << task << " slack " << slack;
    }
  }
  EXPECT_GT(slack_seen, 40u);
  EXPECT_LT(unknown, all / 40);
}

// Transfers of several cores at once: a faster task may move one into the way of another, which the
// path cannot know. How far off that leaves it is bounded here.
TEST(PathAgainstTheSimulator, SharedBandwidthLeavesWhatIfOffByLittle) {
  npu::nsp::Target target = target_without_shared_bandwidth();
  target.ddr_bytes_per_s = 4e9;
  target.ddr_bytes_per_s_per_core = 2e9;
  double worst = 0, sum = 0;
  std::size_t all = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    qaic::Program program = program_of(seed, 4, 300);
    for (qaic::Task& task : program.tasks) std::swap(task.ddr_read, task.multicast);
    const auto truth = run(program, target);
    const TruthProfile made(program, truth);
    const PathAnalysis analysis = analysis_of(made.profile);
    const CriticalPath path = analysis.observed();
    ASSERT_EQ(last_end(path), last_end(truth));
    for (std::size_t step = 0; step < path.steps.size(); step += 7) {
      const std::uint32_t task = index_of(path.steps[step].op);
      qaic::Program other = program;
      other.tasks[task].cycles /= 2;
      other.tasks[task].ddr_read /= 2;
      const double predicted =
          analysis.what_if(scale(made.profile, task, 0.5)).after - double(path.tail);
      const double off = std::abs(predicted / double(last_end(run(other, target))) - 1);
      worst = std::max(worst, off);
      sum += off;
      all += 1;
    }
  }
  RecordProperty("mean_off_percent", std::to_string(sum / double(all) * 100));
  RecordProperty("worst_off_percent", std::to_string(worst * 100));
  EXPECT_GT(worst, 0);
  EXPECT_LT(worst, 0.05);
  EXPECT_LT(sum / double(all), 0.01);
}

}  // namespace
}  // namespace npuscope::path_test
