// How fast Chrome traces become profiles, against a bare simdjson On-Demand walk over the same
// fields (which keeps nothing), and against what people do in Python.
//
//   times_one          how many times the speed of one thread; of read_twice, two readers that know
//                      nothing of each other: what the machine has for two threads
//   of_walk            the speed in parts of the walk's, both from the file
//   of_walk_in_memory  the same, against a walk over a text that was walked before
//   heap_per_event     bytes that the profile keeps
//   peak_MB            how far the process grew at the worst moment
//   times_python       how many times the speed of Python's json.loads and a plain aggregation
//
// The argument is the number of processor cores used.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <simdjson.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <thread>

#include "chrome_traces.hpp"
#include "formats/chrome/events.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Best {
  double seconds = 0;  // 0: not measured
  void add(double measured) { seconds = seconds == 0 ? measured : std::min(seconds, measured); }
};

struct Trace {
  fs::path path;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  Best walk;
  Best walk_in_memory;
  Best python;
  Best one_thread;

  ~Trace() { fs::remove(path); }
};

// 200 MB and more: as many events with arguments as without, and the vendors' flavours.
Trace& trace(Flavour flavour) {
  static std::map<Flavour, Trace> traces;
  const auto [found, is_new] = traces.try_emplace(flavour);
  Trace& trace = found->second;
  if (!is_new) return trace;
  trace.events = flavour == Flavour::optrace   ? 345'000
                 : flavour == Flavour::opstats ? 690'000
                                               : 1'300'000;
  trace.path = fs::temp_directory_path() /
               ("npuscope_bench_chrome_" + std::to_string(int(flavour)) + ".json");
  const std::string text = chrome_trace(flavour, trace.events);
  std::ofstream(trace.path, std::ios::binary).write(text.data(), std::streamsize(text.size()));
  trace.bytes = text.size();
  return trace;
}

