#include "npu/targets/nsp/compile/compile.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/numbers.hpp"
#include "base/try.hpp"
#include "formats/qaic/qpc/program_slices.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "npu/graph/fold_quantization.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/graph/parts/parts.hpp"
#include "npu/targets/nsp/compile/best_cores.hpp"
#include "npu/targets/nsp/compile/describe/describe.hpp"
#include "npu/targets/nsp/compile/devices/devices.hpp"
#include "npu/targets/nsp/compile/io_list.hpp"
#include "npu/targets/nsp/compile/lower/lowering.hpp"
#include "npu/targets/nsp/compile/place/storages.hpp"
#include "npu/targets/nsp/compile/qnn_graph.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"
#include "npuscope/npu/nsp/compile/build.hpp"
#include "profile/pmu_events.hpp"

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
  std::optional<Graph> prepared = taken_apart(model);
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
    const Graph& graph = best.blocks ? *best.blocks : whole;
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
  segments.push_back(
      {std::string(qaic::segment_program),
       {},
       0,
       [&network](std::vector<std::byte>& out) { qaic::write_program(network.program, out); },
       network.metrics.program_bytes});
  add(qaic::segment_target, copy_of(target.toml));
  if (network.schematic) add(qaic::segment_schematic, qaic::write_schematic(*network.schematic));
  return segments;
}

}  // namespace

Result<std::vector<std::byte>> package_qpc(const std::vector<CompiledNetwork>& networks,
                                           const Target& target, std::string_view partition) {
  if (networks.empty()) return usage_error("no network to package");
  if (networks.size() == 1) return qaic::write_qpc(segments_of(networks[0], target));
  std::vector<qaic::QpcSegmentSource> outer;
  for (const CompiledNetwork& network : networks) {
    TRY_AS(inner, qaic::write_qpc(segments_of(network, target)));
    outer.push_back({network.program.network_name, std::move(*inner), 0});
  }
  if (!partition.empty()) {
    outer.push_back({std::string(qaic::segment_partition), copy_of(partition), 0});
  }
  return qaic::write_qpc(std::move(outer));
}

Result<std::vector<std::uint32_t>> parse_pmu_events(std::string_view list) {
  std::vector<std::uint32_t> codes;
  for (std::size_t at = 0, end = 0; end != std::string_view::npos; at = end + 1) {
    end = list.find(',', at);
    std::string_view part = list.substr(at, end - at);
    if (const PmuEventInfo* known = find_pmu_event(part)) {
      codes.push_back(known->code);
      continue;
    }
    if (part.starts_with("0x") || part.starts_with("0X")) part.remove_prefix(2);
    const auto code = parse_number<std::uint32_t>(part, 16);
    if (!code) {
      return usage_error(
          "-aic-pmu-events={}: '{}' is neither the name nor the hexadecimal code of an event", list,
          part);
    }
    codes.push_back(*code);
  }
  if (codes.size() > 8) {
    return usage_error("-aic-pmu-events={}: {} events; the hardware counts at most 8 at once", list,
                       codes.size());
  }
  return codes;
}

namespace {

Status choose_pmu_events(const Target& target, const std::string& recipe, CompileOptions& options,
                         std::vector<std::string>& warnings) {
  if (!recipe.empty()) {
    const auto found = target.pmu_recipes.find(recipe);
    if (found == target.pmu_recipes.end()) {
      std::vector<std::string> names;
      for (const auto& [name, codes] : target.pmu_recipes) names.push_back(name);
      return usage_error("-aic-pmu-recipe={}: {} has {}", recipe, target.name,
                         fmt::join(names, ", "));
    }
    options.pmu_events = found->second;
  }
  for (std::uint32_t code : options.pmu_events) {
    const bool known = std::ranges::any_of(
        target.pmu_events, [&](const PmuEvent& event) { return event.code == code; });
    if (!known) {
      warnings.push_back(fmt::format("PMU event 0x{:X} is not in {}'s table; it will count nothing",
                                     code, target.name));
    }
  }
  return {};
}

Result<std::vector<Symbols>> specializations_of(const BuildRequest& request) {
  if (request.specializations.empty()) return std::vector<Symbols>{request.import.symbols};
  TRY_AS(file, MappedFile::open(request.specializations));
  TRY_AS(list, read_specializations(file->bytes(), request.specializations));
  for (Symbols& symbols : *list) {
    for (const auto& [name, value] : request.import.symbols) symbols.insert_or_assign(name, value);
  }
  return list;
}

// What lies in a device's DDR while its networks are loaded. Specialisations share their constants
// and their state.
struct DeviceMemory {
  std::uint64_t constants = 0;
  std::uint64_t state = 0;
  std::uint64_t buffers = 0;  // of inputs, outputs and statistics
  std::uint64_t spilled = 0;

