// A model file and what a user asks for in, a QPC out: specialisations, lists of inputs and
// outputs, devices, and whether all of it fits their DDR.
#include "npuscope/npu/nsp/compile/build.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <map>

#include "base/try.hpp"
#include "formats/qaic/qpc/program_slices.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/graph/parts/parts.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/compile/devices/devices.hpp"
#include "npu/targets/nsp/compile/io_list.hpp"
#include "npu/targets/nsp/compile/tasks/packed.hpp"

namespace npuscope::npu::nsp {
namespace {

Result<std::vector<Symbols>> specializations_of(const BuildRequest& request) {
  if (request.specializations.empty()) return std::vector<Symbols>{request.import.symbols};
  TRY_AS(file, MappedFile::open(request.specializations));
  TRY_AS(list, read_specializations(file->bytes(), request.specializations));
  for (Symbols& symbols : *list) {
    for (const auto& symbol : request.import.symbols) {
      const auto [known, added] = symbols.insert(symbol);
      if (added || known->second == symbol.second) continue;
      return usage_error("-onnx-define-symbol={},{} but {} gives it {}; give it one value",
                         symbol.first, request.import.text_of(symbol), request.specializations,
                         known->second);
    }
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
      const std::string stays = io_precision_of(type_in_ddr(graph, found->second, packed, options));
      if (stays == each.precision) continue;
      if (idle++ == 0)
        first = fmt::format("'{}' stays {}, not {}", each.name, stays, each.precision);
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

  void warn_of_idle_choices(const CompileMetrics& metrics) {
    const bool goes_deep = !target_.session && !request_.partition.is_multi_device();
    if (request_.options.layer_by_layer && (!goes_deep || metrics.spill_bytes == 0)) {
      warn(
          "--layer-by-layer has no effect: convolutions go so in any case where nothing is pushed "
          "out of VTCM, on targets htp-* and on several devices");
    }
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
    warn_of_idle_choices(network->metrics);
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
