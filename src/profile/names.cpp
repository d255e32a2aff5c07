#include "profile/names.hpp"

namespace npuscope {
namespace {

constexpr const char* clock_kinds[] = {"wall", "timer", "unit_cycles"};
constexpr const char* engines[] = {"none",      "device",        "core", "hvx",     "hmx",
                                   "dma_issue", "dma",           "host", "process", "thread",
                                   "compute",   "communication", "other"};
constexpr const char* span_kinds[] = {
    "op",   "sync",          "barrier",      "transfer", "inference",  "activation",
    "host", "dma_wait",      "slice",        "async",    "instant",    "kernel",
    "copy", "communication", "runtime_call", "wait",     "annotation", "profiler"};
static_assert(std::size(span_kinds) == span_kind_count);
constexpr const char* measure_kinds[] = {"wall",      "span",   "active",        "work",
                                         "unit_busy", "domain", "dominant_path", "count"};
constexpr const char* number_quantities[] = {"time", "bytes", "hertz", "share",
                                             "rate", "count", "macs"};
constexpr const char* number_roles[] = {"none",
                                        "ddr_read",
                                        "ddr_write",
                                        "vtcm_read",
                                        "vtcm_write",
                                        "multicast_write",
                                        "ddr_read_constants",
                                        "bytes_in_flight",
                                        "vtcm_allocated",
                                        "vtcm_peak",
                                        "dominant_path",
                                        "graph_wall",
                                        "graph_execute",
                                        "dsp_execute",
                                        "kernel_dominant_path",
                                        "node_cycles",
                                        "utilization",
                                        "utilization_with_waits",
                                        "active_share",
                                        "busy",
                                        "wait",
                                        "communication_wait",
                                        "inference_time",
                                        "processor_cycles",
                                        "effective_frequency",
                                        "recorded_duration",
                                        "packets",
                                        "pmu_event",
                                        "threads",
                                        "hvx_threads",
                                        "program",
                                        "activation",
                                        "inference",
                                        "stats_batch_size",
                                        "lost_events",
                                        "session_run",
                                        "session_node",
                                        "all_graphs_execute",
                                        "qnn_execute",
                                        "rpc_execute",
                                        "qnn_accelerator_execute",
                                        "accelerator_execute",
                                        "accelerator_execute_alone",
                                        "execute_cycles",
                                        "total_round_trip",
                                        "host_round_trip",
                                        "device_execution",
                                        "device_input_wait",
                                        "device_output_wait",
                                        "device_rate",
                                        "function_step",
                                        "function_wait",
                                        "queue_depth",
                                        "inferences_in_queue",
                                        "run_time",
                                        "run_inferences",
                                        "run_batch_size",
                                        "run_rate",
                                        "estimated_wall",
                                        "wall_rounded",
                                        "wall_lower",
                                        "wall_upper",
                                        "ops_without_estimate",
                                        "vtcm_size",
                                        "ddr_peak_rate",
                                        "model_nodes",
                                        "tokens",
                                        "tokens_time",
                                        "batch_time",
                                        "op_window",
                                        "best_ddr_rate",
                                        "dma_cycles",
                                        "exposed_transfer",
                                        "hidden_transfer",
                                        "code_fetches",
                                        "kept_on_chip",
                                        "schedule_wall",
                                        "schedule_active",
                                        "schedule_work"};
static_assert(std::size(number_roles) == number_role_count);
constexpr const char* statistics[] = {"none", "mean", "min", "max", "deviation", "p50",
                                      "p75",  "p90",  "p95", "p99", "other"};
constexpr const char* origins[] = {"measured", "counter", "estimated", "simulated", "derived"};
constexpr const char* subjects[] = {"profile", "unit", "op", "span", "phase"};
constexpr const char* edge_kinds[] = {"data", "reuse", "flow", "transfer", "order"};
constexpr const char* argument_types[] = {"null",   "boolean", "integer", "unsigned_integer",
                                          "number", "text",    "json"};
constexpr const char* temperatures[] = {"unknown", "cold", "warm", "cold_then_warm"};
constexpr const char* platforms[] = {"unknown", "cloud_ai_100",  "hexagon",
                                     "torq",    "sigmastar_ipu", "xla"};
constexpr const char* outcomes[] = {"passed", "failed", "impossible"};
constexpr const char* severities[] = {"info", "warning", "error"};

}  // namespace

std::span<const char* const> stable_names(ClockKind) { return clock_kinds; }
std::span<const char* const> stable_names(Engine) { return engines; }
std::span<const char* const> stable_names(SpanKind) { return span_kinds; }
std::span<const char* const> stable_names(MeasureKind) { return measure_kinds; }
std::span<const char* const> stable_names(NumberQuantity) { return number_quantities; }
std::span<const char* const> stable_names(NumberRole) { return number_roles; }
std::span<const char* const> stable_names(Statistic) { return statistics; }
std::span<const char* const> stable_names(Origin) { return origins; }
std::span<const char* const> stable_names(Measure::Subject) { return subjects; }
std::span<const char* const> stable_names(EdgeKind) { return edge_kinds; }
std::span<const char* const> stable_names(ArgumentType) { return argument_types; }
std::span<const char* const> stable_names(Provenance::Temperature) { return temperatures; }
std::span<const char* const> stable_names(Provenance::Platform) { return platforms; }
std::span<const char* const> stable_names(Check::Outcome) { return outcomes; }
std::span<const char* const> stable_names(Severity) { return severities; }

void tell_platform_by_device(Provenance& provenance) {
  using Platform = Provenance::Platform;
  struct Known {
    std::string_view begin;
    Platform platform;
  };
  constexpr Known all[] = {{"Cloud AI 100", Platform::cloud_ai_100},
                           {"HTP", Platform::hexagon},
                           {"Hexagon", Platform::hexagon},
                           {"Torq", Platform::torq},
                           {"SigmaStar IPU", Platform::sigmastar_ipu}};
  for (const Known& each : all) {
    if (provenance.device.starts_with(each.begin)) provenance.platform = each.platform;
  }
  if (provenance.platform == Platform::cloud_ai_100) provenance.target = "aic100";
  if (provenance.device == "SigmaStar IPU (ipu-muffin)") provenance.target = "ipu-muffin";
}

}  // namespace npuscope
