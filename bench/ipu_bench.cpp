// How fast the reference IPU compiles and executes ResNet-50: items of `execute` are cycles of the
// IPU's clock, of `compile` operators.
#include <benchmark/benchmark.h>

#include "npuscope/npu/graph/import_onnx.hpp"
#include "npuscope/npu/ipu/compile.hpp"
#include "npuscope/npu/ipu/simulate.hpp"
#include "npuscope/npu/target/target_file.hpp"

namespace npuscope::npu {
namespace {

const IpuTarget& target() {
  static const IpuTarget muffin = [] {
    const auto file = find_target_file("ipu-muffin");
    return *parse_ipu_target(file->toml, file->name);
  }();
  return muffin;
}

const Graph& graph() {
  static const Graph resnet =
      *import_onnx_file(NPUSCOPE_SOURCE_DIR "/models/light_resnet50.onnx", {});
  return resnet;
}

void compile(benchmark::State& state) {
  std::size_t operators = 0;
  for (auto _ : state) operators = compile_ipu(graph(), target(), {})->model.operators.size();
  state.SetItemsProcessed(state.iterations() * std::int64_t(operators));
}

void execute(benchmark::State& state) {
  const auto compiled = compile_ipu(graph(), target(), {});
  std::int64_t cycles = 0;
  for (auto _ : state) {
    cycles = simulate_ipu(compiled->image.own->program, target(), false).cycles;
  }
  state.SetItemsProcessed(state.iterations() * cycles);
}

BENCHMARK(compile)->Unit(benchmark::kMicrosecond);
BENCHMARK(execute)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace npuscope::npu
