// How fast profiles become files of other formats and pages: 1.3 million slices on 16 threads, four
// arguments each. Bytes are of the output; "page" is the first page of `npuscope show`.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <filesystem>

#include "analysis/profile_builder.hpp"
#include "jobs/export/export.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/formats/chrome/write.hpp"
#include "npuscope/profile/filter.hpp"
#include "report/show/show.hpp"

namespace npuscope::report {
namespace {

constexpr std::uint32_t slices = 1'300'000;
constexpr std::uint32_t threads = 16;
constexpr std::uint32_t ops = 1'000;

Profile make_large_profile() {
  test_support::ProfileBuilder made("trace", ClockKind::wall, 1e9);
  Profile& profile = made.profile;
  for (std::uint32_t i = 0; i < threads; ++i) {
    made.unit(fmt::format("thread {}", i), Engine::thread);
    profile.units[i].process_id = made.text("1");
    profile.units[i].thread_id = made.text(fmt::format("{}", i + 100));
  }
  for (std::uint32_t i = 0; i < ops; ++i) {
    made.op(fmt::format("/layer.{}/attn/MatMul_{}", i / 10, i), "kernel");
  }
  Spans& spans = profile.spans;
  Arguments& arguments = spans.arguments;
  arguments.shapes.push_back({{made.text("opPCycle"), ArgumentType::integer},
                              {made.text("effectiveFreq"), ArgumentType::number},
                              {made.text("opName"), ArgumentType::text},
                              {made.text("opMemory"), ArgumentType::text}});
  const StringId memory = made.text("TCM");
  for (std::uint32_t i = 0; i < slices; ++i) {
    spans.unit.push_back(UnitId(i % threads));
    spans.op.push_back(OpId(i % ops));
    spans.kind.push_back(SpanKind::slice);
    spans.start.push_back(std::int64_t(i / threads) * 1'500 + 7);
    spans.duration.push_back(1'234);
    arguments.add(
        i, 1,
        std::array<std::uint64_t, 4>{i, std::bit_cast<std::uint64_t>(1450.25 + i),
                                     index_of(profile.ops[i % ops].name), index_of(memory)});
  }
  return std::move(made.profile);
}

const Profile& large_profile() {
  static const Profile profile = make_large_profile();
  return profile;
}

void count(benchmark::State& state, std::uint64_t bytes) {
  state.SetItemsProcessed(std::int64_t(state.iterations()) * slices);
  if (bytes > 0) state.SetBytesProcessed(std::int64_t(state.iterations()) * std::int64_t(bytes));
}

// Into nothing: the disk is not measured.
void write_chrome(benchmark::State& state) {
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    chrome::write_trace(large_profile(), [&](std::string_view piece) { bytes += piece.size(); });
  }
  count(state, bytes);
}
BENCHMARK(write_chrome)->Unit(benchmark::kMillisecond);

using Export = decltype(&jobs::write_csv);

void write_file(benchmark::State& state, Export write) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("npuscope-bench-{}.out", ::getpid());
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    if (!write(large_profile(), path, {})) {
      state.SkipWithError("cannot write");
      break;
    }
    bytes = std::filesystem::file_size(path);
  }
  std::filesystem::remove(path);
  count(state, bytes);
}
BENCHMARK_CAPTURE(write_file, csv, jobs::write_csv)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write_file, json, jobs::write_json)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write_file, sqlite, jobs::write_sqlite)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

void page(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(first_page(analysis::Analysis(large_profile()), {}));
  count(state, 0);
}
BENCHMARK(page)->Unit(benchmark::kMillisecond);

void window(benchmark::State& state) {
  Filter filter;
  filter.window = {{1'000'000, 2'000'000}};
  for (auto _ : state) benchmark::DoNotOptimize(filtered(large_profile(), filter));
  count(state, 0);
}
BENCHMARK(window)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npuscope::report
