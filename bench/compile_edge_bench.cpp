// How fast the reference NPUs of edge boards compile a model and execute it. Each beside an import
// of the same model in the same run, so that whatever else the machine does falls on both; all that
// the compiler gets to see has been through that import.
//
//   CompileTorq/bert/manual_time   9.7 ms ... imports=3.1 operators/s=25k
//
// imports is how many imports the job takes, in processor time.
#include <benchmark/benchmark.h>

#include "measured.hpp"
#include "npu/core/target_file.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/targets/ipu/compile.hpp"
#include "npu/targets/ipu/simulate.hpp"
#include "npu/targets/torq/compile.hpp"
#include "npu/targets/torq/execute.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::npu {
namespace {

std::string resnet50() {
  const auto file = MappedFile::open(NPUSCOPE_SOURCE_DIR "/models/light_resnet50.onnx");
  return std::string(as_text(file->bytes()));
}

std::string bert() {
  return generate_onnx(*make_architecture("bert-base", {}), {1, 128, 0}, {})->bytes;
}

// All of Amber's layers are beyond the memory that a Torq addresses.
std::string amber() {
  ArchitectureChanges changes;
  changes.layers = 8;
  return generate_onnx(*make_architecture("amber-7b", changes), {1, 1, 128}, {})->bytes;
}

Graph import(const std::string& onnx) { return *import_onnx(as_byte_span(onnx), "model", {}); }

torq::Target torq() { return *torq::read_target(*find_target_file("torq-sl2610")); }

ipu::Target ipu() {
  const auto file = find_target_file("ipu-muffin");
  return *ipu::parse_target(file->toml, file->name);
}

template <class Job>
void measure_beside_import(benchmark::State& state, const std::string& onnx, const Job& job) {
  double imported = 0, worked = 0;
  for (auto _ : state) {
    const double begin = bench::processor_seconds();
    benchmark::DoNotOptimize(import(onnx));
    const double between = bench::processor_seconds();
    benchmark::DoNotOptimize(job());
    const double seconds = bench::processor_seconds() - between;
    imported += between - begin;
    worked += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["imports"] = imported > 0 ? worked / imported : 0;
}

void count(benchmark::State& state, const char* what, double each) {
  state.counters[what] = benchmark::Counter(each, benchmark::Counter::kIsIterationInvariantRate);
}

void CompileTorq(benchmark::State& state, std::string (*model)()) {
  const std::string onnx = model();
  const Graph graph = import(onnx);
  const torq::Target target = torq();
  measure_beside_import(state, onnx, [&] { return *torq::compile(graph, target, "model"); });
  count(state, "operators/s", double(graph.nodes.size()));
}

// The device's work of one inference; the log is not written.
void RunTorq(benchmark::State& state, std::string (*model)()) {
  const std::string onnx = model();
  const torq::Target target = torq();
  const torq::Compilation compiled = *torq::compile(import(onnx), target, "model");
  measure_beside_import(state, onnx, [&] {
    return *torq::run(compiled.program, target, {.inferences = 1, .log = false});
  });
  count(state, "steps/s", double(compiled.program.steps.size()));
}

void CompileIpu(benchmark::State& state) {
  const std::string onnx = resnet50();
  const Graph graph = import(onnx);
  const ipu::Target target = ipu();
  measure_beside_import(state, onnx, [&] { return *ipu::compile(graph, target, {}); });
  count(state, "operators/s", double(graph.nodes.size()));
}

void RunIpu(benchmark::State& state) {
  const std::string onnx = resnet50();
  const ipu::Target target = ipu();
  const auto compiled = *ipu::compile(import(onnx), target, {});
  const auto run = [&] { return ipu::simulate(compiled.image.own->program, target, false); };
  measure_beside_import(state, onnx, run);
  count(state, "simulated_cycles/s", double(run().cycles));
}

BENCHMARK_CAPTURE(CompileTorq, resnet50, resnet50)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(CompileTorq, bert, bert)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(CompileTorq, amber_8_layers, amber)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(RunTorq, resnet50, resnet50)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(RunTorq, amber_8_layers, amber)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(CompileIpu)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(RunIpu)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace npuscope::npu
