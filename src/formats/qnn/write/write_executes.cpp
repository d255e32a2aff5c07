// What is written of every execute: RUN_TRACE, and what qnn-profile-viewer prints.
#include <fmt/format.h>

#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "formats/qnn/write/write_text.hpp"

namespace npuscope::qnn::optrace {
namespace {

// RUN_TRACE: the phases of every execute. `ts` and `dur` are timer ticks, not microseconds.

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

namespace {

// What qnn-profile-viewer prints: how long each layer of software took, in every execute, and the
// cycles of each op of the QNN graph. Two labels say `us` and mean ticks of the timer.
class ViewerTextPrinter {
 public:
  ViewerTextPrinter(const OptraceSet& set, const TextSink& sink) : set_(set), out_(sink) {
    order_ops();
  }

  void print() {
    print_header();
    print_once("Init Stats:\n-----------\n", set_.load, "load binary", "accelerator");
    out_.add("Compose Graphs Stats:\n--------------\n    NetRun: 0 us\n\n");
    print_once("De-Init Stats:\n--------------\n", set_.release, "deinit", "Accelerator");
    out_.add("\nPrinting All Data Received From Back End\n\nCreate From Binary Stats:\n");
    if (set_.load) {
      out_.print(
          "RPC (load binary) time : {}  us\nQNN accelerator (load binary) time : {}  us\n"
          "Accelerator (load binary) time : {}  us\nQNN (load binary) time : {}  us\n",
          set_.load->rpc_us, set_.load->qnn_accelerator_us, set_.load->accelerator_us,
          set_.load->qnn_us);
    }
    out_.add("\n\nExecute Stats: \n\n");
    for (std::size_t i = 0; i < set_.calls.size(); ++i) {
      out_.print("Execute Stat {}\n\n", i + 1);
      print_execute(set_.calls[i], set_.executes[i]);
    }
  }

 private:
  static constexpr std::uint32_t service_id = 0;

  static bool is_port(const GraphOp& op) { return op.type == "Input" || op.type == "Output"; }

  // Input first, then the graph's ops by id, Output last. The device's own services are not shown.
  void order_ops() {
    for (std::uint32_t i = 0; i < set_.graph_ops.size(); ++i) {
      if (set_.graph_ops[i].id != service_id) order_.push_back(i);
    }
    const auto place = [&](std::uint32_t i) {
      const GraphOp& op = set_.graph_ops[i];
      return std::pair(op.type == "Input" ? 0 : op.type == "Output" ? 2 : 1, op.id);
    };
    sort_rows(order_.begin(), order_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  }

  // Where the log lay and when it was made would differ from run to run.
  void print_header() {
    out_.print(
        "Input Log File Location: {}\nLog File Created: Thu Jan  1 00:00:00 1970\n"
        "Time Scale: 1e-06\nEpoch Timestamp: 0 Steady Clock Timestamp: 0\nGenerated using: \n",
        printable(set_.graph_name));
    for (const std::string_view tool : {"qnn-profile-viewer", "qnn-net-run", "Backend"}) {
      out_.print("{}: v2.45.0.npuscope\n", tool);
    }
    out_.add(
        "\nQnn Init/Prepare/Finalize/De-Init/Execute/Lib-Load Statistics:\n"
        "------------------------------------------------------------\n");
  }

  void print_once(std::string_view title, const std::optional<LayerTimes>& times,
                  std::string_view call, std::string_view accelerator) {
    out_.add(title);
    if (times) {
      out_.print(
          "    NetRun: {0} us\n    Backend (RPC ({4}) time): {1} us\n"
          "    Backend (QNN {5} ({4}) time): {2} us\n    Backend (Accelerator ({4}) time): {3} us\n"
          "    Backend (QNN ({4}) time): {0} us\n",
          times->qnn_us, times->rpc_us, times->qnn_accelerator_us, times->accelerator_us, call,
          accelerator);
    }
    out_.add("\n");
  }

  void print_execute(const HostCall& call, const Execute& execute) {
    out_.print("Number of HVX threads used : {}  count\n", set_.hvx_threads);
    out_.print("RPC (execute) time : {}  us\n", call.times.rpc_us);
    out_.print("QNN accelerator (execute) time : {}  us\n", call.times.qnn_accelerator_us);
    out_.add("Num times yield occured : 0  count\n");
    print_ticks("Time for initial VTCM acquire", find_phase(execute, "VTCM Acquire"));
    print_ticks("Time for HVX + HMX power on and acquire",
                find_phase(execute, "Resource Power On"));
    std::uint64_t cycles = 0;
    for (const std::uint32_t i : order_) cycles += call.op_cycles[i];
    out_.print("Accelerator (execute) time (cycles) : {}  cycles\n", cycles);
    for (const std::uint32_t i : order_) {
      const GraphOp& op = set_.graph_ops[i];
      out_.print("    {}{}OpId_{} (cycles) : {}  cycles\n", printable(op.name),
                 is_port(op) ? ' ' : ':', op.id, call.op_cycles[i]);
    }
    out_.print("Accelerator (execute) time : {}  us\n",
               whole_microseconds(set_, find_phase(execute, "QNN DSP Execute")));
    out_.print("Accelerator (execute excluding wait) time : {}  us\n",
               whole_microseconds(set_, find_phase(execute, "Graph Execute")));
    out_.print("Unknown event type :   object\nQNN (execute) time : {}  us\n\n", call.times.qnn_us);
  }

  void print_ticks(std::string_view label, const Phase* phase) {
    if (phase == nullptr) return;
    out_.print("{} : {}  us\n", label, phase->end_ticks - phase->start_ticks);
  }

  const OptraceSet& set_;
  TextOutput out_;
  std::vector<std::uint32_t> order_;  // in graph_ops
};

}  // namespace

void write_viewer_text(const OptraceSet& set, const TextSink& sink) {
  ViewerTextPrinter(set, sink).print();
}

}  // namespace npuscope::qnn::optrace
