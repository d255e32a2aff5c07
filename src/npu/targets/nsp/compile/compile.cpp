#include "npu/targets/nsp/compile/compile.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/qaic/qpc/qpc.hpp"
#include "npu/targets/nsp/compile/describe/metrics.hpp"
#include "npu/targets/nsp/compile/describe/schematic.hpp"
#include "npu/targets/nsp/compile/lower/lowering.hpp"
#include "npu/targets/nsp/compile/place/storages.hpp"
#include "npu/targets/nsp/compile/schedule/instrument.hpp"
#include "npu/targets/nsp/compile/schedule/schedule.hpp"

namespace npuscope::npu::nsp {
namespace {

Status check_options(const CompileOptions& options, const Target& target) {
  if (options.cores < 1 || options.cores > target.cores) {
    return usage_error("-aic-num-cores={}: {} has {} cores; use 1 to {}", options.cores,
                       target.name, target.cores, target.cores);
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
HostTraffic host_traffic(const Graph& graph, bool retained_state, bool convert_to_fp16) {
  HostTraffic traffic;
  const auto retained =
      retained_state ? find_retained_state(graph) : std::vector<bool>(graph.tensors.size(), false);
  const auto bytes = [&](TensorId id) {
    return device_bytes(graph[id].elements(), device_type(graph[id].type, convert_to_fp16));
  };
  for (TensorId id : graph.outputs) {
    (retained[std::size_t(id)] ? traffic.retained : traffic.output) += bytes(id);
  }
  for (TensorId id : graph.inputs) {
    if (!retained[std::size_t(id)]) traffic.input += bytes(id);
  }
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

std::uint64_t hoisted_room(const Target& target) {
  return std::uint64_t(double(target.vtcm_bytes - target.vtcm_reserved_bytes) *
                       target.hoisted_share);
}

void add_hoisted_bytes(const CompileMetrics& metrics, qaic::Program& program) {
  const auto keeps = [](const CoreMetrics& core) { return core.hoisted_bytes > 0; };
  if (!std::any_of(metrics.cores.begin(), metrics.cores.end(), keeps)) return;
  for (const CoreMetrics& core : metrics.cores) program.hoisted_bytes.push_back(core.hoisted_bytes);
}

// Only of such programs is it known that a card keeps constants (targets/aic100.toml).
bool has_retained_state(const Graph& graph, const CompileOptions& options) {
  if (!options.retained_state) return false;
  const std::vector<bool> retained = find_retained_state(graph);
  return std::find(retained.begin(), retained.end(), true) != retained.end();
}

struct Lowered {
  std::vector<NodePlan> plans;
  LoweredNetwork network;
};

// Twice where that leaves room for constants to stay in VTCM: how much room there is shows only
// when everything has found its place.
Lowered lower(const Graph& graph, const Target& target, const CompileOptions& options,
              bool log_accesses) {
  const auto lowered = [&](std::uint64_t hoisted, bool& leaves_room) {
    Lowering lowering(graph, target, options, hoisted);
    if (log_accesses) lowering.log_accesses();
    LoweredNetwork network = lowering.run();
    leaves_room = lowering.has_space_for(hoisted_room(target));
    return Lowered{lowering.plans(), std::move(network)};
  };
  bool leaves_room = false;
  Lowered first = lowered(0, leaves_room);
  if (hoisted_room(target) == 0 || !leaves_room || !has_retained_state(graph, options))
    return first;
  try {
    Lowered second = lowered(hoisted_room(target), leaves_room);
    if (second.network.spills.empty()) return second;
  } catch (const LoweringFailure&) {
    // Whatever found no room there did without.
  }
  return first;
}

std::uint32_t batch_of(const Graph& graph) {
  for (TensorId id : graph.inputs) {
    const Shape& shape = graph[id].shape;
    if (shape.size() >= 2 && shape[0] > 0) return std::uint32_t(shape[0]);
  }
  return 1;
}

}  // namespace

Result<CompiledNetwork> compile_network(const Graph& graph, const Target& target,
                                        const CompileOptions& given) {
  CompileOptions options = given;
  if (options.cores == 0) options.cores = target.cores;
  if (auto ok = check_options(options, target); !ok) return tl::unexpected(ok.error());
  try {
    CompiledNetwork compiled;
    qaic::Program& program = compiled.program;
    program.network_name = options.network_name;
    program.cores = options.cores;
    program.hvx_threads = target.hvx_threads;
    program.batch_size = batch_of(graph);
    program.stats_level = options.stats_level;
    program.stats_batch_size =
        options.stats_batch_size > 0 ? options.stats_batch_size : program.batch_size;
    program.ddr_stats = options.ddr_stats;
    program.pmu_events = options.pmu_events;
    const HostTraffic traffic =
        host_traffic(graph, options.retained_state, options.convert_to_fp16);
    program.input_bytes = traffic.input;
    program.output_bytes = traffic.output;
    program.retained_bytes = traffic.retained;
    program.slice = options.slice;
    program.slices = options.slices;

    const bool draws = target.session.has_value() && options.cores == 1;
    auto [plans, network] = lower(graph, target, options, draws);
    Schedule schedule = schedule_tasks(network.tasks, target);
    append_end_of_statistics(network, schedule, target, program);
    const auto origin = emit_program(network.tasks, schedule, network.strings, program);
    compiled.descriptor = describe_network(graph, network, origin, program, options);
    if (draws) {
      compiled.schematic = make_schematic(graph, network, origin, program, options);
    }
    compiled.metrics = std::move(network.metrics);
    add_hoisted_bytes(compiled.metrics, program);
    add_peer_transfers(network, origin, compiled);
    complete_metrics(graph, plans, network, schedule, target, program, compiled.metrics);
    return compiled;
  } catch (const LoweringFailure& failure) {
    return input_error("{}", failure.message);
  }
}

namespace {

std::vector<std::byte> copy_of(std::string_view text) {
  const ByteSpan bytes = as_byte_span(text);
  return {bytes.begin(), bytes.end()};
}

// AICConstantDescriptor: u64 static size, u64 dynamic size, two ECC flags, padding to 24 bytes
// (formats/qaic.md section 1). Sizes only: npuscope keeps no weights.
std::vector<std::byte> constants_descriptor(std::uint64_t static_bytes) {
  std::array<std::uint64_t, 3> fields{static_bytes, 0, 0};
  const auto bytes = std::as_bytes(std::span(fields));
  return {bytes.begin(), bytes.end()};
}

std::vector<qaic::QpcSegmentSource> segments_of(const CompiledNetwork& network,
                                                const Target& target) {
  std::vector<qaic::QpcSegmentSource> segments;
  const auto add = [&](std::string_view name, std::vector<std::byte> bytes) {
    segments.push_back({std::string(name), std::move(bytes), 0});
  };
  add(qaic::segment_constants_descriptor, constants_descriptor(network.metrics.constant_bytes));
  add(qaic::segment_network_descriptor, qaic::write_network_descriptor(network.descriptor));
  add(qaic::segment_program, qaic::write_program(network.program));
  add(qaic::segment_target, copy_of(target.toml));
  if (network.schematic) {
    add(qaic::segment_schematic, qaic::write_schematic(*network.schematic));
  }
  return segments;
}

}  // namespace

Result<std::vector<std::byte>> package_qpc(const std::vector<CompiledNetwork>& networks,
                                           const Target& target, std::string_view partition) {
  if (networks.empty()) return usage_error("no network to package");
  if (networks.size() == 1) return qaic::write_qpc(segments_of(networks[0], target));
  std::vector<qaic::QpcSegmentSource> outer;
  for (const CompiledNetwork& network : networks) {
    auto inner = qaic::write_qpc(segments_of(network, target));
    if (!inner) return inner;
    outer.push_back({network.program.network_name, std::move(*inner), 0});
  }
  if (!partition.empty()) {
    outer.push_back({std::string(qaic::segment_partition), copy_of(partition), 0});
  }
  return qaic::write_qpc(outer);
}

}  // namespace npuscope::npu::nsp
