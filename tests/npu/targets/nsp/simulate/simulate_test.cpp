// What the simulator does with small programs, worked out by hand. On the round target a cycle
// lasts a nanosecond and the DDR moves a byte per nanosecond, half of that for one core.
#include <gmock/gmock.h>

#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"

namespace npuscope::npu::nsp::simulate_test {
namespace {

using qaic::ThreadGroup;
using testing::HasSubstr;

constexpr std::uint32_t hvx = ProgramBuilder::queue(0, ThreadGroup::hvx);
constexpr std::uint32_t hmx = ProgramBuilder::queue(0, ThreadGroup::hmx);
constexpr std::uint32_t dma = ProgramBuilder::queue(0, ThreadGroup::dma_issue);
constexpr std::uint32_t hmx_of_core_1 = ProgramBuilder::queue(1, ThreadGroup::hmx);
constexpr std::uint32_t dma_of_core_1 = ProgramBuilder::queue(1, ThreadGroup::dma_issue);

// Times of a task in nanoseconds after the inference began.
struct Times {
  double sync_begin, start, kernel_end, barrier_end, transfer_end;
  bool operator==(const Times&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Times& t) {
  return out << fmt::format("[{} {} {} {} {}]", t.sync_begin, t.start, t.kernel_end, t.barrier_end,
                            t.transfer_end);
}

SimulatedInference run_once(const qaic::Program& program, const Target& target) {
  SimulationOptions options;
  options.inferences = 1;
  options.keep_truth = true;
  auto result = simulate(program, target, options);
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->inferences.at(0) : SimulatedInference{};
}

// Of one task on one thread of its group, rounded to picoseconds.
Times times_of(const SimulatedInference& inference, const qaic::Program& program,
               std::uint32_t queue, std::uint32_t position, std::uint32_t thread = 0) {
  const std::uint32_t first = program.first_thread(ThreadGroup(queue % qaic::thread_groups));
  for (const TaskTruth& truth : inference.truth) {
    if (truth.task != program.queue_begin[queue] + position || truth.thread != first + thread) {
      continue;
    }
    const auto ns = [&](Picoseconds t) {
      return double((t - inference.device_begin).value) / 1000;
    };
    return {ns(truth.sync_begin), ns(truth.start), ns(truth.kernel_end), ns(truth.barrier_end),
            ns(truth.transfer_end)};
  }
  ADD_FAILURE() << "no such task";
  return {};
}

TEST(Simulate, TasksOfAQueueRunOneAfterTheOther) {
  ProgramBuilder builder(1, 70);
  builder.add(hmx, 100);
  builder.add(hmx, 50);
  const qaic::Program program = builder.finish();
  const auto inference = run_once(program, round_target());
  EXPECT_EQ(times_of(inference, program, hmx, 0), (Times{0, 0, 100, 100, 100}));
  EXPECT_EQ(times_of(inference, program, hmx, 1), (Times{100, 100, 150, 150, 150}));
}

TEST(Simulate, AWaitHoldsASemaphoreLatencyAfterTheTaskItIsForHasCompleted) {
  ProgramBuilder builder(2, 70);
  builder.add(hvx, 100).flags = qaic::task_signals;
  builder.add(hmx, 50, {{hvx, 1}});
  builder.add(hmx_of_core_1, 50, {{hvx, 1}});
  const qaic::Program program = builder.finish();
  Target target = round_target();
  target.barrier_cycles = 15;
  target.sync_cycles = 10;
  target.cross_core_sync_cycles = 200;
  const auto inference = run_once(program, target);
  EXPECT_EQ(times_of(inference, program, hvx, 0), (Times{0, 0, 100, 115, 100}));
  EXPECT_EQ(times_of(inference, program, hmx, 0), (Times{0, 125, 175, 175, 175}));
  EXPECT_EQ(times_of(inference, program, hmx_of_core_1, 0), (Times{0, 315, 365, 365, 365}));
}

TEST(Simulate, HvxThreadsMeetAtTheBarrierOfATaskThatSignals) {
  ProgramBuilder builder(1, 70);
  qaic::Task& task = builder.add(hvx, 300);
  task.flags = qaic::task_signals;
  task.thread_imbalance = 30;  // 300, 270, 240 and 210 cycles
  const qaic::Program program = builder.finish();
  const auto inference = run_once(program, round_target());
  EXPECT_EQ(times_of(inference, program, hvx, 0, 0), (Times{0, 0, 300, 300, 300}));
  EXPECT_EQ(times_of(inference, program, hvx, 0, 1), (Times{0, 0, 270, 300, 270}));
  EXPECT_EQ(times_of(inference, program, hvx, 0, 2), (Times{0, 0, 240, 300, 240}));
  EXPECT_EQ(times_of(inference, program, hvx, 0, 3), (Times{0, 0, 210, 300, 210}));
}

TEST(Simulate, WithoutABarrierHvxThreadsGoOnOnTheirOwn) {
  ProgramBuilder builder(1, 70);
  builder.add(hvx, 300).thread_imbalance = 30;
  builder.add(hvx, 100);
  const qaic::Program program = builder.finish();
  const auto inference = run_once(program, round_target());
  EXPECT_EQ(times_of(inference, program, hvx, 1, 0), (Times{300, 300, 400, 400, 400}));
  EXPECT_EQ(times_of(inference, program, hvx, 1, 3), (Times{210, 210, 310, 310, 310}));
}

TEST(Simulate, ATransferGoesOnWhileItsThreadIssuesTheNext) {
  ProgramBuilder builder(1, 70);
  builder.add(dma, 10).ddr_read = 1000;  // 2000 ns at half a byte per ns
  builder.add(dma, 10).ddr_read = 500;
  const qaic::Program program = builder.finish();
  const auto inference = run_once(program, round_target());
  EXPECT_EQ(times_of(inference, program, dma, 0), (Times{0, 0, 10, 10, 2010}));
  EXPECT_EQ(times_of(inference, program, dma, 1), (Times{10, 10, 20, 20, 3010}));
}

TEST(Simulate, TheLatencyOfATransferOverlapsWithTheNext) {
  ProgramBuilder builder(1, 70);
  builder.add(dma, 10).ddr_read = 1000;
  builder.add(dma, 10).ddr_write = 1000;
  const qaic::Program program = builder.finish();
  Target target = round_target();
  target.ddr_latency_s = 600e-9;
  const auto inference = run_once(program, target);
  EXPECT_EQ(times_of(inference, program, dma, 0).transfer_end, 2610);
  EXPECT_EQ(times_of(inference, program, dma, 1).transfer_end, 4610);
}

TEST(Simulate, CoresShareTheMemoryEvenly) {
  ProgramBuilder builder(2, 70);
  builder.add(dma, 0).ddr_read = 1000;
  builder.add(dma_of_core_1, 0).ddr_read = 2000;
  const qaic::Program program = builder.finish();
  Target target = round_target();
  target.ddr_bytes_per_s_per_core = 1e9;  // alone a core could have all of it
  const auto inference = run_once(program, target);
  // Both at half a byte per ns until 2000 ns; then core 1 alone moves its other 1000 bytes.
  EXPECT_EQ(times_of(inference, program, dma, 0).transfer_end, 2000);
  EXPECT_EQ(times_of(inference, program, dma_of_core_1, 0).transfer_end, 3000);
}

TEST(Simulate, MulticastUsesTheCoresOwnLinkBesideTheMemory) {
  ProgramBuilder builder(1, 70);
  qaic::Task& task = builder.add(dma, 0);
  task.ddr_read = 1000;    // 2000 ns
  task.multicast = 10000;  // 5000 ns at 2 bytes per ns
  const qaic::Program program = builder.finish();
  EXPECT_EQ(times_of(run_once(program, round_target()), program, dma, 0).transfer_end, 5000);
}

TEST(Simulate, TheIssueThreadWaitsWhenTooManyTransfersAreInFlight) {
  ProgramBuilder builder(1, 70);
  for (int i = 0; i < 3; ++i) builder.add(dma, 10).ddr_read = 500;  // 1000 ns each
  const qaic::Program program = builder.finish();
  Target target = round_target();
  target.dma_depth = 2;
  const auto inference = run_once(program, target);
  EXPECT_EQ(times_of(inference, program, dma, 2), (Times{20, 1010, 1020, 1020, 3010}));
}

TEST(Simulate, AKernelLastsAtLeastAsLongAsItsOwnMemoryTraffic) {
  ProgramBuilder builder(1, 70);
  builder.add(hmx, 100).ddr_read = 1000;
  builder.add(hmx, 5000).ddr_read = 1000;
  const qaic::Program program = builder.finish();
  const auto inference = run_once(program, round_target());
  EXPECT_EQ(times_of(inference, program, hmx, 0).kernel_end, 2000);
  EXPECT_EQ(times_of(inference, program, hmx, 1).kernel_end, 7000);
}

TEST(Simulate, TheEndOfTheStatisticsWaitsForAllTransfers) {
  ProgramBuilder builder(1, 70);
  builder.add(dma, 10).ddr_read = 1000;
  builder.add(dma, 100).flags = qaic::task_end_stats;
  const qaic::Program program = builder.finish();
  const auto inference = run_once(program, round_target());
  EXPECT_EQ(times_of(inference, program, dma, 1), (Times{10, 2010, 2110, 2110, 2110}));
  EXPECT_EQ(inference.device_end - inference.device_begin, Picoseconds{2'110'000});
}

TEST(Simulate, RecordingATaskTakesTimeAtLevelsThatRecordIt) {
  Target target = round_target();
  target.record_cycles_op = 60;
  target.record_cycles_op_pmu = 120;
  const auto second_start = [&](std::uint32_t level, std::uint8_t flags) {
    ProgramBuilder builder(1, level);
    builder.add(hmx, 100).flags = flags;
    builder.add(hmx, 100);
    builder.program().pmu_events = {0x3f};
    const qaic::Program program = builder.finish();
    return times_of(run_once(program, target), program, hmx, 1).start;
  };
  EXPECT_EQ(second_start(40, 0), 100);
  EXPECT_EQ(second_start(50, 0), 100);
  EXPECT_EQ(second_start(50, qaic::task_pipelined_port), 160);
  EXPECT_EQ(second_start(70, 0), 160);
  EXPECT_EQ(second_start(100, 0), 280);
}

TEST(Simulate, TheGovernorLowersTheClockOfABusyCore) {
  ProgramBuilder builder(1, 70);
  builder.add(hmx, 10'000);
  const qaic::Program program = builder.finish();
  Target target = round_target();
  target.core_hz_min = 0.5e9;
  target.governor_window_s = 5e-5;  // 50,000 ns
  target.activation_s = 49e-6;
  const auto inference = run_once(program, target);
  // The kernel begins in the first window, at 1 GHz. It was busy for the rest of that window, a
  // small share, and the next window is slower by half that share.
  const double begin = double(inference.device_begin.value) / 1000;
  const double busy = 50'000 - begin;
  const double hertz = 1e9 - 0.5e9 * busy / 50'000;
  const double expected = busy + (10'000 - busy) / (hertz * 1e-9);
  EXPECT_NEAR(times_of(inference, program, hmx, 0).kernel_end, expected, 0.01);
}

// The clock fell under products of 8 bits as under those of float16, which take three times the
// power.
TEST(Simulate, TheGovernorLowersTheClockLessForProductsOfIntegers) {
  ProgramBuilder builder(1, 70);
  builder.add(hmx, 10'000'000).flags = qaic::task_hmx_int8;
  const qaic::Program program = builder.finish();
  Target target = round_target();
  target.core_hz_min = 0.5e9;
  target.hmx_int8_power_of_fp16 = 0.4;
  target.governor_window_s = 5e-5;
  const auto times = times_of(run_once(program, target), program, hmx, 0);
  EXPECT_NEAR(times.kernel_end - times.start, 10'000'000 / 0.8, 50'000);
}

TEST(Simulate, TheNextInputArrivesWhileTheDeviceExecutes) {
  ProgramBuilder builder(1, 50);
  builder.add(hmx, 1000);
  builder.program().input_bytes = 5000;  // 500 ns on the link
  const qaic::Program program = builder.finish();
  SimulationOptions options;
  options.inferences = 3;
  const auto result = simulate(program, round_target(), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->inferences[0].input_wait, Picoseconds{500'000});
  EXPECT_EQ(result->inferences[1].input_wait, Picoseconds{});
  EXPECT_EQ(result->inferences[2].input_wait, Picoseconds{});
}

TEST(Simulate, WithASetSizeOfOneTheDeviceWaitsForTheHost) {
  ProgramBuilder builder(1, 50);
  builder.add(hmx, 1000);
  builder.program().input_bytes = 5000;
  const qaic::Program program = builder.finish();
  SimulationOptions options;
  options.inferences = 3;
  options.set_size = 1;
  const auto result = simulate(program, round_target(), options);
  ASSERT_TRUE(result);
  for (const SimulatedInference& inference : result->inferences) {
    EXPECT_GE(inference.input_wait, Picoseconds{500'000});
    EXPECT_EQ(inference.in_queue, 1u);
  }
}

// The one with the lowest number had it whenever it was free; the last waited until all others had
// ended.
TEST(Simulate, AFullLinkServesActivationsInTheOrderInWhichTheyAsk) {
  ProgramBuilder builder(1, 50);
  builder.add(hmx, 1000);
  builder.program().input_bytes = 20'000;  // 2 us on the link
  const qaic::Program program = builder.finish();
  SimulationOptions options;
  options.activations = 8;
  options.set_size = 2;
  options.inferences = 20;
  const auto result = simulate(program, round_target(), options);
  ASSERT_TRUE(result);
  std::vector<std::uint64_t> ended(options.activations, 0);
  for (const SimulatedInference& inference : result->inferences) {
    ended[inference.activation] = inference.number + 1;
    const auto [least, most] = std::ranges::minmax(ended);
    EXPECT_LE(most - least, 3u);
  }
}

TEST(Simulate, SamplesBeginAtTheirNumberAndTime) {
  ProgramBuilder builder(1, 40);
  builder.add(hmx, 1000);
  const qaic::Program program = builder.finish();
  SimulationOptions options;
  options.inferences = 20;
  options.first_sample = 5;
  options.samples = 3;
  const auto sampled = [&] {
    std::vector<std::uint64_t> numbers;
    const auto result = simulate(program, round_target(), options);
    for (const SimulatedInference& inference : result->inferences) {
      EXPECT_EQ(inference.sampled, !inference.stats_buffer.empty());
      if (inference.sampled) numbers.push_back(inference.number);
    }
    return numbers;
  };
  EXPECT_THAT(sampled(), testing::ElementsAre(5, 6, 7));
  options.first_sample_seconds = 10e-6;  // about ten inferences later
  EXPECT_THAT(sampled(), testing::ElementsAre(9, 10, 11));
  options.first_sample_seconds = 1;
  EXPECT_THAT(sampled(), testing::IsEmpty());
}

TEST(Simulate, HandsOverEachSampleAndKeepsNone) {
  ProgramBuilder builder(1, 40);
  builder.add(hmx, 1000);
  const qaic::Program program = builder.finish();
  SimulationOptions options;
  options.samples = 2;
  options.first_output = 7;
  options.outputs = 1;
  std::vector<std::uint64_t> taken;
  options.on_sample = [&](const SimulatedInference& inference) {
    EXPECT_FALSE(inference.stats_buffer.empty());
    taken.push_back(inference.number);
    return Status{};
  };
  const auto result = simulate(program, round_target(), options);
  ASSERT_TRUE(result);
  EXPECT_THAT(taken, testing::ElementsAre(0, 1, 7));
  for (const SimulatedInference& inference : result->inferences) {
    EXPECT_EQ(inference.stats_buffer.capacity(), 0u) << "a list of nothing keeps the memory";
  }
}

TEST(Simulate, StopsWhenASampleCannotBeTaken) {
  ProgramBuilder builder(1, 40);
  builder.add(hmx, 1000);
  SimulationOptions options;
  options.on_sample = [](const SimulatedInference&) -> Status {
    return output_error("stats: disk full");
  };
  const auto result = simulate(builder.finish(), round_target(), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "stats: disk full");
}

TEST(Simulate, BelowLevel40NothingIsRecorded) {
  ProgramBuilder builder(1, 0);
  builder.add(hmx, 1000);
  EXPECT_TRUE(run_once(builder.finish(), round_target()).stats_buffer.empty());
}

TEST(Simulate, ATimeInsteadOfACountEndsTheRun) {
  ProgramBuilder builder(1, 40);
  builder.add(hmx, 1'000'000);
  SimulationOptions options;
  options.inferences = 0;
  options.seconds = 0.02;
  options.samples = 0;
  options.set_size = 1;
  const auto result = simulate(builder.finish(), round_target(), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->inferences.size(), 20u);
}

TEST(Simulate, AProgramWithoutTasksStillCompletes) {
  const auto inference = run_once(ProgramBuilder(2, 70).finish(), round_target());
  EXPECT_EQ(inference.device_end, inference.device_begin);
}

std::string error_of(const qaic::Program& program, const Target& target,
                     const SimulationOptions& options, ErrorKind kind) {
  const auto result = simulate(program, target, options);
  if (result) return "no error";
  EXPECT_EQ(result.error().kind, kind);
  return result.error().message;
}

TEST(SimulateRefuses, MoreActivationsThanTheDeviceHasCoresFor) {
  SimulationOptions options;
  options.activations = 5;
  EXPECT_EQ(error_of(ProgramBuilder(4, 40).finish(), round_target(), options, ErrorKind::usage),
            "5 activations of 4 cores each need 20 cores, but round has 16; ask for at most 4 (-a) "
            "or compile for fewer cores");
}

TEST(SimulateRefuses, OptionsThatMakeNoSense) {
  const qaic::Program program = ProgramBuilder(1, 40).finish();
  const auto error = [&](auto change) {
    SimulationOptions options;
    change(options);
    return error_of(program, round_target(), options, ErrorKind::usage);
  };
  EXPECT_THAT(error([](auto& o) { o.activations = 0; }), HasSubstr("0 activations do nothing"));
  EXPECT_THAT(error([](auto& o) { o.set_size = 0; }), HasSubstr("set size 0 is not possible"));
  EXPECT_THAT(error([](auto& o) { o.inferences = 0; }), HasSubstr("neither a number"));
  EXPECT_THAT(error([](auto& o) { o.core_hz = 5; }), HasSubstr("a core clock of 5e-06 MHz"));
}

TEST(SimulateRefuses, ATargetThatMovesNothing) {
  Target target = round_target();
  target.ddr_bytes_per_s = 0;
  EXPECT_EQ(error_of(ProgramBuilder(1, 40).finish(), target, {}, ErrorKind::input),
            "target round: ddr_bytes_per_s is 0; it must be at least 1");
}

TEST(SimulateRefuses, ProgramsWhoseWaitsCanNeverHold) {
  ProgramBuilder builder(1, 40);
  builder.add(hvx, 10, {{hmx, 1}});
  builder.add(hmx, 10, {{hvx, 1}});
  EXPECT_NE(error_of(builder.finish(), round_target(), {}, ErrorKind::input), "no error");
}

TEST(SimulateRefuses, RunsOfMoreThanElevenDays) {
  ProgramBuilder builder(1, 40);
  builder.add(dma, 10).ddr_read = std::uint64_t{1} << 40;
  Target target = round_target();
  target.ddr_bytes_per_s = 1;
  EXPECT_THAT(error_of(builder.finish(), target, {}, ErrorKind::input),
              HasSubstr("takes more than 11 days of the device's time"));
}

}  // namespace
}  // namespace npuscope::npu::nsp::simulate_test
