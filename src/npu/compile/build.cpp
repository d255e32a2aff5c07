#include "npuscope/npu/compile/build.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "formats/qaic/qpc/program_slices.hpp"
#include "npu/compile/devices/shard.hpp"
#include "profile/pmu_events.hpp"

namespace npuscope::npu {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

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
  if (request.specializations.empty()) return std::vector<Symbols>{request.symbols};
  auto file = MappedFile::open(request.specializations);
  if (!file) return tl::unexpected(file.error());
  auto list = read_specializations(file->bytes(), request.specializations);
  if (!list) return list;
  for (Symbols& symbols : *list) {
    for (const auto& [name, value] : request.symbols) symbols.insert_or_assign(name, value);
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
    auto qpc = package_qpc(result_.networks, target_,
                           several ? write_partition_config(request_.partition) : "");
    if (!qpc) return tl::unexpected(qpc.error());
    result_.qpc = std::move(*qpc);
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
    ImportOptions import;
    import.symbols = symbols;
    import.allow_unknown = request_.allow_unknown;
    import.batch = request_.batch;
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
    result_.networks.push_back(std::move(*network));
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
    const std::size_t first = result_.networks.size();
    Status built;
    for (options.slice = 0; built && options.slice < options.slices; ++options.slice) {
      options.network_name = fmt::format("{}_slice{:02}", name, options.slice);
      built = build_network(device_graph(sharded, options.slice), options);
    }
    std::vector<const qaic::Program*> programs;
    for (std::size_t i = first; i < result_.networks.size(); ++i) {
      programs.push_back(&result_.networks[i].program);
    }
    if (built) {
      if (const auto joined = qaic::join_slices(programs, name); !joined) {
        built = tl::unexpected(joined.error());
      }
    }
    if (!built)
      result_.networks.erase(result_.networks.begin() + std::ptrdiff_t(first),
                             result_.networks.end());
    return built;
  }

  Status check_memory() const {
    if (target_.ddr_capacity_bytes == 0) return {};
    std::vector<DeviceMemory> devices(request_.partition.devices.size());
    for (const CompiledNetwork& network : result_.networks) {
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
  BuildResult result_;
};

}  // namespace

Result<std::pair<std::string, std::int64_t>> parse_symbol(std::string_view definition) {
  const std::size_t comma = definition.rfind(',');
  const std::string_view text =
      comma == std::string_view::npos ? std::string_view{} : definition.substr(comma + 1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (comma == 0 || error != std::errc{} || end != text.data() + text.size() || value < 1) {
    return usage_error(
        "-onnx-define-symbol={}: write name,value with a value of 1 or more, such as "
        "batch_size,1",
        definition);
  }
  return std::pair{std::string(definition.substr(0, comma)), value};
}

Result<std::vector<std::uint32_t>> parse_pmu_events(std::string_view list) {
  std::vector<std::uint32_t> codes;
  for (std::string_view part : split(list)) {
    if (const PmuEventInfo* known = find_pmu_event(part)) {
      codes.push_back(known->code);
      continue;
    }
    if (part.starts_with("0x") || part.starts_with("0X")) part.remove_prefix(2);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), code, 16);
    if (part.empty() || error != std::errc{} || end != part.data() + part.size()) {
      return usage_error(
          "-aic-pmu-events={}: '{}' is neither the name nor the hexadecimal code of an event", list,
          part);
    }
    codes.push_back(code);
  }
  if (codes.size() > 8) {
    return usage_error("-aic-pmu-events={}: {} events; the hardware counts at most 8 at once", list,
                       codes.size());
  }
  return codes;
}

Result<BuildResult> build_from_onnx(const std::filesystem::path& model, BuildRequest request) {
  return Builder(model, std::move(request)).run();
}

}  // namespace npuscope::npu
