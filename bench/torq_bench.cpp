// How fast a Torq runtime log of five million rows is annotated, from file to file, against a plain
// pass over it with Python's csv module, which keeps nothing.
//
//   times_python   how many times as fast as that pass, in processor time: others may be at work
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/overview.hpp"
#include "formats/torq/trace.hpp"
#include "measured.hpp"

namespace npuscope::torq::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t rows_wanted = 5'000'000;
constexpr int programs = 40;

// A dispatch of 40 programs, and calls of it by the HAL's queue until there are enough rows.
struct Run {
  fs::path folder = fs::temp_directory_path() / "npuscope-torq-bench";
  fs::path log = folder / "runtime.csv";
  fs::path debug = folder / "main_dispatch_0.mlir";
  std::int64_t rows = 0;
  double python_seconds = 0;

  Run() {
    fs::create_directories(folder);
    write_debug_info();
    write_log();
  }
  ~Run() { fs::remove_all(folder); }

  void write_debug_info() const {
    std::ofstream out(debug);
    out << "module {\n  func.func @main_dispatch_0() {\n"
           "    %p = torq_hl.program \"nss\" : !torq_hl.program<nss> {\n    ^bb0(%arg0: x):\n"
           "      torq_hw.nss_task {\"torq-task-id\" = 0 : i64}() {\n"
           "        torq_hw.dma_in_start\n        torq_hw.dma_in_wait\n      }\n    }\n";
    for (int i = 0; i < programs; ++i) {
      out << fmt::format(
          "    %i{0} = torq_hl.descriptor \"nss_{0}\" on 0 program %p : <nss> {{\"torq-job-id\" = "
          "{0} : i32}}\n"
          "    torq_hl.start_program %i{0} : !torq_hl.invocation<nss> {{\"torq-action-id\" = {1} : "
          "i32}} loc(\"model.mlir\":{0}:1)\n"
          "    torq_hl.wait_program %i{0} : !torq_hl.invocation<nss> {{\"torq-action-id\" = {2} : "
          "i32}} loc(\"model.mlir\":{0}:1)\n",
          i, 2 * i, 2 * i + 1);
    }
    out << "  }\n}\n";
  }

  void write_log() {
    std::ofstream out(log);
    out << "dispatch_name,invocation_id,action_id,timestamp_us,event\n";
    std::int64_t us = 5'000'000, invocation = 0;
    std::string text;
    const auto row = [&](std::string_view dispatch, std::int64_t id, int action,
                         std::string_view event) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", dispatch, id, action, us++,
                     event);
      ++rows;
    };
    while (rows < rows_wanted) {
      const std::int64_t queue = invocation++, dispatch = invocation++;
      row("__HAL_QUEUE_EXECUTE__", queue, -1, "HAL_CALL_BEGIN");
      row("main_dispatch_0", dispatch, -1, "DISPATCH_BEGIN");
      for (int i = 0; i < programs; ++i) {
        row("main_dispatch_0", dispatch, 2 * i, "NSS_START_BEGIN");
        row("main_dispatch_0", dispatch, 2 * i, "NSS_START_END");
        row("main_dispatch_0", dispatch, 2 * i + 1, "NSS_WAIT_BEGIN");
        row("main_dispatch_0", dispatch, 2 * i + 1, "NSS_WAIT_END");
      }
      row("main_dispatch_0", dispatch, -1, "DISPATCH_END");
      row("__HAL_QUEUE_EXECUTE__", queue, -1, "HAL_CALL_END");
      out << text;
      text.clear();
    }
  }
};

Run& run() {
  static Run made;
  return made;
}

void set_rates(benchmark::State& state, double seconds) {
  state.counters["rows_per_s"] =
      benchmark::Counter(double(run().rows), benchmark::Counter::kIsIterationInvariantRate);
  if (run().python_seconds > 0 && seconds > 0) {
    state.counters["times_python"] = run().python_seconds / seconds;
  }
}

void python_csv(benchmark::State& state) {
  const std::string command =
      "python3 -c 'import csv, sys, time\n"
      "begin = time.process_time()\n"
      "last = 0\n"
      "for row in csv.DictReader(open(sys.argv[1])):\n"
      "    last = max(last, int(row[\"timestamp_us\"]))\n"
      "print(time.process_time() - begin)' " +
      run().log.string();
  for (auto _ : state) {
    std::FILE* pipe = ::popen(command.c_str(), "r");
    double seconds = 0;
    const bool read = pipe != nullptr && std::fscanf(pipe, "%lf", &seconds) == 1;
    if (pipe != nullptr) ::pclose(pipe);
    if (!read) return state.SkipWithError("no python3 here");
    state.SetIterationTime(seconds);
    run().python_seconds = seconds;
  }
  set_rates(state, 0);
}

// From the files to the annotated table.
void annotate_to_csv(benchmark::State& state) {
  double best = 0;
  for (auto _ : state) {
    const double begin = npuscope::bench::processor_seconds();
    const auto source = open_byte_source(run().log);
    const auto debug = load_debug_info(run().debug);
    const auto annotation = annotate(**source, *debug);
    if (!annotation || !write_annotated_csv(*annotation, run().folder / "annotated.csv")) {
      return state.SkipWithError("could not be annotated");
    }
    const double took = npuscope::bench::processor_seconds() - begin;
    state.SetIterationTime(took);
    best = best == 0 ? took : std::min(best, took);
  }
  set_rates(state, best);
}

// The same to a trace. peak_MB: the most memory that the process had by then, so that it says
// something only where this benchmark runs alone (--benchmark_filter=annotate_to_trace).
void annotate_to_trace(benchmark::State& state) {
  for (auto _ : state) {
    const double begin = npuscope::bench::processor_seconds();
    const auto source = open_byte_source(run().log);
    const auto debug = load_debug_info(run().debug);
    const auto annotation = annotate(**source, *debug);
    if (!annotation || !write_annotated_trace(*annotation, run().folder / "annotated.pb")) {
      return state.SkipWithError("could not be annotated");
    }
    state.SetIterationTime(npuscope::bench::processor_seconds() - begin);
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = double(usage.ru_maxrss) / 1024;
  state.counters["log_MB"] = double(fs::file_size(run().log)) / 1e6;
  set_rates(state, 0);
}

void overview_of_log(benchmark::State& state) {
  const auto source = open_byte_source(run().log);
  const auto log = read_log(**source);
  const auto debug = load_debug_info(run().debug);
  const auto annotation = annotate(*log, *debug);
  for (auto _ : state) {
    benchmark::DoNotOptimize(make_overview(run_intervals(*annotation)));
  }
  set_rates(state, 0);
}

void profile_of_log(benchmark::State& state) {
  const auto source = open_byte_source(run().log);
  const auto log = read_log(**source);
  for (auto _ : state) benchmark::DoNotOptimize(make_profile(*log).spans.size());
  set_rates(state, 0);
}

BENCHMARK(python_csv)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(annotate_to_csv)->UseManualTime()->Iterations(2)->Unit(benchmark::kMillisecond);
BENCHMARK(annotate_to_trace)->UseManualTime()->Iterations(2)->Unit(benchmark::kMillisecond);
BENCHMARK(overview_of_log)->Iterations(2)->Unit(benchmark::kMillisecond);
BENCHMARK(profile_of_log)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npuscope::torq::bench
