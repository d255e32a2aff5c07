// The graph of millions of spans and of a million ops, against what it cannot do without: grouping
// spans by unit, and sorting edges.
#include <benchmark/benchmark.h>

#include "analysis/graph/false_dependencies.hpp"
#include "analysis/graph/graph_facts.hpp"
#include "analysis/graph/graph_paths.hpp"
#include "analysis/ops/op_times.hpp"
#include "large_profile.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope {
namespace {

constexpr std::size_t spans = 5'000'000;
constexpr std::uint32_t ops = 1'000'000;

const Profile& large() {
  static const Profile profile = bench::large_profile(spans);
  return profile;
}

// Each op feeds the next and one further on.
const Profile& wide() {
  static const Profile profile = [] {
    Profile made;
    made.clocks.push_back({});
    made.ops.resize(ops);
    for (std::uint32_t i = 0; i + 1 < ops; ++i) {
      made.edges.push_back({OpId(i), OpId(i + 1)});
      made.edges.push_back({OpId(i), OpId(i + std::min(7919u, ops - 1 - i)), EdgeKind::reuse});
    }
    return made;
  }();
  return profile;
}

void BM_BaselineSpansByUnit(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(SpansByUnit(large()));
  state.SetItemsProcessed(std::int64_t(state.iterations()) * std::int64_t(spans));
}
BENCHMARK(BM_BaselineSpansByUnit)->Unit(benchmark::kMillisecond);

void answer(benchmark::State& state, const Profile& profile, std::size_t items) {
  for (auto _ : state) {
    const analysis::OpGraph graph = analysis::op_graph(profile);
    const analysis::OpTimes times = analysis::Analysis(profile).op_times();
    benchmark::DoNotOptimize(analysis::graph_facts(profile, graph, times));
    benchmark::DoNotOptimize(analysis::shared_tensors(profile, graph, times));
    benchmark::DoNotOptimize(analysis::reuse_waits(graph, times));
  }
  state.SetItemsProcessed(std::int64_t(state.iterations()) * std::int64_t(items));
}

void BM_GraphOfFiveMillionSpans(benchmark::State& state) { answer(state, large(), spans); }
BENCHMARK(BM_GraphOfFiveMillionSpans)->Unit(benchmark::kMillisecond);

void BM_GraphOfAMillionOps(benchmark::State& state) { answer(state, wide(), ops); }
BENCHMARK(BM_GraphOfAMillionOps)->Unit(benchmark::kMillisecond);

void BM_PathsOfAMillionOps(benchmark::State& state) {
  const analysis::OpGraph graph = analysis::op_graph(wide());
  const analysis::OpTimes times = analysis::Analysis(wide()).op_times();
  const std::vector<OpId> from{OpId(0)}, to{OpId(ops - 1)};
  const auto kinds = analysis::EdgeKinds::all();
  for (auto _ : state) {
    benchmark::DoNotOptimize(analysis::shortest_path(graph, from, to, kinds));
    const auto order = analysis::order_of(graph, kinds);
    benchmark::DoNotOptimize(analysis::heaviest_path(graph, order, times, from, to, kinds));
  }
}
BENCHMARK(BM_PathsOfAMillionOps)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npuscope
