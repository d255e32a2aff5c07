// RUN_TRACE: the phases of every execute. `ts` and `dur` are timer ticks, not microseconds.
#include "formats/qnn/write/write_text.hpp"

namespace npuscope::qnn::optrace {

namespace {

void print_phase(const OptraceSet& set, const std::string& graph, const Phase& phase,
                 std::uint64_t base, TextWriter& out) {
  const std::uint64_t ticks = phase.end_ticks - phase.start_ticks;
  const double microseconds = double(ticks) / set.timer_hz * 1e6;
  const double gigahertz =
      ticks > 0 ? double(phase.end_cycles - phase.start_cycles) / microseconds / 1000 : 0;
  out.print(
      "{{ \"name\": \"{}\", \"ph\": \"X\", \"tid\": 0, \"pid\": 0, \"ts\": {}, \"dur\": {}, "
      "\"args\": {{\"graph_name\": \"{}\", \"stat_start_ticks\": {}, \"stat_end_ticks\": {}, "
      "\"stat_start_cycles\": {}, \"stat_end_cycles\": {}, \"summary_htp_frequency_ghz\": {:g}, "
      "\"summary_inf/s\": {:g}, \"summary_time_us\": {:g}}} }},\n",
      escaped(phase.name), std::int64_t(phase.start_ticks - base), ticks, graph, phase.start_ticks,
      phase.end_ticks, phase.start_cycles, phase.end_cycles, gigahertz,
      ticks > 0 ? 1e6 / microseconds : 0, microseconds);
}

}  // namespace

void write_run_trace(const OptraceSet& set, const TextSink& sink) {
  TextWriter out(sink);
  out.add(
      "{\n  \"header\": {\n    \"header_version\": {\n      \"major\": 1,\n      \"minor\": 0,\n"
      "      \"patch\": 0\n    },\n    \"version\": {\n      \"major\": 1,\n      \"minor\": 1,\n"
      "      \"patch\": 0\n    },\n    \"artifact_type\": \"RUN_TRACE\"\n  },\n"
      "\"traceEvents\": [\n");
  const std::string graph = escaped(set.graph_name);
  const std::uint64_t base = set.executes.front().front().start_ticks;
  for (std::size_t i = 0; i < set.executes.size(); ++i) {
    for (const Phase& phase : set.executes[i]) print_phase(set, graph, phase, base, out);
    out.add(
        "{ \"cat\": \"__metadata\", \"pid\": 0, \"tid\": 0, \"ph\": \"M\", \"name\": "
        "\"thread_name\", \"args\": {\"name\": \"Core 0 Execs\"}},\n");
    out.print(
        "{{ \"cat\": \"__metadata\", \"pid\": 0, \"ph\": \"M\", \"name\": \"process_name\", "
        "\"args\": {{\"name\": \"{} Runtraces\"}}}}{}\n",
        graph, i + 1 < set.executes.size() ? "," : "");
  }
  out.add("]}\n");
}

}  // namespace npuscope::qnn::optrace
