// How fast the files of QNN's host compiler are read: a schematic of 100 MB, and the log with the
// estimate of the same graph, next to a bare search for line feeds in the same bytes.
//
//   mb_per_cpu_s   megabytes read in a second of processor time
//   plain_passes   processor time by that of the search
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

#include "formats/qnn/host_run.hpp"
#include "formats/qnn/read/estimate.hpp"
#include "formats/qnn/read/schematic.hpp"

namespace npuscope::qnn::bench {
namespace {

constexpr std::size_t bytes_wanted = 100'000'000;

// Ops of one QNN node each, of all three kinds of work.
test::HostRun large_run() {
  test::HostRun run = test::small_host_run();
  const std::size_t bytes_an_op = test::schematic_of(run).size() / run.ops.size();
  const std::vector<test::HostOp> few = run.ops;
  for (std::size_t copy = 1; run.ops.size() * bytes_an_op < bytes_wanted; ++copy) {
    for (test::HostOp op : few) {
      op.id += copy << 32;
      for (std::uint64_t& input : op.inputs) input += copy << 32;
      op.start += std::int64_t(copy) * 2'000;
      op.waits_for += int(copy) * 4;
      op.counts_for += int(copy) * 4;
      run.ops.push_back(op);
    }
  }
  return run;
}

double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

template <class Read>
void measure(benchmark::State& state, const std::string& text, const Read& read) {
  double seconds = 0, plain = 0;
  for (auto _ : state) {
    double begin = processor_seconds();
    benchmark::DoNotOptimize(std::count(text.begin(), text.end(), '\n'));
    plain += processor_seconds() - begin;
    begin = processor_seconds();
    read();
    const double taken = processor_seconds() - begin;
    seconds += taken;
    state.SetIterationTime(taken);
  }
  state.counters["mb_per_cpu_s"] = double(text.size()) * double(state.iterations()) / 1e6 / seconds;
  state.counters["plain_passes"] = seconds / plain;
}

void schematic(benchmark::State& state) {
  const std::string text = test::schematic_of(large_run());
  measure(state, text, [&] {
    CountedNotes losses("schematic.bin");
    auto source = open_byte_source(text, "schematic.bin");
    const auto read = read_schematic(**source, losses);
    if (!read || read->graph.nodes.empty()) state.SkipWithError("not read");
  });
}
BENCHMARK(schematic)->Unit(benchmark::kMillisecond)->UseManualTime();

void estimate(benchmark::State& state) {
  const std::string log = test::log_of({large_run()});
  measure(state, log, [&] {
    for (const EmbeddedTrace& trace : traces_in(log)) {
      CountedNotes losses("prof_qnn.log");
      auto source = open_byte_source(trace.json, "prof_qnn.log");
      auto events = chrome::read_events(**source);
      const auto read = read_estimate(std::move(*events), losses);
      if (!read || read->ops.empty()) state.SkipWithError("not read");
    }
  });
}
BENCHMARK(estimate)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace npuscope::qnn::bench
