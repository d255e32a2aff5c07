// How fast rows of ops get into a fleet's store, and how fast it answers: on one core, a file in
// the temporary folder. items are rows of op_runs.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "fleet/questions/ops.hpp"
#include "fleet/store.hpp"

namespace npuscope::fleet {
namespace {

constexpr std::int64_t ops_of_model = 250, inferences_of_run = 10, runs_of_batch = 80;

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
void add_op_runs(benchmark::State& state) {
  remove_store();
  auto store = open_store(store_file(), StoreMode::make);
  std::int64_t number = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Batch batch = batch_of(number++);
    state.ResumeTiming();
    if (!store || !(*store)->add(batch)) state.SkipWithError("the store failed");
  }
  state.SetItemsProcessed(std::int64_t(state.iterations()) * runs_of_batch * inferences_of_run *
                          ops_of_model);
  remove_store();
}

void ask_ops(benchmark::State& state) {
  remove_store();
  const std::int64_t batches = state.range(0);
  {
    auto store = open_store(store_file(), StoreMode::make);
    for (std::int64_t i = 0; store && i < batches; ++i) (*store)->add(batch_of(i));
  }
  auto store = open_store(store_file(), StoreMode::read, page_limits());
  for (auto _ : state) {
    if (!store || !ops_of(**store, {}, {})) state.SkipWithError("the store failed");
  }
  state.SetItemsProcessed(std::int64_t(state.iterations()) * batches * runs_of_batch *
                          inferences_of_run * ops_of_model);
  remove_store();
}

BENCHMARK(add_op_runs)->Unit(benchmark::kMillisecond)->Iterations(10)->MeasureProcessCPUTime();
BENCHMARK(ask_ops)->Unit(benchmark::kMillisecond)->Arg(10)->MeasureProcessCPUTime();

}  // namespace
}  // namespace npuscope::fleet
