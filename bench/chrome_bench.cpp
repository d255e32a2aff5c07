// How fast Chrome traces become profiles, against a bare simdjson On-Demand walk over the same
// fields (which keeps nothing) and against what people do in Python. `of_bare_walk` is the speed in
// parts of the walk's; `heap_per_event` the bytes that the profile keeps, `peak_per_event` those at
// the worst moment. The argument is the number of processor cores used.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <simdjson.h>
#include <tbb/global_control.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "chrome_traces.hpp"
#include "npuscope/formats/chrome/events.hpp"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Trace {
  fs::path path;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  double bare_walk_seconds = 0;  // the best so far

  ~Trace() { fs::remove(path); }
};

// 200 MB with arguments, as many events without, and 200 MB of the vendors' flavours.
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

void bare_walk(benchmark::State& state, Flavour flavour) {
  Trace& from = trace(flavour);
  simdjson::ondemand::parser parser;
  for (auto _ : state) {
    const auto begin = Clock::now();
    simdjson::padded_string text;
    if (simdjson::padded_string::load(from.path.string()).get(text)) {
      state.SkipWithError("not loaded");
      break;
    }
    simdjson::ondemand::document document;
    simdjson::ondemand::array events;
    if (parser.iterate(text).get(document) || document["traceEvents"].get_array().get(events)) {
      state.SkipWithError("not parsed");
      break;
    }
    Visited visited;
    for (auto event : events) visit_object(event.get_object().value_unsafe(), visited);
    benchmark::DoNotOptimize(visited);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const bool best = from.bare_walk_seconds == 0 || seconds < from.bare_walk_seconds;
    if (best) from.bare_walk_seconds = seconds;
  }
  state.SetBytesProcessed(state.iterations() * std::int64_t(from.bytes));
  state.SetItemsProcessed(state.iterations() * std::int64_t(from.events));
}

std::size_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

Result<Profile> read_profile(const fs::path& path) {
  auto source = open_byte_source(path);
  if (!source) return tl::unexpected(source.error());
  auto events = chrome::read_events(**source);
  if (!events) return tl::unexpected(events.error());
  return chrome::make_profile(std::move(*events));
}

void read(benchmark::State& state, Flavour flavour) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  std::size_t(state.range(0)));
  const Trace& from = trace(flavour);
  double best = 0;
  std::size_t grown = 0;
  for (auto _ : state) {
    const std::size_t before = heap_bytes();
    const auto begin = Clock::now();
    const auto profile = read_profile(from.path);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    state.SetIterationTime(seconds);
    best = best == 0 ? seconds : std::min(best, seconds);
    grown = heap_bytes() - before;
    if (!profile || profile->spans.size() != from.events) state.SkipWithError("not read whole");
  }
  state.SetBytesProcessed(state.iterations() * std::int64_t(from.bytes));
  state.SetItemsProcessed(state.iterations() * std::int64_t(from.events));
  state.counters["of_bare_walk"] = from.bare_walk_seconds / best;
  state.counters["heap_per_event"] = double(grown) / double(from.events);
}

#define NPUSCOPE_CHROME_BENCH(flavour)                    \
  BENCHMARK_CAPTURE(bare_walk, flavour, Flavour::flavour) \
      ->UseRealTime()                                     \
      ->Unit(benchmark::kMillisecond);                    \
  BENCHMARK_CAPTURE(read, flavour, Flavour::flavour)      \
      ->Arg(1)                                            \
      ->Arg(2)                                            \
      ->UseManualTime()                                   \
      ->Unit(benchmark::kMillisecond)
NPUSCOPE_CHROME_BENCH(with_args);
NPUSCOPE_CHROME_BENCH(without_args);
NPUSCOPE_CHROME_BENCH(optrace);
NPUSCOPE_CHROME_BENCH(opstats);

}  // namespace
}  // namespace npuscope::bench
