// What no program may break, over models, numbers of cores and figures of the target: bytes and
// work are conserved, semaphores are given as often as they are waited for, units do one thing at a
// time, and a slower memory makes nothing faster.
#include <algorithm>
#include <map>

#include "flow/flow.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "npu/graph/import_onnx.hpp"

namespace npuscope::npu::nsp::conservation_test {
namespace {

struct Model {
  std::string name;
  Graph graph;
};

Graph generated(const std::string& preset, const InputSizes& sizes, std::int64_t layers) {
  ArchitectureChanges changes;
  changes.layers = layers;
  changes.vocabulary_size = 4096;
  const auto model = generate_onnx(*make_architecture(preset, changes), sizes, {});
  return *import_onnx(as_byte_span(model->bytes), preset, {});
}

const std::vector<Model>& models() {
  static const std::vector<Model> all{
      {"resnet50", *import_onnx_file(repository_model("light_resnet50.onnx"), {})},
      {"squeezenet", *import_onnx_file(repository_model("light_squeezenet.onnx"), {})},
      {"bert, 2 layers", generated("bert-base", {8, 128, 0}, 2)},
      {"amber decode, 2 layers", generated("amber-7b", {1, 1, 128}, 2)},
      {"amber prefill, 2 layers", generated("amber-7b", {1, 64, 128}, 2)},
      {"qwen3 decode, 3 layers", generated("qwen3-0.6b", {4, 1, 256}, 3)}};
  return all;
}

CompiledNetwork compile_for(const Graph& graph, std::uint32_t cores) {
  CompileOptions options;
  options.cores = cores;
  options.convert_to_fp16 = true;
  options.retained_state = true;
  options.stats_level = 70;
  options.ddr_stats = true;
  auto network = compile_network(graph, *builtin_target("aic100"), options);
  must(network);
  return std::move(*network);
}

template <class Body>
void for_each_program(Body body) {
  for (const Model& model : models()) {
    for (const std::uint32_t cores : {1u, 2u, 5u, 14u}) {
      SCOPED_TRACE(fmt::format("{} on {} cores", model.name, cores));
      body(compile_for(model.graph, cores));
    }
  }
}

// Without governor and jitter, so that two runs differ by what was changed alone.
Target steady_target() {
  Target target = *builtin_target("aic100");
  target.core_hz_min = target.core_hz;
  target.core_spread = target.jitter = 0;
  return target;
}

SimulationResult run(const qaic::Program& program, const Target& target) {
  SimulationOptions options;
  options.inferences = 1;
  options.keep_truth = true;
  auto result = simulate(program, target, options);
  must(result);
  return std::move(*result);
}

Picoseconds device_time(const qaic::Program& program, const Target& target) {
  const SimulationResult result = run(program, target);
  return result.inferences[0].device_end - result.inferences[0].device_begin;
}

TEST(Conservation, TheCompilersTrafficIsWhatTheDeviceCountsToTheByte) {
  for_each_program([](const CompiledNetwork& network) {
    const SimulationResult result = run(network.program, steady_target());
    const auto decoder = qaic::StatsNetwork::create(network.descriptor, &network.program);
    must(decoder);
    const auto profile =
        qaic::decode_stats_buffer(result.inferences[0].stats_buffer, "buffer", *decoder);
    must(profile);
    const qaic::OpstatsSummary summary = qaic::summarise(*profile);
    ASSERT_EQ(summary.cores.size(), network.metrics.cores.size());
    for (std::size_t core = 0; core < summary.cores.size(); ++core) {
      ASSERT_TRUE(summary.cores[core].ddr);
      EXPECT_EQ(summary.cores[core].ddr->read_bytes, network.metrics.cores[core].ddr_read_bytes);
      EXPECT_EQ(summary.cores[core].ddr->write_bytes, network.metrics.cores[core].ddr_write_bytes);
    }
    EXPECT_EQ(network.metrics.statistics_bytes, result.inferences[0].stats_buffer.size());
  });
}

TEST(Conservation, PurposesAndTensorsAddUpToTheTraffic) {
  for_each_program([](const CompiledNetwork& network) {
    Traffic by_task, by_purpose, by_tensor;
    for (const qaic::Task& task : network.program.tasks) {
      by_task.read_bytes += task.ddr_read;
      by_task.write_bytes += task.ddr_write;
    }
    for (const CoreMetrics& core : network.metrics.cores) {
      by_purpose.read_bytes += core.by_purpose.total().read_bytes;
      by_purpose.write_bytes += core.by_purpose.total().write_bytes;
      by_tensor.write_bytes += core.by_purpose[TrafficPurpose::statistics].write_bytes;
    }
    for (const TensorTraffic& row : network.metrics.tensors) {
      by_tensor.read_bytes += row.ddr.read_bytes;
      by_tensor.write_bytes += row.ddr.write_bytes;
      EXPECT_FALSE(row.tensor.empty());
    }
    EXPECT_EQ(by_purpose.read_bytes, by_task.read_bytes);
    EXPECT_EQ(by_purpose.write_bytes, by_task.write_bytes);
    EXPECT_EQ(by_tensor.read_bytes, by_task.read_bytes);
    EXPECT_EQ(by_tensor.write_bytes, by_task.write_bytes);
  });
}

// What comes back from DDR was written there in this inference, all of it, before.
TEST(Conservation, WhatIsSpilledIsWrittenWholeAndNamed) {
  for_each_program([](const CompiledNetwork& network) {
    std::map<std::string, std::uint64_t> written;
    std::uint64_t all = 0;
    for (const TensorTraffic& row : network.metrics.tensors) {
      if (row.purpose != TrafficPurpose::spill) continue;
      written[row.tensor] += row.ddr.write_bytes;
      all += row.ddr.write_bytes;
    }
    EXPECT_EQ(all, network.metrics.spill_bytes);
    for (const Spill& spill : network.metrics.spills) {
      EXPECT_GE(written[spill.tensor], spill.bytes) << spill.tensor;
      if (spill.back_node.empty()) continue;
      EXPECT_GE(spill.back_s, spill.out_s) << spill.tensor;
    }
    EXPECT_EQ(network.metrics.spills.empty(), all == 0);
  });
}

TEST(Conservation, EveryWaitHasItsIncrement) {
  for_each_program([](const CompiledNetwork& network) {
    const qaic::Program& program = network.program;
    for (const qaic::Wait& wait : program.waits) {
      const std::uint32_t tasks =
          program.queue_begin[wait.queue + 1] - program.queue_begin[wait.queue];
      ASSERT_GE(wait.count, 1u);
      ASSERT_LE(wait.count, tasks);
      const qaic::Task& giver = program.tasks[program.queue_begin[wait.queue] + wait.count - 1];
      EXPECT_TRUE((giver.flags & qaic::task_signals) != 0);
    }
  });
}

TEST(Conservation, NoUnitDoesTwoThingsAndTimeNeverFlowsBackwards) {
  for_each_program([](const CompiledNetwork& network) {
    const SimulationResult result = run(network.program, *builtin_target("aic100"));
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<TaskTruth>> threads;
    std::map<std::uint32_t, std::uint32_t> queue_of;  // by task
    for (std::uint32_t queue = 0; queue < network.program.queues(); ++queue) {
      for (std::uint32_t task = network.program.queue_begin[queue];
           task < network.program.queue_begin[queue + 1]; ++task) {
        queue_of[task] = queue;
      }
    }
    for (const TaskTruth& truth : result.inferences[0].truth) {
      EXPECT_LE(truth.sync_begin, truth.start);
      EXPECT_LE(truth.start, truth.kernel_end);
      EXPECT_LE(truth.kernel_end, truth.barrier_end);
      EXPECT_LE(truth.kernel_end, truth.transfer_end);
      threads[{queue_of[truth.task], truth.thread}].push_back(truth);
    }
    for (auto& [thread, tasks] : threads) {
      std::sort(tasks.begin(), tasks.end(),
                [](const TaskTruth& a, const TaskTruth& b) { return a.task < b.task; });
      for (std::size_t i = 1; i < tasks.size(); ++i) {
        EXPECT_LE(tasks[i - 1].barrier_end, tasks[i].sync_begin);
      }
    }
  });
}

// Where the cores' shares leave no block of 32 half empty, they do together what fewer do. (On one
// core the encoder's tiles are cut so fine that they do.)
TEST(Conservation, WorkIsTheSameOnAnyNumberOfCores) {
  for (const char* name : {"amber decode, 2 layers", "bert, 2 layers"}) {
    const auto model = std::find_if(models().begin(), models().end(),
                                    [&](const Model& each) { return each.name == name; });
    std::optional<std::uint64_t> fewer;
    for (const std::uint32_t cores : {1u, 2u, 4u, 8u}) {
      if (cores == 1 && model->name.starts_with("bert")) continue;
      std::uint64_t macs = 0;
      for (const qaic::Task& task : compile_for(model->graph, cores).program.tasks) {
        macs += task.macs;
      }
      EXPECT_EQ(macs, fewer.value_or(macs)) << name << " on " << cores << " cores";
      fewer = macs;
    }
  }
}

TEST(Conservation, HalfTheMemorysBandwidthMakesNothingFaster) {
  for_each_program([](const CompiledNetwork& network) {
    const Target target = steady_target();
    Target slower = target;
    slower.ddr_bytes_per_s /= 2;
    slower.ddr_bytes_per_s_per_core /= 2;
    EXPECT_GE(device_time(network.program, slower), device_time(network.program, target));
  });
}

TEST(Conservation, ASlowerClockMakesNothingFaster) {
  for_each_program([](const CompiledNetwork& network) {
    const Target target = steady_target();
    Target slower = target;
    slower.core_hz = slower.core_hz_min = target.core_hz / 2;
    EXPECT_GE(device_time(network.program, slower), device_time(network.program, target));
  });
}

TEST(Performance, AnEncodersHvxWorksWhileItsHmxDoes) {
  const auto model = std::find_if(models().begin(), models().end(),
                                  [](const Model& each) { return each.name == "bert, 2 layers"; });
  const CompiledNetwork network = compile_for(model->graph, 2);
  const double seconds = double(device_time(network.program, steady_target()).value) * 1e-12;
  const CoreMetrics& core = network.metrics.cores[0];
  const double busy = double(core.hmx_cycles + core.hvx_cycles) / steady_target().core_hz;
  EXPECT_GT(busy, 1.05 * seconds);  // more work than time
  EXPECT_EQ(network.metrics.spill_bytes, 0u);
}

}  // namespace
}  // namespace npuscope::npu::nsp::conservation_test
