// The critical path, slack and what-if against the simulator: what it knows of every task, and what
// it does when it runs again with a task made faster or slower.
#include "npuscope/analysis/path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "flow/path_twin.hpp"

namespace npuscope::path_test {
namespace {

using namespace test;
using analysis::Reason;

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
