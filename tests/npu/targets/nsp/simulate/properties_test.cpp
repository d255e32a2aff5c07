// What holds for every program: records equal the truth, queues keep their order, waits are
// respected, and no more data moves than the bandwidth allows.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"

namespace npuscope::npu::nsp::properties_test {
namespace {

using qaic::StatsOp;
using qaic::ThreadGroup;

// The statistics buffer, read back from its bytes.
struct Buffer {
  qaic::StatsIdentity identity;
  std::vector<qaic::StatsThread> threads;
  std::vector<qaic::StatsCore> cores;
  std::vector<qaic::StatsPort> ports;
  std::map<std::uint32_t, std::vector<StatsOp>> ops;  // by core * threads + thread
  std::map<std::uint32_t, std::vector<qaic::StatsOpPmu>> op_pmu;
};

Buffer read_buffer(const std::vector<std::byte>& bytes) {
  const auto reader = SectionReader::open(bytes, qaic::stats_magic, 1, "buffer");
  EXPECT_TRUE(reader) << reader.error().message;
  Buffer buffer;
  for (const SectionEntry& entry : reader->entries()) {
    switch (entry.kind) {
      case qaic::stats_identity:
        buffer.identity = reader->records<qaic::StatsIdentity>(entry)->at(0);
        break;
      case qaic::stats_threads: buffer.threads = *reader->records<qaic::StatsThread>(entry); break;
      case qaic::stats_cores: buffer.cores = *reader->records<qaic::StatsCore>(entry); break;
      case qaic::stats_ports: buffer.ports = *reader->records<qaic::StatsPort>(entry); break;
      case qaic::stats_ops: buffer.ops[entry.key] = *reader->records<StatsOp>(entry); break;
      case qaic::stats_op_pmu:
        buffer.op_pmu[entry.key] = *reader->records<qaic::StatsOpPmu>(entry);
        break;
      default: break;
    }
  }
  return buffer;
}

struct RandomRun {
  qaic::Program program;
  Target target = realistic_target();
  SimulationResult result;
};

RandomRun run_random(std::uint64_t seed, std::uint32_t cores, std::uint32_t tasks,
                     std::uint32_t level, std::uint32_t activations = 1) {
  RandomRun run;
  run.program = random_program(seed, cores, tasks, level);
  SimulationOptions options;
  options.seed = seed;
  options.activations = activations;
  options.inferences = 3;
  options.samples = 3;
  options.keep_truth = true;
  auto result = simulate(run.program, run.target, options);
  EXPECT_TRUE(result) << result.error().message;
  run.result = std::move(*result);
  return run;
}

std::uint32_t queue_of(const qaic::Program& program, std::uint32_t task) {
  return std::uint32_t(
      std::upper_bound(program.queue_begin.begin(), program.queue_begin.end(), task) -
      program.queue_begin.begin() - 1);
}

// Absolute ticks of a time on a core whose first tick of the run is `base`.
std::uint64_t ticks_at(std::uint64_t base, Picoseconds time) {
  return base + std::uint64_t(__builtin_floorl(static_cast<long double>(time.value) * 192 / 1e7L));
}

TEST(Records, EqualTheTruthToTheTick) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomRun run = run_random(seed, 3, 150, seed % 2 == 0 ? 70 : 50, 2);
    const std::uint32_t threads = run.program.threads_per_core();
    for (const SimulatedInference& inference : run.result.inferences) {
      Buffer buffer = read_buffer(inference.stats_buffer);
      std::map<std::uint32_t, std::uint32_t> next;  // record, by section
      for (const TaskTruth& truth : inference.truth) {
        const qaic::Task& task = run.program.tasks[truth.task];
        const std::uint32_t queue = queue_of(run.program, truth.task);
        const std::uint32_t key = queue / 3 * threads + truth.thread;
        if (!run.program.records(task)) continue;
        const StatsOp& op = buffer.ops[key].at(next[key]);
        const std::uint64_t base =
            buffer.threads[key].begin_ticks - ticks_at(0, inference.device_begin);
        const auto ticks = [&](Picoseconds time) { return ticks_at(base, time); };
        EXPECT_EQ(op.position(), next[key]++);
        EXPECT_NE(op.position_and_flags & StatsOp::written, 0u);
        EXPECT_EQ(op.start_ticks, ticks(truth.start));
        EXPECT_EQ(op.sync_ticks, ticks(truth.start) - ticks(truth.sync_begin));
        EXPECT_EQ(op.kernel_ticks, ticks(truth.kernel_end) - ticks(truth.start));
        EXPECT_EQ(op.barrier_ticks, ticks(truth.barrier_end) - ticks(truth.kernel_end));
        const bool asynchronous = truth.transfer_end != truth.kernel_end;
        EXPECT_EQ(op.transfer_ticks,
                  asynchronous ? ticks(truth.transfer_end) - ticks(truth.start) : 0);
        EXPECT_LE(ticks(truth.transfer_end), buffer.threads[key].end_ticks);
        EXPECT_LE(ticks(truth.barrier_end), buffer.threads[key].end_ticks);
        EXPECT_EQ((op.position_and_flags & StatsOp::barriered) != 0,
                  (task.flags & qaic::task_signals) != 0);
      }
      for (const auto& [key, ops] : buffer.ops) EXPECT_EQ(ops.size(), next[key]);
    }
  }
}

