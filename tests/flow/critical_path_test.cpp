// The critical path, slack and what-if from what the emitters write, against the simulator's own
// end and against running again with a task made slower or faster. path_test.cpp does the same on
// the simulator's own times; here everything has been through the bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/path/path_groups.hpp"
#include "flow/flow.hpp"
#include "flow/generated_run.hpp"
#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npuscope/analysis/path.hpp"
#include "sanitized.hpp"

namespace npuscope::critical_path_test {
namespace {

using analysis::CriticalPath;
using analysis::PathAnalysis;

PathAnalysis analysis_of(const Profile& profile) {
  auto made = PathAnalysis::create(profile, std::nullopt);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

// Of all work, since the first thread was ready for its first task.
std::int64_t last_end(const GeneratedRun& run, const npu::nsp::SimulatedInference& inference) {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = 0;
  for (const npu::nsp::TaskTruth& task : inference.truth) {
    begin = std::min(begin, run.ticks(task.sync_begin));
    end = std::max({end, run.ticks(task.kernel_end), run.ticks(task.transfer_end)});
  }
  return end - begin;
}
std::int64_t last_end(const GeneratedRun& run) {
  return last_end(run, run.simulated.inferences.at(0));
}

analysis::Scaling scale(const Profile& profile, std::uint32_t op, double factor) {
  analysis::Scaling scaling;
  scaling.of_op.assign(profile.ops.size() + 1, 1);
  scaling.of_op[op] = factor;
  return scaling;
}

std::int64_t slack_of(const GeneratedRun& run, const analysis::ExecutionTimes& times,
                      std::uint32_t task) {
  std::int64_t slack = std::numeric_limits<std::int64_t>::max();
  const Spans& spans = run.profiles.at(0).spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::op || index_of(spans.op[row]) >= run.task_of.size()) continue;
    if (run.task_of[index_of(spans.op[row])] == task) slack = std::min(slack, times.slack[row]);
  }
  return slack;
}

// Nothing shares bandwidth: data moves over the cores' own links only.
qaic::Program without_shared_bandwidth(const GeneratedOptions& options) {
  qaic::Program program = generated_program(options);
  for (qaic::Task& task : program.tasks) {
    if ((task.flags & qaic::task_end_stats) == 0) {
      task.multicast = (task.ddr_read + task.ddr_write + task.multicast) / 2 * 2;
    }
    if (task.kernel == 4) task.multicast = 0;  // on HVX or HMX, which read what is there
    task.ddr_read = task.ddr_write = 0;
  }
  return program;
}

npu::nsp::Target private_links() {
  npu::nsp::Target target = exact_target();
  target.ddr_bytes_per_s = target.ddr_bytes_per_s_per_core = 1e18;
  return target;
}

// A core's timer begins at a tick of its own; across cores times may be off by that.
constexpr std::int64_t timer_skew = 5;

TEST(CriticalPathOfStatisticsBuffers, LeadsToTheLastEndInEveryInference) {
  for (const Shape shape : all_shapes) {
    for (std::uint32_t cores = 1; cores <= 4; ++cores) {
      const GeneratedRun run = device_run({.seed = cores + 50 * std::uint64_t(shape),
                                           .cores = cores,
                                           .tasks = 80 * cores,
                                           .shape = shape,
                                           .inferences = 2},
                                          npu::nsp::realistic_target());
      for (std::size_t i = 0; i < run.profiles.size(); ++i) {
        SCOPED_TRACE(fmt::format("shape {}, {} cores, inference {}", int(shape), cores, i));
        const CriticalPath path = analysis_of(run.profiles[i]).observed();
        const std::int64_t end = last_end(run, run.simulated.inferences[i]);
        EXPECT_NEAR(double(path.wall - path.tail), double(end), cores == 1 ? 1 : timer_skew);
        EXPECT_EQ(path.wall, path.lead + path.work + path.gaps + path.tail);
      }
    }
  }
}

TEST(CriticalPathOfStatisticsBuffers, WhatIfIsARunWithTheTaskMadeFasterOrSlower) {
  std::size_t changed = 0, all = 0;
  for (const Shape shape : all_shapes) {
    for (std::uint64_t seed = 1; seed <= test_support::rounds(8); ++seed) {
      const qaic::Program program =
          without_shared_bandwidth({.seed = seed, .tasks = 120, .shape = shape});
      const GeneratedRun run = device_run(program, 1, private_links());
      const PathAnalysis analysis = analysis_of(run.profiles[0]);
      const CriticalPath path = analysis.observed();
      ASSERT_EQ(path.wall - path.tail, last_end(run));
      std::mt19937_64 random(seed);
      for (int round = 0; round < 8; ++round) {
        const auto op = round % 2 == 0 ? index_of(path.steps[random() % path.steps.size()].op)
                                       : std::uint32_t(random() % run.task_of.size());
        const double factor = round % 4 < 2 ? 2 : 0.5;
        qaic::Program other = program;
        qaic::Task& task = other.tasks[run.task_of[op]];
        task.cycles = std::uint32_t(double(task.cycles) * factor);
        task.multicast = std::uint64_t(double(task.multicast) * factor);
        const double predicted = analysis.what_if(scale(run.profiles[0], op, factor)).after;
        const std::int64_t really = last_end(device_run(other, 1, private_links()));
        EXPECT_NEAR(predicted - double(path.tail), double(really), 1)
            << "shape " << int(shape) << " seed " << seed << " task " << run.task_of[op];
        changed += really != last_end(run);
        all += 1;
      }
    }
  }
  EXPECT_GT(changed, all / 3);
}

// A task slower by its slack ends the run when it ended; by one cycle more, later. But for a
// latency that held nothing back in the run, and so cannot be known from it. Between cores as much
// as their timers are apart is not known either.
class SlackOnCores : public testing::TestWithParam<std::uint32_t> {};

TEST_P(SlackOnCores, IsHowMuchLongerATaskMayTake) {
  const std::uint32_t cores = GetParam();
  const std::int64_t skew = cores == 1 ? 0 : 2 * timer_skew;
  const std::int64_t latency = 60 + 15 + (cores == 1 ? 0 : 600 + skew);
  std::size_t with_slack = 0, late_by_latency = 0, all = 0;
  for (const Shape shape : all_shapes) {
    for (std::uint64_t seed = 1; seed <= test_support::rounds(8); ++seed) {
      const qaic::Program program = without_shared_bandwidth(
          {.seed = seed, .cores = cores, .tasks = 120 * cores, .shape = shape});
      const GeneratedRun run = device_run(program, 1, private_links());
      const auto times = analysis_of(run.profiles[0]).executions();
      std::mt19937_64 random(seed);
      for (int round = 0; round < 6; ++round) {
        const auto task = std::uint32_t(random() % program.tasks.size());
        const std::int64_t slack = slack_of(run, times, task);
        qaic::Program slower = program;
        slower.tasks[task].cycles += std::uint32_t(slack);
        const std::int64_t late = last_end(device_run(slower, 1, private_links())) - last_end(run);
        EXPECT_GE(late, 0);
        EXPECT_LE(late, latency) << "shape " << int(shape) << " seed " << seed << " task " << task;
        slower.tasks[task].cycles += std::uint32_t(2 + skew);
        EXPECT_GT(last_end(device_run(slower, 1, private_links())), last_end(run))
            << "shape " << int(shape) << " seed " << seed << " task " << task << " slack " << slack;
        with_slack += slack > 0;
        late_by_latency += late > 1 + skew;
        all += 1;
      }
    }
  }
  RecordProperty("late_by_latency", std::to_string(late_by_latency));
  EXPECT_GT(with_slack, all / 4);
  EXPECT_LT(late_by_latency, all / 20);
}

INSTANTIATE_TEST_SUITE_P(CriticalPathOfStatisticsBuffers, SlackOnCores, testing::Range(1u, 5u));

npu::nsp::Target exact_htp(bool shared_main_thread) {
  npu::nsp::Target target = *npu::nsp::builtin_target("htp-v75");
  target.jitter = 0;
  target.shared_main_thread = shared_main_thread;
  return target;
}

std::int64_t wall_of(const GeneratedRun& run) {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
  for (const npu::nsp::OpTraceRecord& record : run.simulated.inferences[0].op_trace) {
    begin = std::min(begin, record.start_cycle);
    end = std::max(end, record.end_cycle);
  }
  return std::int64_t(end - begin);
}

// How far what-if is off the same program with the task made faster, as a part of that run's wall.
struct Off {
  double worst = 0, sum = 0;
  std::size_t all = 0, changed = 0;
  double mean() const { return sum / double(all); }

