// The simulator's rate in thread tasks: four per HVX task, one per HMX or DMA task.
#include <benchmark/benchmark.h>

#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"

namespace npuscope::npu::nsp {
namespace {

void run(benchmark::State& state, std::uint32_t cores, std::uint32_t tasks,
         const SimulationOptions& options) {
  const qaic::Program program = random_program(1, cores, tasks, 70);
  const Target target = realistic_target();
  std::uint64_t events = 0;
  for (auto _ : state) {
    const auto result = simulate(program, target, options);
    if (!result) return state.SkipWithError(result.error().message.c_str());
    events += result->task_events;
  }
  state.SetItemsProcessed(std::int64_t(events));
}

void not_sampled(benchmark::State& state) {
  SimulationOptions options;
  options.inferences = 10;
  options.samples = 0;
  run(state, std::uint32_t(state.range(0)), std::uint32_t(state.range(1)), options);
}
BENCHMARK(not_sampled)->Args({1, 10'000})->Args({14, 10'000})->Args({14, 200'000});

void sampled(benchmark::State& state) {
  SimulationOptions options;
  options.inferences = 4;
  options.samples = 4;
  options.on_sample = [](const SimulatedInference& inference) {
    benchmark::DoNotOptimize(inference.stats_buffer.data());
    return Status{};
  };
  run(state, std::uint32_t(state.range(0)), std::uint32_t(state.range(1)), options);
}
BENCHMARK(sampled)->Args({14, 200'000});

void activations(benchmark::State& state) {
  SimulationOptions options;
  options.inferences = 10;
  options.samples = 0;
  options.activations = std::uint32_t(state.range(0));
  run(state, 2, 20'000, options);
}
BENCHMARK(activations)->Arg(1)->Arg(7);

}  // namespace
}  // namespace npuscope::npu::nsp