// The console block and the latency file must not tell other times than the summary does.
TEST(Records, SpanTheTicksThatTheRunReports) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomRun run = run_random(seed, 3, 60, 50, 2);
    for (const SimulatedInference& inference : run.result.inferences) {
      const Buffer buffer = read_buffer(inference.stats_buffer);
      std::uint64_t begin = buffer.threads[0].begin_ticks, end = 0;
      for (const qaic::StatsThread& thread : buffer.threads) {
        begin = std::min(begin, thread.begin_ticks);
        end = std::max(end, thread.end_ticks);
      }
      EXPECT_EQ(inference.device_ticks, end - begin);
      std::map<std::uint32_t, std::uint64_t> longest;  // wait, by port
      for (const qaic::StatsPort& port : buffer.ports) {
        longest[port.port] = std::max(longest[port.port], port.wait_ticks);
      }
      EXPECT_EQ(inference.input_wait_ticks, longest[100]);
      EXPECT_EQ(inference.output_wait_ticks, longest[101]);
    }
  }
}

TEST(Records, HaveASizeThatIsKnownBefore) {
  for (const std::uint32_t level : {40u, 50u, 70u, 100u}) {
    const RandomRun run = run_random(1, 2, 80, level);
    const auto& inferences = run.result.inferences;
    for (const SimulatedInference& inference : inferences) {
      EXPECT_EQ(inference.stats_buffer.size(), inferences[0].stats_buffer.size());
      const Buffer buffer = read_buffer(inference.stats_buffer);
      EXPECT_EQ(buffer.identity.inference, inference.number);
      EXPECT_EQ(buffer.ports.size(), level >= 50 ? 2u * 2 * 6 : 0u);
      EXPECT_EQ(buffer.ops.size(), level >= 50 ? 2u * 6 : 0u);
      EXPECT_EQ(buffer.op_pmu.size(), level >= 100 ? 2u * 6 : 0u);
    }
  }
}

TEST(Records, CountCyclesThatAddUp) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RandomRun run = run_random(seed, 2, 120, 100);
    for (const SimulatedInference& inference : run.result.inferences) {
      Buffer buffer = read_buffer(inference.stats_buffer);
      for (std::uint32_t key = 0; key < buffer.threads.size(); ++key) {
        const qaic::StatsThread& thread = buffer.threads[key];
        std::uint64_t of_ops = 0;
        for (const StatsOp& op : buffer.ops[key]) of_ops += op.cycles;
        EXPECT_LE(of_ops, thread.end_cycles - thread.begin_cycles);
        EXPECT_EQ(thread.pmu[0], thread.end_cycles - thread.begin_cycles);  // 0x3f counts cycles
        EXPECT_TRUE(thread.pmu[3] == 0 || key % 6 == 5);  // 0x72: the DMA thread's alone
      }
      // All others of a thread are the sums over its ops, those that count in units of 16 or 64
      // too.
      for (std::uint32_t key = 0; key < buffer.threads.size(); ++key) {
        for (std::size_t counter = 1; counter < 8; ++counter) {
          std::uint64_t sum = 0;
          for (const auto& op : buffer.op_pmu[key]) sum += op.counts[counter];
          EXPECT_EQ(buffer.threads[key].pmu[counter], sum) << "counter " << counter;
        }
        EXPECT_TRUE(buffer.threads[key].pmu[1] == 0 || key % 6 == 4);
        EXPECT_EQ(buffer.threads[key].pmu[7], buffer.ops[key].size());
      }
    }
  }
}