  void take(const GeneratedRun& run, double predicted, const GeneratedRun& again) {
    const auto really = double(wall_of(again));
    const double off = std::abs(predicted - really) / really;
    worst = std::max(worst, off);
    sum += off;
    all += 1;
    changed += wall_of(again) != wall_of(run);
  }
};

// An optrace says when transfers were issued, not when they ran, so only what computes is changed.
bool computes(const GeneratedRun& run, std::uint32_t op) {
  const std::uint32_t task = run.task_of[op];
  return task != GeneratedRun::no_task && run.group_of(task) != qaic::ThreadGroup::dma_issue;
}

// Of waits for DMA on the thread of the HMX, those that are polls only.
TEST(CriticalPathOfOptraces, TheReferenceNpuPollsForTransfersThatAreCompleteAsAnHtpDoes) {
  const CompiledForHtp model = compiled_for_htp(repository_model("light_resnet50.onnx"));
  const GeneratedRun run =
      optrace_run(model.program, model.schematic, *npu::nsp::builtin_target("htp-v75"));
  const Profile& profile = run.profiles[0];
  std::size_t polls = 0, waits = 0;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    if (profile.spans.kind[row] != SpanKind::dma_wait) continue;
    waits += 1;
    polls += profile.spans.duration[row] < 130;
    EXPECT_GE(profile.spans.duration[row], 1);
  }
  EXPECT_GE(polls * 3, waits);
}