void set_rates(benchmark::State& state, const Trace& from) {
  state.SetBytesProcessed(state.iterations() * std::int64_t(from.bytes));
  state.SetItemsProcessed(state.iterations() * std::int64_t(from.events));
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// What a walk must look at.
struct Visited {
  std::uint64_t values = 0;
  std::uint64_t text_bytes = 0;
  double sum = 0;
};

void visit(simdjson::ondemand::value value, Visited& visited);

void visit_object(simdjson::ondemand::object object, Visited& visited) {
  for (auto field : object) {
    visited.text_bytes += std::size_t(field.key().value_unsafe().raw()[0]);
    visit(field.value().value_unsafe(), visited);
  }
}

void visit(simdjson::ondemand::value value, Visited& visited) {
  ++visited.values;
  switch (value.type().value_unsafe()) {
    case simdjson::ondemand::json_type::object:
      visit_object(value.get_object().value_unsafe(), visited);
      break;
    case simdjson::ondemand::json_type::array:
      for (auto element : value.get_array().value_unsafe()) visit(element.value_unsafe(), visited);
      break;
    case simdjson::ondemand::json_type::number:
      visited.sum += value.get_double().value_unsafe();
      break;
    case simdjson::ondemand::json_type::string:
      visited.text_bytes += value.get_string().value_unsafe().size();
      break;
    default: break;
  }
}

bool walk(simdjson::ondemand::parser& parser, const simdjson::padded_string& text) {
  simdjson::ondemand::document document;
  simdjson::ondemand::array events;
  if (parser.iterate(text).get(document) || document["traceEvents"].get_array().get(events)) {
    return false;
  }
  Visited visited;
  for (auto event : events) visit_object(event.get_object().value_unsafe(), visited);
  benchmark::DoNotOptimize(visited);
  return true;
}

void bare_walk(benchmark::State& state, Flavour flavour) {
  Trace& from = trace(flavour);
  for (auto _ : state) {
    const auto begin = Clock::now();
    simdjson::ondemand::parser parser;
    simdjson::padded_string text;
    const bool loaded = !simdjson::padded_string::load(from.path.string()).get(text);
    if (!loaded || !walk(parser, text)) state.SkipWithError("not walked");
    from.walk.add(seconds_since(begin));
  }
  set_rates(state, from);
}

void bare_walk_in_memory(benchmark::State& state, Flavour flavour) {
  Trace& from = trace(flavour);
  simdjson::ondemand::parser parser;
  simdjson::padded_string text;
  const bool loaded = !simdjson::padded_string::load(from.path.string()).get(text);
  if (!loaded || !walk(parser, text)) state.SkipWithError("not walked");
  for (auto _ : state) {
    const auto begin = Clock::now();
    walk(parser, text);
    from.walk_in_memory.add(seconds_since(begin));
  }
  set_rates(state, from);
}

// The output of a command; empty when it fails.
std::string output_of(const std::string& command) {
  std::FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output(4096, '\0');
  output.resize(std::fread(output.data(), 1, output.size(), pipe));
  return ::pclose(pipe) == 0 ? output : "";
}

void python(benchmark::State& state, Flavour flavour) {
  Trace& from = trace(flavour);
  const std::string command =
      "python3 -c 'import json, sys, time, collections\n"
      "begin = time.perf_counter()\n"
      "sums = collections.Counter()\n"
      "for event in json.loads(open(sys.argv[1]).read())[\"traceEvents\"]:\n"
      "    if event[\"ph\"] == \"X\": sums[event[\"name\"]] += event[\"dur\"]\n"
      "print(time.perf_counter() - begin)' " +
      from.path.string();
  for (auto _ : state) {
    const std::string output = output_of(command);
    const double seconds = std::atof(output.c_str());
    if (seconds <= 0) {
      state.SkipWithError("no python3 here");
      return;
    }
    state.SetIterationTime(seconds);
    from.python.add(seconds);
  }
  set_rates(state, from);
}

void trace_processor(benchmark::State& state, Flavour flavour) {
  const Trace& from = trace(flavour);
  if (output_of("command -v trace_processor_shell").empty()) {
    state.SkipWithError("no trace_processor_shell on the PATH");
    return;
  }
  const std::string command = "echo 'select name, sum(dur) from slice group by name;' > " +
                              from.path.string() + ".sql && trace_processor_shell -q " +
                              from.path.string() + ".sql " + from.path.string();
  for (auto _ : state) {
    if (output_of(command).empty()) state.SkipWithError("trace_processor_shell failed");
  }
  fs::remove(from.path.string() + ".sql");
  set_rates(state, from);
}

std::size_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Of the process, from the last restart on; 0 where Linux does not tell.
class PeakMemory {
 public:
  PeakMemory() {
    ::malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";
    before_ = kilobytes();
  }
  double grown_megabytes() const { return double(kilobytes() - before_) / 1000; }

 private:
  static std::int64_t kilobytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      std::int64_t value = 0;
      if (word == "VmHWM:" && status >> value) return value;
    }
    return 0;
  }
  std::int64_t before_ = 0;
};

// As every command opens it: each flavour by its own reader.
Result<Profile> open_trace(const fs::path& path) {
  auto opened = open_profiles(std::span(&path, 1));
  if (!opened) return tl::unexpected(opened.error());
  return std::move(opened->profiles.front());
}

void read(benchmark::State& state, Flavour flavour) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  std::size_t(state.range(0)));
  Trace& from = trace(flavour);
  Best best;
  std::size_t grown = 0;
  const PeakMemory peak;
  for (auto _ : state) {
    const std::size_t before = heap_bytes();
    const auto begin = Clock::now();
    const auto profile = open_trace(from.path);
    const double seconds = seconds_since(begin);
    state.SetIterationTime(seconds);
    best.add(seconds);
    grown = heap_bytes() - before;
    if (!profile || profile->spans.size() != from.events) state.SkipWithError("not read whole");
  }
  set_rates(state, from);
  if (state.range(0) == 1) from.one_thread.add(best.seconds);
  state.counters["times_one"] = from.one_thread.seconds / best.seconds;
  state.counters["of_walk"] = from.walk.seconds / best.seconds;
  state.counters["of_walk_in_memory"] = from.walk_in_memory.seconds / best.seconds;
  if (from.python.seconds > 0) state.counters["times_python"] = from.python.seconds / best.seconds;
  state.counters["heap_per_event"] = double(grown) / double(from.events);
  state.counters["peak_MB"] = peak.grown_megabytes();
}