TEST(Records, CountTheMemoryTrafficOfTheProgram) {
  const RandomRun run = run_random(3, 3, 200, 100);
  for (const SimulatedInference& inference : run.result.inferences) {
    const Buffer buffer = read_buffer(inference.stats_buffer);
    ASSERT_EQ(buffer.cores.size(), 3u);
    for (std::uint32_t core = 0; core < 3; ++core) {
      std::uint64_t read = 0, write = 0;
      for (std::uint32_t i = run.program.queue_begin[core * 3];
           i < run.program.queue_begin[core * 3 + 3]; ++i) {
        read += run.program.tasks[i].ddr_read;
        write += run.program.tasks[i].ddr_write;
      }
      EXPECT_EQ(buffer.cores[core].ddr_read_bytes, read);
      EXPECT_EQ(buffer.cores[core].ddr_write_bytes, write);
    }
  }
}

// Three seconds and more in one inference: the thread's 32-bit counters come round, those of its
// operators do not.
TEST(Records, CountModuloTheWidthOfTheCounters) {
  qaic::Program program = random_program(2, 1, 12, 100);
  for (qaic::Task& task : program.tasks) task.cycles = 2'000'000'000;
  Target target = realistic_target();
  target.jitter = 0;
  SimulationOptions options;
  options.inferences = 1;
  options.core_hz = 1e9;
  const auto result = simulate(program, target, options);
  ASSERT_TRUE(result) << result.error().message;
  const Buffer buffer = read_buffer(result->inferences[0].stats_buffer);
  std::size_t wrapped = 0;
  for (std::uint32_t key = 0; key < buffer.threads.size(); ++key) {
    const qaic::StatsThread& thread = buffer.threads[key];
    EXPECT_EQ(thread.pmu[0], std::uint32_t(thread.end_cycles - thread.begin_cycles));
    std::uint64_t hvx = 0;
    for (const auto& op : buffer.op_pmu.at(key)) hvx += op.counts[2];
    EXPECT_EQ(thread.pmu[2], std::uint32_t(hvx));
    wrapped += hvx >> 32 != 0;
  }
  EXPECT_EQ(wrapped, 4u);  // the HVX threads
}

TEST(Records, LeaveUnknownEventsAtZero) {
  qaic::Program program = random_program(1, 1, 30, 100);
  program.pmu_events = {0x700, 0x3f};
  SimulationOptions options;
  options.inferences = 1;
  const auto result = simulate(program, realistic_target(), options);
  ASSERT_TRUE(result);
  const Buffer buffer = read_buffer(result->inferences[0].stats_buffer);
  EXPECT_EQ(buffer.threads[0].pmu[0], 0u);
  EXPECT_GT(buffer.threads[0].pmu[1], 0u);
}

TEST(Execution, KeepsQueuesInOrderAndRespectsWaits) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const RandomRun run = run_random(seed, 4, 200, 70);
    const SimulatedInference& inference = run.result.inferences.front();
    // A task is over when all threads have left it and its transfer has ended.
    std::vector<Picoseconds> over(run.program.tasks.size());
    std::map<std::pair<std::uint32_t, std::uint32_t>, Picoseconds> left;  // by queue and thread
    for (const TaskTruth& truth : inference.truth) {
      over[truth.task] = std::max({over[truth.task], truth.barrier_end, truth.transfer_end});
      Picoseconds& before = left[{queue_of(run.program, truth.task), truth.thread}];
      EXPECT_GE(truth.sync_begin, before);
      EXPECT_GE(truth.start, truth.sync_begin);
      EXPECT_GE(truth.kernel_end, truth.start);
      EXPECT_GE(truth.barrier_end, truth.kernel_end);
      before = truth.barrier_end;
    }
    for (const TaskTruth& truth : inference.truth) {
      const qaic::Task& task = run.program.tasks[truth.task];
      for (std::uint32_t i = 0; i < task.wait_count; ++i) {
        const qaic::Wait& wait = run.program.waits[task.wait_begin + i];
        for (std::uint32_t done = 0; done < wait.count; ++done) {
          ASSERT_GT(truth.start, over[run.program.queue_begin[wait.queue] + done]) << seed;
        }
      }
    }
  }
}

