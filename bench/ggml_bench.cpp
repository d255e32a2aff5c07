// How fast a log of llama.cpp's Hexagon backend with trace events becomes profiles, against a plain
// pass over it with Python's re module, which takes the fields of each line apart and keeps
// nothing. NPUSCOPE_GGML_SCRIPT=PATH, of llama.cpp's scripts/snapdragon/ggml-hexagon-profile.py,
// measures that script instead.
//
//   bytes_per_second   of the log; in processor time, because others may be at work
//   bytes_a_record     of the profiles, by the rows of their spans, an event's two lines being two
//   times_python       how many times as fast as that pass
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "formats/ggml/log_text.hpp"
#include "formats/ggml/profile.hpp"

namespace npuscope::ggml::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t bytes_wanted = 1'000'000'000;

double child_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return double(usage.ru_utime.tv_sec) + double(usage.ru_utime.tv_usec) * 1e-6;
}

struct Log {
  fs::path folder = fs::temp_directory_path() / "npuscope-ggml-bench";
  fs::path path = folder / "hexagon.log";
  std::uint64_t bytes = 0;
  double python_seconds = 0;

  Log() {
    fs::create_directories(folder);
    const GeneratedLog part = generate({.mode = 3, .layers = 28, .decoded = 40});
    std::ofstream file(path, std::ios::binary);
    while (bytes < bytes_wanted) {
      file << part.text;
      bytes += part.text.size();
    }
    file.close();
    const std::string script = (folder / "pass.py").string();
    std::ofstream(script) << R"py(import re, sys
event = re.compile(r"ggml-hex: (\S+) trace-evt (\w+): thread (\d+) info (\d+) (start|stop) (\d+)")
op = re.compile(r"ggml-hex: (\S+) profile-op ([^|]+)\|([^|]+)\|([^|]+)\|([^|]+)\|([^|]+)\|([^|]*)\|usec (\d+) cycles (\d+) start (\d+)")
n = 0
for line in open(sys.argv[1]):
    m = event.search(line) or op.search(line)
    if m: n += len(m.groups())
print(n)
)py";
    const char* const own = std::getenv("NPUSCOPE_GGML_SCRIPT");
    const double before = child_seconds();
    const std::string command =
        fmt::format("python3 {} {} > /dev/null", own != nullptr ? own : script, path.string());
    if (std::system(command.c_str()) == 0) {
      python_seconds = child_seconds() - before;
    }
  }
  ~Log() { fs::remove_all(folder); }
};

const Log& log_file() {
  static const Log log;
  return log;
}

// What a row of the spans takes in all columns that the profile has.
double bytes_of(const Profile& profile) {
  const Spans& spans = profile.spans;
  const std::size_t row = sizeof(UnitId) + sizeof(OpId) + sizeof(SpanKind) +
                          3 * sizeof(std::int64_t) + sizeof(std::uint32_t) +
                          spans.measures.size() * sizeof(std::int64_t);
  return double(row) * double(spans.size());
}

void read_file(benchmark::State& state) {
  const Log& file = log_file();
  double bytes = 0, records = 0, best = 0;
  for (auto _ : state) {
    const std::clock_t begin = std::clock();
    const auto source = open_byte_source(file.path);
    auto log = read_log(**source);
    records = double(log->runs.size() + 2 * log->events.size());
    const std::vector<Profile> profiles = make_profiles(*log);
    bytes = 0;
    for (const Profile& profile : profiles) bytes += bytes_of(profile);
    const double took = double(std::clock() - begin) / CLOCKS_PER_SEC;
    state.SetIterationTime(took);
    best = best == 0 ? took : std::min(best, took);
  }
  state.SetBytesProcessed(std::int64_t(state.iterations()) * std::int64_t(file.bytes));
  state.counters["bytes_a_record"] = bytes / records;
  state.counters["times_python"] = best > 0 ? file.python_seconds / best : 0;
}
BENCHMARK(read_file)->UseManualTime()->Iterations(2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace npuscope::ggml::bench
