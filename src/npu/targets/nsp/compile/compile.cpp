#include "npu/targets/nsp/compile/compile.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "npu/graph/fold_quantization.hpp"
#include "npu/graph/parts/parts.hpp"
#include "npu/targets/nsp/compile/best_cores.hpp"
#include "npu/targets/nsp/compile/describe/describe.hpp"
#include "npu/targets/nsp/compile/qnn_graph.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"
#include "npu/targets/nsp/compile/tasks/packed.hpp"

namespace npuscope::npu::nsp {
namespace {

Status check_options(const CompileOptions& options, const Target& target) {
  if (options.cores < 1 || options.cores > target.cores) {
    return usage_error("-aic-num-cores={}: {} has {} cores; use 1 to {}", options.cores,
                       target.name, target.cores, target.cores);
  }
  for (const auto& [flag, split] :
       {std::pair("-ols", options.overlap_split), std::pair("-mos", options.channel_split)}) {
    if (split >= 1 && split <= target.cores) continue;
    return usage_error("{}={}: use 1 to {}, the cores of {}", flag, split, target.cores,
                       target.name);
  }
  if (options.stats_level > 100) {
    return usage_error("-stats-level={}: use 0 to 100 (40, 50, 70 and 100 each add something)",
                       options.stats_level);
  }
  if (options.ddr_stats && options.stats_level < 40) {
    return usage_error("-ddr-stats needs -stats-level=40 or more, not {}", options.stats_level);
  }
  if (!options.pmu_events.empty() && options.stats_level < 40) {
    return usage_error("PMU events need -stats-level=40 or more, not {}", options.stats_level);
  }
  if (options.pmu_events.size() > 8) {
    return usage_error("{} PMU events asked for; the hardware counts at most 8 at once",
                       options.pmu_events.size());
  }
  for (const auto& [flag, packs] :
       {std::pair("-mxfp6-matmul", options.mxfp6_matmul),
        std::pair("state in MXINT8", options.mxint8_state || !options.mxint8_names.empty())}) {
    if (!packs || !target.qnn_graphs) continue;
    return usage_error("{}: {} compiles graphs of QNN, which have no such blocks; use aic100", flag,
                       target.name);
  }
  if (options.slices > 1 && target.peer_bytes_per_s == 0) {
    return usage_error("{} devices: {} has no link between devices ([peer] of its description)",
                       options.slices, target.name);
  }
  return {};
}

struct HostTraffic {
  std::uint64_t input = 0, output = 0, retained = 0;
};

// Retained state stays on the device: neither the input nor its _RetainedState output crosses the
// link.
HostTraffic host_traffic(const Graph& graph, const CompileOptions& options) {
  HostTraffic traffic;
  const std::vector<bool> packed = find_mxint8_state(graph, options);
  const auto retained = options.retained_state ? find_retained_state(graph)
                                               : std::vector<bool>(graph.tensors.size(), false);
  const auto bytes = [&](TensorId id) {
    return device_bytes(graph[id].elements(), type_in_ddr(graph, id, packed, options));
  };
  for (TensorId id : graph.outputs) {
    (retained[std::size_t(id)] ? traffic.retained : traffic.output) += bytes(id);
  }
  for (TensorId id : graph.inputs)
    if (!retained[std::size_t(id)]) traffic.input += bytes(id);
  return traffic;
}

// Which tasks exchange data with other devices.
void add_peer_transfers(const LoweredNetwork& network, const std::vector<TaskIndex>& origin,
                        CompiledNetwork& compiled) {
  for (std::uint32_t at = 0; at < origin.size(); ++at) {
    const TaskSpec& spec = network.tasks.tasks()[origin[at]];
    if (spec.peer_bytes == 0) continue;
    compiled.program.peer_transfers.push_back(
        {at, spec.peer, spec.peer_bytes, spec.peer_number, spec.incoming ? 1u : 0u});
    if (!spec.incoming) compiled.metrics.cores[spec.core].peer_bytes += spec.peer_bytes;
  }
}

void add_hoisted_bytes(const CompileMetrics& metrics, qaic::Program& program) {
  const auto keeps = [](const CoreMetrics& core) { return core.hoisted_bytes > 0; };
  if (!std::ranges::any_of(metrics.cores, keeps)) return;
  for (const CoreMetrics& core : metrics.cores) program.hoisted_bytes.push_back(core.hoisted_bytes);
}

// State once: X and X_RetainedState are one place.
std::vector<PackedTensors> packed_tensors(const CompileContext& context) {
  const Graph& graph = context.graph;
  PackedTensors weights{.type = DataType::mxfp6}, state{.type = DataType::mxint8};
  const auto add = [&](TensorId id, PackedTensors& to) {
    if (context.packed_type(id) != to.type) return;
    ++to.tensors;
    to.bytes += context.bytes_of(id);
    to.ddr_bytes += context.ddr_bytes(id, context.bytes_of(id));
  };
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) add(TensorId(i), weights);
  for (TensorId id : graph.inputs) add(id, state);
  std::vector<PackedTensors> packed;
  for (const PackedTensors& each : {weights, state})
    if (each.tensors > 0) packed.push_back(each);
  return packed;
}

bool has_quantization(const Graph& graph) {
  return std::ranges::any_of(graph.nodes,
                             [](const Node& node) { return node.op == "DequantizeLinear"; });
}

}  // namespace

