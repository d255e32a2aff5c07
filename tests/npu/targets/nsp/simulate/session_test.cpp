// A device with sessions: phases around the graph, cold and warm, and one thread for HMX and DMA.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"

namespace npuscope::npu::nsp::session_test {
namespace {

// Round figures: no jitter, a timer of 1 GHz, a cold clock of 0.5 GHz and a warm one of 1 GHz.
Target session_target() {
  Target target = round_target();
  target.timer_hz = 1e9;
  target.core_hz_min = target.core_hz;
  target.shared_main_thread = true;
  Session session;
  session.cold_after_s = 1e-3;
  session.cycles_per_packet = 2;
  session.polling_cycles_per_packet = 5;
  session.cold = {10e-6, 50e-6, 0.5e9, 5e-6, 600e-6, 0.25e9, 20e-6, 0.5e9, 8e-6};
  session.warm = {1e-6, 7e-6, 1e9, 1e-6, 2e-6, 1e9, 3e-6, 1e9, 1e-6};
  target.session = session;
  return target;
}

SimulationResult run(const qaic::Program& program, const Target& target,
                     SimulationOptions options) {
  options.op_trace = true;
  options.keep_truth = true;
  auto result = simulate(program, target, options);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? std::move(*result) : SimulationResult{};
}

qaic::Program one_task(std::uint32_t cycles) {
  ProgramBuilder builder(1, 70);
  builder.add(ProgramBuilder::queue(0, qaic::ThreadGroup::hmx), cycles);
  return builder.finish();
}

TEST(Session, HasItsPhasesOneAfterTheOtherEachAtItsOwnClock) {
  SimulationOptions options;
  options.inferences = 2;
  options.set_size = 1;
  const auto result = run(one_task(1000), session_target(), options);
  ASSERT_EQ(result.inferences.size(), 2u);
  struct Row {
    std::string_view name;
    std::uint64_t ticks, cycles;  // a tick is 1 ns
  };
  const std::vector<std::vector<Row>> expected{
      {{"QNN DSP Execute", 695'000, 32'500 + 155'000 + 1000 + 4000},
       {"VTCM Acquire", 50'000, 25'000},
       {"Resource Power On", 600'000, 150'000},
       {"Graph Execute", 2'000, 1000}},
      {{"QNN DSP Execute", 16'000, 16'000},
       {"VTCM Acquire", 7'000, 7'000},
       {"Resource Power On", 2'000, 2'000},
       {"Graph Execute", 1'000, 1000}}};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& phases = result.inferences[i].phases;
    ASSERT_EQ(phases.size(), 4u);
    for (std::size_t p = 0; p < 4; ++p) {
      SCOPED_TRACE(expected[i][p].name);
      EXPECT_EQ(phases[p].name, expected[i][p].name);
      EXPECT_NEAR(double(phases[p].end_ticks - phases[p].start_ticks), double(expected[i][p].ticks),
                  1);
      EXPECT_NEAR(double(phases[p].end_cycles - phases[p].start_cycles),
                  double(expected[i][p].cycles), 1);
    }
    EXPECT_EQ(result.inferences[i].device_ticks, phases[0].end_ticks - phases[0].start_ticks);
    EXPECT_LE(phases[0].start_ticks, phases[1].start_ticks);
    EXPECT_LE(phases[1].end_ticks, phases[2].start_ticks);
    EXPECT_LE(phases[2].end_ticks, phases[3].start_ticks);
    EXPECT_LE(phases[3].end_ticks, phases[0].end_ticks);
  }
}

TEST(Session, IsColdAgainAfterALongRest) {
  Target target = session_target();
  target.host_latency_s = 2e-3;  // longer than the power stays on
  SimulationOptions options;
  options.inferences = 3;
  options.set_size = 1;
  for (const auto& inference : run(one_task(1000), target, options).inferences) {
    EXPECT_GT(inference.device_ticks, 600'000u);
  }
}

TEST(Session, AFixedClockStaysAsItIs) {
  SimulationOptions options;
  options.inferences = 1;
  options.core_hz = 2e9;
  const auto phases = run(one_task(1000), session_target(), options).inferences.at(0).phases;
  for (const SessionPhase& phase : phases) {
    EXPECT_NEAR(double(phase.end_cycles - phase.start_cycles),
                2 * double(phase.end_ticks - phase.start_ticks), 3);
  }
}

TEST(Session, OnlyTheFirstInferenceHasOpRecords) {
  SimulationOptions options;
  options.inferences = 3;
  const auto result = run(random_program(5, 1, 60, 70), session_target(), options);
  std::size_t threads = 0;
  for (const TaskTruth& truth : result.inferences[0].truth) threads += truth.task < ~0u;
  EXPECT_EQ(result.inferences[0].op_trace.size(), threads);
  EXPECT_TRUE(result.inferences[1].op_trace.empty());
}

TEST(Session, HandsOnTheOpRecordsOfEveryInferenceOfTheFirstActivation) {
  const qaic::Program program = random_program(5, 1, 60, 70);
  SimulationOptions options;
  options.inferences = 3;
  options.activations = 2;
  options.samples = 0;
  std::vector<std::uint64_t> numbers;
  std::vector<std::size_t> records;
  options.on_op_trace = [&](const SimulatedInference& inference) {
    EXPECT_EQ(inference.activation, 0u);
    EXPECT_EQ(inference.phases.size(), 4u);
    numbers.push_back(inference.number);
    records.push_back(inference.op_trace.size());
  };
  Target target = session_target();
  target.cores = 2;
  const auto result = run(program, target, options);
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_GT(records[0], 0u);
  EXPECT_EQ(records, std::vector<std::size_t>(3, records[0]));
  for (const SimulatedInference& inference : result.inferences) {
    EXPECT_EQ(inference.op_trace.empty(), inference.number != 0);
    EXPECT_TRUE(inference.stats_buffer.empty());
  }
}

// Without the shared thread HMX and DMA run side by side; with it never, and nothing gets lost.
TEST(SharedMainThread, RunsOneTaskAtATime) {
  Target shared = session_target();
  shared.jitter = 0.02;
  shared.record_cycles_op = 10;
  shared.barrier_cycles = 15;
  Target apart = shared;
  apart.shared_main_thread = false;
  std::size_t overlaps_apart = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const qaic::Program program = random_program(seed, 1, 200, 70);
    for (const Target* target : {&apart, &shared}) {
      SimulationOptions options;
      options.inferences = 1;
      options.seed = seed;
      const auto truth = run(program, *target, options).inferences.at(0).truth;
      std::vector<std::pair<Picoseconds, Picoseconds>> main;
      std::size_t tasks = 0;
      for (const TaskTruth& task : truth) {
        ++tasks;
        if (task.thread >= 4) main.emplace_back(task.start, task.barrier_end);
        EXPECT_LE(task.sync_begin, task.start);
      }
      std::sort(main.begin(), main.end());
      std::size_t overlaps = 0;
      for (std::size_t i = 1; i < main.size(); ++i) overlaps += main[i].first < main[i - 1].second;
      if (target == &apart) {
        overlaps_apart += overlaps;
      } else {
        EXPECT_EQ(overlaps, 0u);
      }
      std::size_t wanted = 0;
      for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
        wanted += program.thread_count(qaic::ThreadGroup(queue)) *
                  (program.queue_begin[queue + 1] - program.queue_begin[queue]);
      }
      EXPECT_EQ(tasks, wanted);
    }
  }
  EXPECT_GT(overlaps_apart, 0u);
}

// A transfer of 50 cycles of issue, and HMX tasks that need it: one at once, one when an HVX task
// of 200,000 cycles has ended, when the transfer is complete for long.
TEST(Polls, ATransferThatIsCompleteIsPolledForWhenAllElseIsThere) {
  const auto hvx = ProgramBuilder::queue(0, qaic::ThreadGroup::hvx);
  const auto hmx = ProgramBuilder::queue(0, qaic::ThreadGroup::hmx);
  const auto dma = ProgramBuilder::queue(0, qaic::ThreadGroup::dma_issue);
  ProgramBuilder builder(1, 70);
  builder.add(hvx, 200'000).flags |= qaic::task_signals;
  builder.add(dma, 50).ddr_read = 100'000;
  builder.add(hmx, 1000, {{dma, 1}});
  builder.add(hmx, 1000, {{dma, 1}, {hvx, 1}});
  builder.add(hmx, 1000);
  builder.add(dma, 50, {{hmx, 3}});
  const qaic::Program program = builder.finish();
  Target target = session_target();
  const auto with_polls = [&](double min, double max) {
    target.session->poll_cycles_min = min;
    target.session->poll_cycles_max = max;
    SimulationOptions options;
    options.inferences = 1;
    const auto records = run(program, target, options).inferences.at(0).op_trace;
    std::vector<OpTraceRecord> of_hmx;
    for (const OpTraceRecord& record : records) {
      if (record.thread == 4) of_hmx.push_back(record);
    }
    EXPECT_EQ(of_hmx.size(), 3u);
    return of_hmx;
  };
  const auto none = with_polls(0, 0);
  const auto fixed = with_polls(100, 100);
  // A wait for what is under way is as long as ever.
  EXPECT_EQ(fixed[0].start_cycle, none[0].start_cycle);
  EXPECT_GT(fixed[0].start_cycle - fixed[0].wait_cycle, 101u);
  // The other begins when the HVX task has ended, and delays the kernel by one look.
  EXPECT_EQ(none[1].waited_for, OpTraceRecord::nothing);
  EXPECT_NE(fixed[1].waited_for, OpTraceRecord::nothing);
  EXPECT_EQ(fixed[1].wait_cycle, none[1].start_cycle);
  EXPECT_NEAR(double(fixed[1].start_cycle - fixed[1].wait_cycle), 100, 1);
  EXPECT_EQ(fixed[2].waited_for, OpTraceRecord::nothing);  // needs no transfer
  const auto random = with_polls(91, 121)[1];
  EXPECT_GE(random.start_cycle - random.wait_cycle, 91u);
  EXPECT_LE(random.start_cycle - random.wait_cycle, 122u);
}

// A record says what the simulator knows, and waits are for transfers that were issued before.
TEST(OpTrace, AgreesWithTheTruth) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    SimulationOptions options;
    options.inferences = 1;
    options.seed = seed;
    const qaic::Program program = random_program(seed, 1, 200, 70);
    const auto inference = run(program, session_target(), options).inferences.at(0);
    std::map<std::pair<std::uint32_t, std::uint32_t>, const TaskTruth*> truths;
    for (const TaskTruth& truth : inference.truth) truths[{truth.task, truth.thread}] = &truth;
    const auto cycles = [&](Picoseconds from, Picoseconds to) {
      return double((to - from).value) * 1e-12 * 0.5e9;  // the graph is cold
    };
    for (const OpTraceRecord& record : inference.op_trace) {
      const TaskTruth& truth = *truths.at({record.task, record.thread});
      EXPECT_NEAR(double(record.end_cycle - record.start_cycle),
                  cycles(truth.start, truth.kernel_end), 1);
      EXPECT_NEAR(double(record.leave_cycle - record.end_cycle),
                  cycles(truth.kernel_end, truth.barrier_end), 1);
      EXPECT_NEAR(double(record.start_cycle - record.wait_cycle),
                  cycles(truth.sync_begin, truth.start), 1);
      if (record.waited_for == OpTraceRecord::nothing) continue;
      const std::uint32_t thread = program.first_thread(qaic::ThreadGroup::dma_issue);
      const TaskTruth& awaited = *truths.at({record.waited_for, thread});
      EXPECT_LE(std::max(awaited.kernel_end, awaited.transfer_end), truth.start);
    }
  }
}

}  // namespace
}  // namespace npuscope::npu::nsp::session_test