TEST(Execution, TransfersOfACoreEndInOrderAndWithinItsBandwidth) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const RandomRun run = run_random(seed, 3, 200, 40);
    const SimulatedInference& inference = run.result.inferences.front();
    std::map<std::uint32_t, std::pair<Picoseconds, double>> by_queue;  // last end, bytes
    double all_bytes = 0;
    Picoseconds first = inference.device_end, last = inference.device_begin;
    for (const TaskTruth& truth : inference.truth) {
      const qaic::Task& task = run.program.tasks[truth.task];
      const std::uint32_t queue = queue_of(run.program, truth.task);
      if (queue % 3 != std::uint32_t(ThreadGroup::dma_issue)) continue;
      auto& [end, bytes] = by_queue[queue];
      if (task.ddr_read + task.ddr_write > 0) {
        EXPECT_GE(truth.transfer_end, end);
        end = truth.transfer_end;
      }
      bytes += double(task.ddr_read + task.ddr_write);
      all_bytes += double(task.ddr_read + task.ddr_write);
      first = std::min(first, truth.start);
      last = std::max(last, truth.transfer_end);
    }
    const double seconds = double((last - first).value) * 1e-12;
    EXPECT_LE(all_bytes, seconds * run.target.ddr_bytes_per_s * run.target.ddr_efficiency);
    for (const auto& [queue, moved] : by_queue) {
      EXPECT_LE(moved.second, seconds * run.target.ddr_bytes_per_s_per_core);
    }
  }
}

TEST(Execution, DoesAllWorkOnceWhateverTheTiming) {
  const qaic::Program program = random_program(5, 3, 200, 70);
  SimulationOptions options;
  options.inferences = 4;
  options.samples = 0;
  std::uint64_t thread_tasks = 0;
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    thread_tasks += std::uint64_t{program.thread_count(ThreadGroup(queue % 3))} *
                    (program.queue_begin[queue + 1] - program.queue_begin[queue]);
  }
  for (const double jitter : {0.0, 0.3}) {
    Target target = realistic_target();
    target.jitter = jitter;
    const auto result = simulate(program, target, options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->task_events, 4 * thread_tasks);
  }
}

// Every core's DMA alone, nothing waits for another core: then more bandwidth can only help.
TEST(Execution, MoreBandwidthNeverSlowsAProgramThatOnlyMovesData) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 40; ++round) {
    ProgramBuilder builder(4, 40);
    for (int i = 0; i < 100; ++i) {
      const auto core = std::uint32_t(random() % 4);
      qaic::Task& task = builder.add(ProgramBuilder::queue(core, ThreadGroup::dma_issue),
                                     std::uint32_t(random() % 3000));
      task.ddr_read = random() % 200'000;
    }
    const qaic::Program program = builder.finish();
    SimulationOptions options;
    options.inferences = 1;
    Target target = realistic_target();
    Picoseconds before{std::numeric_limits<std::int64_t>::max()};
    for (const double bandwidth : {10e9, 20e9, 40e9, 80e9}) {
      target.ddr_bytes_per_s = bandwidth;
      const auto result = simulate(program, target, options);
      ASSERT_TRUE(result);
      const auto& inference = result->inferences[0];
      EXPECT_LE(inference.device_end - inference.device_begin, before);
      before = inference.device_end - inference.device_begin;
    }
  }
}

TEST(Determinism, SameInputSameBytes) {
  const RandomRun first = run_random(9, 3, 200, 100, 3);
  const RandomRun again = run_random(9, 3, 200, 100, 3);
  ASSERT_EQ(first.result.inferences.size(), again.result.inferences.size());
  for (std::size_t i = 0; i < first.result.inferences.size(); ++i) {
    EXPECT_EQ(first.result.inferences[i].stats_buffer, again.result.inferences[i].stats_buffer);
  }
}

