// RUN_TRACE: the phases of every execute. `ts` and `dur` are timer ticks, not microseconds.
#include <fmt/format.h>

#include "formats/qnn/write/write_text.hpp"

namespace npuscope::qnn::optrace {

namespace {

using chrome::TracePhase;

constexpr chrome::TraceStyle run_style = viewer_style(JsonLayout::wide());

using RunEvents = chrome::TraceEvents<run_style>;

void add_phase(RunEvents& events, const OptraceSet& set, const Phase& phase, std::uint64_t base) {
  const std::uint64_t ticks = phase.end_ticks - phase.start_ticks;
  const double microseconds = double(ticks) / set.timer_hz * 1e6;
  const double gigahertz =
      ticks > 0 ? double(phase.end_cycles - phase.start_cycles) / microseconds / 1000 : 0;
  JsonWriter<TextOutput>& json = events.json();
  const auto add_rounded = [&](std::string_view key, double value) {
    json.key(key);
    json.raw(fmt::format("{:g}", value));
  };
  events.add({.name = phase.name,
              .process = 0,
              .thread = 0,
              .time = std::int64_t(phase.start_ticks - base),
              .duration = std::int64_t(ticks)},
             [&] {
               json.member("graph_name", set.graph_name);
               json.member("stat_start_ticks", phase.start_ticks);
               json.member("stat_end_ticks", phase.end_ticks);
               json.member("stat_start_cycles", phase.start_cycles);
               json.member("stat_end_cycles", phase.end_cycles);
               add_rounded("summary_htp_frequency_ghz", gigahertz);
               add_rounded("summary_inf/s", ticks > 0 ? 1e6 / microseconds : 0);
               add_rounded("summary_time_us", microseconds);
             });
}

void add_name(RunEvents& events, std::string_view what, chrome::TraceId thread,
              std::string_view name) {
  events.add({.phase = TracePhase::metadata,
              .name = what,
              .category = metadata_category,
              .process = 0,
              .thread = thread},
             [&] { events.json().member("name", name); });
}

}  // namespace

void write_run_trace(const OptraceSet& set, const TextSink& sink) {
  TextOutput out(sink);
  out.add(trace_header("RUN_TRACE"));
  RunEvents events(out);
  const std::uint64_t base = set.executes.front().front().start_ticks;
  for (const Execute& execute : set.executes) {
    for (const Phase& phase : execute) add_phase(events, set, phase, base);
    add_name(events, "thread_name", 0, "Core 0 Execs");
    add_name(events, "process_name", {}, set.graph_name + " Runtraces");
  }
  events.end();
}

}  // namespace npuscope::qnn::optrace
