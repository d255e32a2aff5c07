// The compiler, and the main job whole: import, compile, one inference on the reference NPU,
// decode. Amber 7B, one token, 14 cores, level 70; the argument is the number of layers, so that
// the rates (layers per second) show whether the cost stays linear. peak_MiB is that of the process
// so far: choose one benchmark (--benchmark_filter) for its own.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::npu::nsp {
namespace {

std::string amber(std::int64_t layers, std::int64_t tokens = 1) {
  ArchitectureChanges changes;
  changes.layers = layers;
  const InputSizes sizes{1, tokens, std::max<std::int64_t>(tokens, 128)};
  return generate_onnx(*make_architecture("amber-7b", changes), sizes, {})->bytes;
}

CompiledNetwork compile_amber(const std::string& onnx, const Target& target) {
  CompileOptions options;
  options.cores = 14;
  options.convert_to_fp16 = true;
  options.retained_state = true;
  options.stats_level = 70;
  return *compile_network(*import_onnx(as_byte_span(onnx), "amber", {}), target, options);
}

void report_memory(benchmark::State& state) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = double(usage.ru_maxrss) / 1024;
}

void report(benchmark::State& state, std::int64_t layers) {
  state.counters["layers/s"] =
      benchmark::Counter(double(layers), benchmark::Counter::kIsIterationInvariantRate);
  report_memory(state);
}

void CompileAmber(benchmark::State& state) {
  const std::string onnx = amber(state.range(0));
  const Target target = *builtin_target("aic100");
  for (auto _ : state) {
    const CompiledNetwork network = compile_amber(onnx, target);
    auto qpc = package_qpc({network}, target);
    benchmark::DoNotOptimize(qpc);
  }
  report(state, state.range(0));
}

void CompileRunAndDecodeAmber(benchmark::State& state) {
  const std::string onnx = amber(state.range(0));
  const Target target = *builtin_target("aic100");
  for (auto _ : state) {
    const CompiledNetwork network = compile_amber(onnx, target);
    SimulationOptions options;
    options.inferences = 1;
    const auto simulated = simulate(network.program, target, options);
    const auto decoder = qaic::StatsNetwork::create(network.descriptor, &network.program);
    const auto profile =
        qaic::decode_stats_buffer(simulated->inferences[0].stats_buffer, "buffer", *decoder);
    auto text = qaic::print_summary(qaic::summarise(*profile));
    benchmark::DoNotOptimize(text);
  }
  report(state, state.range(0));
}

// One inference of so many tokens at level 70 with its statistics; items are thread tasks.
// simulated_Mcycles/s is what simulators that step cycles report: device time times its clock, by
// the time it took.
void SimulateAmber(benchmark::State& state) {
  const Target target = *builtin_target("aic100");
  const CompiledNetwork network = compile_amber(amber(32, state.range(0)), target);
  SimulationOptions options;
  options.inferences = 1;
  std::uint64_t events = 0;
  double cycles = 0;
  for (auto _ : state) {
    const auto result = simulate(network.program, target, options);
    events += result->task_events;
    const SimulatedInference& inference = result->inferences[0];
    cycles += double(inference.device_ticks) / target.timer_hz * target.core_hz;
  }
  state.SetItemsProcessed(std::int64_t(events));
  state.counters["simulated_Mcycles/s"] =
      benchmark::Counter(cycles * 1e-6, benchmark::Counter::kIsRate);
  report_memory(state);
}
BENCHMARK(SimulateAmber)->Arg(1)->Arg(2048)->Unit(benchmark::kMillisecond);

// The same from the model on: compiled, packaged, simulated.
void CompileAndSimulateAmber(benchmark::State& state) {
  const std::string onnx = amber(32, state.range(0));
  const Target target = *builtin_target("aic100");
  SimulationOptions options;
  options.inferences = 1;
  std::uint64_t events = 0;
  for (auto _ : state) {
    std::vector<CompiledNetwork> networks;
    networks.push_back(compile_amber(onnx, target));
    auto qpc = package_qpc(networks, target);
    benchmark::DoNotOptimize(qpc);
    qpc = {};
    events += simulate(networks[0].program, target, options)->task_events;
  }
  state.SetItemsProcessed(std::int64_t(events));
  report_memory(state);
}
BENCHMARK(CompileAndSimulateAmber)->Arg(1)->Arg(2048)->Unit(benchmark::kMillisecond);

BENCHMARK(CompileAmber)->RangeMultiplier(2)->Range(8, 64)->Unit(benchmark::kMillisecond);
BENCHMARK(CompileRunAndDecodeAmber)
    ->RangeMultiplier(2)
    ->Range(8, 64)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npuscope::npu::nsp