  void add(const CompiledNetwork& network) {
    constants = std::max(constants, network.metrics.constant_bytes);
    state = std::max(state, network.program.retained_bytes);
    spilled = std::max(spilled, network.metrics.spill_place_bytes);
    buffers += network.program.input_bytes + network.program.output_bytes;
    const qaic::StatsDescriptor& stats = network.descriptor.stats;
    if (stats.buffer_index < network.descriptor.dma_buffers.size()) {
      buffers += network.descriptor.has_stats
                     ? network.descriptor.dma_buffers[stats.buffer_index].size
                     : 0;
    }
  }
  std::uint64_t total() const { return constants + state + buffers + spilled; }
};

class Builder {
 public:
  Builder(const std::filesystem::path& model, BuildRequest request)
      : model_(model), request_(std::move(request)) {}

  Result<BuildResult> run() {
    TRY_AS(target, find_target(request_.target));
    target_ = std::move(*target);
    CompileOptions& options = request_.options;
    TRY(choose_pmu_events(target_, request_.pmu_recipe, options, result_.warnings));
    if (request_.partition.cores > 0) options.cores = request_.partition.cores;
    if (options.cores == 0) options.cores = target_.cores;
    request_.partition.cores = options.cores;
    result_.partition = request_.partition;
    TRY(take_io_list());
    TRY_AS(specializations, specializations_of(request_));
    for (std::size_t i = 0; i < specializations->size(); ++i) {
      const std::string suffix = specializations->size() > 1 ? fmt::format("_spec{}", i) : "";
      TRY(build((*specializations)[i], suffix));
    }
    TRY(check_memory());
    const bool several = request_.partition.is_multi_device();
    TRY_AS(qpc, package_qpc(networks_, target_,
                            several ? write_partition_config(request_.partition) : ""));
    result_.qpc = std::move(*qpc);
    result_.networks = std::make_shared<const std::vector<CompiledNetwork>>(std::move(networks_));
    return std::move(result_);
  }

 private:
  void warn(std::string warning) {
    auto& warnings = result_.warnings;
    if (std::ranges::find(warnings, warning) == warnings.end()) {
      warnings.push_back(std::move(warning));
    }
  }

  Status take_io_list() {
    if (request_.io_list.empty()) return {};
    TRY_AS(file, MappedFile::open(request_.io_list));
    TRY_AS(list, read_io_list(as_text(file->bytes()), request_.io_list));
    io_list_ = std::move(*list);
    for (const IoPrecision& each : io_list_)
      if (each.precision == "mxint8") request_.options.mxint8_names.push_back(each.name);
    return {};
  }

  Status check_io_list(const Graph& graph) {
    const CompileOptions& options = request_.options;
    const std::vector<bool> packed = find_mxint8_state(graph, options);
    std::map<std::string_view, TensorId> bindings;
    for (TensorId id : graph.inputs) bindings.emplace(graph[id].name, id);
    for (TensorId id : graph.outputs) bindings.emplace(graph[id].name, id);
    std::size_t idle = 0;
    std::string first;
    for (const IoPrecision& each : io_list_) {
      const auto found = bindings.find(each.name);
      if (found == bindings.end()) {
        return input_error("{}: '{}' is neither an input nor an output of the model; name one",
                           request_.io_list, each.name);
      }
      const DataType type = type_in_ddr(graph, found->second, packed, options);
      if (name_of(type) == each.precision) continue;
      if (idle++ == 0)
        first = fmt::format("'{}' stays {}, not {}", each.name, name_of(type), each.precision);
    }
    if (idle > 0) {
      warn(
          fmt::format("--custom-IO-list-file has no effect on {} inputs and outputs: {}; only "
                      "retained state in float16 becomes mxint8 (-retained-state, "
                      "-convert-to-fp16)",
                      idle, first));
    }
    return {};
  }

  void warn_of_idle_options(const Graph& graph) {
    const CompileOptions& options = request_.options;
    const auto wide = [](const Tensor& tensor) {
      return tensor.type == DataType::float32 || tensor.type == DataType::float64;
    };
    if (options.convert_to_fp16 && std::ranges::none_of(graph.tensors, wide)) {
      warn("-convert-to-fp16 has no effect: the model has no float32 tensors");
    }
    const std::vector<bool> retained = find_retained_state(graph);
    if (options.retained_state && std::ranges::find(retained, true) == retained.end()) {
      warn(
          "-retained-state has no effect: no output of the model is called as an input with "
          "_RetainedState");
    }
    if (options.op_stats_verbosity > 1 && options.stats_level < 70) {
      warn(
          "-aic-op-stats-verbosity has no effect: operators are in a program from "
          "-stats-level=70 on");
    }
  }

