// How fast a large table of Ascend's kernels and a large compiler profile of tpu-mlir become
// profiles, against Python: pandas for the first (NPUSCOPE_PYTHON=PATH names an interpreter that
// has it), the re module for the second, which has lines that no table reader takes. Both keep one
// sum and nothing else. What starting Python and importing takes is not counted.
//
//   bytes_per_second   of the file; in processor time, because others may be at work
//   times_python       how many times as fast
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "formats/ascend/capture_files.hpp"
#include "formats/ascend/profile.hpp"
#include "formats/tpu_mlir/profile.hpp"
#include "formats/tpu_mlir/profile_text.hpp"
#include "npuscope/profile/event_roles.hpp"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;

struct Files {
  fs::path folder = fs::temp_directory_path() / "npuscope-tables-bench";
  fs::path kernels = folder / "kernel_details.csv", commands = folder / "compiler_profile_0.txt";
  Files() {
    fs::create_directories(folder);
    const auto capture = ascend::generate({.steps = 3000, .kernels = 60});
    ascend::write_kernels(capture, ascend::Level::newer, kernels);
    std::ofstream(commands, std::ios::binary) << tpu_mlir::generate({.layers = 60'000}).text;
  }
  ~Files() { fs::remove_all(folder); }
};

const Files& files() {
  static const Files made;
  return made;
}

// Seconds that the script says it took; 0 where it cannot run.
double python_seconds(const std::string& script, const fs::path& file) {
  const fs::path path = files().folder / "peer.py", out = files().folder / "peer.out";
  std::ofstream(path) << script;
  const char* const named = std::getenv("NPUSCOPE_PYTHON");
  const std::string command =
      fmt::format("{} {} {} > {} 2>/dev/null", named != nullptr ? named : "python3", path.string(),
                  file.string(), out.string());
  double seconds = 0;
  if (std::system(command.c_str()) == 0) std::ifstream(out) >> seconds;
  return seconds;
}

template <class Read>
void measure(benchmark::State& state, const fs::path& file, const std::string& script,
             const Read& read) {
  const double python = python_seconds(script, file);
  double best = 0;
  for (auto _ : state) {
    const std::clock_t begin = std::clock();
    benchmark::DoNotOptimize(read(file));
    const double took = double(std::clock() - begin) / CLOCKS_PER_SEC;
    state.SetIterationTime(took);
    best = best == 0 ? took : std::min(best, took);
  }
  state.SetBytesProcessed(std::int64_t(state.iterations()) * std::int64_t(fs::file_size(file)));
  state.counters["times_python"] = best > 0 ? python / best : 0;
}

void ascend_kernels(benchmark::State& state) {
  measure(state, files().kernels, R"py(import sys, time
import pandas as pd
begin = time.process_time()
table = pd.read_csv(sys.argv[1], low_memory=False)
table.groupby(["Type", "Accelerator Core"])["Duration(us)"].agg(["count", "sum"])
print(time.process_time() - begin)
)py",
          [](const fs::path& file) {
            const auto source = open_byte_source(file);
            const auto table = ascend::read_kernels(**source);
            std::vector<std::uint32_t> rows;
            Profile profile = chrome::make_profile(ascend::kernel_events(*table, rows));
            apply_roles(profile, {});
            ascend::join_kernels(*table, rows, profile);
            return profile.spans.size();
          });
}
BENCHMARK(ascend_kernels)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

void tpu_mlir_commands(benchmark::State& state) {
  measure(state, files().commands, R"py(import re, sys, time
begin = time.process_time()
cell = re.compile(r"(\S*)\|(\w+)\|s:(-?\d+)(?:\|[a-z]+:-?\d+)*?\|e:(-?\d+)\|t:(\d+)(?:\|dr:(\d)\|sz:(\d+))?")
print(sum(int(m.group(5)) for line in open(sys.argv[1]) for m in cell.finditer(line)), file=sys.stderr)
print(time.process_time() - begin)
)py",
          [](const fs::path& file) {
            const auto source = open_byte_source(file);
            std::vector<tpu_mlir::CoreProfile> cores;
            cores.push_back({0, *tpu_mlir::read_compiler_profile(**source)});
            return tpu_mlir::make_profile(cores, {}, {}).spans.size();
          });
}
BENCHMARK(tpu_mlir_commands)->UseManualTime()->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npuscope::bench
