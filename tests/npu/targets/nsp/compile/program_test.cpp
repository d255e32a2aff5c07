// What a compiled program must be, whatever the model: valid, deterministic, instrumented as asked.
#include <algorithm>
#include <set>

#include "formats/qaic/qpc/qpc.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"

namespace npuscope::npu::nsp::program_test {
namespace {

using qaic::ThreadGroup;

std::vector<Graph> small_models() {
  return {repository_model("light_resnet50.onnx"), repository_model("light_squeezenet.onnx"),
          generated_model("amber-7b", {1, 1, 128}, 2),
          generated_model("qwen3-0.6b", {1, 32, 128}, 2),
          generated_model("bert-base", {2, 128, 0}, 2)};
}

std::set<std::string> kernels_listed(const CompiledNetwork& network) {
  std::set<std::string> kernels;
  for (const auto& core : network.descriptor.stats.ops) {
    for (const auto& group : core) {
      for (const auto& op : group) {
        kernels.emplace(network.descriptor.stats.texts[op.kind]);
      }
    }
  }
  return kernels;
}

TEST(CompiledProgram, IsAcceptedByItsOwnReaderOnAnyNumberOfCores) {
  // The reader refuses wild indices and waits that can never hold.
  for (const Graph& graph : small_models()) {
    for (std::uint32_t cores : {1u, 2u, 3u, 7u, 14u, 16u}) {
      const auto network = compiled(graph, options_for(cores));
      const auto bytes = qaic::write_program(network.program);
      const auto again = qaic::read_program(bytes, graph.name);
      ASSERT_TRUE(again) << graph.name << " on " << cores << ": " << again.error().message;
      EXPECT_EQ(qaic::fingerprint(*again), qaic::fingerprint(network.program));
    }
  }
}

TEST(CompiledProgram, IsTheSameForTheSameInput) {
  for (const Graph& graph : small_models()) {
    const Target target = aic100();
    const auto first = package_qpc({compiled(graph, options_for(4))}, target);
    const auto second = package_qpc({compiled(graph, options_for(4))}, target);
    ASSERT_TRUE(first && second);
    EXPECT_TRUE(*first == *second) << graph.name;
  }
}

TEST(CompiledProgram, DependsOnlyOnTasksThatComeFirst) {
  const auto network = compiled(repository_model("light_resnet50.onnx"), options_for(4));
  const qaic::Program& program = network.program;
  std::vector<std::uint32_t> place(program.tasks.size());
  // Run the queues by their waits; a task may only run when its true and false needs have run.
  std::vector<std::uint32_t> next(program.queues());
  std::vector<bool> ran(program.tasks.size());
  for (std::size_t done = 0; done < program.tasks.size();) {
    const std::size_t before = done;
    for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
      const std::uint32_t at = program.queue_begin[queue] + next[queue];
      if (at == program.queue_begin[queue + 1]) continue;
      const qaic::Task& task = program.tasks[at];
      const bool ready =
          std::all_of(program.waits.begin() + task.wait_begin,
                      program.waits.begin() + task.wait_begin + task.wait_count,
                      [&](const qaic::Wait& wait) { return next[wait.queue] >= wait.count; });
      if (!ready) continue;
      for (std::uint32_t i = 0; i < task.dependency_count; ++i) {
        EXPECT_TRUE(ran[program.dependencies[task.dependency_begin + i].task]);
      }
      ran[at] = true;
      ++next[queue];
      ++done;
    }
    ASSERT_GT(done, before) << "deadlock";
  }
}

TEST(StatsLevels, AddToOneAnother) {
  const Graph graph = repository_model("light_squeezenet.onnx");
  const auto at = [&](std::uint32_t level) { return compiled(graph, options_for(4, level)); };
  EXPECT_FALSE(at(0).descriptor.has_stats);
  EXPECT_TRUE(at(40).descriptor.has_stats);
  EXPECT_TRUE(kernels_listed(at(40)).empty());
  EXPECT_EQ(kernels_listed(at(50)),
            (std::set<std::string>{"aicinputsemaphoreinc", "aicoutputsemaphoreinc"}));
  const auto full = kernels_listed(at(70));
  for (const char* kernel : {"aicconvolutiond32", "aiccopytovtcm", "aicconverttod32",
                             "aicinputsemaphoreinc", "aicendcyclestats"}) {
    EXPECT_TRUE(full.contains(kernel)) << kernel;
  }
  EXPECT_EQ(kernels_listed(at(100)), full);
}

TEST(StatsLevels, ListExactlyTheRecordedTasks) {
  for (std::uint32_t level : {40u, 50u, 70u, 100u}) {
    const auto network =
        compiled(generated_model("bert-base", {1, 64, 0}, 1), options_for(3, level));
    const qaic::Program& program = network.program;
    for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
      std::vector<std::string> expected;
      for (std::uint32_t i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
        const qaic::Task& task = program.tasks[i];
        if (program.records(task)) expected.push_back(program.kernels[task.kernel]);
      }
      std::vector<std::string> listed;
      for (const auto& op : network.descriptor.stats.ops[queue / 3][queue % 3]) {
        listed.emplace_back(network.descriptor.stats.texts[op.kind]);
      }
      EXPECT_EQ(listed, expected) << "level " << level << ", queue " << queue;
    }
  }
}

