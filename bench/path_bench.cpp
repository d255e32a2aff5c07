// The critical path of millions of spans, as inferences that follow one another and as one run.
#include "large_profile.hpp"
#include "measured.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/path.hpp"
#include "report/path/path_document.hpp"

namespace npuscope {
namespace {

constexpr std::size_t spans = 5'000'000;

const Profile& one_run() {
  static const Profile profile = bench::large_run(spans);
  return profile;
}

const Profile& inferences() {
  static const Profile profile = bench::large_profile(spans);
  return profile;
}

void path(benchmark::State& state, const Profile& profile) {
  bench::measure(state, profile,
                 [&] { return report::path_document(analysis::Analysis(profile), {}); });
}

// The model alone, which other questions ask for too.
void model_of_all_spans(benchmark::State& state) {
  bench::measure(state, one_run(),
                 [] { return analysis::PathAnalysis::create(one_run(), std::nullopt); });
}

void path_of_one_inference(benchmark::State& state) { path(state, inferences()); }
void path_of_all_spans(benchmark::State& state) { path(state, one_run()); }

void what_if_of_all_spans(benchmark::State& state) {
  const auto analysis = analysis::PathAnalysis::create(one_run(), std::nullopt);
  analysis::Scaling scaling;
  scaling.of_op.assign(one_run().ops.size() + 1, 1);
  for (std::size_t op = 0; op < one_run().ops.size(); op += 3) scaling.of_op[op] = 0.5;
  bench::measure(state, one_run(), [&] { return analysis->wall_if(scaling); });
}

BENCHMARK(path_of_one_inference)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(model_of_all_spans)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(path_of_all_spans)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(what_if_of_all_spans)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace npuscope
