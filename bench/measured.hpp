// How a question about a large profile is timed: beside a plain pass over the columns of the spans
// in the same run, so that whatever else the machine does falls on both.
//
//   void units(benchmark::State& state) {
//     measure(state, profile(), [] { return report::units_document(analysis::Analysis(profile()),
//     {}); });
//   }
//   BENCHMARK(units)->Unit(benchmark::kMillisecond)->UseManualTime();
//
//   units/manual_time   734 ms ... cpu_s=1.31 system_s=0.12 plain_passes=58.2
//
// The time is of the wall, cpu_s is processor time of all threads in seconds, system_s what of it
// the system took (to hand out memory, mostly), plain_passes cpu_s in plain passes, and items are
// spans.
#pragma once

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <chrono>
#include <ctime>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::bench {

// Reads every column once.
inline std::int64_t plain_pass(const Profile& profile) {
  const Spans& spans = profile.spans;
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    sum += index_of(spans.unit[row]) + index_of(spans.op[row]) + std::uint64_t(spans.kind[row]);
    sum += std::uint64_t(spans.start[row]) + std::uint64_t(spans.duration[row]);
  }
  for (const std::uint32_t instance : spans.instance) sum += instance;
  for (const MeasureColumn& measure : spans.measures) {
    for (const std::int64_t value : measure.values) sum += std::uint64_t(value);
  }
  return std::int64_t(sum);
}

inline double processor_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

// What the system took of them.
inline double system_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_stime.tv_sec) + 1e-6 * double(usage.ru_stime.tv_usec);
}

// `profiles`: of how many such profiles the question is; a pass is over all of them.
template <class Question>
void measure(benchmark::State& state, const Profile& profile, const Question& question,
             std::size_t profiles = 1) {
  using Clock = std::chrono::steady_clock;
  double asked = 0, system = 0, plain = 0;
  for (auto _ : state) {
    const double before = processor_seconds();
    for (std::size_t i = 0; i < profiles; ++i) benchmark::DoNotOptimize(plain_pass(profile));
    const double between = processor_seconds();
    system -= system_seconds();
    const auto begin = Clock::now();
    benchmark::DoNotOptimize(question());
    const std::chrono::duration<double> wall = Clock::now() - begin;
    asked += processor_seconds() - between;
    system += system_seconds();
    plain += between - before;
    state.SetIterationTime(wall.count());
  }
  state.SetItemsProcessed(std::int64_t(state.iterations()) *
                          std::int64_t(profiles * profile.spans.size()));
  state.counters["cpu_s"] = asked / double(state.iterations());
  state.counters["system_s"] = system / double(state.iterations());
  state.counters["plain_passes"] = plain > 0 ? asked / plain : 0;
}

}  // namespace npuscope::bench