TEST(StatsLevels, WithoutInstrumentationNothingIsWritten) {
  const auto network = compiled(repository_model("light_squeezenet.onnx"), options_for(4, 0));
  for (const qaic::Task& task : network.program.tasks) {
    EXPECT_EQ(task.flags & qaic::task_end_stats, 0);
  }
}

TEST(EveryQueue, EndsByWritingItsStatistics) {
  const auto network = compiled(repository_model("light_squeezenet.onnx"), options_for(16));
  const qaic::Program& program = network.program;
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    ASSERT_LT(program.queue_begin[queue], program.queue_begin[queue + 1]);
    const qaic::Task& last = program.tasks[program.queue_begin[queue + 1] - 1];
    EXPECT_EQ(program.kernels[last.kernel], "aicendcyclestats");
  }
}

TEST(RetainedState, NeverCrossesTheHostLink) {
  const Graph graph = generated_model("amber-7b", {1, 1, 128}, 2);
  CompileOptions options = options_for(4);
  const auto kept = compiled(graph, options).program;
  options.retained_state = false;
  const auto sent = compiled(graph, options).program;
  const std::uint64_t state = 2ull * 2 * 32 * 128 * 128 * 2;  // layers, key and value, fp16
  EXPECT_EQ(kept.retained_bytes, state);
  EXPECT_EQ(sent.input_bytes - kept.input_bytes, state);
  EXPECT_EQ(sent.output_bytes - kept.output_bytes, state);
}

TEST(StatsBatchSize, IsTheModelsBatchUnlessGiven) {
  CompileOptions options = options_for(2);
  EXPECT_EQ(compiled(generated_model("bert-base", {8, 32, 0}, 1), options).program.stats_batch_size,
            8u);
  options.stats_batch_size = 3;
  EXPECT_EQ(compiled(generated_model("bert-base", {8, 32, 0}, 1), options).program.stats_batch_size,
            3u);
}

TEST(InputSemaphores, AreGivenAsSoonAsNothingReadsTheInputsAgain) {
  const auto network = compiled(generated_model("bert-base", {1, 64, 0}, 4), options_for(1));
  const qaic::Program& program = network.program;
  const std::uint32_t hvx_tasks = program.queue_begin[1];
  for (std::uint32_t i = 0; i < hvx_tasks; ++i) {
    if (program.kernels[program.tasks[i].kernel] != "aicinputsemaphoreinc") continue;
    EXPECT_LT(i, hvx_tasks / 8);
    return;
  }
  FAIL() << "no input semaphore";
}

TEST(CompileOptions, ThatMakeNoSenseAreRefusedWithAReason) {
  const Graph graph = repository_model("light_squeezenet.onnx");
  const Target target = aic100();
  const auto message = [&](auto change) {
    CompileOptions options = options_for(4);
    change(options);
    const auto network = compile_network(graph, target, options);
    EXPECT_FALSE(network);
    if (network) return std::string();
    EXPECT_EQ(network.error().kind, ErrorKind::usage);
    return network.error().message;
  };
  EXPECT_EQ(message([](CompileOptions& o) { o.cores = 17; }),
            "-aic-num-cores=17: aic100 has 16 cores; use 1 to 16");
  EXPECT_EQ(message([](CompileOptions& o) { o.stats_level = 101; }),
            "-stats-level=101: use 0 to 100 (40, 50, 70 and 100 each add something)");
  EXPECT_EQ(message([](CompileOptions& o) {
              o.stats_level = 30;
              o.ddr_stats = true;
            }),
            "-ddr-stats needs -stats-level=40 or more, not 30");
  EXPECT_EQ(message([](CompileOptions& o) { o.pmu_events.assign(9, 1); }),
            "9 PMU events asked for; the hardware counts at most 8 at once");
}

TEST(Packaging, PutsOneNetworkInTheContainerAndSeveralInNestedOnes) {
  const Target target = aic100();
  CompileOptions options = options_for(2);
  const Graph graph = repository_model("light_squeezenet.onnx");
  options.network_name = "first";
  const auto first = compiled(graph, options);
  options.network_name = "second";
  const auto second = compiled(graph, options);
  const auto alone = package_qpc({first}, target);
  ASSERT_TRUE(alone);
  const auto one = qaic::find_programs(*alone, "alone");
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ((*one)[0].path, "");
  const auto both = package_qpc({first, second}, target);
  ASSERT_TRUE(both);
  const auto two = qaic::find_programs(*both, "both");
  ASSERT_TRUE(two) << two.error().message;
  ASSERT_EQ(two->size(), 2u);
  EXPECT_EQ((*two)[0].path, "first");
  EXPECT_EQ((*two)[1].path, "second");
}

}  // namespace
}  // namespace npuscope::npu::nsp::program_test