// Two at once, each on one thread.
void read_twice(benchmark::State& state, Flavour flavour) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  const Trace& from = trace(flavour);
  Best best;
  for (auto _ : state) {
    std::atomic<int> whole = 0;
    const auto begin = Clock::now();
    {
      const auto read_one = [&] { whole += open_trace(from.path).has_value() ? 1 : 0; };
      const std::jthread other(read_one);
      read_one();
    }
    const double seconds = seconds_since(begin);
    state.SetIterationTime(seconds);
    best.add(seconds);
    if (whole != 2) state.SkipWithError("not read");
  }
  state.counters["times_one"] = 2 * from.one_thread.seconds / best.seconds;
}

// A trace of 4 GB that is nowhere: its events stand far apart.
class SparseTrace : public ByteSource {
 public:
  static constexpr std::uint64_t events = 65'536;
  static constexpr std::uint64_t bytes_each = 65'536;

  Result<std::size_t> read(std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size() && position_ < file_bytes()) {
      const std::uint64_t within = position_ % bytes_each;
      if (within == 0) begin_event();
      const std::size_t count = std::min<std::size_t>(into.size() - filled, bytes_each - within);
      const std::size_t text = within < event_.size() ? std::min(count, event_.size() - within) : 0;
      std::memcpy(into.data() + filled, event_.data() + (text > 0 ? within : 0), text);
      std::memset(into.data() + filled + text, ' ', count - text);
      filled += count;
      position_ += count;
    }
    return filled;
  }
  std::uint64_t position() const override { return position_; }
  std::uint64_t file_bytes_read() const override { return position_; }
  std::uint64_t file_bytes() const override { return events * bytes_each; }
  Compression compression() const override { return Compression::none; }
  const std::string& name() const override { return name_; }

 private:
  void begin_event() {
    const std::uint64_t event = position_ / bytes_each;
    event_ = (event == 0 ? "[" : ",") +
             std::string(R"({"ph":"X","name":"op","pid":0,"tid":0,"dur":1,"ts":)") +
             std::to_string(event) + R"(,"args":{"index":)" + std::to_string(event) + "}}";
  }

  std::string name_ = "sparse.json";
  std::string event_;
  std::uint64_t position_ = 0;
};

void read_4_GB(benchmark::State& state) {
  const PeakMemory peak;
  for (auto _ : state) {
    SparseTrace source;
    const auto events = chrome::read_events(source);
    const bool whole = events && events->slices.size() == SparseTrace::events;
    if (!whole || !events->notes.empty()) state.SkipWithError("not read whole");
  }
  state.SetBytesProcessed(state.iterations() *
                          std::int64_t(SparseTrace::events * SparseTrace::bytes_each));
  state.counters["peak_MB"] = peak.grown_megabytes();
}
BENCHMARK(read_4_GB)->UseRealTime()->Unit(benchmark::kMillisecond);

void add_benchmarks(const char* name, Flavour flavour) {
  const auto add = [&](const char* what, void (*run)(benchmark::State&, Flavour)) {
    return benchmark::RegisterBenchmark((std::string(what) + "/" + name).c_str(), run, flavour)
        ->Unit(benchmark::kMillisecond);
  };
  add("bare_walk", bare_walk)->UseRealTime();
  add("bare_walk_in_memory", bare_walk_in_memory)->UseRealTime();
  add("python", python)->UseManualTime()->Iterations(1);
  add("trace_processor", trace_processor)->UseRealTime()->Iterations(1);
  add("read", read)->Arg(1)->Arg(2)->UseManualTime();
  add("read_twice", read_twice)->UseManualTime();
}

const bool added = [] {
  add_benchmarks("with_args", Flavour::with_args);
  add_benchmarks("without_args", Flavour::without_args);
  add_benchmarks("optrace", Flavour::optrace);
  add_benchmarks("opstats", Flavour::opstats);
  return true;
}();

}  // namespace
}  // namespace npuscope::bench