TEST(CriticalPathOfOptraces, WhatIfIsOffByLittle) {
  for (const bool shared : {false, true}) {
    const npu::nsp::Target target = exact_htp(shared);
    Off off;
    for (const Shape shape : all_shapes) {
      for (std::uint64_t seed = 1; seed <= test_support::rounds(6); ++seed) {
        const qaic::Program program =
            generated_program({.seed = seed, .tasks = 100, .shape = shape});
        const GeneratedRun run = optrace_run(program, target);
        const PathAnalysis analysis = analysis_of(run.profiles[0]);
        std::mt19937_64 random(seed);
        for (int round = 0; round < 6;) {
          const auto op = std::uint32_t(random() % run.task_of.size());
          if (!computes(run, op)) continue;
          round += 1;
          qaic::Program other = program;
          other.tasks[run.task_of[op]].cycles /= 2;
          off.take(run, analysis.what_if(scale(run.profiles[0], op, 0.5)).after,
                   optrace_run(other, target));
        }
      }
    }
    RecordProperty("mean_off_percent", std::to_string(off.mean() * 100));
    RecordProperty("worst_off_percent", std::to_string(off.worst * 100));
    EXPECT_GT(off.changed, off.all / 3);
    EXPECT_LT(off.worst, 0.05);
    EXPECT_LT(off.mean(), 0.005);
  }
}

// A task that computes, slower by its slack, ends an optrace's run nearly when it ended, and slower
// by a hundredth of the wall more, later; but for a few whose slack is more than is known, as an
// optrace does not say when transfers ran.
TEST(CriticalPathOfOptraces, SlackIsOffByLittle) {
  for (const bool shared : {false, true}) {
    const npu::nsp::Target target = exact_htp(shared);
    double worst = 0, sum = 0;
    std::size_t with_slack = 0, later = 0, all = 0;
    for (const Shape shape : all_shapes) {
      for (std::uint64_t seed = 1; seed <= test_support::rounds(6); ++seed) {
        const qaic::Program program =
            generated_program({.seed = seed, .tasks = 100, .shape = shape});
        const GeneratedRun run = optrace_run(program, target);
        const auto times = analysis_of(run.profiles[0]).executions();
        const auto wall = double(wall_of(run));
        std::mt19937_64 random(seed);
        for (int round = 0; round < 6;) {
          const auto op = std::uint32_t(random() % run.task_of.size());
          if (!computes(run, op)) continue;
          const std::uint32_t task = run.task_of[op];
          const std::int64_t slack = slack_of(run, times, task);
          if (slack > wall_of(run)) continue;  // took no time
          round += 1;
          qaic::Program slower = program;
          slower.tasks[task].cycles += std::uint32_t(slack);
          const double late = (double(wall_of(optrace_run(slower, target))) - wall) / wall;
          slower.tasks[task].cycles += std::uint32_t(wall / 100);
          later += double(wall_of(optrace_run(slower, target))) > wall;
          worst = std::max(worst, std::abs(late));
          sum += std::abs(late);
          with_slack += slack > 0;
          all += 1;
        }
      }
    }
    RecordProperty("later_of_" + std::to_string(all), std::to_string(later));
    RecordProperty("mean_late_percent", std::to_string(sum / double(all) * 100));
    RecordProperty("worst_late_percent", std::to_string(worst * 100));
    EXPECT_GT(with_slack, all / 4);
    EXPECT_GT(later, all * 9 / 10);
    EXPECT_LT(worst, 0.05);
    EXPECT_LT(sum / double(all), 0.005);
  }
}

