// How fast tables of layers become profiles, against pandas, which reads the same file and adds up
// the times of each op (NPUSCOPE_PANDAS=PYTHON, the interpreter that has it; else the ratio is left
// out): a million rows with starts, and Tenstorrent's ops with 60 columns.
//
//   bytes_per_second   of the file; in processor time, because others may be at work
//   bytes_a_row        that the profile takes, by its rows
//   times_pandas       how many times as fast as pandas, without the start of Python
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "formats/tables/read_table.hpp"
#include "formats/tenstorrent/ops_perf.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* timeline_toml = R"toml(
name = "timeline"
origin = "measured"
delimiter = ";"
[[column]]
head = "Layer Name"
is = "op"
[[column]]
head = "Core"
is = "unit"
[[column]]
head = "Start (us)"
is = "start"
unit = "us"
[[column]]
head = "Duration (us)"
is = "time"
unit = "us"
)toml";

double child_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return double(usage.ru_utime.tv_sec) + double(usage.ru_utime.tv_usec) * 1e-6;
}

double seconds_of(const std::string& command) {
  const double before = child_seconds();
  return std::system(command.c_str()) == 0 ? child_seconds() - before : 0;
}

// pandas without the time that Python takes to start.
double pandas_seconds(const fs::path& file, const char* delimiter, const char* op,
                      const char* time) {
  const char* const python = std::getenv("NPUSCOPE_PANDAS");
  if (python == nullptr) return 0;
  const double start = seconds_of(fmt::format("{} -c 'import pandas'", python));
  const double all = seconds_of(
      fmt::format("{} -c 'import pandas as p; d = p.read_csv(\"{}\", sep=\"{}\"); print(d.groupby("
                  "\"{}\")[\"{}\"].sum())' > /dev/null",
                  python, file.string(), delimiter, op, time));
  return all > start ? all - start : 0;
}

struct File {
  fs::path path;
  std::uint64_t bytes = 0, rows = 0;

  explicit File(const char* name) : path(fs::temp_directory_path() / name) {}
  ~File() { fs::remove(path); }
};

template <class Read>
void measure(benchmark::State& state, const File& file, double pandas, const Read& read) {
  std::uint64_t rows = 0;
  double bytes = 0;
  const double before = double(std::clock());
  for (auto _ : state) {
    auto source = open_byte_source(file.path);
    const Profile profile = read(**source);
    rows = profile.spans.size();
    const std::size_t row = sizeof(UnitId) + sizeof(OpId) + sizeof(SpanKind) +
                            (2 + profile.spans.measures.size()) * sizeof(std::int64_t);
    bytes = double(row * rows + profile.measures.size() * sizeof(Measure));
  }
  const double seconds =
      (double(std::clock()) - before) / CLOCKS_PER_SEC / double(state.iterations());
  if (rows < file.rows) state.SkipWithError("rows are missing");
  state.counters["bytes_per_second"] = double(file.bytes) / seconds;
  state.counters["bytes_a_row"] = bytes / double(rows);
  if (pandas > 0) state.counters["times_pandas"] = pandas / seconds;
}

void read_timeline(benchmark::State& state) {
  File file("npuscope-bench-timeline.csv");
  file.rows = 1'000'000;
  {
    std::ofstream out(file.path);
    out << "Layer Name;Op Type;Core;Start (us);Duration (us);Bytes\n";
    for (std::uint64_t i = 0; i < file.rows; ++i) {
      out << fmt::format("layer{};Conv2D;{};{:.2f};2.5;4096\n", i % 300, i % 4, double(i) * 3.25);
    }
  }
  file.bytes = fs::file_size(file.path);
  const double pandas = pandas_seconds(file.path, ";", "Layer Name", "Duration (us)");
  const auto description = tables::parse_description(timeline_toml, "timeline.toml");
  measure(state, file, pandas, [&](ByteSource& source) {
    return std::move(tables::read_table(source, *description)->front());
  });
}
BENCHMARK(read_timeline)->Unit(benchmark::kMillisecond)->UseRealTime();

void read_tenstorrent(benchmark::State& state) {
  File file("npuscope-bench-ops_perf.csv");
  file.rows = 60'000;
  {
    std::ofstream out(file.path);
    out << "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,ATTRIBUTES,CORE COUNT,DEVICE FW START "
           "CYCLE,DEVICE FW END CYCLE,OP TO OP LATENCY [ns],DEVICE FW DURATION [ns],DEVICE KERNEL "
           "DURATION [ns]";
    for (const char* tensor : {"INPUT_0", "INPUT_1", "INPUT_2", "OUTPUT_0"}) {
      for (const char* axis : {"W", "Z", "Y", "X"}) {
        out << "," << tensor << "_" << axis << "_PAD[LOGICAL]";
      }
      for (const char* fact : {"LAYOUT", "DATATYPE", "MEMORY"}) out << "," << tensor << "_" << fact;
    }
    for (int i = 0; i < 20; ++i) out << ",KERNEL " << i;
    out << '\n';
    const std::string attributes(900, 'a');
    for (std::uint64_t i = 0; i < file.rows; ++i) {
      const std::uint64_t start = 5'000'000 + i * 20'000;
      out << fmt::format("{},tt_dnn_device,{},{},{{{}}},110,{},{},500,{},{}",
                         i % 3 == 0 ? "MatmulDeviceOperation" : "BinaryNgDeviceOperation", i * 1024,
                         i % 8, attributes, start, start + 13'500, 10'000, 9'800);
      for (int tensor = 0; tensor < 4; ++tensor) {
        out << ",1[1],1[1],1024[1000],512[512],TILE,BFLOAT16,DEV_1_DRAM_INTERLEAVED";
      }
      for (int kernel = 0; kernel < 20; ++kernel) out << ",1234";
      out << '\n';
    }
  }
  file.bytes = fs::file_size(file.path);
  const double pandas = pandas_seconds(file.path, ",", "OP CODE", "DEVICE FW DURATION [ns]");
  measure(state, file, pandas,
          [](ByteSource& source) { return std::move(*tenstorrent::read_ops_perf(source)); });
}
BENCHMARK(read_tenstorrent)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace npuscope::bench
