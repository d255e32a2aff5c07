// How fast rows of ops get into a fleet's store, and how fast it answers: a file in the temporary
// folder, or a ClickHouse cluster of two shards where the program is installed. items are rows of
// op_runs, times are of this process alone; the wall counts the servers as well.
//
//   NPUSCOPE_BENCH_LARGE=1 adds 50 million rows on ClickHouse: minutes.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "fleet/clickhouse_cluster.hpp"
#include "fleet/questions/latency.hpp"
#include "fleet/questions/ops.hpp"
#include "fleet/store.hpp"

namespace npuscope::fleet {
namespace {

constexpr std::int64_t ops_of_model = 250, inferences_of_run = 10, runs_of_batch = 80;
constexpr std::int64_t rows_of_batch = ops_of_model * inferences_of_run * runs_of_batch;
constexpr std::int64_t large_batches = 50'000'000 / rows_of_batch;

std::filesystem::path store_file() {
  return std::filesystem::temp_directory_path() / fmt::format("npuscope-fleet-{}.db", ::getpid());
}

void remove_store() {
  for (const char* ending : {"", "-wal", "-shm"}) {
    std::filesystem::remove(store_file().string() + ending);
  }
}

// Ids are spread as hashes are; no two batches have a run in common.
Batch batch_of(std::int64_t number) {
  Batch batch;
  const auto spread = [](std::int64_t value) {
    return Id(std::uint64_t(value) * 0x9e3779b97f4a7c15u >> 1);
  };
  for (std::int64_t op = 0; op < ops_of_model; ++op) {
    batch.ops.push_back({spread(op + 1), fmt::format("/layer.{}/Conv", op), "conv2d"});
  }
  for (std::int64_t i = 0; i < runs_of_batch; ++i) {
    Run run;
    run.id = spread(1'000'000 + number * runs_of_batch + i);
    run.content = fmt::format("{:032x}", run.id);
    run.clock = "timer";
    run.clock_kind = "timer";
    run.hertz = 19.2e6;
    run.device = fmt::format("d{}", i % 40);
    batch.runs.push_back(run);
    for (std::int64_t inference = 0; inference < inferences_of_run; ++inference) {
      Inference whole;
      whole.run = run.id;
      whole.inference = inference;
      whole.cold = inference == 0;
      whole.wall = 100'000 + double((inference * 17 + i * 7 + number) % 5'000);
      whole.wall_seconds = *whole.wall / *run.hertz;
      batch.inferences.push_back(whole);
      for (std::int64_t op = 0; op < ops_of_model; ++op) {
        OpRun row;
        row.run = run.id;
        row.inference = inference;
        row.op = spread(op + 1);
        row.cold = inference == 0;
        row.ops = 1;
        row.work = double((op * 131 + inference * 17 + i) % 5'000);
        row.active = row.work;
        row.ddr_read_bytes = double(op * 4'096);
        batch.op_runs.push_back(row);
      }
    }
  }
  return batch;
}

// A batch, as fleet add makes them: some runs of 2,500 rows each.
void add_batches(benchmark::State& state, Store& store) {
  std::int64_t number = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Batch batch = batch_of(number++);
    state.ResumeTiming();
    const auto added = store.add(batch);
    if (!added) state.SkipWithError(added.error().message.c_str());
  }
  state.SetItemsProcessed(std::int64_t(state.iterations()) * rows_of_batch);
}

void fill(Store& store, std::int64_t batches) {
  for (std::int64_t i = 0; i < batches; ++i) {
    if (!store.add(batch_of(i))) break;
  }
}

template <class Ask>
void ask(benchmark::State& state, const std::string& path, std::int64_t batches, const Ask& ask) {
  auto store = open_store(path, StoreMode::read, page_limits());
  for (auto _ : state) {
    if (!store || !ask(**store)) state.SkipWithError("the store failed");
  }
  state.SetItemsProcessed(std::int64_t(state.iterations()) * batches * rows_of_batch);
}

bool ask_ops(Store& store) { return ops_of(store, {}, {}).has_value(); }
bool ask_latency(Store& store) { return latency_of(store, {"", {"device"}}, {}).has_value(); }

void add_to_file(benchmark::State& state) {
  remove_store();
  if (auto store = open_store(store_file(), StoreMode::make)) add_batches(state, **store);
  remove_store();
}

void ops_of_file(benchmark::State& state) {
  remove_store();
  const std::int64_t batches = state.range(0);
  if (auto store = open_store(store_file(), StoreMode::make)) fill(**store, batches);
  ask(state, store_file(), batches, ask_ops);
  remove_store();
}

BENCHMARK(add_to_file)->Unit(benchmark::kMillisecond)->Iterations(10)->MeasureProcessCPUTime();
BENCHMARK(ops_of_file)->Unit(benchmark::kMillisecond)->Arg(10)->MeasureProcessCPUTime();

void add_to_clickhouse(benchmark::State& state) {
  ClickHouseCluster* cluster = ClickHouseCluster::get();
  if (cluster == nullptr) return state.SkipWithError(ClickHouseCluster::why_not());
  if (auto store = open_store(cluster->url("adding"), StoreMode::make)) add_batches(state, **store);
}

// Each number of rows has a database, filled once.
std::string filled(ClickHouseCluster& cluster, std::int64_t batches) {
  static std::map<std::int64_t, std::string> urls;
  std::string& url = urls[batches];
  if (url.empty()) {
    url = cluster.url(fmt::format("asking_{}", batches));
    if (auto store = open_store(url, StoreMode::make)) fill(**store, batches);
  }
  return url;
}

template <class Ask>
void ask_clickhouse(benchmark::State& state, const Ask& question) {
  ClickHouseCluster* cluster = ClickHouseCluster::get();
  if (cluster == nullptr) return state.SkipWithError(ClickHouseCluster::why_not());
  ask(state, filled(*cluster, state.range(0)), state.range(0), question);
}
void ops_of_clickhouse(benchmark::State& state) { ask_clickhouse(state, ask_ops); }
void latency_of_clickhouse(benchmark::State& state) { ask_clickhouse(state, ask_latency); }

void sizes(benchmark::internal::Benchmark* of) {
  of->Unit(benchmark::kMillisecond)->Arg(10)->Iterations(3)->MeasureProcessCPUTime();
  if (std::getenv("NPUSCOPE_BENCH_LARGE") != nullptr) of->Arg(large_batches);
}

BENCHMARK(add_to_clickhouse)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(20)
    ->MeasureProcessCPUTime();
BENCHMARK(ops_of_clickhouse)->Apply(sizes)->UseRealTime();
BENCHMARK(latency_of_clickhouse)->Apply(sizes)->UseRealTime();

}  // namespace
}  // namespace npuscope::fleet
