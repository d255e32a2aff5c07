// How fast raw statistics buffers become profiles, summaries and traces. Decoding is counted in op
// records (one per operator and thread; each makes an op row and, mostly, a sync and a barrier
// row), traces in bytes of JSON. The argument is the number of processor cores used.
#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include <filesystem>

#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/opstats/opstats_trace.hpp"
#include "formats/qaic/stats/random_buffer.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::uint32_t cores = 16;
constexpr std::uint32_t threads = 6;
constexpr std::uint32_t ops_per_group = 10'000;
const std::string file = "bench-aiccyclecounts.bin";

struct Input {
  std::vector<std::byte> bytes;
  StatsNetwork network;
};

// Of the size of a large language model's token: 480,000 ops, 960,000 records.
const Input& input() {
  static const Input made = [] {
    const auto random =
        test_support::make_random_case({.cores = cores, .ops_per_group = ops_per_group});
    auto network = StatsNetwork::create(random.descriptor, &random.program, {.dependencies = true});
    if (!network) std::abort();
    return Input{random.bytes(), std::move(*network)};
  }();
  return made;
}

const Profile& decoded() {
  static const Profile profile = *decode_stats_buffer(input().bytes, file, input().network);
  return profile;
}

tbb::global_control use_cores(const benchmark::State& state) {
  return {tbb::global_control::max_allowed_parallelism, std::size_t(state.range(0))};
}

// Records into fresh columns; copying the network's names before is not timed.
void decode_records(benchmark::State& state) {
  const auto limit = use_cores(state);
  for (auto _ : state) {
    state.PauseTiming();
    auto profile = std::make_unique<Profile>(input().network.profile());
    state.ResumeTiming();
    const auto done = decode_stats_records(input().bytes, file, input().network, *profile);
    if (!done || !profile->notes.empty()) state.SkipWithError("not decoded whole");
    state.PauseTiming();
    profile.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * cores * threads * ops_per_group);
}
BENCHMARK(decode_records)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// The same with the copy of all names that a profile keeps.
void decode_with_names(benchmark::State& state) {
  const auto limit = use_cores(state);
  const Input& from = input();
  for (auto _ : state) {
    const auto profile = decode_stats_buffer(from.bytes, file, from.network);
    if (!profile) state.SkipWithError("not decoded");
    benchmark::DoNotOptimize(profile->spans.start.data());
  }
  state.SetItemsProcessed(state.iterations() * cores * threads * ops_per_group);
}
BENCHMARK(decode_with_names)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void summarise_ops(benchmark::State& state) {
  const Profile& profile = decoded();
  for (auto _ : state) benchmark::DoNotOptimize(summarise(profile));
  state.SetItemsProcessed(state.iterations() * std::int64_t(profile.ops.size()));
}
BENCHMARK(summarise_ops)->UseRealTime()->Unit(benchmark::kMillisecond);

void write_trace(benchmark::State& state, bool flow_events) {
  const auto limit = use_cores(state);
  const auto path = std::filesystem::temp_directory_path() / "npuscope_bench.trace.json";
  const Profile* profiles[] = {&decoded()};
  TraceOptions options;
  options.flow_events = flow_events;
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const auto report = write_opstats_trace(profiles, options, path);
    if (!report) state.SkipWithError(report.error().message.c_str());
    bytes += report ? std::int64_t(report->bytes) : 0;
  }
  state.SetBytesProcessed(bytes);
  std::filesystem::remove(path);
}
BENCHMARK_CAPTURE(write_trace, slices, false)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write_trace, slices_and_flows, true)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npuscope::qaic
