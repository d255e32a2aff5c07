#include "formats/qnn/read/run_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/numbers.hpp"
#include "formats/qnn/read/artifact_parts.hpp"

namespace npuscope::qnn {
namespace {

// 1 of "Core 1 Execs"; 0 of anything else.
std::uint32_t core_of(std::string_view thread_name) {
  constexpr std::string_view prefix = "Core ";
  if (!thread_name.starts_with(prefix)) return 0;
  thread_name.remove_prefix(prefix.size());
  const std::uint32_t core = take_number<std::uint32_t>(thread_name).value_or(0);
  return core < max_cores ? core : 0;
}

// The inference of a phase is that of the execute that holds it; without one (a trace that begins
// in the middle) phases are counted by name.
void number_inferences(RunTrace& trace) {
  struct Execute {
    std::int64_t start, end;
    std::uint32_t core;
  };
  std::vector<Execute> executes;
  for (const RunPhase& phase : trace.phases) {
    if (trace.name_of(phase) == execute_phase) {
      executes.push_back({phase.start_ticks, phase.end_ticks, phase.core});
    }
  }
  const auto order = [](const Execute& a, const Execute& b) {
    return std::tie(a.core, a.start, a.end) < std::tie(b.core, b.start, b.end);
  };
  std::sort(executes.begin(), executes.end(), order);
  std::map<std::pair<std::uint32_t, StringId>, std::uint32_t> met;
  for (RunPhase& phase : trace.phases) {
    const Execute begins_there{phase.start_ticks, std::numeric_limits<std::int64_t>::max(),
                               phase.core};
    auto holder = std::upper_bound(executes.begin(), executes.end(), begins_there, order);
    const std::uint32_t by_name = met[{phase.core, phase.name}]++;
    phase.inference = by_name;
    if (holder != executes.begin()) {
      --holder;
      const auto first = std::find_if(executes.begin(), executes.end(),
                                      [&](const Execute& e) { return e.core == phase.core; });
      if (holder->core == phase.core && phase.end_ticks <= holder->end) {
        phase.inference = std::uint32_t(holder - first);
      }
    }
    trace.inferences = std::max(trace.inferences, phase.inference + 1);
  }
}

}  // namespace

std::vector<RunTrace> read_run_traces(chrome::Events&& events, CountedNotes& losses) {
  const chrome::Slices& slices = events.slices;
  const auto column = [&](std::string_view key) {
    return ArgumentColumn(slices.arguments, events.strings, key);
  };
  const ArgumentColumn graph_name = column("graph_name");
  const ArgumentColumn start_ticks = column("stat_start_ticks");
  const ArgumentColumn end_ticks = column("stat_end_ticks");
  const ArgumentColumn start_cycles = column("stat_start_cycles");
  const ArgumentColumn end_cycles = column("stat_end_cycles");

  std::vector<RunTrace> traces;
  std::map<StringId, std::size_t> trace_of;
  const std::string version = header_version_of(events.field("header"));
  for (std::size_t row = 0; row < slices.size(); ++row) {
    const auto from_tick = start_ticks.integer(row), to_tick = end_ticks.integer(row);
    const auto from_cycle = start_cycles.integer(row), to_cycle = end_cycles.integer(row);
    if (!from_tick || !to_tick || !from_cycle || !to_cycle) {
      losses.add(Severity::warning, 0, "phases without stat_start and stat_end; left out");
      continue;
    }
    if (*from_tick < 0 || *from_cycle < 0 || *to_tick < *from_tick || *to_cycle < *from_cycle) {
      losses.add(Severity::warning, 0, "phases that end before they begin; left out");
      continue;
    }
    const StringId graph = graph_name.text(row);
    const auto [place, is_new] = trace_of.try_emplace(graph, traces.size());
    if (is_new) {
      RunTrace& trace = traces.emplace_back();
      trace.version = version;
      trace.graph = events.strings[graph];
      trace.strings = events.strings;
    }
    RunPhase phase;
    phase.name = slices.name[row];
    phase.core = core_of(events.strings[events.threads[slices.thread[row]].thread_name]);
    phase.start_ticks = *from_tick;
    phase.end_ticks = *to_tick;
    phase.start_cycle = *from_cycle;
    phase.end_cycle = *to_cycle;
    traces[place->second].phases.push_back(phase);
  }
  for (RunTrace& trace : traces) number_inferences(trace);
  return traces;
}

}  // namespace npuscope::qnn