Result<CompiledNetwork> compile_network(const Graph& model, const Target& target,
                                        const CompileOptions& given) {
  CompileOptions options = given;
  if (options.cores == 0) options.cores = target.cores;
  TRY(check_options(options, target));
  std::optional<Graph> prepared =
      taken_apart(model, target.qnn_graphs ? Gates::apart : Gates::joined);
  if (target.qnn_graphs) {
    prepared = qnn_graph(prepared ? *prepared : model, options.convert_to_fp16);
    options.convert_to_fp16 = false;  // done
  } else if (has_quantization(model)) {
    prepared = without_limits_of_sums(fold_quantization(prepared ? *prepared : model, false));
  }
  // What the host gives and takes.
  const Graph& source = target.qnn_graphs ? *prepared : model;
  try {
    CompiledNetwork compiled;
    qaic::Program& program = compiled.program;
    program.network_name = options.network_name;
    program.cores = options.cores;
    program.hvx_threads = target.hvx_threads;
    program.batch_size = batch_of(source);
    program.stats_level = options.stats_level;
    program.stats_batch_size =
        options.stats_batch_size > 0 ? options.stats_batch_size : program.batch_size;
    program.ddr_stats = options.ddr_stats;
    program.pmu_events = options.pmu_events;
    const HostTraffic traffic = host_traffic(source, options);
    program.input_bytes = traffic.input;
    program.output_bytes = traffic.output;
    program.retained_bytes = traffic.retained;
    program.slice = options.slice;
    program.slices = options.slices;

    const bool draws = target.session.has_value() && options.cores == 1;
    const Graph& whole = prepared ? *prepared : model;
    LoweredProgram best = lower_for_best_cores(whole, target, options, draws);
    const Graph& graph = best.remade ? *best.remade : whole;
    LoweredNetwork& network = best.network;
    Schedule& schedule = best.schedule;
    append_end_of_statistics(network, schedule, target, program);
    const auto origin = emit_program(network.tasks, schedule, network.strings, program);
    compiled.descriptor = describe_network(graph, network, origin, program, options);
    if (draws) compiled.schematic = make_schematic(graph, network, origin, program, options);
    compiled.metrics = std::move(network.metrics);
    if (options.mxfp6_matmul || options.mxint8_state || !options.mxint8_names.empty())
      compiled.metrics.packed = packed_tensors(CompileContext(graph, target, options));
    add_hoisted_bytes(compiled.metrics, program);
    add_peer_transfers(network, origin, compiled);
    complete_metrics(source, graph, network, schedule, target, program, compiled.metrics);
    return compiled;
  } catch (const LoweringFailure& failure) {
    return input_error("{}", failure.message);
  }
}

}  // namespace npuscope::npu::nsp