  Status build(const Symbols& symbols, const std::string& suffix) {
    ImportOptions import = request_.import;
    import.symbols = symbols;
    TRY_AS(graph, import_onnx_file(model_, import));
    for (const std::string& warning : graph->warnings) warn(warning);
    TRY(check_io_list(*graph));
    warn_of_idle_options(*graph);
    CompileOptions options = request_.options;
    options.network_name += suffix;
    return request_.partition.is_multi_device() ? build_slices(*graph, options)
                                                : build_network(*graph, options);
  }

  void warn_of_idle_packing(const CompileMetrics& metrics) {
    const auto packs = [&](DataType type) {
      return std::ranges::find(metrics.packed, type, &PackedTensors::type) != metrics.packed.end();
    };
    if (request_.options.mxfp6_matmul && !packs(DataType::mxfp6)) {
      warn(
          "-mxfp6-matmul has no effect: no MatMul or Gemm has constant weights in float16 "
          "(-convert-to-fp16)");
    }
    if (request_.options.mxint8_state && !packs(DataType::mxint8)) {
      warn(
          "--mxint8-kv-cache has no effect: the program has no retained state in float16 "
          "(-retained-state, -convert-to-fp16)");
    }
  }

  Status build_network(const Graph& graph, const CompileOptions& options) {
    TRY_AS(network, compile_network(graph, target_, options));
    warn_of_idle_packing(network->metrics);
    networks_.push_back(std::move(*network));
    return {};
  }

  Status build_slices(const Graph& graph, CompileOptions options) {
    const auto devices = std::uint32_t(request_.partition.devices.size());
    const std::optional<Graph> parts = taken_apart(graph);
    const ShardedGraph sharded =
        shard_graph(parts ? *parts : graph, devices, target_.hmx_alignment);
    if (!sharded.whole_products.empty()) {
      warn(
          fmt::format("{} of the model's products are not split, every device computes them: {}{}",
                      sharded.whole_products.size(),
                      fmt::join(std::span(sharded.whole_products)
                                    .first(std::min<std::size_t>(sharded.whole_products.size(), 3)),
                                ", "),
                      sharded.whole_products.size() > 3 ? " …" : ""));
    }
    options.slices = devices;
    options.cuts_slices = true;
    if (build_parts(sharded, options)) return {};
    options.cuts_slices = false;
    return build_parts(sharded, options);
  }

  // Leaves what was built before alone when the parts do not go together.
  Status build_parts(const ShardedGraph& sharded, CompileOptions options) {
    const std::string name = options.network_name;
    const std::size_t first = networks_.size();
    Status built;
    for (options.slice = 0; built && options.slice < options.slices; ++options.slice) {
      options.network_name = fmt::format("{}_slice{:02}", name, options.slice);
      built = build_network(device_graph(sharded, options.slice), options);
    }
    std::vector<const qaic::Program*> programs;
    for (std::size_t i = first; i < networks_.size(); ++i) {
      programs.push_back(&networks_[i].program);
    }
    if (built) {
      if (const auto joined = qaic::join_slices(programs, name); !joined) {
        built = tl::unexpected(joined.error());
      }
    }
    if (!built) networks_.erase(networks_.begin() + std::ptrdiff_t(first), networks_.end());
    return built;
  }

  Status check_memory() const {
    if (target_.ddr_capacity_bytes == 0) return {};
    std::vector<DeviceMemory> devices(request_.partition.devices.size());
    for (const CompiledNetwork& network : networks_) devices[network.program.slice].add(network);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const DeviceMemory& device = devices[i];
      if (device.total() <= target_.ddr_capacity_bytes) continue;
      constexpr double gibibyte = 1 << 30;
      return input_error(
          "{}: device {} of {} needs {:.2f} GiB of DDR ({:.2f} of constants, {:.2f} of retained "
          "state, {:.2f} of input, output and statistics buffers, {:.2f} spilled), but {} has "
          "{:.2f} GiB; share the model among more devices (-mdp-load-partition-config){}",
          model_.string(), i, devices.size(), double(device.total()) / gibibyte,
          double(device.constants) / gibibyte, double(device.state) / gibibyte,
          double(device.buffers) / gibibyte, double(device.spilled) / gibibyte, target_.name,
          double(target_.ddr_capacity_bytes) / gibibyte,
          request_.options.convert_to_fp16 ? "" : " or compile with -convert-to-fp16");
    }
    return {};
  }

  const std::filesystem::path& model_;
  BuildRequest request_;
  Target target_;
  std::vector<IoPrecision> io_list_;
  std::vector<CompiledNetwork> networks_;
  BuildResult result_;
};

}  // namespace

Result<BuildResult> build(const std::filesystem::path& model, BuildRequest request) {
  return Builder(model, std::move(request)).run();
}

}  // namespace npuscope::npu::nsp