// A model in a VTCM that its tensors share: what waits only for room waits by the sequencer's
// arrows, without which the path takes the wrong ops for the reason.
TEST(CriticalPathOfOptraces, WhatIfOfAModelNeedsTheSequencersArrows) {
  const npu::nsp::Target target = exact_htp(true);
  const CompiledForHtp model = compiled_for_htp(repository_model("light_squeezenet.onnx"));
  const GeneratedRun run = optrace_run(model.program, model.schematic, target);
  Profile without = run.profiles[0];
  std::erase_if(without.edges, [](const Edge& edge) { return edge.kind == EdgeKind::order; });
  std::erase_if(without.flows, [](const Flow& flow) { return flow.kind == EdgeKind::order; });
  const PathAnalysis with_arrows = analysis_of(run.profiles[0]);
  const PathAnalysis without_arrows = analysis_of(without);
  Off with, off_without;
  for (std::uint32_t op = 0; op < run.task_of.size(); ++op) {
    if (!computes(run, op)) continue;
    qaic::Program other = model.program;
    other.tasks[run.task_of[op]].cycles /= 2;
    const GeneratedRun again = optrace_run(other, model.schematic, target);
    const analysis::Scaling scaling = scale(run.profiles[0], op, 0.5);
    with.take(run, with_arrows.what_if(scaling).after, again);
    off_without.take(run, without_arrows.what_if(scaling).after, again);
  }
  RecordProperty("mean_off_percent", std::to_string(with.mean() * 100));
  RecordProperty("mean_off_percent_without", std::to_string(off_without.mean() * 100));
  EXPECT_GT(with.changed, with.all / 3);
  EXPECT_LT(with.worst, 0.02);
  EXPECT_LT(with.mean(), 0.001);
  EXPECT_LT(with.mean(), off_without.mean() / 2);
}

// Where the arrows are missing, what is inferred for a step is what its task waited for.
TEST(CriticalPathOfOptraces, InferredReasonsAreTheProgramsWaits) {
  std::size_t reasons = 0;
  for (const char* name : {"light_squeezenet.onnx", "light_resnet50.onnx"}) {
    const CompiledForHtp model = compiled_for_htp(repository_model(name));
    const GeneratedRun run =
        optrace_run(model.program, model.schematic, *npu::nsp::builtin_target("htp-v75"));
    Profile profile = run.profiles[0];
    std::erase_if(profile.edges, [](const Edge& edge) { return edge.kind == EdgeKind::order; });
    std::erase_if(profile.flows, [](const Flow& flow) { return flow.kind == EdgeKind::order; });
    const PathAnalysis analysis = analysis_of(profile);
    const CriticalPath path = analysis.observed();
    const auto likely = likely_reasons(profile, path, analysis.basis().instance);
    std::size_t right = 0;
    for (const analysis::LikelyReason& each : likely.reasons) {
      const std::uint32_t waiting = run.task_of[index_of(path.steps[each.step].op)];
      const std::uint32_t inferred = run.task_of[index_of(profile.spans.op[each.row])];
      if (waiting == GeneratedRun::no_task) continue;
      const qaic::Task& task = model.program.tasks[waiting];
      const auto waits = std::span(model.program.waits).subspan(task.wait_begin, task.wait_count);
      // Or for the task before it in its own queue, which had fewer threads.
      const bool before = inferred + 1 == waiting;
      right += before || std::any_of(waits.begin(), waits.end(), [&](const qaic::Wait& wait) {
                 return model.program.queue_begin[wait.queue] + wait.count - 1 == inferred;
               });
    }
    reasons += likely.reasons.size();
    EXPECT_GE(right * 10, likely.reasons.size() * 9) << name << ": " << right;
    EXPECT_LT(likely.by_chance, 0.2);
  }
  EXPECT_GE(reasons, 1u);
}

}  // namespace
}  // namespace npuscope::critical_path_test
