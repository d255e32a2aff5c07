#include "npuscope/npu/nsp/compile/build.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "formats/qaic/qpc/program_slices.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/compile/devices/sharder.hpp"
#include "npu/targets/nsp/compile/partition_config.hpp"

namespace npuscope::npu::nsp {
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
    const bool known = std::any_of(target.pmu_events.begin(), target.pmu_events.end(),
                                   [&](const PmuEvent& event) { return event.code == code; });
    if (!known) {
      warnings.push_back(fmt::format("PMU event 0x{:X} is not in {}'s table; it will count nothing",
                                     code, target.name));
    }
  }
  return {};
}

Result<std::vector<Symbols>> specializations_of(const BuildRequest& request) {
  if (request.specializations.empty()) return std::vector<Symbols>{request.import.symbols};
  auto file = MappedFile::open(request.specializations);
  if (!file) return tl::unexpected(file.error());
  auto list = read_specializations(file->bytes(), request.specializations);
  if (!list) return list;
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
    spilled = std::max(spilled, network.metrics.spill_bytes);
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
    auto target = find_target(request_.target);
    if (!target) return tl::unexpected(target.error());
    target_ = std::move(*target);
    CompileOptions& options = request_.options;
    if (auto ok = choose_pmu_events(target_, request_.pmu_recipe, options, result_.warnings); !ok) {
      return tl::unexpected(ok.error());
    }
    if (request_.partition.cores > 0) options.cores = request_.partition.cores;
    if (options.cores == 0) options.cores = target_.cores;
    request_.partition.cores = options.cores;
    result_.partition = request_.partition;
    const auto specializations = specializations_of(request_);
    if (!specializations) return tl::unexpected(specializations.error());
    for (std::size_t i = 0; i < specializations->size(); ++i) {
      const std::string suffix = specializations->size() > 1 ? fmt::format("_spec{}", i) : "";
      if (auto built = build((*specializations)[i], suffix); !built) {
        return tl::unexpected(built.error());
      }
    }
    if (auto fits = check_memory(); !fits) return tl::unexpected(fits.error());
    const bool several = request_.partition.is_multi_device();
    auto qpc =
        package_qpc(networks_, target_, several ? write_partition_config(request_.partition) : "");
    if (!qpc) return tl::unexpected(qpc.error());
    result_.qpc = std::move(*qpc);
    result_.networks = std::make_shared<const std::vector<CompiledNetwork>>(std::move(networks_));
    return std::move(result_);
  }

 private:
  void warn(std::string warning) {
    auto& warnings = result_.warnings;
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) {
      warnings.push_back(std::move(warning));
    }
  }

  Status build(const Symbols& symbols, const std::string& suffix) {
    ImportOptions import = request_.import;
    import.symbols = symbols;
    const auto graph = import_onnx_file(model_, import);
    if (!graph) return tl::unexpected(graph.error());
    for (const std::string& warning : graph->warnings) warn(warning);
    CompileOptions options = request_.options;
    options.network_name += suffix;
    return request_.partition.is_multi_device() ? build_slices(*graph, options)
                                                : build_network(*graph, options);
  }

  Status build_network(const Graph& graph, const CompileOptions& options) {
    auto network = compile_network(graph, target_, options);
    if (!network) return tl::unexpected(network.error());
    networks_.push_back(std::move(*network));
    return {};
  }

  Status build_slices(const Graph& graph, CompileOptions options) {
    const auto devices = std::uint32_t(request_.partition.devices.size());
    const ShardedGraph sharded = shard_graph(graph, devices, target_.hmx_alignment);
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
    for (const CompiledNetwork& network : networks_) {
      devices[network.program.slice].add(network);
    }
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
  std::vector<CompiledNetwork> networks_;
  BuildResult result_;
};

}  // namespace

Result<BuildResult> build(const std::filesystem::path& model, BuildRequest request) {
  return Builder(model, std::move(request)).run();
}

}  // namespace npuscope::npu::nsp