TEST(Determinism, SamplingDoesNotChangeWhatHappens) {
  const qaic::Program program = random_program(4, 2, 100, 70);
  SimulationOptions options;
  options.inferences = 10;
  options.samples = 0;
  const auto plain = simulate(program, realistic_target(), options);
  options.samples = 10;
  options.keep_truth = true;
  const auto sampled = simulate(program, realistic_target(), options);
  ASSERT_TRUE(plain && sampled);
  for (std::size_t i = 0; i < plain->inferences.size(); ++i) {
    EXPECT_EQ(plain->inferences[i].device_begin, sampled->inferences[i].device_begin);
    EXPECT_EQ(plain->inferences[i].device_end, sampled->inferences[i].device_end);
    EXPECT_EQ(plain->inferences[i].completed, sampled->inferences[i].completed);
  }
}

TEST(Determinism, AnotherSeedIsAnotherRun) {
  const qaic::Program program = random_program(4, 2, 100, 70);
  SimulationOptions options;
  options.inferences = 1;
  const auto one = simulate(program, realistic_target(), options);
  options.seed = 2;
  const auto other = simulate(program, realistic_target(), options);
  ASSERT_TRUE(one && other);
  EXPECT_NE(one->inferences[0].stats_buffer, other->inferences[0].stats_buffer);
}

// All cores at once: 3 x 10 MB at the device's 40 GB/s, or one core's at its own 24 GB/s.
TEST(Host, TheFirstInferenceWaitsForConstantsThatStay) {
  const Target target = realistic_target();
  qaic::Program program = random_program(4, 3, 50, 50);
  SimulationOptions options;
  options.inferences = 3;
  const auto plain = simulate(program, target, options);
  ASSERT_TRUE(plain);
  for (const auto& [bytes, seconds] : std::vector<std::pair<std::vector<std::uint64_t>, double>>{
           {{10'000'000, 10'000'000, 10'000'000}, 30e6 / 40e9}, {{0, 24'000'000, 0}, 1e-3}}) {
    program.hoisted_bytes = bytes;
    const auto kept = simulate(program, target, options);
    ASSERT_TRUE(kept) << kept.error().message;
    const auto later = kept->inferences[0].device_begin - plain->inferences[0].device_begin;
    // Without, the first input was waited for beyond the set-up.
    EXPECT_NEAR(double(later.value) * 1e-12, seconds, 50e-6);
    const Buffer with = read_buffer(kept->inferences[0].stats_buffer);
    const Buffer without = read_buffer(plain->inferences[0].stats_buffer);
    for (std::size_t i = 0; i < with.threads.size(); ++i) {
      EXPECT_NEAR(double(with.threads[i].activation_ticks - without.threads[i].activation_ticks),
                  seconds * target.timer_hz, 2);
    }
  }
  program.hoisted_bytes = {1, 2};
  EXPECT_FALSE(simulate(program, target, options));
}

TEST(Host, StagesOfAnInferenceFollowOneAnother) {
  for (const std::uint32_t set_size : {1u, 2u, 10u}) {
    SimulationOptions options;
    options.activations = 3;
    options.inferences = 30;
    options.set_size = set_size;
    options.samples = 0;
    const auto result = simulate(random_program(6, 2, 50, 50), realistic_target(), options);
    ASSERT_TRUE(result);
    ASSERT_EQ(result->inferences.size(), 90u);
    std::map<std::uint32_t, std::uint64_t> next;
    std::map<std::uint32_t, Picoseconds> device_end;
    Picoseconds completed{}, finished{};
    for (const SimulatedInference& i : result->inferences) {
      EXPECT_EQ(i.number, next[i.activation]++);
      EXPECT_LT(i.queued, i.taken);
      EXPECT_LT(i.taken, i.prepared);
      EXPECT_LT(i.prepared, i.submitted);
      EXPECT_LT(i.submitted, i.input_sent);
      EXPECT_LT(i.input_sent, i.input_ready);
      EXPECT_LT(i.input_ready, i.device_begin);
      EXPECT_LT(device_end[i.activation], i.device_begin);
      EXPECT_LT(i.device_begin, i.device_end);
      EXPECT_LT(i.device_end, i.completed);
      EXPECT_LE(completed, i.completed);
      EXPECT_LT(i.completed, i.awake);
      EXPECT_LT(i.awake, i.finished);
      EXPECT_LE(i.in_queue, set_size);
      device_end[i.activation] = i.device_end;
      completed = i.completed;
      finished = i.finished;
    }
    EXPECT_EQ(result->total, finished);
  }
}

}  // namespace
}  // namespace npuscope::npu::nsp::properties_test
